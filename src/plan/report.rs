//! The report of `annals status`: where the work stands, what comes next, and what the documents leave out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chrono::NaiveDate;
use serde::Serialize;

use crate::clock::first_date;
use crate::error::Result;
use crate::plan::{
    Action, DEFAULT_MILESTONE, Decision, Drift, Handoff, Next, Phase, PhaseNumber, PhaseState,
    PlanState, Position, Skill, StatedPhase, Survey, drift, is_template_status, metrics,
    without_status,
};
use crate::project::{LayoutName, Project, vocabulary};
use crate::storage::read;
use crate::text::{clip, is_absent, non_placeholder, pluralize, quantity};
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
    /// The open blockers.
    pub blockers: Vec<String>,
    /// The installed skills.
    pub skills: Vec<Skill>,
    /// The next action.
    pub next: Next,
    /// Where the planning tool says that paused work is to be resumed; left out if it says nothing, or if the work has
    /// gone on since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<Handoff>,
    /// Statements of STATE.md and ROADMAP.md that contradict the files.
    pub drift: Vec<Drift>,
    /// Missing documents, and phases that the roadmap does not list.
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

/// Maximum length of the name of a phase, in characters; its status follows it.
const MAX_NAME_CHARS: usize = 160;

impl PhaseReport {
    /// Returns the current phase according to the files.
    pub(crate) fn derived(position: &Position) -> Self {
        let phase = position.phase();
        let percent = u32::try_from(position.percent()).ok();
        Self {
            number: phase.map(|phase| phase.number.clone()),
            total: total_to_show(position),
            name: phase.and_then(|phase| phase.name.clone()),
            status: phase.map(status_words),
            progress_percent: percent.filter(|_| phase.is_some()),
            goal: phase.and_then(Phase::goal).map(str::to_owned),
            source: PhaseSource::Files,
        }
    }

    /// Returns the phase as CLAUDE.md and the start of a session show it: `4 - Low-Stock Alerts (in progress, 1 of 3 plans)`.
    pub fn line(&self) -> Option<String> {
        let number = self.number.as_ref()?;
        let name = self.name.as_deref().and_then(non_placeholder);
        let name = name.map(|name| format!(" - {}", clip(name, MAX_NAME_CHARS)));
        let status = self.status.as_ref().map(|status| format!(" ({status})"));
        Some(format!("{number}{}{}", name.unwrap_or_default(), status.unwrap_or_default()))
    }
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

impl StatusReport {
    /// Builds the report of a project.
    pub fn from_survey(project: &Project, survey: &Survey) -> Self {
        let planning = project.planning_place();
        let position = &survey.position;
        let derived = PhaseReport::derived(position);
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
            blockers: survey.open_blockers(),
            skills: survey.state.skills.clone(),
            next: position.next.clone(),
            paused: survey.handoff.clone(),
            drift: drift(survey),
            findings: project.named(inconsistencies(survey)),
            warnings: survey.warnings.clone(),
        }
    }

    /// Returns the same with the performance metrics of STATE.md that the summaries contradict, for which all summaries
    /// are read.
    pub fn with_metrics(project: &Project, survey: &Survey) -> Self {
        let mut report = Self::from_survey(project, survey);
        let end = report.drift.partition_point(|drift| !drift.is_left_plan());
        report.drift.splice(end..end, metrics(survey));
        report
    }

    /// Returns what STATE.md says about the current phase in free text, if it is about that phase.
    pub fn stated_remark(&self) -> Option<&str> {
        let is_same =
            self.phase.source == PhaseSource::State && self.phase.number == self.derived.number;
        let status = self.phase.status.as_deref().filter(|_| is_same)?;
        (!is_template_status(status)).then_some(status)
    }
}

impl PlanCounts {
    fn count(position: &Position) -> Self {
        let counted = || position.kept().filter(|phase| !phase.is_only_summarised());
        let count = |state| counted().map(|phase| phase.count(state)).sum();
        let is_unplanned = |phase: &&Phase| phase.state == PhaseState::Unplanned;
        Self {
            total: counted().map(Phase::plans_expected).sum(),
            complete: count(PlanState::Complete),
            partial: count(PlanState::Partial),
            failed: count(PlanState::Failed),
            unplanned_phases: position.kept().filter(is_unplanned).count(),
        }
    }
}

