//! Generates the block of the context files without changing the user's text.

mod budget;
mod conflict;
mod content;
mod decision_list;
mod decisions;
mod earlier_versions;
mod edited;
mod legacy;
mod legacy_body;
mod marker;
mod ownership;
mod readable;
mod regenerate;
mod repetition;
mod select;
mod sentences;
mod span;
mod superseded;
mod targets;

pub use budget::{Excess, Limits, ShrinkStep};
pub use content::{Content, PhaseLine, SkillLine};
pub use decision_list::{DecisionFile, DecisionList};
pub(crate) use decisions::newest_first;
pub use legacy_body::RecordedContent;
pub use ownership::{ContextFile, UpdatedContextFile};
pub use regenerate::{
    ContextFileOutcome, RefusedContextFile, Regenerated, RegeneratedFile, regenerate,
};
pub(crate) use select::decision_statement;
pub use select::{CurrentPhase, Pattern, Sources};
