//! The knowledge entries and the notepad.

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
use crate::storage::Boundary;
use crate::storage::listing;
use crate::storage::listing::Kind;

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
        let memory = place.memory();
        let listed = listing::entries(&memory).unwrap_or_default();
        let files = listed
            .into_iter()
            .filter(|(name, kind)| *kind == Kind::File && is_markdown(name));
        let files = files.map(|(name, _)| memory.join(name)).collect();
        found.extend(Boundary::within_limit(&memory, files));
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
