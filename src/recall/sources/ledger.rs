//! Reads the repository's ledger: state, constraints and decisions.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::ledger;
use crate::project::Project;
use crate::recall::document::{Authority, SearchDocument};
use crate::recall::markdown_file::documents;
use crate::recall::sources::{ExportFiles, Source, SourceName};
use crate::warning::Warning;

/// STATE.md, CONSTRAINTS.md and DECISIONS.md in the ledger's folder.
pub(crate) struct Ledger;

impl Source for Ledger {
    fn name(&self) -> SourceName {
        SourceName::Ledger
    }

    fn files(&self, project: &Project) -> Vec<PathBuf> {
        ledger::paths(project).to_vec()
    }

    fn documents(&self, text: &str, path: &Path) -> Vec<SearchDocument> {
        documents(text, path, Authority::Canonical)
    }

    fn copies(&self, project: &Project, _warnings: &mut Vec<Warning>) -> Result<Vec<ExportFiles>> {
        let named = |path: PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            (format!("ledger/{name}"), path)
        };
        Ok(vec![ExportFiles {
            memory: "ledger",
            files: self.files(project).into_iter().map(named).collect(),
        }])
    }
}
