//! Reports the outcome for every item of a source.

use std::path::PathBuf;

use serde::Serialize;

use crate::exchange::Format;
use crate::exchange::source::{ImportSource, LeftOutItem, Note, SourceItem};
use crate::project::Project;
use crate::secrets;
use crate::warning::Warning;

/// The stores that items are imported into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ImportDestination {
    /// Notes become entries, and dated observations become records of the journal.
    #[default]
    Memory,
    /// Single statements become facts of one user.
    Facts,
}

/// The report of an import. It is the document of `annals import --json`.
#[derive(Clone, Debug, Serialize)]
pub struct ImportReport {
    /// The format of the source.
    pub format: Format,
    /// The file or folder that was read.
    pub from: PathBuf,
    /// The target of the items.
    pub target: ImportDestination,
    /// The number of items per outcome.
    pub counts: ItemCounts,
    /// Items that were imported.
    pub imported: Vec<ImportedItem>,
    /// Items that were already in the stores.
    pub known: Vec<ImportedItem>,
    /// Items that were left out.
    pub skipped: Vec<LeftOutItem>,
    /// Items that were not understood.
    pub not_understood: Vec<Warning>,
    /// On a dry run, the changes that would be made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Warnings about our own files.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// The number of items per outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ItemCounts {
    /// New.
    pub imported: usize,
    /// Already in a store.
    pub known: usize,
    /// Left out.
    pub skipped: usize,
    /// Not understood.
    pub not_understood: usize,
}

/// An item that is in a store, new or already known.
#[derive(Clone, Debug, Serialize)]
pub struct ImportedItem {
    /// The item.
    #[serde(flatten)]
    pub item: SourceItem,
    /// The result: an entry with its key, a record of the journal, or a fact.
    pub becomes: String,
}

impl ImportReport {
    /// Creates the report of a source before its items are imported.
    pub(crate) fn new(
        format: Format,
        from: PathBuf,
        target: ImportDestination,
        source: &mut ImportSource,
    ) -> Self {
        Self {
            format,
            from,
            target,
            counts: ItemCounts::default(),
            imported: Vec::new(),
            known: Vec::new(),
            skipped: std::mem::take(&mut source.skipped),
            not_understood: std::mem::take(&mut source.unknown),
            diff: None,
            warnings: Vec::new(),
        }
    }

    /// Records that an item was left out.
    pub(crate) fn skip_item(&mut self, item: SourceItem, reason: impl Into<String>) {
        let reason = reason.into();
        self.skipped.push(LeftOutItem { item, reason });
    }

    /// Records what an item became, and whether that is new.
    pub(crate) fn record_imported(&mut self, item: SourceItem, becomes: &str, is_new: bool) {
        let list = if is_new { &mut self.imported } else { &mut self.known };
        let becomes = becomes.to_owned();
        list.push(ImportedItem { item, becomes });
    }

    /// Appends to the diff.
    pub(crate) fn show(&mut self, diff: Option<String>) {
        if let Some(diff) = diff {
            self.diff.get_or_insert_default().push_str(&diff);
        }
    }

    /// Sorts the skipped items in source order, counts all items, and returns the report.
    ///
    /// Paths inside the project become relative to it.
    pub(crate) fn finish(mut self, project: &Project) -> Self {
        self.not_understood = project.named(self.not_understood);
        let taken = self.imported.iter_mut().chain(&mut self.known);
        let left = self.skipped.iter_mut().map(|one| &mut one.item);
        for item in taken.map(|one| &mut one.item).chain(left) {
            item.place.file = project.relative(&item.place.file).to_owned();
        }
        self.skipped.sort_by(|a, b| a.item.place.cmp(&b.item.place));
        self.counts = ItemCounts {
            imported: self.imported.len(),
            known: self.known.len(),
            skipped: self.skipped.len(),
            not_understood: self.not_understood.len(),
        };
        self
    }
}

/// Leaves out a note with all its parts.
pub(crate) fn skip_note(note: Note, reason: &str, report: &mut ImportReport) {
    let items = [note.item].into_iter().chain(note.parts);
    items.for_each(|item: SourceItem| report.skip_item(item, reason));
}

/// Returns the reason for leaving out an item if one of its texts contains a secret.
pub(crate) fn secret(texts: &[&str]) -> Option<String> {
    let mut texts = texts.iter();
    texts.find_map(|text| secrets::first_rule(text)).map(refusal)
}

/// Returns the reason for leaving out an item in which a rule finds a secret.
pub(crate) fn refusal(rule: &str) -> String {
    format!("refused: contains what looks like a secret ({rule}); --allow-secret imports it")
}
