//! Parses the files of a planning folder, regardless of which supported tool wrote them.

mod check;
mod decision;
pub(crate) mod document;
mod folder;
mod line;
mod milestone_list;
pub(crate) mod notes;
mod number;
mod phase_dir;
mod plan;
mod project;
mod roadmap;
mod state;
mod summary;
pub(crate) mod vocabulary;

pub(crate) use check::checks;
pub use check::{Check, CheckKind, CheckOutcome};
pub use decision::Decision;
pub(crate) use folder::folders;
pub use folder::{Archive, DEFAULT_MILESTONE, MilestoneFolder, PlanningFolder};
pub(crate) use line::Count;
pub use line::Located;
pub(crate) use milestone_list::ShippedLine;
pub use notes::{Handoff, WorkflowSettings};
pub use number::{PhaseNumber, PhaseNumbering, PlanNumber};
pub use phase_dir::{FileKind, FileName, PhaseDir, PlanSlot};
pub(crate) use phase_dir::{PlanFile, settings};
pub use plan::{Plan, PlanTask, check_waves};
pub(crate) use project::without_emphasis;
pub use project::{ProjectFile, Requirement, installed_skills};
pub use roadmap::{ProgressRow, Roadmap, RoadmapMilestone, RoadmapPhase, RoadmapPlan};
pub(crate) use roadmap::{
    milestone_in_heading, milestone_version, milestone_version_in, version_parts,
};
pub use state::{Claim, Says, Skill, StateFile, StatedPhase};
pub(crate) use state::{MAX_CLAIMS, is_settled};
pub use summary::{AcceptanceResult, Deviation, Note, NoteKind, PlanState, Summary, TaskCount};
pub use vocabulary::PhaseProgress;
pub(crate) use vocabulary::without_status;

/// Maximum number of lines of one kind that are reported for a file.
const MAX_REPORTED: usize = 20;
