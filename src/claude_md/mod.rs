//! Generates the block of the context files without changing the user's text.

mod budget;
mod conflict;
mod content;
mod decisions;
mod earlier_versions;
mod edited;
mod legacy;
mod legacy_body;
mod marker;
mod ownership;
mod readable;
mod regenerate;
mod select;
mod sentences;
mod span;
mod targets;

pub use budget::Excess;
pub use budget::Limits;
pub use budget::ShrinkStep;
pub use content::Content;
pub use content::PhaseLine;
pub use content::SkillLine;
pub use decisions::DecisionList;
pub(crate) use decisions::newest_first;
pub use legacy_body::RecordedContent;
pub use ownership::ContextFile;
pub use ownership::UpdatedContextFile;
pub use regenerate::ContextFileOutcome;
pub use regenerate::RefusedContextFile;
pub use regenerate::Regenerated;
pub use regenerate::RegeneratedFile;
pub use regenerate::regenerate;
pub use select::CurrentPhase;
pub use select::Pattern;
pub use select::Sources;
pub(crate) use select::decision_statement;
