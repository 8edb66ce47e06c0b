//! Reports a phase that a new summary completed, and the next command, to the main conversation once.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::hooks::input::Input;
use crate::hooks::{input, notices};
use crate::lifecycle;
use crate::plan::{FileKind, FileName, Phase, PhaseState, Survey};
use crate::project::Project;

/// Returns the text for the agent after a tool use: pending texts from subagents, and a completed phase.
pub(crate) fn text(
    project: &Project,
    input: &Input,
    problems: &mut Vec<Error>,
) -> Result<Option<String>> {
    let mut said: Vec<String> = match from_subagents(project, input) {
        Ok(text) => text.into_iter().collect(),
        Err(error) => {
            problems.push(error);
            Vec::new()
        }
    };
    said.extend(of_phase(project, input, problems)?);
    Ok((!said.is_empty()).then(|| said.join("\n")))
}

/// Returns what subagents were told and the main conversation was not; `None` in the conversation of a subagent.
pub(crate) fn from_subagents(project: &Project, input: &Input) -> Result<Option<String>> {
    if input.is_subagent() {
        return Ok(None);
    }
    let texts = notices::take_waiting(project, input)?;
    Ok((!texts.is_empty()).then(|| texts.join("\n")))
}

/// Returns the text about a phase, or `None` if no summary was written.
fn of_phase(project: &Project, input: &Input, problems: &mut Vec<Error>) -> Result<Option<String>> {
    let cwd = input.cwd();
    let written = input.written();
    let summaries: Vec<PathBuf> = written
        .into_iter()
        .map(|path| input::absolute(path, cwd.as_deref()))
        .filter(|path| is_summary(path))
        .collect();
    if summaries.is_empty() || project.planning().is_err() {
        return Ok(None);
    }
    let mut survey = Survey::read(project)?;
    let of_these = |phase: &Phase| summaries.iter().any(|path| is_in(phase, path));
    let Some(at) = survey.position.phases.iter().position(of_these) else {
        return Ok(None);
    };
    let mut said = Vec::new();
    if project.settings.fix_state {
        let corrected = lifecycle::fix_state(project)?.len();
        if corrected > 0 {
            said.push(format!(
                "annals corrected {corrected} position lines in STATE.md and ROADMAP.md."
            ));
            survey = Survey::read(project)?;
        }
    }
    if let Some(phase) = survey.position.phases.get(at)
        && phase.state == PhaseState::Done
    {
        let text = complete(&survey, phase);
        let what = format!(
            "phase {} of {} plans in {}",
            phase.number,
            phase.plans.len(),
            survey.folder.active.slug
        );
        // Saying it twice is better than not at all.
        said.extend(once(project, input, &what, text).unwrap_or_else(|(text, error)| {
            problems.push(error);
            Some(text)
        }));
    }
    Ok((!said.is_empty()).then(|| said.join("\n")))
}

/// Returns the text about a complete phase: the main conversation gets it once, a subagent is asked to pass
/// it on.
fn once(
    project: &Project,
    input: &Input,
    what: &str,
    text: String,
) -> std::result::Result<Option<String>, (String, Error)> {
    if input.is_subagent() {
        return match notices::queue(project, input, what, &text) {
            Ok(()) => Ok(Some(format!("{text} Include this in your report."))),
            Err(error) => Err((text, error)),
        };
    }
    match notices::is_first(project, input, what, None) {
        Ok(is_first) => Ok(is_first.then_some(text)),
        Err(error) => Err((text, error)),
    }
}

fn complete(survey: &Survey, phase: &Phase) -> String {
    let number = &phase.number;
    let name = phase.name.as_ref().map(|name| format!(" ({name})"));
    let next = &survey.position.next;
    let contested = next.contest().map(|contest| format!("\nContested: {contest}"));
    format!(
        "annals: phase {number}{} is complete, {} of {} plans. \
         Run `annals execute {number} --digest`, submit the lessons that would change the next plan with \
         `annals execute {number} --lessons -`; then {}.{}",
        name.unwrap_or_default(),
        phase.plans.len(),
        phase.plans.len(),
        next.command,
        contested.unwrap_or_default()
    )
}

fn is_summary(path: &Path) -> bool {
    let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
    let (Some(file), Some(folder)) = (name(path), path.parent().and_then(name)) else {
        return false;
    };
    FileName::parse(&file, &folder).is_some_and(|name| name.kind == FileKind::Summary)
}

/// Returns whether a file is in a phase's folder, after resolving links.
fn is_in(phase: &Phase, path: &Path) -> bool {
    let (Some(dir), Some(parent)) = (&phase.dir, path.parent()) else {
        return false;
    };
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    real(parent).starts_with(real(dir))
}
