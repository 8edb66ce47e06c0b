//! Counts what a project without a planning folder remembers.

use std::path::PathBuf;

use serde::Serialize;

use crate::context::parts;
use crate::error::{ErrorKind, Result};
use crate::facts::{FactFilter, FactStatus, Facts, Purpose};
use crate::knowledge::notepad;
use crate::project::Project;
use crate::warning::Warning;
use crate::{facts, journal, knowledge, ledger};

/// Maximum size of a journal whose records are counted, in bytes; reading a larger one takes too long.
const MAX_COUNTED_JOURNAL: u64 = 16 << 20;

/// What there is to remember. It is the document of `annals status --json` without a planning folder.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Overview {
    /// The name of the project's folder.
    pub project: String,
    /// Always null: there is no planning folder.
    pub planning_dir: Option<()>,
    /// The folders below that have a planning folder of their own.
    pub parts: Vec<PathBuf>,
    /// Number of active entries.
    pub entries: usize,
    /// Number of lines in the notepad.
    pub notes: usize,
    /// Whether there is a ledger.
    pub ledger: bool,
    /// Number of records in the journal, which all projects share; null if it is large or does not exist.
    pub journal: Option<usize>,
    /// Number of facts about the user, if one is set.
    pub facts: Option<usize>,
    /// Warnings about what was only partly understood.
    pub warnings: Vec<Warning>,
}

/// Counts what each store has.
pub fn overview(project: &Project) -> Result<Overview> {
    let mut warnings = Vec::new();
    let name = project.root.file_name().unwrap_or_default();
    let mut found = Overview {
        project: name.to_string_lossy().into_owned(),
        parts: parts(project),
        entries: knowledge::summaries(project)?.into_value(&mut warnings).len(),
        notes: notes(project)?,
        ledger: ledger::exists(project),
        journal: records(project),
        facts: facts_about_user(project)?,
        ..Overview::default()
    };
    found.warnings = project.named(warnings);
    Ok(found)
}

fn notes(project: &Project) -> Result<usize> {
    let all = match notepad::read(project, None) {
        Err(error) if error.kind == ErrorKind::NotFound => return Ok(0),
        all => all?,
    };
    let is_note = |line: &&str| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with(['#', '<'])
    };
    Ok(all.text.lines().filter(is_note).count())
}

/// Returns the number of records; a journal that cannot be read is reported by `audit`.
fn records(project: &Project) -> Option<usize> {
    let file = journal::default_path(&project.environment).ok()?;
    let size = std::fs::metadata(&file).ok()?.len();
    let counted = (size <= MAX_COUNTED_JOURNAL).then(|| journal::statistics(&file).ok());
    Some(counted??.records)
}

fn facts_about_user(project: &Project) -> Result<Option<usize>> {
    if project.settings.user.is_none() {
        return Ok(None);
    }
    let user = facts::user(project, None)?;
    let store = Facts::open(project, None, Purpose::Read)?;
    let active = FactFilter { statuses: vec![FactStatus::Active], ..FactFilter::default() };
    Ok(Some(facts::list(&store, &user, &active)?.facts.len()))
}
