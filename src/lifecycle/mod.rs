//! Implements the commands of the planning workflow.

mod archive;
mod carried;
mod codebase;
mod digest;
mod example;
mod execute;
mod init;
mod inspect;
mod milestone;
mod outcome;
mod pause;
mod plan;
mod refresh;
mod ship;
mod shipped;
mod sync;
mod undo;

pub use archive::Archived;
pub use digest::{LessonBrief, digest};
pub use example::{example_files, finish_example, write_example};
pub use execute::{ExecuteReport, ExecuteRequest, execute};
pub use init::{InitDefaults, InitReport, InitRequest, init, init_defaults};
pub use inspect::{Inspected, Model, inspect};
pub use milestone::{
    ListedMilestone, MilestoneReport, MilestoneState, milestones, new_milestone, switch_milestone,
};
pub use outcome::{CommandOutcome, ContextFiles};
pub(crate) use pause::current_notes;
pub use pause::{PauseReport, ResumeProgress, ResumeReport, pause, resume};
pub use plan::{
    CarefulFile, Dependency, DeviationRate, InsightBrief, PhaseBrief, PhaseShape, PlanBrief, plan,
};
pub use refresh::{Shipped, SyncRequest};
pub(crate) use refresh::{current_blockers, decision_lists, is_closed};
pub use ship::{ShipReport, ShipRequest, ship};
pub use sync::{Preview, SyncReport, fix_state, preview, sync};
pub use undo::{UndoReport, undo};
