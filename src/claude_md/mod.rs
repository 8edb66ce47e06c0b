//! Generates the block of the context files without changing the user's text.

mod block;
mod content;
mod decisions;
mod ownership;
mod regenerate;

pub(crate) use content::MAX_PATTERNS;
pub use content::{Content, Limits, MemoryPart, Pattern, ShrinkStep};
pub use decisions::{DecisionFile, DecisionList};
pub(crate) use decisions::{
    MAX_DECISIONS, decision_statement, lists as decision_lists, ranked, select,
};
pub use ownership::Recorded;
pub use regenerate::{
    ContextFileOutcome, Regenerated, RegeneratedFile, default_targets, regenerate, with_block,
    with_memory,
};
