//! Records the lessons of finished phases.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::Error;
use crate::error::Result;
use crate::lifecycle::outcome::CommandOutcome;
use crate::lifecycle::outcome::Work;
use crate::lifecycle::outcome::carry_out;
use crate::lifecycle::record::RecordOptions;
use crate::lifecycle::record::Recorder;
use crate::lifecycle::refresh;
use crate::patterns::SubmittedLessons;
use crate::planning::MilestoneFolder;
use crate::planning::PhaseDir;
use crate::planning::PhaseNumber;
use crate::position::Phase;
use crate::position::PhaseState;
use crate::position::Survey;
use crate::project::Project;
use crate::storage::Store;

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

/// The outcome of `annals execute`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ExecuteReport {
    /// The newly recorded phases, by folder name.
    pub recorded: Vec<String>,
    /// The phases that were already recorded, by folder name.
    pub already: Vec<String>,
    /// The already recorded phases whose lessons were replaced, by folder name.
    pub judged: Vec<String>,
    /// The recorded phases whose summaries have changed since, by folder name.
    pub changed_since: Vec<String>,
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
    carry_out(project, "execute", &stores, |work| {
        plan(project, request, work)
    })
}

fn plan(project: &Project, request: &ExecuteRequest, work: &mut Work) -> Result<ExecuteReport> {
    let survey = Survey::read(project)?;
    let options = RecordOptions {
        again: request.again,
        effort: request.effort.clone(),
        lessons: request.lessons.clone().zip(lessons_dir(&survey, request)),
        latest: complete(&survey).last().map(|(dir, _)| dir.dir.clone()),
    };
    let mut recorder = Recorder::new(project, &survey, options, &work.changes)?;
    match &request.phase {
        Some(number) => add_numbered(project, &survey, number, request.partial, &mut recorder)?,
        None if request.all => add_all_complete(&survey, &mut recorder)?,
        None => add_latest(&survey, &mut recorder)?,
    }
    let written = recorder.write(&mut work.changes)?;
    work.warnings.extend(survey.warnings.iter().cloned());
    work.warnings.extend(written.warnings);
    refresh::plan(project, &survey, work)?;
    Ok(ExecuteReport {
        recorded: written.recorded,
        already: written.already,
        judged: written.judged,
        changed_since: written.changed_since,
    })
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
    partial: bool,
    recorder: &mut Recorder<'_>,
) -> Result<()> {
    survey.phase(number)?;
    let phases: Vec<&Phase> = survey
        .position
        .phases
        .iter()
        .filter(|phase| phase.number == *number)
        .collect();
    for phase in phases {
        if phase.state != PhaseState::Done && !partial {
            return Err(incomplete(project, phase));
        }
        if let Some(dir) = folder(survey, phase) {
            recorder.add_phase(dir, phase.name.as_deref(), &survey.folder.active.slug)?;
        }
    }
    Ok(())
}

/// Adds the latest complete phase that is not recorded yet, or with `again` the latest complete one.
fn add_latest(survey: &Survey, recorder: &mut Recorder<'_>) -> Result<()> {
    let complete: Vec<(&PhaseDir, &Phase)> = complete(survey);
    for (dir, phase) in complete.iter().rev() {
        if recorder.add_phase(dir, phase.name.as_deref(), &survey.folder.active.slug)? {
            return Ok(());
        }
    }
    Ok(())
}

/// Adds all complete phases, those of the archives first, because they were finished first.
pub(crate) fn add_all_complete(survey: &Survey, recorder: &mut Recorder<'_>) -> Result<()> {
    for archive in &survey.folder.archived {
        let milestone: MilestoneFolder = archive.milestone()?.value;
        for dir in &milestone.phases {
            if Recorder::is_complete(dir)? {
                recorder.add_phase(dir, None, &milestone.slug)?;
            }
        }
    }
    for (dir, phase) in complete(survey) {
        recorder.add_phase(dir, phase.name.as_deref(), &survey.folder.active.slug)?;
    }
    Ok(())
}

/// Returns the complete phases of the active milestone that have a folder with summaries.
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
        None => complete(survey).pop(),
    };
    found.ok_or_else(|| Error::not_found("there is no phase with summaries"))
}

fn folder<'a>(survey: &'a Survey, phase: &Phase) -> Option<&'a PhaseDir> {
    let dirs = &survey.folder.active.phases;
    dirs.iter().find(|dir| Some(&dir.dir) == phase.dir.as_ref())
}

fn incomplete(project: &Project, phase: &Phase) -> Error {
    let missing: Vec<String> = phase
        .open_plans()
        .map(|slot| {
            let file = slot.summary.as_ref().or(slot.plan.as_ref());
            file.cloned().unwrap_or_else(|| slot.number.to_string())
        })
        .collect();
    let message = if missing.is_empty() {
        format!("phase {} is not planned yet", phase.number)
    } else {
        format!(
            "phase {} is not complete: no finished summary for {}",
            phase.number,
            missing.join(", ")
        )
    };
    let error = Error::refused(message).hint("--partial records it in its current state");
    match &phase.dir {
        Some(dir) => error.at(project.relative(dir), None),
        None => error,
    }
}
