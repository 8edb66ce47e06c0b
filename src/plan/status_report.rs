//! Builds the report of `annals status`: the position and the next action.

use std::path::PathBuf;

use chrono::NaiveDate;
use serde::Serialize;

use crate::plan::{
    Action, Decision, Drift, MilestoneStatus, Phase, PhaseNumber, PhaseState, PlanState, Position,
    Skill, StatedPhase, Survey, drift, inconsistencies, metrics, open_blockers, repair,
    roadmap_phase,
};
use crate::project::{Commands, Layout, LayoutName, Project};
use crate::storage::read;
use crate::text::{clip, quantity};
use crate::warning::Warning;

/// The position and the next action; the JSON document of `annals status --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatusReport {
    /// The project's name.
    pub project: String,
    /// The main purpose of the project.
    pub core_value: Option<String>,
    /// The layout of the planning folder.
    pub layout: LayoutName,
    /// The planning folder, relative to the project if inside it.
    pub planning_dir: PathBuf,
    /// The active milestone, and the archived ones.
    pub milestone: MilestoneStatus,
    /// The current phase according to STATE.md, or derived from the files if STATE.md states no position.
    pub phase: PhaseReport,
    /// The current phase derived from the files.
    pub derived: PhaseReport,
    /// The numbers of plans of the active milestone.
    pub plans: PlanCounts,
    /// STATE.md's decisions, in file order.
    pub decisions: Vec<Decision>,
    /// The open todos.
    pub todos: Vec<String>,
    /// The open blockers; those noted for a phase that is complete say so and come last.
    pub blockers: Vec<String>,
    /// The installed skills.
    pub skills: Vec<Skill>,
    /// The next action.
    pub next: NextStatus,
    /// Where the planning tool says that paused work is to be resumed; left out if it says nothing, or if the work has
    /// gone on since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<PausedWork>,
    /// Statements of STATE.md and ROADMAP.md that contradict the files.
    pub drift: Vec<Drift>,
    /// Gaps, duplicates and disagreements in the planning documents.
    pub findings: Vec<Warning>,
    /// Problems while reading the files.
    pub warnings: Vec<Warning>,
}

/// The current phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseReport {
    /// The phase number.
    pub number: Option<PhaseNumber>,
    /// Number of phases.
    pub total: Option<u32>,
    /// The name.
    pub name: Option<String>,
    /// The status, verbatim if stated.
    pub status: Option<String>,
    /// The progress in percent.
    pub progress_percent: Option<u32>,
    /// The goal according to the roadmap.
    pub goal: Option<String>,
    /// Where it is from.
    pub source: PhaseSource,
}

/// The origin of the current phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseSource {
    /// STATE.md states it.
    State,
    /// It is derived from the files.
    Files,
}

/// Numbers of plans, by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlanCounts {
    /// Number of all plans.
    pub total: usize,
    /// Number of plans with a summary that calls them neither partial nor failed.
    pub complete: usize,
    /// Number of plans with a summary that calls them partial.
    pub partial: usize,
    /// Number of plans with a summary that calls them failed.
    pub failed: usize,
    /// Number of phases that have no plans yet.
    pub unplanned_phases: usize,
}

/// Where paused work is to be resumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PausedWork {
    /// The file that says so, relative to the project.
    pub file: PathBuf,
    /// The day when it was written.
    pub written: NaiveDate,
    /// The first thing to do, in its words.
    pub next_action: String,
}

impl PausedWork {
    /// Returns where the planning tool left off, if it says so.
    pub(crate) fn from_survey(project: &Project, survey: &Survey) -> Option<Self> {
        let handoff = survey.handoff.as_ref()?;
        Some(Self {
            file: project.relative(&handoff.file).to_owned(),
            written: handoff.written.day,
            next_action: handoff.next_action.clone(),
        })
    }

    /// Returns a line about it, with the next action clipped.
    pub fn line(&self) -> String {
        let (file, next) = (self.file.display(), clip(&self.next_action, MAX_NEXT_ACTION_LENGTH));
        format!("{file} ({}): {next}", self.written)
    }
}

