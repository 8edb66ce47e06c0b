//! Creates the ledger's missing files.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::Result;
use crate::ledger::files::LedgerFiles;
use crate::ledger::footer::{INIT_NOTE, NO_HASH};
use crate::ledger::state;
use crate::project::Project;
use crate::storage::{Changes, Store};
use crate::templates::Template;
use crate::warning::Warning;

/// The outcome of `annals ledger init`.
#[derive(Clone, Debug, Serialize)]
pub struct InitReport {
    /// The ledger's folder, relative to the project.
    pub folder: PathBuf,
    /// The files created, or on a dry run those to create, relative to the project.
    pub created: Vec<PathBuf>,
    /// On a dry run, what would change.
    pub diff: Option<String>,
    /// Warnings from reading the files.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Creates each missing file from its template; the anchor is the checked-out commit, and covers nothing yet.
pub fn init(project: &Project) -> Result<InitReport> {
    let mut warnings = Vec::new();
    let (folder, applied) = project.transact("ledger init", &[Store::Ledger], || {
        let files = LedgerFiles::read(project, &mut warnings)?;
        files.refuse_unwritable(project)?;
        let anchor = project.git.head()?;
        let anchor = match anchor {
            Some(hash) => format!("{hash} {INIT_NOTE}"),
            None => NO_HASH.to_owned(),
        };
        let state = state::blank(project, &anchor)?;
        let mut changes = Changes::new();
        for (file, text) in [
            (&files.state, state.as_str()),
            (&files.constraints, Template::LedgerConstraints.text()),
            (&files.decisions, Template::LedgerDecisions.text()),
        ] {
            if !file.exists() {
                changes.edit(&file.path, None, text)?;
            }
        }
        Ok((files.folder, changes))
    })?;
    warnings.extend(applied.warnings);
    Ok(InitReport {
        folder: project.relative(&folder).to_owned(),
        created: applied.changed,
        diff: applied.diff,
        warnings: project.named(warnings),
    })
}
