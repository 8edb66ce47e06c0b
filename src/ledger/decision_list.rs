//! Lists the ledger's decisions with their days.

use chrono::NaiveDate;

use crate::error::Result;
use crate::ledger::decisions::Decisions;
use crate::ledger::files::LedgerFiles;
use crate::project::Project;
use crate::warning::Parsed;

/// A decision of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedDecision {
    /// The day, or `None` if none is written.
    pub date: Option<NaiveDate>,
    /// The text of the decision.
    pub title: String,
}

/// Returns the entries of DECISIONS.md in file order; none if there is no such file.
pub fn list_decisions(project: &Project) -> Result<Parsed<Vec<ListedDecision>>> {
    let mut warnings = Vec::new();
    let files = LedgerFiles::read(project, &mut warnings)?;
    let entries = Decisions::parse(&files.decisions.text).entries;
    let value =
        entries.into_iter().map(|entry| ListedDecision { date: entry.date, title: entry.title });
    Ok(Parsed::new(value.collect(), warnings))
}
