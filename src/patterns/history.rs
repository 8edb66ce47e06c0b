//! Reads every recorded plan of a project, archived milestones included, without duplicates.

use chrono::NaiveDate;

use crate::error::Result;
use crate::git::Git;
use crate::patterns::{FinishedPhase, Insights, Patterns, PlanRecord, Recorded, stored};
use crate::plan::{MilestoneFolder, Phase, PhaseDir, Plan, Survey};
use crate::project::Project;
use crate::storage::read;
use crate::text::fold;
use crate::warning::{Parsed, Warning};

/// Returns the statistics of the project's whole history.
pub fn insights(project: &Project) -> Result<Parsed<Insights>> {
    let survey = Survey::read(project)?;
    let mut warnings = Vec::new();
    let recorded = stored(project)?.into_value(&mut warnings);
    let mut history = history(&survey, &recorded)?;
    history.warnings.extend(warnings);
    Ok(history.map(|phases| Insights::from_phases(&phases)))
}

/// Returns all phases that have plans with a summary, in the order of their milestones' first completed
/// plans, with the effort of each plan.
pub(crate) fn history(survey: &Survey, recorded: &Patterns) -> Result<Parsed<Vec<FinishedPhase>>> {
    read_history(survey, Some(recorded))
}

/// Returns the same without effort, for which every plan would have to be read.
pub(crate) fn history_without_effort(survey: &Survey) -> Result<Parsed<Vec<FinishedPhase>>> {
    read_history(survey, None)
}

/// Reads the history; with the `recorded` patterns, the effort of each plan, too.
///
/// The active milestone comes last. A plan that exists in two places, such as a copy beside its archive,
/// counts once. Git is not called for missing durations: the time between commits excludes the work before
/// the first one, so it is not comparable to stated durations.
fn read_history(
    survey: &Survey,
    recorded: Option<&Patterns>,
) -> Result<Parsed<Vec<FinishedPhase>>> {
    let mut warnings = Vec::new();
    let mut milestones = Vec::new();
    for milestone in survey.folder.other_milestones(&mut warnings)? {
        milestones.push(read_all(&milestone, &[], recorded, &mut warnings)?);
    }
    // Archives are listed by name; milestones without dates sort first, since their order is unknown.
    milestones.sort_by_key(|phases| first_day(phases));
    let (active, surveyed) = (&survey.folder.active, &survey.position.phases);
    milestones.push(read_all(active, surveyed, recorded, &mut warnings)?);
    Ok(Parsed::new(deduplicated(milestones.into_iter().flatten()), warnings))
}

/// Reads the phases of a milestone, with the names of those that were `surveyed`.
fn read_all(
    milestone: &MilestoneFolder,
    surveyed: &[Phase],
    recorded: Option<&Patterns>,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<FinishedPhase>> {
    let git = Git::absent();
    let mut phases = Vec::new();
    for dir in &milestone.phases {
        let own = surveyed.iter().find(|phase| phase.dir.as_ref() == Some(&dir.dir));
        let name = own.and_then(|phase| phase.name.as_deref());
        let phase = FinishedPhase::read(dir, name, &milestone.slug, &read::text, &git)?;
        let mut phase = phase.into_value(warnings);
        if phase.plans.is_empty() {
            continue;
        }
        if let Some(recorded) = recorded {
            let of_phase = recorded_effort(&phase, recorded);
            for plan in &mut phase.plans {
                plan.effort = planned_effort(dir, plan).or_else(|| of_phase.clone());
            }
        }
        phases.push(phase);
    }
    Ok(phases)
}

/// Returns the effort that the plan itself requests.
fn planned_effort(dir: &PhaseDir, record: &PlanRecord) -> Option<String> {
    let slot = dir.plans.iter().find(|slot| slot.number == record.plan)?;
    let path = dir.dir.join(slot.plan.as_ref()?);
    // A plan that cannot be read is ignored here; `plan` warns about it.
    let text = read::text(&path).ok()??.value;
    // Few plans request one, and parsing a whole plan takes longer than searching for the word.
    if !text.contains("effort") {
        return None;
    }
    single_word(&Plan::parse(&text, &path).value.effort_override?)
}

/// Returns the effort profile recorded in PATTERNS.md.
fn recorded_effort(phase: &FinishedPhase, recorded: &Patterns) -> Option<String> {
    let line = match recorded.recorded(phase, &[]) {
        Recorded::Same(line) | Recorded::Changed(line) | Recorded::Foreign(line) => line,
        Recorded::No => return None,
    };
    let entry = recorded.entries.iter().find(|entry| entry.line == line)?;
    single_word(entry.timing.effort.as_deref()?)
}

/// Returns the name of a profile; `None` for a text such as `balanced, then thorough`.
fn single_word(effort: &str) -> Option<String> {
    let word = fold(effort);
    let is_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    (!word.is_empty() && word.chars().all(is_word)).then_some(word)
}

fn first_day(phases: &[FinishedPhase]) -> Option<NaiveDate> {
    let plans = phases.iter().flat_map(|phase| &phase.plans);
    plans.filter_map(|plan| plan.completed).min()
}

/// Drops plans that an earlier folder of the same name contains as an identical copy.
fn deduplicated(phases: impl Iterator<Item = FinishedPhase>) -> Vec<FinishedPhase> {
    let mut kept: Vec<FinishedPhase> = Vec::new();
    for mut phase in phases {
        let same_named = || kept.iter().filter(|one| one.dir_name == phase.dir_name);
        let is_copy = |plan: &PlanRecord| {
            same_named().any(|other| other.plans.iter().any(|other| other.is_copy_of(plan)))
        };
        let copies: Vec<bool> = phase.plans.iter().map(is_copy).collect();
        let mut copies = copies.into_iter();
        phase.plans.retain(|_| !copies.next().unwrap_or_default());
        if !phase.plans.is_empty() {
            kept.push(phase);
        }
    }
    kept
}
