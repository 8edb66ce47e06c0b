//! Defines the items that a reader finds in another memory.

use std::path::Path;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::journal::DatedRecord;
use crate::knowledge::ImportItem;
use crate::text;
use crate::warning::{SourceLocation, Warning};

/// Maximum number of notes of a source, or of statements that become facts: each is written by itself.
pub(crate) const MAX_NOTES: usize = 20_000;

/// Maximum length of a title, in characters.
const MAX_TITLE_CHARS: usize = 100;

/// An item of the source, as named in the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceItem {
    /// Its position in the source.
    #[serde(flatten)]
    pub place: SourceLocation,
    /// The name of the item in the source.
    #[serde(rename = "item")]
    pub name: String,
}

impl SourceItem {
    /// Creates an item.
    pub(crate) fn new(place: SourceLocation, name: impl Into<String>) -> Self {
        let name = name.into();
        Self { place, name }
    }
}

/// A note that becomes an entry.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    /// The item that the note comes from.
    pub(crate) item: SourceItem,
    /// Further items that are part of the note.
    pub(crate) parts: Vec<SourceItem>,
    /// The entry to import.
    pub(crate) piece: ImportItem,
    /// The single statements of the note, if the source separates them.
    pub(crate) statements: Vec<String>,
}

impl Note {
    /// Returns a note that is one item, without separate statements.
    pub(crate) fn new(item: SourceItem, piece: ImportItem) -> Self {
        Self { item, parts: Vec::new(), piece, statements: Vec::new() }
    }
}

/// A dated record that goes into the journal.
#[derive(Clone, Debug)]
pub(crate) struct DatedItem {
    /// The item that the record comes from.
    pub(crate) item: SourceItem,
    /// The record.
    pub(crate) record: DatedRecord,
}

/// An item that is left out.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOutItem {
    /// The item.
    #[serde(flatten)]
    pub item: SourceItem,
    /// The reason.
    pub reason: String,
}

/// The content of a source.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImportSource {
    /// Notes for the entries, in source order.
    pub(crate) notes: Vec<Note>,
    /// Records for the journal, in source order.
    pub(crate) dated_items: Vec<DatedItem>,
    /// Items that are left out.
    pub(crate) skipped: Vec<LeftOutItem>,
    /// Warnings about items that were not understood.
    pub(crate) unknown: Vec<Warning>,
}

impl ImportSource {
    /// Fails if the source has too many notes; with `as_facts`, if it has too many statements.
    pub(crate) fn check_size(&self, path: &Path, as_facts: bool) -> Result<()> {
        let (count, counted) = if as_facts {
            let statements = self.notes.iter().map(|note| note.statements.len());
            (statements.sum(), "statements")
        } else {
            (self.notes.len(), "notes")
        };
        if count <= MAX_NOTES {
            return Ok(());
        }
        let message = format!("contains more than {MAX_NOTES} {counted}");
        Err(Error::failed(message).at(path, None).hint("split it, and import the parts one by one"))
    }

    /// Leaves an item out.
    pub(crate) fn skip(&mut self, item: SourceItem, reason: impl Into<String>) {
        let reason = reason.into();
        self.skipped.push(LeftOutItem { item, reason });
    }
}

/// Returns a title: a single line without control characters, of limited length; `otherwise` if it would be
/// empty.
pub(crate) fn title(text: &str, otherwise: &str) -> String {
    let line = |text: &str| {
        let line = text::one_line(&text::strip_controls(text));
        text::clip(line.trim_start_matches(['#', ' ']), MAX_TITLE_CHARS).into_owned()
    };
    [line(text), line(otherwise)]
        .into_iter()
        .find(|line| !line.is_empty())
        .unwrap_or_else(|| "Untitled".to_owned())
}
