//! Reads the note of an earlier session, and reports the progress since then.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::lifecycle::pause;
use crate::markdown::{FrontMatter, Outline};
use crate::plan::{Next, PausedWork, StatusReport, Survey};
use crate::project::{Project, vocabulary};
use crate::warning::Warning;

/// The outcome of `annals resume`. It is the document of `annals resume --json`.
#[derive(Clone, Debug, Serialize)]
pub struct ResumeReport {
    /// The note, relative to the project.
    pub file: PathBuf,
    /// Whether `annals pause` wrote it, and it was not edited.
    pub is_own: bool,
    /// The time when the session ended, verbatim.
    pub paused: Option<String>,
    /// The position at that time, verbatim.
    pub phase: Option<String>,
    /// The last completed plan at that time.
    pub last_completed: Option<String>,
    /// The next pending plan at that time.
    pub next_pending: Option<String>,
    /// The notes for the next session, verbatim; the whole text of a note in another format.
    pub notes: Option<String>,
    /// The progress since then.
    pub since: ResumeProgress,
    /// The next step, according to the current files.
    pub next: Next,
    /// Warnings about files that were only partially understood.
    pub warnings: Vec<Warning>,
}

/// The progress since a session ended; fields that cannot be determined from the note are null.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ResumeProgress {
    /// The plans completed since, as `phase/plan`.
    pub plans: Option<Vec<String>>,
    /// The current phase, if it has changed.
    pub phase: Option<String>,
    /// Number of commits made since.
    pub commits: Option<u32>,
}

/// Reads the note, and compares it with the current files.
pub fn resume(project: &Project) -> Result<ResumeReport> {
    let survey = Survey::read(project)?;
    let mut warnings = survey.warnings.clone();
    let Some((path, text)) = pause::find(&survey, &mut warnings)? else {
        return Err(no_note(project, &survey));
    };
    let is_own = pause::is_own(text.as_bytes());
    let front = FrontMatter::parse(&text, &path).into_value(&mut warnings);
    let outline = Outline::parse(&text, front.range.end);
    let labels = outline.labels(&(front.range.end..text.len()));
    let said = |names: &[&str]| {
        let of_label = labels
            .iter()
            .find(|label| names.iter().any(|name| label.name.eq_ignore_ascii_case(name)))
            .map(|label| label.value.clone());
        let keys: Vec<String> =
            names.iter().map(|name| name.replace(' ', "_").to_lowercase()).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        of_label.or_else(|| front.get(&keys)?.as_text().map(str::to_owned))
    };
    let phase = said(&["Phase", "Current phase", "Position"]);
    let derived = StatusReport::from_survey(project, &survey).derived;
    let now = derived.number.map(|number| number.to_string());
    let then = phase.as_deref().map(|phase| first_number(phase, &survey));
    let commit = said(&["Commit"]);
    let commits = commit.map(|commit| project.git.commits_since(&commit)).transpose()?;
    Ok(ResumeReport {
        is_own,
        paused: said(&["Paused", "Paused at", "Last updated", "Date"]),
        last_completed: said(&["Last completed", "Last completed plan"]),
        next_pending: said(&["Next pending", "Next plan", "Next"]),
        notes: notes(&outline, is_own || outline.section(&["Notes"]).is_some()),
        since: ResumeProgress {
            plans: done_then(&text).map(|then| {
                let now = pause::done_plans(&survey).into_iter();
                now.filter(|plan| !then.contains(&plan.as_str())).collect()
            }),
            phase: now.filter(|now| then.flatten().is_some_and(|then| then != *now)),
            commits: commits.flatten(),
        },
        next: survey.position.next.clone(),
        file: project.relative(&path).to_owned(),
        phase,
        warnings: project.named(warnings),
    })
}

/// Returns the error that no session left a note; a handoff of the planning tool is named.
fn no_note(project: &Project, survey: &Survey) -> Error {
    let place = survey.folder.active.dir.join(vocabulary::RESUME);
    let hint = match PausedWork::from_survey(project, survey) {
        Some(paused) => format!("the planning tool left one: {}", paused.line()),
        None => "`annals pause` leaves one; `annals status` says where the work stands".to_owned(),
    };
    Error::not_found("no session left a note here").at(project.relative(&place), None).hint(hint)
}

/// Returns the notes that `annals pause` took, unless a plan was completed since: then they may be out of date.
pub(crate) fn current_notes(
    survey: &Survey,
    warnings: &mut Vec<Warning>,
) -> Result<Option<String>> {
    let found = pause::find(survey, warnings)?
        .filter(|(_, text)| done_then(text).is_some_and(|then| then == pause::done_plans(survey)));
    Ok(found.and_then(|(_, text)| {
        let outline = Outline::parse(&text, 0);
        outline.section(&["Notes"])?;
        notes(&outline, true)
    }))
}

/// Returns the first phase number in the note's description of the phase: 2 for `Phase 02-name`.
fn first_number(phase: &str, survey: &Survey) -> Option<String> {
    let at = phase.find(|c: char| c.is_ascii_digit())?;
    let (number, _) = survey.split_number(&phase[at..])?;
    Some(number.to_string())
}

/// Returns the plans that were complete when the note was written.
fn done_then(text: &str) -> Option<Vec<&str>> {
    let list = text.lines().rev().find_map(|line| line.trim().strip_prefix("<!-- annals:done"))?;
    Some(list.trim_end_matches("-->").split_whitespace().collect())
}

/// Returns the notes section, or without one everything after the front matter.
fn notes(outline: &Outline<'_>, has_section: bool) -> Option<String> {
    let section = outline.section(&["Notes"]).filter(|_| has_section);
    let text = match section {
        Some(section) => {
            let start = section.own.start;
            outline.text().get(start..).unwrap_or_default()
        }
        None => outline
            .blocks(&(0..outline.text().len()))
            .first()
            .map_or("", |block| outline.text().get(block.range.start..).unwrap_or_default()),
    };
    let end = text.find("<!-- annals:done").unwrap_or(text.len());
    let text = text[..end].trim();
    (!text.is_empty() && text != "None.").then(|| text.to_owned())
}
