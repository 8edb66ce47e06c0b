//! Records the lessons of finished phases.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::lifecycle::outcome::{CommandOutcome, Work, carry_out, reading};
use crate::lifecycle::record::{ExecuteReport, RecordOptions, Recorder};
use crate::lifecycle::refresh;
use crate::patterns::SubmittedLessons;
use crate::plan;
use crate::plan::{
    MilestoneFolder, Phase, PhaseDir, PhaseNumber, PhaseState, PlanState, Survey, TextOf,
    roadmap_phase, status_words,
};
use crate::project::Project;
use crate::storage::{Changes, Store};
use crate::warning::Warning;

/// The options of `annals execute`.
#[derive(Clone, Debug, Default)]
pub struct ExecuteRequest {
    /// The phase to record; by default, the latest complete one that is not recorded yet.
    pub phase: Option<PhaseNumber>,
    /// Record all complete phases that are not recorded yet, including archived milestones.
    pub all: bool,
    /// Record a phase although plans are open.
    pub partial: bool,
    /// Record phases even if they are already recorded.
    pub again: bool,
    /// The effort profile with which the phase was carried out.
    pub effort: Option<String>,
    /// The lessons of the agent that worked on the phase, which replace the automatically chosen ones.
    pub lessons: Option<SubmittedLessons>,
}

/// Appends an entry to PATTERNS.md for each requested phase, and refreshes the context files.
///
/// If a rule protects a context file, this is reported, and the phases are recorded anyway.
pub fn execute(
    project: &Project,
    request: &ExecuteRequest,
) -> Result<CommandOutcome<ExecuteReport>> {
    project.planning()?;
    let stores = [Store::Plan, Store::Patterns, Store::Context];
    carry_out(project, "execute", &stores, |work| plan(project, request, work))
}

fn plan(project: &Project, request: &ExecuteRequest, work: &mut Work) -> Result<ExecuteReport> {
    let survey = Survey::read(project)?;
    if request.phase.is_none() {
        survey.check_understood()?;
    }
    let options = RecordOptions {
        again: request.again,
        effort: request.effort.clone(),
        lessons: request.lessons.clone().zip(lessons_dir(&survey, request)),
        latest: complete(&survey).last().map(|(dir, _)| dir.dir.clone()),
    };
    let mut recorder = Recorder::new(project, &survey, options, &work.changes)?;
    match &request.phase {
        Some(number) => add_numbered(
            project, &survey, number, request.partial, &mut recorder, &mut work.warnings,
        )?,
        None if request.all => add_all_complete(&survey, &mut recorder)?,
        None => add_latest(project, &survey, &mut recorder, &mut work.warnings)?,
    }
    if request.lessons.is_some() && !recorder.has_used_lessons() {
        return Err(Error::refused("there is no phase with a summary to record the lessons for")
            .hint("`annals status` says where the work stands"));
    }
    let written = recorder.write(&mut work.changes)?;
    work.warnings.extend(survey.warnings.iter().cloned());
    let report = written.into_value(&mut work.warnings);
    refresh::plan(project, &survey, work)?;
    Ok(report)
}

/// Returns the phase folder that the given lessons belong to, which is the one that the digest shows. A phase
/// without a folder has no entry either.
fn lessons_dir(survey: &Survey, request: &ExecuteRequest) -> Option<PathBuf> {
    let (dir, _) = phase_or_last_complete(survey, request.phase.as_ref()).ok()?;
    Some(dir.dir.clone())
}

/// Adds the phase with a number; two folders may have the same number.
fn add_numbered(
    project: &Project,
    survey: &Survey,
    number: &PhaseNumber,
    is_partial: bool,
    recorder: &mut Recorder<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    survey.phase(number)?;
    let phases: Vec<&Phase> =
        survey.position.phases.iter().filter(|phase| phase.number == *number).collect();
    let has_summary = |phase: &&Phase| folder(survey, phase).is_some_and(has_summary);
    let has_any_summary = phases.iter().any(has_summary);
    for phase in phases {
        let mut left = || reading(project, warnings, |text| left_plans(phase, text));
        let is_incomplete = phase.state != PhaseState::Done || has_any_summary && left();
        if is_incomplete && !is_partial {
            return Err(incomplete(project, phase, has_any_summary));
        }
        if !has_any_summary {
            return Err(without_summary(project, phase));
        }
        if let Some(dir) = folder(survey, phase) {
            recorder.add_phase(dir, phase.name.as_deref(), &survey.folder.active.slug)?;
        }
    }
    Ok(())
}

/// Returns whether a plan was left without a summary, and no check of the phase made up for it.
fn left_plans(phase: &Phase, text: TextOf<'_>) -> bool {
    phase.count(PlanState::Open) > 0 && !phase.has_passed(text)
}

