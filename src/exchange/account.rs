//! What became of everything that a source holds.

use std::path::PathBuf;

use serde::Serialize;

use crate::exchange::Format;
use crate::exchange::source::ImportSource;
use crate::exchange::source::Note;
use crate::exchange::source::SourceItem;
use crate::project::Project;
use crate::warning::SourceLocation;
use crate::warning::Warning;

/// Where the pieces go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ImportDestination {
    /// Notes become entries, dated observations records of the journal.
    #[default]
    Memory,
    /// Single statements become facts of one user.
    Facts,
}

/// The account of an import. It is the document of `annals import --json`.
#[derive(Clone, Debug, Serialize)]
pub struct Account {
    /// Whose memory it is.
    pub format: Format,
    /// What was read.
    pub from: PathBuf,
    /// Where its pieces go.
    pub target: ImportDestination,
    /// How many of each.
    pub counts: ItemCounts,
    /// What is new.
    pub imported: Vec<ImportedItem>,
    /// What was there already.
    pub known: Vec<ImportedItem>,
    /// What is left out.
    pub skipped: Vec<LeftOutItem>,
    /// What was not understood.
    pub not_understood: Vec<Warning>,
    /// On a dry run, what would change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// What was odd about our own files.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// How many items became what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ItemCounts {
    /// New.
    pub imported: usize,
    /// There already.
    pub known: usize,
    /// Left out.
    pub skipped: usize,
    /// Not understood.
    pub not_understood: usize,
}

/// An item that is in a store.
#[derive(Clone, Debug, Serialize)]
pub struct ImportedItem {
    /// Its position in the source.
    #[serde(flatten)]
    pub place: SourceLocation,
    /// What the source calls it.
    pub item: String,
    /// What it is here: an entry's key, a record of the journal, a fact.
    pub becomes: String,
}

/// An item that is left out.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOutItem {
    /// Its position in the source.
    #[serde(flatten)]
    pub place: SourceLocation,
    /// What the source calls it.
    pub item: String,
    /// Why it is left out.
    pub reason: String,
}

impl Account {
    /// Returns the account of a source before anything is done with its pieces.
    pub(crate) fn new(
        format: Format,
        from: PathBuf,
        target: ImportDestination,
        source: &mut ImportSource,
    ) -> Self {
        let mut account = Self {
            format,
            from,
            target,
            counts: ItemCounts::default(),
            imported: Vec::new(),
            known: Vec::new(),
            skipped: Vec::new(),
            not_understood: std::mem::take(&mut source.unknown),
            diff: None,
            warnings: Vec::new(),
        };
        for skip in source.skips.drain(..) {
            account.left(skip.item, skip.reason);
        }
        account
    }

    /// Says that an item is left out.
    pub(crate) fn left(&mut self, item: SourceItem, reason: impl Into<String>) {
        self.skipped.push(LeftOutItem {
            place: item.place,
            item: item.name,
            reason: reason.into(),
        });
    }

    /// Says what an item is here: new, or there already.
    pub(crate) fn record_imported(&mut self, item: SourceItem, becomes: &str, is_new: bool) {
        let taken = ImportedItem {
            place: item.place,
            item: item.name,
            becomes: becomes.to_owned(),
        };
        if is_new {
            self.imported.push(taken);
        } else {
            self.known.push(taken);
        }
    }

    /// Adds to what would change.
    pub(crate) fn show(&mut self, diff: Option<String>) {
        if let Some(diff) = diff {
            self.diff.get_or_insert_default().push_str(&diff);
        }
    }

    /// Puts everything into the order of the source, and counts it.
    ///
    /// Files inside the project are named relative to it.
    pub(crate) fn settle(mut self, project: &Project) -> Self {
        self.not_understood = project.named(self.not_understood);
        let taken = self.imported.iter_mut().chain(&mut self.known);
        let left = self.skipped.iter_mut().map(|one| &mut one.place);
        for place in taken.map(|one| &mut one.place).chain(left) {
            place.file = project.relative(&place.file).to_owned();
        }
        self.skipped.sort_by(|a, b| a.place.cmp(&b.place));
        self.counts = ItemCounts {
            imported: self.imported.len(),
            known: self.known.len(),
            skipped: self.skipped.len(),
            not_understood: self.not_understood.len(),
        };
        self
    }
}

/// Leaves a note out with all that goes with it.
pub(crate) fn left_out(note: Note, reason: &str, account: &mut Account) {
    let items = [note.item].into_iter().chain(note.parts);
    items.for_each(|item: SourceItem| account.left(item, reason));
}
