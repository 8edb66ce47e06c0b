//! What finished phases taught: PATTERNS.md of each planning folder.

use std::path::Path;
use std::path::PathBuf;

use crate::patterns;
use crate::project::Project;
use crate::recall::document::Document;
use crate::recall::document::Rank;
use crate::recall::document::SourceName;
use crate::recall::markdown_file::documents;
use crate::recall::sources::Source;
use crate::recall::sources::plan;

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
        documents(text, path, Rank::Standing)
    }
}
