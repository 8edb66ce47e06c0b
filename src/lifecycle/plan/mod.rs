//! Gathers the information that a planner needs about a phase, before and after its plans are written.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::lifecycle::outcome::{CommandOutcome, Work, carry_out};
use crate::lifecycle::plan::plans::PhasePlans;
use crate::lifecycle::refresh;
use crate::patterns;
use crate::patterns::{FinishedPhase, Rate, RelevantPattern, StaleReasons};
use crate::plan::{
    Action, Phase, PhaseNumber, PhaseState, PlanState, Requirement, RoadmapPhase, Survey,
    roadmap_phase, status_words,
};
use crate::project::{Project, vocabulary};
use crate::storage::{Store, read};
use crate::text::quantity;
use crate::warning::Warning;

mod careful;
mod past;
mod plans;

pub use careful::CarefulFile;
pub use past::{InsightBrief, PhaseShape};
pub use plans::PlanBrief;

/// Maximum number of patterns: a longer list is not read.
const MAX_KNOWN: usize = 5;

/// The brief for planning one phase.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseBrief {
    /// The phase's number.
    pub phase: PhaseNumber,
    /// Total number of phases.
    pub total: usize,
    /// Its name.
    pub name: Option<String>,
    /// Its progress, in words.
    pub status: String,
    /// Its goal in the roadmap.
    pub goal: Option<String>,
    /// The requirements it covers.
    pub requirements: Vec<Requirement>,
    /// What must be true when it is done.
    pub success_criteria: Vec<String>,
    /// The phases it builds on.
    pub depends_on: Vec<Dependency>,
    /// The blockers and research flags in STATE.md that name the phase.
    pub notes: Vec<String>,
    /// The known patterns that are relevant to the phase, most relevant first.
    pub know: Vec<RelevantPattern>,
    /// How often the finished plans of the project deviated.
    pub rate: DeviationRate,
    /// The significant differences between the finished plans of the project.
    pub insights: Vec<InsightBrief>,
    /// How the phases most like this one were cut into plans, and how those went.
    pub similar: Vec<PhaseShape>,
    /// The files over which earlier plans deviated, those with the most deviations first.
    pub careful: Vec<CarefulFile>,
    /// Its plans so far.
    pub plans: Vec<PlanBrief>,
    /// Problems that prevent its open plans from being carried out as they are.
    pub problems: Vec<Warning>,
    /// Why the next command is contested; null if no other reading of the files is about as good.
    pub contested: Option<String>,
}

/// A phase that another phase depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dependency {
    /// Its number.
    pub phase: PhaseNumber,
    /// Its progress, in words, or `None` if it is not a phase of this milestone.
    pub status: Option<String>,
}

/// How often the finished plans of a project deviated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeviationRate {
    /// The plans that deviated, of those whose summaries mention deviations.
    pub deviated: Rate,
    /// Number of summaries that do not mention deviations.
    pub unreported: usize,
}

impl DeviationRate {
    fn from_history(history: &[FinishedPhase]) -> Self {
        let plans = || history.iter().flat_map(|phase| &phase.plans);
        let deviated =
            Rate::measure_known(plans().map(|plan| Some(plan.summary.deviation_count? > 0)));
        Self { deviated, unreported: plans().count() - deviated.of }
    }
}

/// Returns the brief for a phase, by default the current one, and refreshes the context files.
///
/// If a rule protects a context file, this is reported in the outcome, and the brief is returned anyway.
pub fn plan(project: &Project, number: Option<&PhaseNumber>) -> Result<CommandOutcome<PhaseBrief>> {
    project.planning()?;
    let mut outcome = carry_out(project, "plan", &[Store::Context], |work| {
        let survey = Survey::read(project)?;
        let phase = chosen(&survey, number)?;
        let brief = brief(project, &survey, &phase, work)?;
        refresh::plan(project, &survey, work)?;
        Ok(brief)
    })?;
    let brief = &mut outcome.value;
    brief.problems = project.named(std::mem::take(&mut brief.problems));
    Ok(outcome)
}

/// Returns the requested phase, else the current one.
fn chosen(survey: &Survey, requested: Option<&PhaseNumber>) -> Result<Phase> {
    let position = &survey.position;
    if requested.is_none() {
        survey.check_understood()?;
    }
    let Some(number) = requested.or(position.next.phase.as_ref()) else {
        // Before a milestone ships, the last phase is returned for a retrospective.
        let is_active = position.next.action != Action::None;
        let last = position.phase().filter(|_| is_active);
        return last.cloned().ok_or_else(|| {
            let because = position.next.because.first().cloned().unwrap_or_default();
            Error::not_found(format!("no phase to plan: {because}"))
                .hint(position.next.command.clone())
        });
    };
    // If two folders have the same number, the current one is chosen.
    let current = position.phase().filter(|phase| phase.number == *number);
    match (current, requested) {
        (Some(phase), _) => Ok(phase.clone()),
        (None, Some(_)) => survey.phase(number).cloned(),
        // A new planning folder has no phase yet; this is the one to be created.
        (None, None) => Ok(Phase::new(number.clone())),
    }
}

