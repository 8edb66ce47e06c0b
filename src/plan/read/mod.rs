//! Parses the files of a planning folder, regardless of which supported tool wrote them.

mod check;
mod count;
mod decision;
mod document;
mod file_name;
mod folder;
pub(crate) mod handoff;
pub(crate) mod heading;
mod identity;
mod json_lines;
pub(crate) mod list_entry;
mod located;
mod names;
mod number;
mod phase;
mod placeholder;
mod plan;
mod progress_table;
mod project_file;
mod requirement;
mod roadmap;
mod skills;
mod state;
mod status;
mod summary;
pub(crate) mod todo_file;
pub(crate) mod vocabulary;
mod workflow;

pub use check::{Check, CheckKind, CheckOutcome, Checks, TextOf};
pub(crate) use count::Count;
pub use decision::Decision;
pub use file_name::{FileKind, FileName};
pub use folder::{Archive, DEFAULT_MILESTONE, MilestoneFolder, PlanningFolder};
pub use handoff::Handoff;
pub use located::Located;
pub use number::{PhaseNumber, PhaseNumbering, PlanNumber};
pub use phase::{PhaseDir, PlanSlot};
pub use placeholder::{is_absent, non_placeholder};
pub(crate) use plan::is_dropped_plan;
pub use plan::{Plan, PlanTask, check_waves};
pub use progress_table::ProgressRow;
pub use project_file::ProjectFile;
pub(crate) use project_file::without_emphasis;
pub use requirement::Requirement;
pub use roadmap::{Roadmap, RoadmapMilestone, RoadmapPhase, RoadmapPlan};
pub(crate) use roadmap::{milestone_version, milestone_version_in};
pub use skills::installed_skills;
pub use state::{Claim, PhaseStatus, Says, Skill, StateFile, StatedPhase};
pub(crate) use state::{MAX_CLAIMS, phase_in_status};
pub use status::PhaseProgress;
pub(crate) use status::without_status;
pub use summary::{AcceptanceResult, Deviation, IssueNote, Summary, SummaryStatus, TaskCount};
pub use workflow::WorkflowSettings;

/// Maximum number of lines of one kind that are reported for a file.
const MAX_REPORTED: usize = 20;
