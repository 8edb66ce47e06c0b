//! Reads the planning folder of any supported tool and says where the work stands.

mod absent;
mod decision;
mod file_name;
mod number;
mod pairing;
mod state;

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
pub use state::Skill;
pub use state::StatedPhase;