/// Maximum length of the first thing to do in a line, in characters.
const MAX_NEXT_ACTION_LENGTH: usize = 240;

/// The next action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NextStatus {
    /// The action.
    pub action: Action,
    /// The phase; null for `ship` and `none`.
    pub phase: Option<PhaseNumber>,
    /// The workflow command for the action.
    pub command: String,
    /// Whether another interpretation of the files is almost as likely.
    pub conflict: bool,
    /// The next action of that interpretation; null if there is none.
    pub alternative: Option<AlternativeStatus>,
    /// The evidence; in a conflict, that of both interpretations.
    pub because: Vec<String>,
}

/// The next action of another interpretation of the files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AlternativeStatus {
    /// The action.
    pub action: Action,
    /// The phase; null for `ship` and `none`.
    pub phase: Option<PhaseNumber>,
    /// The workflow command for the action.
    pub command: String,
    /// The evidence for it.
    pub because: Vec<String>,
}

impl StatusReport {
    /// Builds the report of a project.
    pub fn from_survey(project: &Project, survey: &Survey) -> Self {
        let planning = project.planning_place();
        let position = &survey.position;
        let derived = derived(position);
        Self {
            project: survey.name(project),
            core_value: survey.core_value().map(str::to_owned),
            layout: planning.layout.name,
            planning_dir: project.relative(&planning.dir).to_owned(),
            milestone: MilestoneStatus::from_survey(project, survey),
            phase: stated(survey, &derived),
            derived,
            plans: PlanCounts::count(position),
            decisions: survey.state.decisions.clone(),
            todos: survey.todos.clone(),
            blockers: open_blockers(survey, usize::MAX),
            skills: survey.state.skills.clone(),
            next: NextStatus::from_position(position, &planning.layout),
            paused: PausedWork::from_survey(project, survey),
            drift: drift(&survey.evidence(project), position),
            findings: project.named(inconsistencies(survey)),
            warnings: survey.warnings.clone(),
        }
    }

    /// Adds the performance metrics of STATE.md that the summaries contradict, for which all summaries are read; if one
    /// cannot be read, `warnings` says so, and the metrics are not compared.
    pub fn add_metric_drift(&mut self, project: &Project, survey: &Survey) {
        let Ok(metrics) = metrics(project, survey, &read::text) else {
            return;
        };
        let left = self.drift.iter().position(Drift::is_left_plan);
        let end = left.unwrap_or(self.drift.len());
        let metrics = metrics.into_iter().map(|metric| metric.drift);
        self.drift.splice(end..end, metrics);
    }

    /// Returns what STATE.md says about the current phase in free text, if it is about that phase.
    pub fn stated_remark(&self) -> Option<&str> {
        let is_same =
            self.phase.source == PhaseSource::State && self.phase.number == self.derived.number;
        let status = self.phase.status.as_deref().filter(|_| is_same)?;
        (!repair::is_plain_status(status)).then_some(status)
    }
}

impl PlanCounts {
    fn count(position: &Position) -> Self {
        let with_plans = || position.kept().filter(|phase| !phase.is_only_summarised());
        let count = |state| with_plans().map(|phase| phase.count(state)).sum();
        Self {
            total: with_plans().map(Phase::plans_expected).sum(),
            complete: count(PlanState::Complete),
            partial: count(PlanState::Partial),
            failed: count(PlanState::Failed),
            unplanned_phases: position
                .members()
                .filter(|phase| phase.state == PhaseState::Unplanned)
                .count(),
        }
    }
}

impl NextStatus {
    /// Returns a sentence about the alternative; `None` if there is none.
    pub fn contest(&self) -> Option<String> {
        let rival = self.alternative.as_ref()?;
        let reason = rival.because.first().map_or("", String::as_str);
        let own = self.because.first().map(|own| format!(", but {own}"));
        // The command comes first, so that truncation does not remove it.
        Some(format!(
            "perhaps {} is next: {reason}{}. Check before you act.",
            rival.command,
            own.unwrap_or_default()
        ))
    }

