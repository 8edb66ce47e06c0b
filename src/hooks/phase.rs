//! Reports a phase that a new summary completed, and the next command, to the main conversation once.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::hooks::input::Input;
use crate::hooks::notices;
use crate::lifecycle;
use crate::plan::{FileKind, FileName, Phase, PhaseState, Survey};
use crate::project::Project;

/// Returns the text for the agent after a tool use: pending texts from subagents, and a completed phase.
pub(crate) fn text(
    project: &Project,
    input: &Input,
    problems: &mut Vec<Error>,
) -> Result<Option<String>> {
    let waiting = from_subagents(project, input).unwrap_or_else(|error| {
        problems.push(error);
        None
    });
    let said: Vec<String> =
        waiting.into_iter().chain(of_phase(project, input, problems)?).collect();
    Ok((!said.is_empty()).then(|| said.join("\n")))
}

/// Returns the texts that subagents received and the main conversation did not; `None` in the conversation of a subagent.
pub(crate) fn from_subagents(project: &Project, input: &Input) -> Result<Option<String>> {
    if input.is_subagent() {
        return Ok(None);
    }
    let texts = notices::take_waiting(project, input)?;
    Ok((!texts.is_empty()).then(|| texts.join("\n")))
}

/// Returns the texts about a phase; none if no summary was written.
fn of_phase(project: &Project, input: &Input, problems: &mut Vec<Error>) -> Result<Vec<String>> {
    let cwd = input.cwd();
    let written = input.written().into_iter();
    let summaries: Vec<PathBuf> = written
        .map(|path| cwd.as_ref().map_or_else(|| path.into(), |cwd| cwd.join(path)))
        .filter(|path: &PathBuf| is_summary(path))
        .collect();
    if summaries.is_empty() || project.planning().is_err() {
        return Ok(Vec::new());
    }
    let mut survey = Survey::read(project)?;
    let of_these = |phase: &Phase| summaries.iter().any(|path| is_in(phase, path));
    let Some(at) = survey.position.phases.iter().position(of_these) else {
        return Ok(Vec::new());
    };
    let mut said = Vec::new();
    if project.settings.fix_state {
        let corrected = lifecycle::fix_state(project)?.len();
        if corrected > 0 {
            let what = format!("{corrected} position lines in STATE.md and ROADMAP.md");
            said.push(format!("annals corrected {what}."));
            survey = Survey::read(project)?;
        }
    }
    let done = survey.position.phases.get(at).filter(|phase| phase.state == PhaseState::Done);
    if let Some(phase) = done {
        let text = completion_text(&survey, phase);
        let (plans, slug) = (phase.plans.len(), &survey.folder.active.slug);
        let what = format!("phase {} of {plans} plans in {slug}", phase.number);
        // The main conversation gets it once, a subagent is asked to pass it on.
        let answer = if input.is_subagent() {
            let passed_on = format!("{text} Include this in your report.");
            notices::queue(project, input, &what, &text).map(|()| Some(passed_on))
        } else {
            let is_first = notices::is_first(project, input, &what, None);
            is_first.map(|is_first| is_first.then(|| text.clone()))
        };
        // Saying it twice is better than not at all.
        said.extend(answer.unwrap_or_else(|error| {
            problems.push(error);
            Some(text)
        }));
    }
    Ok(said)
}

fn completion_text(survey: &Survey, phase: &Phase) -> String {
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