fn brief(project: &Project, survey: &Survey, phase: &Phase, work: &mut Work) -> Result<PhaseBrief> {
    let warnings = &mut work.warnings;
    warnings.extend(survey.warnings.iter().cloned());
    let planned = roadmap_phase(&survey.roadmap, &phase.number);
    let requirements = requirements(survey, planned, warnings);
    // Warnings about old summaries are reported by the commands that read them for their own sake.
    let recorded = patterns::with_changes(project, &work.changes, warnings)?;
    let past = patterns::history(survey, &recorded)?.value;
    let checked = PhasePlans::read(phase, planned, warnings);
    let criteria = planned.map(|planned| planned.success_criteria.clone()).unwrap_or_default();
    let topic = topic(survey, phase, &requirements, &checked.plans);
    let reasons = StaleReasons::check(project, &recorded)?;
    let stale = |line: usize, text: &str| reasons.about(line, text);
    let mut know = patterns::relevant(&recorded, &topic, &stale);
    know.truncate(MAX_KNOWN);
    let next = &survey.position.next;
    work.next = Some(next.command.clone());
    Ok(PhaseBrief {
        phase: phase.number.clone(),
        total: survey.position.total(),
        name: phase.name.clone(),
        status: stated_status(phase),
        goal: phase.goal.clone(),
        requirements,
        success_criteria: criteria,
        depends_on: dependencies(survey, planned),
        notes: notes(survey, &phase.number),
        know,
        rate: DeviationRate::from_history(&past),
        insights: past::insights(&past, &checked.plans),
        similar: past::similar_phases(&past, &phase.number, &survey.folder.active.slug, &topic),
        careful: careful::careful(&past, &checked.open_files()),
        plans: checked.plans,
        problems: checked.problems,
        contested: next.contest(),
    })
}

/// Returns the progress of a phase; the plans of one that is only called complete may have no summaries.
fn stated_status(phase: &Phase) -> String {
    match phase.count(PlanState::Open) {
        open if open > 0 && phase.state == PhaseState::Done => {
            let plans = quantity(open, "plan");
            format!("called complete, {plans} without a summary")
        }
        _ => status_words(phase),
    }
}

/// Returns the requirements of a phase; if REQUIREMENTS.md cannot be read, only their ids.
fn requirements(
    survey: &Survey,
    planned: Option<&RoadmapPhase>,
    warnings: &mut Vec<Warning>,
) -> Vec<Requirement> {
    let Some(planned) = planned.filter(|planned| !planned.requirements.is_empty()) else {
        return Vec::new();
    };
    let homes = [&survey.folder.active.dir, &survey.folder.dir];
    let mut text = String::new();
    for home in homes {
        let path = home.join(vocabulary::REQUIREMENTS);
        if text.is_empty() {
            text = read::text_or_warning(&path, warnings).unwrap_or_default();
        }
    }
    Requirement::resolve(&planned.requirements, &text)
}

fn dependencies(survey: &Survey, planned: Option<&RoadmapPhase>) -> Vec<Dependency> {
    let numbers = planned.map(|planned| planned.depends_on.as_slice()).unwrap_or_default();
    let status =
        |number: &PhaseNumber| survey.position.with_number(number).next().map(status_words);
    let dependency =
        |number: &PhaseNumber| Dependency { phase: number.clone(), status: status(number) };
    numbers.iter().map(dependency).collect()
}

/// Returns the blockers that name a phase: `Phase 14: the format is open`, `no key in Phase 14`.
fn notes(survey: &Survey, phase: &PhaseNumber) -> Vec<String> {
    let names_phase =
        |text: &&String| survey.phases_in(&text.replace(['[', ']'], " ")).contains(phase);
    survey.state.blockers.iter().filter(names_phase).cloned().collect()
}

/// Returns all text that describes a phase, including its plans.
fn topic(
    survey: &Survey,
    phase: &Phase,
    requirements: &[Requirement],
    plans: &[PlanBrief],
) -> String {
    let mut words = vec![patterns::topic(phase, &survey.roadmap)];
    words.extend(requirements.iter().filter_map(|requirement| requirement.text.clone()));
    for plan in plans {
        words.extend(plan.title.iter().chain(&plan.files).cloned());
    }
    words.join("\n")
}
