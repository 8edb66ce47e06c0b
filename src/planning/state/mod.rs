//! STATE.md: where the work stands, as its agents last wrote it.

use chrono::NaiveDate;
use serde::Serialize;

use crate::planning::Decision;
use crate::planning::PhaseNumber;
use crate::planning::Stated;

/// A skill named in the Skills section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// `global` or `project`, where it says.
    pub scope: Option<String>,
}

/// The position as STATE.md states it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StatedPhase {
    /// The current phase.
    pub number: Option<PhaseNumber>,
    /// How many phases there are.
    pub total: Option<u32>,
    /// The current phase's name.
    pub name: Option<String>,
    /// The status, verbatim.
    pub status: Option<String>,
    /// The progress in percent.
    pub progress_percent: Option<u32>,
}

/// One thing that STATE.md says about the position; the same may be said in several places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The current phase's number.
    Phase(PhaseNumber),
    /// The current phase's name.
    Name(String),
    /// How many phases there are.
    Total(u32),
    /// How many phases are complete.
    PhasesComplete(u32),
    /// The status.
    Status(String),
    /// The progress in percent; the bytes are the digits.
    Percent(u32),
    /// A drawn progress bar, brackets included: it goes with the percent.
    Bar(String),
    /// The plan that is being worked on.
    CurrentPlan(u32),
    /// How many plans of the current phase are complete.
    PlansComplete(u32),
    /// How many plans the current phase has.
    PlansTotal(u32),
    /// How many plans of the milestone are complete.
    AllPlansComplete(u32),
    /// How many plans the milestone has.
    AllPlansTotal(u32),
}

/// What STATE.md's list or table of phases says about one phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseStatus {
    /// The phase.
    pub number: PhaseNumber,
    /// Its name, where it stands there.
    pub name: Option<String>,
    /// The status, verbatim.
    pub status: Stated<String>,
}

/// An entry of the activity log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// When, where it says.
    pub date: Option<NaiveDate>,
    /// What happened, verbatim, date included.
    pub text: String,
}

/// How the last session ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// Where it stopped.
    pub stopped_at: Option<String>,
    /// The last activity.
    pub last_activity: Option<String>,
    /// The file to resume from.
    pub resume_file: Option<String>,
}

/// STATE.md as read.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct State {
    /// The project's name.
    pub project: Option<String>,
    /// What the project is for, above all.
    pub core_value: Option<String>,
    /// The milestone, verbatim.
    pub milestone: Option<String>,
    /// The position.
    pub phase: StatedPhase,
    /// The decisions, in file order.
    pub decisions: Vec<Decision>,
    /// The open todos.
    pub todos: Vec<String>,
    /// The open blockers.
    pub blockers: Vec<String>,
    /// The installed skills.
    pub skills: Vec<Skill>,
    /// The todos that are ticked off.
    #[serde(skip)]
    pub done_todos: Vec<String>,
    /// The blockers that are struck through or called resolved.
    #[serde(skip)]
    pub resolved_blockers: Vec<String>,
    /// The skills that are suggested, not installed.
    #[serde(skip)]
    pub suggested_skills: Vec<Skill>,
    /// Every statement about the position, in file order.
    #[serde(skip)]
    pub claims: Vec<Stated<Claim>>,
    /// The phases that are listed with their status, in file order.
    #[serde(skip)]
    pub phase_statuses: Vec<PhaseStatus>,
    /// The slug of the active milestone, where STATE.md names it.
    #[serde(skip)]
    pub active_milestone: Option<String>,
    /// Whether STATE.md says that no milestone is active: the last one is complete, the next not begun.
    #[serde(skip)]
    pub is_between_milestones: bool,
    /// The metrics as label and value.
    #[serde(skip)]
    pub metrics: Vec<(String, String)>,
    /// The activity log, in file order.
    #[serde(skip)]
    pub activity: Vec<Activity>,
    /// How the last session ended.
    #[serde(skip)]
    pub session: Session,
}
