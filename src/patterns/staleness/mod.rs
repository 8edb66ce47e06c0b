//! Tells which recorded patterns speak of what is no longer there.
//!
//! Each path that a text names is looked for in the tree; one that is missing is followed through
//! history to where it is now, or to the commit that removed it. A path that the text's own commit removed
//! is missing, too, but where the text tells of the removal. Then the tree of the text's commit is
//! compared with today's. Nothing is called gone that history does not show to have been there: words
//! that look like paths are many.

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
pub use report::Freshness;
pub use report::PathReport;
pub use report::PathStatus;
pub use report::Staleness;
pub use structure::Since;
pub use structure::Structure;
pub use tree::Tree;

#[cfg(test)]
mod tests;
