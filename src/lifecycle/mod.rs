//! Implements the commands of the planning workflow.

mod example;
mod execute;
mod init;
mod inspect;
mod milestone;
mod outcome;
mod pause;
mod plan;
mod ship;
mod sync;

pub use example::{example_files, finish_example, write_example};
pub use execute::{ExecuteReport, ExecuteRequest, LessonBrief, digest, execute};
pub use init::{InitDefaults, InitReport, InitRequest, init, init_defaults};
pub use inspect::{Inspected, Model, inspect};
pub use milestone::{
    ListedMilestone, MilestoneReport, MilestoneState, milestones, new_milestone, switch_milestone,
};
pub use outcome::{CommandOutcome, UndoReport, undo};
pub(crate) use pause::current_notes;
pub use pause::{PauseReport, ResumeProgress, ResumeReport, pause, resume};
pub use plan::{
    CarefulFile, Dependency, DeviationRate, InsightBrief, PhaseBrief, PhaseShape, PlanBrief, plan,
};
pub use ship::{Archived, PlanTotals, ShipReport, ShipRequest, ship};
pub use sync::{Preview, SyncReport, SyncRequest, fix_state, preview, sync};
