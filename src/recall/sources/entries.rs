//! Reads the knowledge entries and the notepad.

use std::path::{Path, PathBuf};

use crate::knowledge;
use crate::knowledge::KnowledgeDir;
use crate::markdown::FrontMatter;
use crate::project::Project;
use crate::recall::markdown_file::{Authority, passages};
use crate::recall::sources::plan::is_markdown;
use crate::recall::sources::{Source, SourceName};
use crate::search::index::Passage;
use crate::storage::read::PathKind;
use crate::storage::{Boundary, listing};

/// One file per entry, each identified by its key.
pub(crate) struct Entries;

impl Source for Entries {
    fn name(&self) -> SourceName {
        SourceName::Entries
    }

    fn files(&self, project: &Project) -> Vec<PathBuf> {
        let dir = KnowledgeDir::in_project(project);
        let own = [dir.index(), dir.log()];
        let mut found = vec![dir.notepad()];
        let memory = dir.memory();
        let listed = listing::entries(&memory).unwrap_or_default();
        let files = listed
            .into_iter()
            .filter(|(name, kind)| *kind == PathKind::File && is_markdown(Path::new(name)));
        let files = files.map(|(name, _)| memory.join(name)).collect();
        found.extend(Boundary::within_limit(&memory, files));
        found.retain(|file| !own.contains(file));
        found
    }

    fn passages(&self, text: &str, path: &Path) -> Vec<Passage> {
        let folder = path.parent().and_then(Path::file_name);
        let is_entry = folder.is_some_and(|folder| folder == knowledge::ENTRIES);
        let key = path.file_stem().filter(|_| is_entry);
        let key = key.map(|key| key.to_string_lossy().into_owned());
        let mut found = passages(text, path, Authority::Canonical);
        if is_entry {
            // The fields of an entry are about it: what they say is not what was recorded.
            let front = FrontMatter::parse(text, path).value.range;
            let lines = text[..front.end].lines().count();
            found.retain(|passage| passage.line > lines);
        }
        for passage in &mut found {
            passage.id.clone_from(&key);
        }
        found
    }

    /// Returns every file in their folder: the log and the index contain text, too.
    fn files_to_check_for_secrets(&self, project: &Project) -> Vec<PathBuf> {
        listing::below(KnowledgeDir::in_project(project).root(), &|name| name != ".git")
    }
}
