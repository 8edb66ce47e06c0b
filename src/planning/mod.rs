//! Reads the planning folder of any supported tool and says where the work stands.

mod absent;
mod decision;
mod document;
mod file_name;
mod identity;
mod json_lines;
mod number;
mod pairing;
mod plan;
mod state;
mod summary;

pub use absent::is_absent;
pub use absent::present;
pub use decision::Decision;
pub use file_name::FileKind;
pub use file_name::FileName;
pub use number::PhaseNumber;
pub use number::PlanNumber;
pub use pairing::Paired;
pub use pairing::PlanSlot;
pub use pairing::pair;
pub use plan::MustHaves;
pub use plan::Plan;
pub use plan::PlanTask;
pub use plan::check_waves;
pub use state::Skill;
pub use state::StatedPhase;
pub use summary::AcceptanceResult;
pub use summary::Deviation;
pub use summary::Summary;
pub use summary::SummaryStatus;
pub use summary::TaskCount;
