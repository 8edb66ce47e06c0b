//! Generates the block of the context files without changing the user's text.

mod budget;
mod conflict;
mod content;
mod decisions;
mod edited;
mod legacy;
mod legacy_body;
mod marker;
mod ownership;
mod past;
mod readable;
mod regenerate;
mod select;
mod sentence_set;
mod span;
mod targets;

pub use budget::Excess;
pub use budget::Limits;
pub use budget::Rung;
pub use content::Content;
pub use content::PhaseLine;
pub use content::SkillLine;
pub use decisions::DecisionList;
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
