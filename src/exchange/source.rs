//! What a reader found in another memory.

use crate::journal::DatedRecord;
use crate::knowledge::Adoption;
use crate::text;
use crate::warning::SourceLocation;
use crate::warning::Warning;

/// The longest title, in characters.
const MAX_TITLE_CHARS: usize = 100;

/// One thing that the source holds: what the account names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceItem {
    /// Its position.
    pub(crate) place: SourceLocation,
    /// What the source calls it.
    pub(crate) name: String,
}

impl SourceItem {
    /// Returns an item of this place.
    pub(crate) fn new(place: SourceLocation, name: impl Into<String>) -> Self {
        let name = name.into();
        Self { place, name }
    }
}

/// A piece for the entries.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    /// The item it is.
    pub(crate) item: SourceItem,
    /// Further items that go with it.
    pub(crate) parts: Vec<SourceItem>,
    /// The piece.
    pub(crate) piece: Adoption,
    /// The single statements that it consists of, where the source tells them apart.
    pub(crate) statements: Vec<String>,
}

/// A record for the journal.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    /// The item it is.
    pub(crate) item: SourceItem,
    /// The record.
    pub(crate) record: DatedRecord,
}

/// An item that is left out, and why.
#[derive(Clone, Debug)]
pub(crate) struct Skip {
    /// The item.
    pub(crate) item: SourceItem,
    /// Why.
    pub(crate) reason: String,
}

/// All that a source holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImportSource {
    /// For the entries, in the source's order.
    pub(crate) notes: Vec<Note>,
    /// For the journal, in the source's order.
    pub(crate) moments: Vec<Moment>,
    /// What is left out.
    pub(crate) skips: Vec<Skip>,
    /// What was not understood.
    pub(crate) unknown: Vec<Warning>,
}

impl ImportSource {
    /// Leaves an item out.
    pub(crate) fn skip(&mut self, item: SourceItem, reason: impl Into<String>) {
        let reason = reason.into();
        self.skips.push(Skip { item, reason });
    }
}

/// Returns a title: one line without controls, of bounded length; `otherwise` where nothing is left.
pub(crate) fn title(text: &str, otherwise: &str) -> String {
    let line = |text: &str| {
        let words = text::strip_controls(text);
        let words: Vec<&str> = words.split_whitespace().collect();
        text::clip(
            words.join(" ").trim_start_matches(['#', ' ']),
            MAX_TITLE_CHARS,
        )
        .into_owned()
    };
    [line(text), line(otherwise)]
        .into_iter()
        .find(|line| !line.is_empty())
        .unwrap_or_else(|| "Untitled".to_owned())
}
