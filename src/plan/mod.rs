//! Reads a planning folder once and determines where the work stands and what comes next.
//!
//! `read` parses the files, whichever supported tool wrote them. [`Survey`] reads a folder once, `weighing`
//! determines the position, `drift` and `inconsistency` find errors in the documents, `repair` corrects STATE.md
//! and ROADMAP.md, and [`StatusReport`] is the output of `annals status`.

mod blockers;
mod conflict;
mod drift;
mod folder_name;
mod inconsistency;
mod metrics;
mod milestone;
mod phase;
pub(crate) mod read;
mod repair;
mod status_report;
mod survey;
mod weighing;

pub(crate) use blockers::open_blockers;
pub use drift::{Drift, DriftKind, drift};
pub(crate) use folder_name::{letters, name_of_past_phase};
pub use inconsistency::inconsistencies;
pub use metrics::{Metric, metrics};
pub use milestone::MilestoneStatus;
pub(crate) use phase::roadmap_phase;
pub use phase::{Phase, PhaseState, PlanState, phases};
pub use read::{
    AcceptanceResult, Activity, Archive, Check, CheckFiles, CheckKind, CheckOutcome, Checks, Claim,
    DEFAULT_MILESTONE, Decision, Deviation, FileKind, FileName, Handoff, IssueNote, Located,
    MilestoneFolder, MustHaves, PairedPlans, PhaseDir, PhaseNumber, PhaseNumbering, PhaseProgress,
    PhaseStatus, Plan, PlanNumber, PlanSlot, PlanTask, PlanningFolder, ProgressRow, ProjectFile,
    Requirement, Requirements, Roadmap, RoadmapMilestone, RoadmapPhase, RoadmapPlan, Skill,
    StateFile, StatedPhase, Summary, SummaryStatus, TaskCount, TextOf, WorkflowSettings, WrittenAt,
    check_overlap, check_waves, installed_skills, is_absent, non_placeholder,
};
pub(crate) use read::{
    Count, MAX_CLAIMS, handoff, is_dropped_plan, is_status, list_entry, milestone_version,
    milestone_version_in, ratio, todo_file, without_emphasis, without_status,
};
pub use repair::{Correction, Repair, repair};
pub(crate) use status_report::status_words;
pub use status_report::{
    AlternativeStatus, NextStatus, PausedWork, PhaseReport, PhaseSource, PlanCounts, StatusReport,
};
pub use survey::{ReadText, Survey};
pub use weighing::{Action, Alternative, Evidence, Next, Position};
