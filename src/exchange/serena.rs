//! Reads Serena's notes: markdown files in `.serena/memories` whose names are their titles.

use std::path::Path;

use crate::error::Result;
use crate::exchange::Format;
use crate::exchange::kind::kind_of;
use crate::exchange::note::notes;
use crate::exchange::source::{ImportSource, title};
use crate::knowledge::ImportItem;

/// Reads the notes of a folder or of a project, or a single file.
pub(crate) fn read(path: &Path) -> Result<ImportSource> {
    let below = [".serena/memories", "memories"].map(|name| path.join(name));
    let path = below.iter().find(|path| path.is_dir()).map_or(path, |below| below);
    notes(path, |file, name, words| {
        let bare = name.trim_end_matches(".md").to_owned();
        let heading = file.heading.clone().unwrap_or_default();
        let piece = ImportItem {
            origin: (Format::Serena.as_str(), name),
            names: vec![bare, words.to_owned()],
            title: title(&heading, words),
            kind: kind_of(&[words, &heading]),
            confidence: file.confidence(),
            tags: file.tags(),
            body: file.body,
        };
        (piece, Vec::new())
    })
}
