//! The knowledge entries and the notepad.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use crate::knowledge::Place;
use crate::project::Project;
use crate::recall::document::Document;
use crate::recall::document::Rank;
use crate::recall::document::SourceName;
use crate::recall::markdown_file::documents;
use crate::recall::sources::Source;
use crate::recall::sources::plan::is_markdown;

/// One file an entry, each known by its key.
pub(crate) struct Entries;

impl Source for Entries {
    fn name(&self) -> SourceName {
        SourceName::Entries
    }

    fn files(&self, project: &Project) -> Vec<PathBuf> {
        let place = Place::of(project);
        let own = [place.index(), place.log()];
        let mut found = vec![place.notepad()];
        if let Ok(entries) = fs::read_dir(place.memory()) {
            let files = entries.flatten().filter(|entry| {
                let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
                is_file && is_markdown(&entry.file_name().to_string_lossy())
            });
            found.extend(files.map(|entry| entry.path()));
        }
        found.retain(|file| !own.contains(file));
        found
    }

    fn documents(&self, text: &str, path: &Path) -> Vec<Document> {
        let folder = path.parent().and_then(Path::file_name);
        let is_entry = folder.is_some_and(|folder| folder == "memory");
        let key = path.file_stem().filter(|_| is_entry);
        let key = key.map(|key| key.to_string_lossy().into_owned());
        let mut found = documents(text, path, Rank::Standing);
        for document in &mut found {
            document.id.clone_from(&key);
        }
        found
    }
}
