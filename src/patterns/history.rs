//! Every recorded plan of a project, archived milestones included, each once.

use chrono::NaiveDate;

use crate::error::Result;
use crate::git::Git;
use crate::patterns::FinishedPhase;
use crate::patterns::Insights;
use crate::patterns::Patterns;
use crate::patterns::PlanRecord;
use crate::patterns::Recorded;
use crate::patterns::stored;
use crate::planning::MilestoneFolder;
use crate::planning::PhaseDir;
use crate::planning::Plan;
use crate::position::Survey;
use crate::project::Project;
use crate::storage::read;
use crate::text::fold;
use crate::warning::Parsed;
use crate::warning::Warning;

/// Returns what the history of a project shows.
pub fn insights(project: &Project) -> Result<Parsed<Insights>> {
    let survey = Survey::read(project)?;
    let mut warnings = Vec::new();
    let recorded = stored(project)?.into_value(&mut warnings);
    let mut history = history(&survey, &recorded)?;
    history.warnings.extend(warnings);
    Ok(history.map(|phases| Insights::from_phases(&phases)))
}

/// Returns all phases that have plans with a summary, in the order in which their milestones were done.
///
/// The active milestone comes last. A plan that stands in two places, as a copy beside its archive,
/// counts once. Times between commits leave out the work before the first, so they are not held
/// against written durations, and git is not asked.
pub(crate) fn history(survey: &Survey, recorded: &Patterns) -> Result<Parsed<Vec<FinishedPhase>>> {
    let mut warnings = Vec::new();
    let mut milestones = Vec::new();
    for milestone in other_milestones(survey, &mut warnings)? {
        let phases = read_all(&milestone, &|_| None, recorded, &mut warnings)?;
        milestones.push(phases);
    }
    // Archives are listed by name; those without dates stay in front, where nothing is known of them.
    milestones.sort_by_key(|phases| first_day(phases));
    let name_of = |dir: &PhaseDir| {
        let phases = &survey.position.phases;
        let own = phases
            .iter()
            .find(|phase| phase.dir.as_ref() == Some(&dir.dir));
        own.and_then(|phase| phase.name.clone())
    };
    milestones.push(read_all(
        &survey.folder.active,
        &name_of,
        recorded,
        &mut warnings,
    )?);
    Ok(Parsed {
        value: each_once(milestones.into_iter().flatten()),
        warnings,
    })
}

/// Returns the archived milestones, and those that are open beside the active one.
pub(crate) fn other_milestones(
    survey: &Survey,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<MilestoneFolder>> {
    let folder = &survey.folder;
    let mut found = Vec::new();
    for archive in &folder.archived {
        found.push(archive.milestone()?.into_value(warnings));
    }
    for slug in folder.milestones()? {
        if slug != folder.active.slug {
            let home = folder.dir.join(&slug);
            found.push(MilestoneFolder::read(&home, &slug)?.into_value(warnings));
        }
    }
    Ok(found)
}

fn read_all(
    milestone: &MilestoneFolder,
    name_of: &dyn Fn(&PhaseDir) -> Option<String>,
    recorded: &Patterns,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<FinishedPhase>> {
    let git = Git::absent();
    let mut phases = Vec::new();
    for dir in &milestone.phases {
        let name = name_of(dir);
        let phase = FinishedPhase::read(dir, name.as_deref(), &milestone.slug, &read::text, &git)?;
        let mut phase = phase.into_value(warnings);
        if phase.plans.is_empty() {
            continue;
        }
        let of_phase = recorded_effort(&phase, recorded);
        for plan in &mut phase.plans {
            plan.effort = planned_effort(dir, plan).or_else(|| of_phase.clone());
        }
        phases.push(phase);
    }
    Ok(phases)
}

/// Returns the effort that a plan itself asks for.
fn planned_effort(dir: &PhaseDir, record: &PlanRecord) -> Option<String> {
    let slot = dir.plans.iter().find(|slot| slot.number == record.plan)?;
    let path = dir.dir.join(slot.plan.as_ref()?);
    // A plan that cannot be read says nothing here; `plan` warns of it.
    let text = read::text(&path).ok()??.value;
    // Few plans ask for one, and reading a whole plan takes longer than looking for the word.
    if !text.contains("effort") {
        return None;
    }
    single_word(&Plan::parse(&text, &path).value.effort_override?)
}

/// Returns the effort profile that PATTERNS.md says was in force.
fn recorded_effort(phase: &FinishedPhase, recorded: &Patterns) -> Option<String> {
    let line = match recorded.recorded(phase, &[]) {
        Recorded::Same(line) | Recorded::Changed(line) | Recorded::ByOthers(line) => line,
        Recorded::No => return None,
    };
    let entry = recorded.entries.iter().find(|entry| entry.line == line)?;
    single_word(entry.timing.effort.as_deref()?)
}

/// Returns a profile's name; `balanced, then thorough` is none.
fn single_word(effort: &str) -> Option<String> {
    let word = fold(effort);
    let is_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    (!word.is_empty() && word.chars().all(is_word)).then_some(word)
}

fn first_day(phases: &[FinishedPhase]) -> Option<NaiveDate> {
    let plans = phases.iter().flat_map(|phase| &phase.plans);
    plans.filter_map(|plan| plan.completed).min()
}

/// Leaves out plans that an earlier folder of the same name has, word for word.
fn each_once(phases: impl Iterator<Item = FinishedPhase>) -> Vec<FinishedPhase> {
    let mut kept: Vec<FinishedPhase> = Vec::new();
    for mut phase in phases {
        let namesakes = || kept.iter().filter(|one| one.dir_name == phase.dir_name);
        let is_copy = |plan: &PlanRecord| {
            namesakes().any(|other| other.plans.iter().any(|other| other.is_copy_of(plan)))
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
