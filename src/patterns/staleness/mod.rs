//! Finds recorded patterns about files that no longer exist or a structure that has changed.
//!
//! Each path that a text mentions is looked up in the tree; a missing one is traced through history to its
//! current location, or to the commit that removed it. A path removed by the text's own commit is missing as
//! well, unless the text reports the removal. Then the tree of the text's commit is compared with the current
//! one. A path is only reported as gone if history shows that it existed, because many words look like paths.

mod check;
mod dependencies;
mod listing;
mod missing_paths;
mod recorded;
mod removal;
mod report;
mod structure;
mod tree;
mod tree_history;

pub use check::DatedText;
pub use report::{Freshness, PathReport, PathStatus, Staleness};
pub use structure::{CommitRef, Structure};

#[cfg(test)]
mod tests;
