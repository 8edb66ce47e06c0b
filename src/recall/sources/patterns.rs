//! What finished phases taught: PATTERNS.md of each planning folder.

use std::path::Path;
use std::path::PathBuf;

use crate::error::Result;
use crate::patterns;
use crate::project::Project;
use crate::recall::document::Authority;
use crate::recall::document::Document;
use crate::recall::markdown_file::documents;
use crate::recall::sources::Copies;
use crate::recall::sources::Source;
use crate::recall::sources::SourceName;
use crate::recall::sources::plan;
use crate::warning::Warning;

/// PATTERNS.md.
pub(crate) struct Patterns;

impl Source for Patterns {
    fn name(&self) -> SourceName {
        SourceName::Patterns
    }

    fn files(&self, project: &Project) -> Vec<PathBuf> {
        let folders = plan::folders(project);
        folders
            .iter()
            .map(|folder| patterns::path(folder))
            .collect()
    }

    fn documents(&self, text: &str, path: &Path) -> Vec<Document> {
        documents(text, path, Authority::Canonical)
    }

    /// Of the folder in use alone.
    fn guarded(&self, project: &Project) -> Vec<PathBuf> {
        vec![patterns::path(&project.planning_place().dir)]
    }

    fn copies(&self, project: &Project, _warnings: &mut Vec<Warning>) -> Result<Vec<Copies>> {
        let path = patterns::path(&project.planning_place().dir);
        Ok(vec![Copies {
            memory: "patterns",
            files: vec![("patterns/PATTERNS.md".to_owned(), path)],
        }])
    }
}
