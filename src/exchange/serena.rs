//! Serena's notes: markdown files whose names are their titles, in `.serena/memories`.

use std::path::Path;

use crate::error::Result;
use crate::exchange::Format;
use crate::exchange::folder;
use crate::exchange::kind::kind_of;
use crate::exchange::note::NoteFile;
use crate::exchange::note::item;
use crate::exchange::note::stem_in_words;
use crate::exchange::source::Note;
use crate::exchange::source::Source;
use crate::exchange::source::title;
use crate::knowledge::Adoption;

/// Reads the notes of a folder, of the project that has them, or of one file.
pub(crate) fn read(path: &Path) -> Result<Source> {
    let below = [".serena/memories", "memories"].map(|name| path.join(name));
    let path = below
        .iter()
        .find(|path| path.is_dir())
        .map_or(path, |below| below);
    let files = folder::markdown(path)?;
    let mut source = Source {
        unknown: files.warnings.clone(),
        ..Source::default()
    };
    for path in &files.paths {
        let name = files.name(path);
        let Some(file) = NoteFile::read(path, &name, &mut source) else {
            continue;
        };
        let words = stem_in_words(path);
        let bare = name.trim_end_matches(".md").to_owned();
        let heading = file.heading.clone().unwrap_or_default();
        source.notes.push(Note {
            item: item(path, &name),
            parts: Vec::new(),
            statements: Vec::new(),
            piece: Adoption {
                origin: (Format::Serena.as_str(), name),
                names: vec![bare, words.clone()],
                title: title(&heading, &words),
                kind: kind_of(&[&words, &heading]),
                confidence: file.confidence(),
                tags: file.tags(),
                body: file.body,
            },
        });
    }
    Ok(source)
}
