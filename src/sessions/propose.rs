//! Proposes what may be worth an entry, from what was said in sessions; writes nothing.

use chrono::NaiveDate;
use serde::Serialize;

use crate::error::Result;
use crate::knowledge::{Proposal, Surface, classify};
use crate::project::Project;
use crate::sessions::{Session, UnitKind};

/// Maximum length of a paragraph that is proposed, in bytes; a longer one is no single finding.
const MAX_FINDING: usize = 600;

/// A statement that may be worth an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The statement, verbatim.
    pub finding: String,
    /// The entry that it could be.
    pub proposed: Proposal,
    /// The session, as `claude:7f3c…`.
    pub session: Option<String>,
    /// Its date.
    pub date: Option<NaiveDate>,
}

/// Returns what the rules of `classify` would keep as an entry; most texts are nothing worth keeping.
pub fn propose(project: &Project, sessions: &[Session]) -> Result<Vec<Finding>> {
    let mut findings: Vec<Finding> = Vec::new();
    let units = sessions.iter().flat_map(|session| session.units.iter().map(move |u| (session, u)));
    let said = units.filter(|(_, u)| !matches!(u.kind, UnitKind::Worked | UnitKind::Failed));
    for (session, unit) in said {
        for text in unit.text.split("\n\n").map(str::trim) {
            let is_known = findings.iter().any(|known| known.finding == text);
            if text.is_empty() || text.len() > MAX_FINDING || is_known {
                continue;
            }
            let proposed = classify(project, text)?.proposed;
            if proposed.surface == Surface::Entry {
                let (finding, session) = (text.to_owned(), session.session.clone());
                findings.push(Finding { finding, proposed, session, date: unit.date });
            }
        }
    }
    Ok(findings)
}