/// Returns the number of phases if it is also the number of the last one: `4 of 5` would mislead where the fifth phase is 4,
/// since there are decimals, or numbering continues.
pub(crate) fn total_to_show(position: &Position) -> Option<u32> {
    let last = position.kept().map(|phase| phase.number.ordinal()).max();
    u32::try_from(position.total()).ok().filter(|total| last == Some(*total))
}

/// Returns the state of a phase in words: `in progress, 1 of 3 plans`.
pub(crate) fn status_words(phase: &Phase) -> String {
    let (done, all) = (phase.count(PlanState::Complete), phase.plans.len());
    match phase.state {
        PhaseState::Done if phase.awaits_check => "plans complete, check open".to_owned(),
        PhaseState::Done => "complete".to_owned(),
        PhaseState::Unplanned => "not planned".to_owned(),
        PhaseState::Dropped => "dropped".to_owned(),
        PhaseState::Open if !phase.is_begun() => format!("planned, {}", quantity(all, "plan")),
        PhaseState::Running if phase.plans_expected() == all => {
            format!("in progress, {}", quantity(done, "plan"))
        }
        PhaseState::Open | PhaseState::Running => {
            format!("in progress, {done} of {} plans", phase.plans_expected())
        }
    }
}

fn stated(survey: &Survey, derived: &PhaseReport) -> PhaseReport {
    let StatedPhase { number, total, name, status, progress_percent } = survey.state.phase.clone();
    if number.is_none() && status.is_none() && progress_percent.is_none() {
        return derived.clone();
    }
    let planned = number.as_ref().and_then(|number| survey.roadmap.phase(number));
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
    is_implied: bool,
    /// Whether it has shipped, and no other was started.
    #[serde(rename = "shipped")]
    pub is_shipped: bool,
    /// When it shipped, according to MILESTONES.md.
    #[serde(skip)]
    shipped_on: Option<NaiveDate>,
    /// The archived milestone that shipped last, if nothing is left to do and no other was started.
    #[serde(skip)]
    pub(crate) last: Option<Shipped>,
    /// The active milestone's title, if STATE.md's front matter has one in addition to a version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The slugs of archived milestones, sorted.
    pub archived: Vec<String>,
}

impl MilestoneStatus {
    /// Returns the milestones of a project.
    pub(crate) fn from_survey(project: &Project, survey: &Survey) -> Self {
        let (folder, state) = (&survey.folder, &survey.state);
        let full = survey.milestone().unwrap_or_default();
        let name = without_status(full);
        // STATE.md may say it itself: `Milestone: v1.0 MVP — SHIPPED 2026-02-23`.
        let has_shipped = full[name.len()..].to_lowercase().contains("shipped")
            || survey.shipped.is_some()
            || survey.milestone().is_some_and(|name| survey.has_shipped(name));
        let is_stated = survey.milestone() == state.milestone.as_deref();
        let is_over = survey.position.next.action == Action::None;
        let is_shipped = is_over && has_shipped;
        let is_started = |name: &String| !is_absent(name) && survey.folder.archive(name).is_none();
        let is_other = !is_shipped && state.milestone.as_ref().is_some_and(is_started);
        Self {
            slug: folder.active.slug.clone(),
            name: survey.milestone().map(|_| name.to_owned()),
            is_implied: project.planning_place().layout.name.keeps_milestones()
                || folder.active.dir == folder.dir,
            is_shipped,
            last: (is_over && !is_other).then(|| last_shipped(survey)).flatten(),
            shipped_on: survey.shipped.as_ref().and_then(|(_, text)| first_date(text, text.len())),
            title: state.milestone_name.clone().filter(|_| is_stated),
            archived: folder.archived.iter().map(|archive| archive.slug.clone()).collect(),
        }
    }

