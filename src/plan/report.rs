//! The report of `annals status`: where the work stands, what comes next, and what the documents leave out.

use std::collections::BTreeSet;
use std::path::PathBuf;

use chrono::NaiveDate;
use serde::Serialize;

use crate::plan::{
    Action, DEFAULT_MILESTONE, Decision, Drift, Next, Phase, PhaseNumber, PhaseNumbering,
    PhaseState, PlanState, Position, Skill, StatedPhase, Survey, drift, is_plain_status, letters,
    metrics, roadmap_phase, without_status,
};
use crate::project::{LayoutName, Project, vocabulary};
use crate::storage::read;
use crate::text::{clip, quantity, strip_prefix_ignore_case};
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
    pub next: Next,
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
            blockers: open_blockers(survey),
            skills: survey.state.skills.clone(),
            next: position.next.clone(),
            paused: PausedWork::from_survey(project, survey),
            drift: drift(survey),
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
        (!is_plain_status(status)).then_some(status)
    }
}

impl PlanCounts {
    fn count(position: &Position) -> Self {
        let mut counts = Self::default();
        for phase in position.kept() {
            counts.unplanned_phases += usize::from(phase.state == PhaseState::Unplanned);
            if !phase.is_only_summarised() {
                counts.total += phase.plans_expected();
                counts.complete += phase.count(PlanState::Complete);
                counts.partial += phase.count(PlanState::Partial);
                counts.failed += phase.count(PlanState::Failed);
            }
        }
        counts
    }
}

