//! Parses the markdown files of other memories.

use std::collections::HashSet;
use std::path::Path;

use crate::error::Result;
use crate::exchange::folder;
use crate::exchange::source::{ImportSource, Note, SourceItem};
use crate::knowledge::{Confidence, ImportItem};
use crate::markdown::FrontMatter;
use crate::storage::read;
use crate::text::line_number;
use crate::warning::{SourceLocation, Warning};

/// Maximum number of tags of an item: each has a place in the index of the entries.
pub(crate) const MAX_TAGS: usize = 500;

/// A file, split into front matter, first heading and body.
#[derive(Clone, Debug)]
pub(crate) struct NoteFile {
    /// The front matter.
    pub(crate) front: FrontMatter,
    /// The level-1 heading at the start of the text, if there is one.
    pub(crate) heading: Option<String>,
    /// The text without front matter and heading.
    pub(crate) body: String,
    /// The line number of the start of the body.
    pub(crate) line: usize,
}

impl NoteFile {
    /// Reads a file; one that is unreadable or empty is reported to the source.
    pub(crate) fn read(path: &Path, name: &str, source: &mut ImportSource) -> Option<Self> {
        let text = match read::users_text(path) {
            Ok(Some(text)) => text.into_value(&mut source.unknown),
            Ok(None) => String::new(),
            Err(error) => {
                source.unknown.push(Warning::file(path, error.reason()));
                return None;
            }
        };
        let file = Self::parse(&text, path, &mut source.unknown);
        if file.body.trim().is_empty() {
            source.skip(item(path, name), "is empty");
            return None;
        }
        Some(file)
    }

    /// Parses a text.
    pub(crate) fn parse(text: &str, path: &Path, warnings: &mut Vec<Warning>) -> Self {
        let front = FrontMatter::parse(text, path).into_value(warnings);
        let rest = &text[front.range.end..];
        let trimmed = rest.trim_start_matches('\u{feff}').trim_start_matches(['\n', '\r', ' ']);
        let first = trimmed.lines().next().unwrap_or_default();
        let heading = first.strip_prefix("# ").map(str::trim);
        let body = match heading {
            Some(_) => trimmed[first.len()..].trim_start_matches(['\n', '\r']),
            None => trimmed,
        };
        let line = line_number(text, text.len() - body.len());
        Self {
            heading: heading.filter(|heading| !heading.is_empty()).map(str::to_owned),
            body: body.to_owned(),
            line,
            front,
        }
    }

    /// Returns the confidence that the note states, or `Low` if it states none.
    pub(crate) fn confidence(&self) -> Confidence {
        let stated = self.front.text(&["confidence"]);
        stated.and_then(Confidence::from_any_case).unwrap_or(Confidence::Low)
    }

    /// Returns the tags of the front matter, which may be a list or comma-separated; limited like [`unique`].
    pub(crate) fn tags(&self) -> Vec<String> {
        let Some(tags) = self.front.get(&["tags", "tag"]) else {
            return Vec::new();
        };
        let elements = tags.elements().into_iter();
        unique(elements.flat_map(|node| unique(node.flat().split(',').filter_map(tag))))
    }
}

/// Reads a file, or each file of a folder, as a note with its statements.
///
/// `piece` receives the file, its name, and its name as words.
pub(crate) fn notes(
    path: &Path,
    piece: impl Fn(NoteFile, String, &str) -> (ImportItem, Vec<String>),
) -> Result<ImportSource> {
    let files = folder::markdown(path)?;
    let mut source = ImportSource { unknown: files.warnings.clone(), ..ImportSource::default() };
    for path in &files.paths {
        let name = files.name(path);
        let item = item(path, &name);
        if let Some(file) = NoteFile::read(path, &name, &mut source) {
            let (mut piece, statements) = piece(file, name, &stem_in_words(path));
            if piece.tags.len() > MAX_TAGS {
                piece.tags.truncate(MAX_TAGS);
                let message = format!("has more than {MAX_TAGS} tags; the rest is left out");
                source.unknown.push(Warning::file(path, message));
            }
            source.notes.push(Note { statements, ..Note::new(item, piece) });
        }
    }
    Ok(source)
}

/// Returns the item for a whole file.
pub(crate) fn item(path: &Path, name: &str) -> SourceItem {
    SourceItem::new(SourceLocation::new(path, None), name)
}

/// Returns a word as a tag without its `#`, or `None` if it is not a valid tag.
pub(crate) fn tag(word: &str) -> Option<String> {
    let word = word.trim().trim_start_matches('#').trim().to_lowercase();
    let is_tag = !word.is_empty() && word.len() <= 60 && !word.contains(char::is_control);
    is_tag.then_some(word)
}

/// Returns the first distinct tags, in order of appearance: at most one more than [`MAX_TAGS`], so that the caller
/// can tell that there are too many.
pub(crate) fn unique(tags: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let unseen = tags.filter(|tag| seen.insert(tag.clone()));
    unseen.take(MAX_TAGS + 1).collect()
}

/// Returns a file's stem as words: `auth_flow` becomes `auth flow`.
pub(crate) fn stem_in_words(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem.replace(['_', '-'], " ")
}
