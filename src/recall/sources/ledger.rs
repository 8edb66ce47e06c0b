//! Reads the repository's ledger: state, constraints and decisions.

use std::path::{Path, PathBuf};

use crate::ledger;
use crate::project::Project;
use crate::recall::markdown_file::{Authority, passages};
use crate::recall::sources::{Source, SourceName};
use crate::search::index::Passage;

/// STATE.md, CONSTRAINTS.md and DECISIONS.md in the ledger's folder.
pub(crate) struct Ledger;

impl Source for Ledger {
    fn name(&self) -> SourceName {
        SourceName::Ledger
    }

    fn files(&self, project: &Project) -> Vec<PathBuf> {
        ledger::paths(project).to_vec()
    }

    fn passages(&self, text: &str, path: &Path) -> Vec<Passage> {
        passages(text, path, Authority::Canonical)
    }
}
