//! Generates the block of the context files without changing the user's text.

mod block;
mod content;
mod decisions;
mod ownership;
mod regenerate;

pub(crate) use content::MAX_PATTERNS;
pub use content::{Content, Limits, MemoryPart, Pattern, ShrinkStep, Sources};
pub use decisions::{DecisionFile, DecisionList};
pub(crate) use decisions::{MAX_DECISIONS, decision_statement, select};
pub use regenerate::{
    ContextFileOutcome, RefusedContextFile, Regenerated, RegeneratedFile, regenerate, with_block,
    with_memory,
};
