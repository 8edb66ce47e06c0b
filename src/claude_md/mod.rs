//! Generates the block of the context files without changing the user's text.

mod budget;
mod decisions;
mod edited;
mod generated;
mod marker;
mod ownership;
mod regenerate;
mod select;
mod targets;

pub use budget::{Content, Limits, PhaseLine, ShrinkStep, SkillLine};
pub use decisions::{DecisionFile, DecisionList};
pub(crate) use decisions::{decision_statement, newest_first};
pub use regenerate::{
    ContextFileOutcome, RefusedContextFile, Regenerated, RegeneratedFile, regenerate,
};
pub(crate) use select::MAX_PATTERNS;
pub use select::{CurrentPhase, Pattern, Sources};
