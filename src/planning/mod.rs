//! Reads the planning folder of any supported tool and says where the work stands.

mod absent;
mod decision;
mod heading;
mod number;
mod progress_table;
mod project_file;
mod roadmap;
mod state;
mod stated;
mod status;

pub use absent::is_absent;
pub use absent::present;
pub use decision::Decision;
pub use number::PhaseNumber;
pub use number::PlanNumber;
pub use progress_table::ProgressRow;
pub use project_file::ProjectFile;
pub use project_file::Requirements;
pub use roadmap::Roadmap;
pub use roadmap::RoadmapMilestone;
pub use roadmap::RoadmapPhase;
pub use roadmap::RoadmapPlan;
pub use state::Activity;
pub use state::Claim;
pub use state::PhaseStatus;
pub use state::Session;
pub use state::Skill;
pub use state::State;
pub use state::StatedPhase;
pub use stated::Stated;
pub use status::PhaseProgress;
