//! Reads the planning folder of any supported tool and says where the work stands.

mod absent;
mod decision;
mod file_name;
mod number;
mod pairing;
mod project_file;
mod roadmap;
mod state;
mod stated;

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
pub use project_file::ProjectFile;
pub use project_file::Requirements;
pub use roadmap::PhaseProgress;
pub use roadmap::ProgressRow;
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
