//! Reads the planning folder of any supported tool and says where the work stands.

mod absent;
mod decision;
mod number;
mod state;

pub use absent::is_absent;
pub use absent::present;
pub use decision::Decision;
pub use number::PhaseNumber;
pub use number::PlanNumber;
pub use state::Skill;
pub use state::StatedPhase;