    /// Returns the milestone to name: its name, otherwise its slug, but not the `default` that stands for none. One that
    /// shipped is called so, and where no other was started, the last one that did.
    pub fn display_name(&self) -> Option<String> {
        let shipped = |name: &str, date: Option<NaiveDate>| {
            let date = date.map(|date| format!(", {date}")).unwrap_or_default();
            Some(format!("none (shipped: {name}{date})"))
        };
        if let Some((name, date)) = &self.last {
            return shipped(name, *date);
        }
        let is_meant = |name: &&String| !self.is_implied || *name != DEFAULT_MILESTONE;
        let mut names = self.name.iter().chain([&self.slug]);
        let mut shown = names.find(is_meant)?.clone();
        let says = |word: &str| shown.to_lowercase().contains(&word.to_lowercase());
        let title = self.title.as_ref().filter(|title| !says(title));
        let is_marked = self.is_shipped && !says("shipped");
        let title = title.map(|title| format!(" {title}")).unwrap_or_default();
        shown.push_str(&title);
        if is_marked { shipped(&shown, self.shipped_on) } else { Some(shown) }
    }
}

/// The name of a milestone that has shipped, and the day.
pub type Shipped = (String, Option<NaiveDate>);

/// Returns the ship date in an archived milestone's SHIPPED.md.
pub(crate) fn shipped_date(milestone: &Path) -> Result<Option<NaiveDate>> {
    let text = read::text(&milestone.join(vocabulary::SHIPPED))?;
    let text = text.map(|text| text.value).unwrap_or_default();
    let is_about = |line: &&str| {
        let line = line.to_lowercase();
        line.contains("shipped") || line.contains("date")
    };
    let mut lines = text.lines().filter(is_about);
    Ok(lines.find_map(|line| first_date(line, line.len())))
}

/// Returns the milestone that shipped last, by the dates in the SHIPPED.md files; of several on that day, the one that
/// STATE.md names.
fn last_shipped(survey: &Survey) -> Option<Shipped> {
    let stated = survey.state.last_shipped.as_deref();
    let pages = survey.folder.archived.iter().filter_map(|archive| {
        let dir = archive.dir.as_ref()?;
        let page = read::text(&dir.join(vocabulary::SHIPPED)).ok()??.value;
        let title = page.lines().find_map(|line| line.strip_prefix("# Shipped:"));
        let name = title.map_or(archive.slug.as_str(), str::trim).to_owned();
        let end = format!("/{})", archive.slug);
        let is_stated = stated.is_some_and(|text| text == archive.slug || text.ends_with(&end));
        Some((shipped_date(dir).ok()?, is_stated, name))
    });
    pages.max().map(|(date, _, name)| (name, date))
}

/// Returns warnings about missing documents, and phases that the roadmap does not list.
fn inconsistencies(survey: &Survey) -> Vec<Warning> {
    let home = &survey.folder.active.dir;
    let [state, roadmap] = [vocabulary::STATE, vocabulary::ROADMAP].map(|name| home.join(name));
    let listed: BTreeSet<&PhaseNumber> =
        survey.roadmap.phases.iter().map(|entry| &entry.number).collect();
    let with_folder = survey.position.members().filter(|phase| phase.dir.is_some());
    let with_folder: Vec<&PhaseNumber> = with_folder.map(|phase| &phase.number).collect();
    let mut found = Vec::new();
    // Between milestones there is no roadmap, and no phase has a folder.
    for path in [&state, &roadmap] {
        if !read::exists(path) && !with_folder.is_empty() {
            found.push(Warning::file(path, "is missing although there are phases"));
        }
    }
    let unlisted = with_folder.iter().filter(|number| !listed.contains(*number));
    let unlisted: Vec<String> = unlisted.map(ToString::to_string).collect();
    if !listed.is_empty() && !unlisted.is_empty() {
        let phases = format!("{} {}", pluralize(unlisted.len(), "phase"), unlisted.join(", "));
        let message = format!("does not list what has a folder: {phases}");
        found.push(Warning::file(&roadmap, message));
    }
    found
}
