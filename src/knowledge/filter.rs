//! Selects entries by tag, type and status.

use crate::knowledge::{EntryType, words};

/// A filter for entries.
#[derive(Clone, Debug, Default)]
pub struct EntryFilter {
    /// Only entries with one of these tags; empty for all.
    pub tags: Vec<String>,
    /// Only entries of this type; `None` for all.
    pub kind: Option<EntryType>,
    /// Whether to include entries that are not active.
    pub include_superseded: bool,
}

impl EntryFilter {
    /// Returns whether an entry is selected.
    pub(crate) fn selects(
        &self,
        tags: &[String],
        kind: Option<EntryType>,
        is_active: bool,
    ) -> bool {
        let wanted = folded(&self.tags);
        let has_tag = || folded(tags).iter().any(|tag| wanted.contains(tag));
        (is_active || self.include_superseded)
            && (self.kind.is_none() || self.kind == kind)
            && (wanted.is_empty() || has_tag())
    }
}

/// Returns tags normalised for comparison.
pub(crate) fn folded(tags: &[String]) -> Vec<String> {
    let folded = |tag: &String| words::folded(tag).into_owned();
    tags.iter().map(folded).collect()
}
