//! A digest of everything for one session, within a token budget.
//!
//! Parts are packed in the order of what a session cannot do without: where the work stands, by plan and
//! by ledger, what blocks it, what was pinned in the notepad, what must not change, what was decided, what was learned, what is
//! known, who the user is. What does not fit is counted, with the command that prints it.

mod already_read;
mod gather;
mod ledger;
mod packing;
mod part;
#[cfg(test)]
mod tests;

pub use already_read::AlreadyRead;
pub use packing::Digest;
pub use packing::LeftOut;
pub use part::DigestPart;

use crate::context::gather::Scene;
use crate::context::part::DigestSection;
use crate::error::Error;
use crate::error::Result;
use crate::knowledge::KnowledgeDir;
use crate::project::Project;
use crate::warning::Warning;

/// How many tokens a digest may have where nobody says.
pub const BUDGET: usize = 2000;

/// How many tokens the text at a session's start has.
pub const START_BUDGET: usize = 1200;

/// How many lines a list has at a session's start.
pub(crate) const START_LINES: usize = 5;

/// A budget below this is too small for a digest: it holds only the frame.
const MIN_BUDGET: usize = 100;

/// Returns whether a project has a planning folder, entries or a ledger.
pub fn has_memory(project: &Project) -> bool {
    project.planning().is_ok()
        || KnowledgeDir::in_project(project).root().is_dir()
        || crate::ledger::is_kept(project)
}

/// What is asked of a digest.
#[derive(Clone, Debug)]
pub struct DigestRequest {
    /// The most tokens, as `text::tokens` estimates them.
    pub budget: usize,
    /// What the session is about; the current phase where nobody says.
    pub topic: Option<String>,
    /// Whether a compaction just took the conversation away: then the notepad comes first, whole.
    pub compacted: bool,
    /// The parts that are not wanted.
    pub without: Vec<DigestPart>,
    /// The most lines of one part.
    pub most_lines: usize,
    /// What the session has read already: those lines are left out, and not counted.
    pub already_read: AlreadyRead,
}

impl Default for DigestRequest {
    fn default() -> Self {
        Self {
            budget: BUDGET,
            topic: None,
            compacted: false,
            without: Vec::new(),
            most_lines: usize::MAX,
            already_read: AlreadyRead::default(),
        }
    }
}

/// Puts together what a session needs to know. A store that cannot be read becomes a warning: the others
/// must not be silent because of it.
pub fn digest(project: &Project, request: &DigestRequest) -> Result<Digest> {
    if request.budget < MIN_BUDGET {
        return Err(Error::usage(format!(
            "{} tokens is too small for a digest",
            request.budget
        ))
        .hint(format!(
            "give it {MIN_BUDGET} or more; {BUDGET} is the default"
        )));
    }
    let mut warnings = Vec::new();
    let scene = Scene::new(project, request, &mut warnings);
    let mut sections: Vec<DigestSection> = Vec::new();
    for part in requested_parts(request) {
        match scene.gather(part, &mut warnings) {
            Ok(section) => sections.push(section),
            Err(error) => {
                let message = format!("{} is left out: {error}", part.as_str());
                warnings.push(Warning::file(&project.root, message));
            }
        }
    }
    let mut digest = packing::pack(sections, request);
    digest.warnings = project.named(warnings);
    Ok(digest)
}

/// Returns the parts that are wanted, the most important first.
fn requested_parts(request: &DigestRequest) -> Vec<DigestPart> {
    let mut parts = DigestPart::ALL.to_vec();
    if request.compacted {
        parts.sort_by_key(|part| *part != DigestPart::Notepad);
    }
    parts.retain(|part| !request.without.contains(part));
    parts
}