/// Adds the latest complete phase that is not recorded yet, or with `again` the latest complete one.
fn add_latest(
    project: &Project,
    survey: &Survey,
    recorder: &mut Recorder<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    reading(project, warnings, |text| {
        let complete = complete(survey).into_iter().rev();
        for (dir, phase) in complete.filter(|(_, phase)| !left_plans(phase, text)) {
            if recorder.add_phase(dir, phase.name.as_deref(), &survey.folder.active.slug)? {
                break;
            }
        }
        Ok(())
    })
}

/// Adds all phases that are called complete, even with plans left. Archived phases come first, because they were
/// finished first.
pub(crate) fn add_all_complete(survey: &Survey, recorder: &mut Recorder<'_>) -> Result<()> {
    for archive in &survey.folder.archived {
        let milestone: MilestoneFolder = archive.milestone()?.value;
        let roadmap = archive.roadmap(milestone.numbering.unwrap_or_default())?;
        for dir in &milestone.phases {
            if Recorder::is_complete(dir)? {
                let planned = roadmap.as_ref();
                let planned = planned.and_then(|roadmap| roadmap_phase(roadmap, &dir.number));
                let planned = planned.and_then(|phase| phase.name.as_deref());
                let name = plan::name_of_past_phase(dir, planned);
                recorder.add_phase(dir, Some(name), &milestone.slug)?;
            }
        }
    }
    for (dir, phase) in complete(survey) {
        recorder.add_phase(dir, phase.name.as_deref(), &survey.folder.active.slug)?;
    }
    Ok(())
}

/// Returns the folder names of the complete phases, archived milestones included, that `execute --all` would
/// record.
pub fn unrecorded(project: &Project) -> Result<Vec<String>> {
    let survey = Survey::read(project)?;
    let changes = Changes::new();
    let mut recorder = Recorder::new(project, &survey, RecordOptions::default(), &changes)?;
    add_all_complete(&survey, &mut recorder)?;
    Ok(recorder.into_names())
}

/// Returns the complete phases of the active milestone that have a folder.
fn complete(survey: &Survey) -> Vec<(&PhaseDir, &Phase)> {
    survey
        .position
        .phases
        .iter()
        .filter(|phase| phase.state == PhaseState::Done)
        .filter_map(|phase| Some((folder(survey, phase)?, phase)))
        .collect()
}

/// Returns a phase by number, or by default the last complete one, with its folder.
pub(crate) fn phase_or_last_complete<'a>(
    survey: &'a Survey,
    number: Option<&PhaseNumber>,
) -> Result<(&'a PhaseDir, &'a Phase)> {
    let found = match number {
        Some(number) => {
            let phase = survey.phase(number)?;
            folder(survey, phase).map(|dir| (dir, phase))
        }
        None => complete(survey).into_iter().rfind(|(dir, _)| has_summary(dir)),
    };
    found.ok_or_else(|| Error::not_found("there is no phase with summaries"))
}

fn folder<'a>(survey: &'a Survey, phase: &Phase) -> Option<&'a PhaseDir> {
    let dirs = &survey.folder.active.phases;
    dirs.iter().find(|dir| Some(&dir.dir) == phase.dir.as_ref())
}

/// Returns whether a phase's folder has something to record.
fn has_summary(dir: &PhaseDir) -> bool {
    dir.summaries().next().is_some()
}

/// Returns the error for a phase that is not complete; one without summaries has no state to record either.
fn incomplete(project: &Project, phase: &Phase, has_summary: bool) -> Error {
    let missing: Vec<String> = phase
        .open_plans()
        .map(|slot| {
            let file = slot.summary.as_ref().or(slot.plan.as_ref());
            file.cloned().unwrap_or_else(|| slot.number.to_string())
        })
        .collect();
    let number = &phase.number;
    let message = if !missing.is_empty() {
        let missing = missing.join(", ");
        format!("phase {number} is not complete: no finished summary for {missing}")
    } else if phase.has_plans() {
        format!("phase {number} is not complete: {}", status_words(phase))
    } else {
        format!("phase {number} is not planned yet")
    };
    let error = Error::refused(message);
    let error = if has_summary {
        error.hint("--partial records it in its current state")
    } else if phase.has_plans() {
        error.hint("record it when its plans have summaries")
    } else {
        error.hint(format!("`annals plan {number}` prints what to know before planning it"))
    };
    located(error, project, phase)
}

fn without_summary(project: &Project, phase: &Phase) -> Error {
    let message = format!("phase {} has no summary to record", phase.number);
    let error = Error::refused(message).hint("record it when its plans have summaries");
    located(error, project, phase)
}

fn located(error: Error, project: &Project, phase: &Phase) -> Error {
    match &phase.dir {
        Some(dir) => error.at(project.relative(dir), None),
        None => error,
    }
}