    /// Returns the next action with the layout's commands.
    pub fn from_position(position: &Position, layout: &Layout) -> Self {
        let next = &position.next;
        let rival = next.alternative.as_ref();
        Self {
            action: next.action,
            phase: next.phase.clone(),
            command: command(layout, next.action, next.phase.as_ref()),
            conflict: rival.is_some(),
            alternative: rival.map(|rival| AlternativeStatus {
                action: rival.action,
                phase: rival.phase.clone(),
                command: command(layout, rival.action, rival.phase.as_ref()),
                because: rival.because.clone(),
            }),
            because: next
                .because
                .iter()
                .chain(rival.iter().flat_map(|rival| &rival.because))
                .cloned()
                .collect(),
        }
    }
}

/// Returns the layout's command for an action.
fn command(layout: &Layout, action: Action, phase: Option<&PhaseNumber>) -> String {
    let phase = phase.map(ToString::to_string).unwrap_or_default();
    match action {
        Action::Plan => layout.commands.plan(&phase),
        Action::Execute => layout.commands.execute(&phase),
        Action::Verify => Commands::with_phase(&layout.commands.verify, &phase),
        Action::Remediate => Commands::with_phase(&layout.commands.remediate, &phase),
        Action::Discuss => Commands::with_phase(&layout.commands.discuss, &phase),
        Action::Ship => layout.commands.ship.clone(),
        Action::None => layout.commands.new_milestone.clone(),
    }
}

fn derived(position: &Position) -> PhaseReport {
    let phase = position.phase();
    PhaseReport {
        number: phase.map(|phase| phase.number.clone()),
        total: u32::try_from(position.total())
            .ok()
            .filter(|total| *total > 0)
            // `9 of 16` would mislead where phases have higher numbers: numbering may continue across milestones.
            .filter(|total| phase.is_none_or(|phase| phase.number.ordinal() <= *total))
            .filter(|total| {
                let mut ordinals = position.kept().map(|phase| phase.number.ordinal());
                ordinals.all(|ordinal| ordinal <= *total)
            }),
        name: phase.and_then(|phase| phase.name.clone()),
        status: phase.map(status_words),
        progress_percent: phase.map(|_| position.percent()),
        goal: phase.and_then(|phase| phase.goal.clone()),
        source: PhaseSource::Files,
    }
}

/// Returns the state of a phase in words: `in progress, 1 of 3 plans`.
pub(crate) fn status_words(phase: &Phase) -> String {
    let (done, all) = (phase.count(PlanState::Complete), phase.plans.len());
    match phase.state {
        PhaseState::Done if phase.awaits_check => "plans complete, check open".to_owned(),
        PhaseState::Done => "complete".to_owned(),
        PhaseState::Unplanned => "not planned".to_owned(),
        PhaseState::Running => match phase.plans_expected() {
            expected if expected > all => format!("in progress, {done} of {expected} plans"),
            _ => format!("in progress, {}", quantity(done, "plan")),
        },
        PhaseState::Dropped => "dropped".to_owned(),
        PhaseState::Open if done == 0 && !phase.is_begun() => {
            format!("planned, {}", quantity(all, "plan"))
        }
        PhaseState::Open => format!("in progress, {done} of {all} plans"),
    }
}

fn stated(survey: &Survey, derived: &PhaseReport) -> PhaseReport {
    let StatedPhase { number, total, name, status, progress_percent } = survey.state.phase.clone();
    if number.is_none() && status.is_none() && progress_percent.is_none() {
        return derived.clone();
    }
    let planned = number.as_ref().and_then(|number| roadmap_phase(&survey.roadmap, number));
    let goal = planned.and_then(|phase| phase.goal.clone());
    PhaseReport { number, total, name, status, progress_percent, goal, source: PhaseSource::State }
}