fn derived(position: &Position) -> PhaseReport {
    let phase = position.phase();
    PhaseReport {
        number: phase.map(|phase| phase.number.clone()),
        // `4 of 5` would mislead where the fifth phase is 4: there are decimals, or numbering continues.
        total: u32::try_from(position.total())
            .ok()
            .filter(|total| *total > 0)
            .filter(|total| position.kept().all(|phase| phase.number.ordinal() <= *total))
            .filter(|total| position.kept().any(|phase| phase.number.ordinal() == *total)),
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

/// The active milestone, and the archived ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MilestoneStatus {
    /// The active milestone's slug.
    pub slug: String,
    /// The active milestone's name, according to STATE.md or the roadmap.
    pub name: Option<String>,
    /// Whether no milestone was chosen: the files are in the planning folder itself, or the tool that wrote them
    /// manages milestones without slugs.
    #[serde(skip)]
    pub is_implied: bool,
    /// Whether it has shipped, and no other was started.
    #[serde(rename = "shipped")]
    pub is_shipped: bool,
    /// The active milestone's title, if STATE.md's front matter has one in addition to a version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The slugs of archived milestones, sorted.
    pub archived: Vec<String>,
}

impl MilestoneStatus {
    /// Returns the milestones of a project.
    pub(crate) fn from_survey(project: &Project, survey: &Survey) -> Self {
        let folder = &survey.folder;
        let title = survey.state.milestone_name.clone();
        let is_stated = survey.milestone() == survey.state.milestone.as_deref();
        // STATE.md may say it itself: `Milestone: v1.0 MVP — SHIPPED 2026-02-23`.
        let is_called_shipped = survey.milestone().is_some_and(|name| {
            name[without_status(name).len()..].to_lowercase().contains("shipped")
        });
        let has_shipped = is_called_shipped
            || survey.has_shipped
            || survey.is_archived()
            || survey.is_listed_as_shipped();
        let archived = folder.archived.iter();
        Self {
            slug: folder.active.slug.clone(),
            name: survey.milestone().map(|name| without_status(name).to_owned()),
            is_implied: project.planning_place().layout.name.keeps_milestones()
                || folder.active.dir == folder.dir,
            is_shipped: survey.position.next.action == Action::None && has_shipped,
            title: title.filter(|_| is_stated),
            archived: archived.map(|archive| archive.slug.clone()).collect(),
        }
    }

    /// Returns the milestone's name, otherwise its slug, but not the `default` that stands for none; a shipped one
    /// is marked.
    pub fn display_name(&self) -> Option<String> {
        let is_meant = |name: &&String| !self.is_implied || *name != DEFAULT_MILESTONE;
        let name = self.name.as_ref().filter(is_meant);
        let name = name.or_else(|| Some(&self.slug).filter(is_meant))?;
        let title = self.title.as_ref();
        let title = title.filter(|title| !name.to_lowercase().contains(&title.to_lowercase()));
        let is_said = name.to_lowercase().contains("shipped");
        let shipped = if self.is_shipped && !is_said { " (shipped)" } else { "" };
        Some(match title {
            Some(title) => format!("{name} {title}{shipped}"),
            None => format!("{name}{shipped}"),
        })
    }
}

/// Returns the open blockers; those noted for a phase that is complete say so and come last.
fn open_blockers(survey: &Survey) -> Vec<String> {
    let is_complete = |number: &PhaseNumber| {
        let mut named = survey.position.phases.iter().filter(|phase| phase.number == *number);
        let is_over = |phase: &Phase| phase.state == PhaseState::Done && !phase.awaits_check;
        named.next().is_some_and(is_over) && named.all(is_over)
    };
    let (mut current, mut past) = (Vec::new(), Vec::new());
    for text in &survey.state.blockers {
        match phase_of(text, survey.state.numbering).filter(is_complete) {
            Some(number) => past.push(format!("{text} (phase {number} is complete)")),
            None => current.push(text.clone()),
        }
    }
    current.append(&mut past);
    current
}

/// Returns the phase that a blocker was noted for: `[Phase 2]: …`, `**Phase 2:** …`, `Phase 2 planning …`, but not that
/// of `Phase 2 crashes` or `[Phase 1-3]`.
fn phase_of(blocker: &str, numbering: PhaseNumbering) -> Option<PhaseNumber> {
    let text = blocker.trim_start_matches(['*', '_', '[', '(']);
    let (number, rest) = numbering.split(strip_prefix_ignore_case(text, "phase ")?)?;
    let rest = rest.trim_start_matches(['*', '_']);
    let is_planning = strip_prefix_ignore_case(rest, " planning")
        .is_some_and(|rest| rest.starts_with([' ', ':', ']', ')']));
    (is_planning || rest.starts_with([':', ']', ')'])).then_some(number)
}

/// Maximum distance between the first and last phase number; a larger one indicates years or ticket numbers.
const MAX_SPAN: u32 = 200;

/// Returns warnings about missing, duplicate and inconsistent entries of the planning documents.
pub fn inconsistencies(survey: &Survey) -> Vec<Warning> {
    let home = &survey.folder.active.dir;
    let [state, roadmap] = [vocabulary::STATE, vocabulary::ROADMAP].map(|name| home.join(name));
    let listed: BTreeSet<&PhaseNumber> =
        survey.roadmap.phases.iter().map(|entry| &entry.number).collect();
    let with_folder = survey.position.members().filter(|phase| phase.dir.is_some());
    let with_folder: Vec<&PhaseNumber> = with_folder.map(|phase| &phase.number).collect();
    let mut found = Vec::new();
    // Between milestones there is no roadmap, and no phase has a folder.
    for (path, is_there) in [(&state, survey.has_state), (&roadmap, survey.has_roadmap)] {
        if !is_there && !with_folder.is_empty() {
            found.push(Warning::file(path, "is missing although there are phases"));
        }
    }
    let unlisted = with_folder.iter().filter(|number| !listed.contains(*number));
    let unlisted: Vec<String> = unlisted.map(ToString::to_string).collect();
    if !listed.is_empty() && !unlisted.is_empty() {
        let message = match unlisted.as_slice() {
            [one] => format!("does not list phase {one}, which has a folder"),
            more => format!("does not list phases {}, which have folders", more.join(", ")),
        };
        found.push(Warning::file(&roadmap, message));
    }
    for phase in &survey.roadmap.phases {
        for line in &phase.repeated {
            let message = format!("lists phase {} a second time", phase.number);
            found.push(Warning::at(&roadmap, *line, message));
        }
    }
    let place = if survey.has_roadmap { &roadmap } else { home };
    found.extend(gap(survey).map(|message| Warning::file(place, message)));
    if let (Some(ours), Some(theirs)) = (&survey.project_file.name, &survey.state.project) {
        // One may abbreviate the other.
        let (one, other) = (letters(ours), letters(theirs));
        if !one.contains(&other) && !other.contains(&one) {
            let message = format!("names the project {theirs:?}, but PROJECT.md names it {ours:?}");
            found.push(Warning::file(&state, message));
        }
    }
    found
}

/// Returns which integers are missing between the first and the last phase number of the milestone.
fn gap(survey: &Survey) -> Option<String> {
    let members = || survey.position.members().map(|phase| &phase.number);
    // `2-01` is not compared with `1-04`.
    let last = members().max()?;
    let first = members().filter(|number| number.is_sibling(last)).min()?;
    // The missing numbers may belong to earlier milestones.
    let phases = survey.position.phases.iter().map(|phase| &phase.number);
    let known = phases.chain(survey.roadmap.phases.iter().map(|phase| &phase.number));
    let known: BTreeSet<u32> =
        known.filter(|number| number.is_sibling(last)).map(PhaseNumber::ordinal).collect();
    let ranges = || survey.roadmap.milestones.iter().filter_map(|one| one.phases.as_ref());
    let is_known = |number: &PhaseNumber| {
        known.contains(&number.ordinal()) || ranges().any(|range| range.contains(number))
    };
    let (first, end) = (first.ordinal(), last.ordinal());
    let between = (first..end.min(first.saturating_add(MAX_SPAN))).map(|one| last.sibling(one));
    let absent = between.filter(|number| !is_known(number)).map(|number| number.to_string());
    let absent: Vec<String> = absent.collect();
    let missing = match absent.as_slice() {
        [] => return None,
        [one] => format!("phase {one} is"),
        [others @ .., end] => format!("phases {} and {end} are", others.join(", ")),
    };
    let (from, to) = (last.sibling(first), last.sibling(end));
    (end - first <= MAX_SPAN).then(|| format!("{missing} missing between {from} and {to}"))
}
