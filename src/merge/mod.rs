//! Merges annals' own files entry by entry for git.
//!
//! Git merges by line, so two branches that each append an entry to the same file conflict. Here a file is
//! split into the units of its format (entries, bullets, lines, rows), and units added on both sides are both
//! kept. Different changes of the same unit conflict; the conflict is marked like git's, to be resolved by a person.

mod kind;
mod long;
mod rollup;
mod three_way;
mod unit;
mod versions;

pub use kind::MergeKind;
pub use three_way::Labels;
pub use versions::{MergeResult, Versions};

use crate::merge::kind::InsertPolicy;
use crate::merge::unit::MergeUnit;

/// Merges three versions of a file of the given kind.
pub fn merge(kind: MergeKind, versions: Versions<'_>, labels: &Labels) -> MergeResult {
    if kind == MergeKind::Index {
        return unit::merge_rows(versions);
    }
    if let Some(text) = versions.trivial_merge() {
        return MergeResult { text: text.to_owned(), conflicts: 0 };
    }
    let Versions { base, ours, theirs } = versions;
    if ![base, ours, theirs].iter().all(|text| kind.can_split(text)) {
        return long::merge(versions, labels);
    }
    let with_rollup = match kind {
        MergeKind::Decisions => rollup::with_merged_rollup(versions),
        _ => versions.ours.into(),
    };
    let split = |text| -> Vec<MergeUnit<'_>> {
        match kind {
            MergeKind::Patterns | MergeKind::Decisions => unit::split_by_heading(text),
            MergeKind::Constraints => unit::split_by_bullet(text),
            MergeKind::Lines | MergeKind::Index => unit::split_by_line(text),
            MergeKind::Context => unit::split_around_block(text),
        }
    };
    let (base, ours, theirs) = (split(versions.base), split(&with_rollup), split(versions.theirs));
    let inserts = match kind {
        MergeKind::Context => InsertPolicy::Conflict,
        _ => InsertPolicy::KeepBoth,
    };
    three_way::merge(&base, &ours, &theirs, inserts, labels)
}

#[cfg(test)]
mod tests;
