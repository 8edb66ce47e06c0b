//! Writes a note for the next session to RESUME.md, and finds such notes again.
//!
//! ```text
//! <!-- annals:resume sha256=0123456789abcdef -->
//! # Resume
//!
//! **Paused:** 2026-03-01T12:00:00Z
//! **Phase:** 2 of 4 (Name): in progress, 1 of 3 plans
//! **Last completed:** .vbw-planning/phases/02-name/02-01-SUMMARY.md
//! **Next pending:** .vbw-planning/phases/02-name/02-02-PLAN.md
//! **Next command:** /vbw:execute 2
//! **Contested:** …                          (only if another reading of the files is about as good)
//! **Commit:** 84e9493…
//!
//! ## Notes
//!
//! …
//!
//! <!-- annals:done 1/1 1/2 2/1 -->
//! ```
//!
//! The paths are relative to the project; earlier versions wrote them relative to the note.
//!
//! The hash covers everything after the first line: a note that a person wrote or edited is never replaced.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::lifecycle::outcome::{CommandOutcome, carry_out};
use crate::markdown::{FrontMatter, Outline};
use crate::plan::{Handoff, Next, Phase, PhaseNumber, PhaseReport, PlanState, Survey};
use crate::project::{Project, vocabulary};
use crate::secrets;
use crate::storage::{Store, read};
use crate::text::{clip, inert, sha256, strip_prefix_ignore_case};
use crate::warning::Warning;

const MARKER: &str = "<!-- annals:resume sha256=";

/// The outcome of `annals pause`.
#[derive(Debug, Default, Serialize)]
pub struct PauseReport {
    /// The note, relative to the project.
    pub file: PathBuf,
    /// The current position.
    pub phase: Option<String>,
    /// The file of the last completed plan, relative to the project.
    pub last_completed: Option<String>,
    /// The file of the next pending plan, relative to the project.
    pub next_pending: Option<String>,
}

/// Writes RESUME.md next to the active milestone's STATE.md, with notes for the next session.
pub fn pause(project: &Project, notes: Option<&str>) -> Result<CommandOutcome<PauseReport>> {
    let notes = notes.map(inert);
    let notes = notes.as_deref().map(str::trim).filter(|notes| !notes.is_empty());
    secrets::refuse("the note", notes.unwrap_or_default())?;
    project.planning()?;
    carry_out(project, "pause", &[Store::Plan], |work| {
        let survey = Survey::read(project)?;
        let path = survey.folder.active.dir.join(vocabulary::RESUME);
        let old = work.changes.current(&path)?;
        if old.as_deref().is_some_and(|old| !is_own(old)) {
            return Err(Error::refused("was written or edited by someone else")
                .at(project.relative(&path), 1)
                .hint("`annals resume` reads it; add to it by hand, or move it away"));
        }
        // Another session may not have been told yet.
        let earlier = current_notes(&survey, &mut Vec::new())?;
        if let Some(earlier) = earlier.filter(|earlier| Some(earlier.trim()) != notes) {
            let first = clip(earlier.trim().lines().next().unwrap_or_default(), 80);
            let message = format!("replaced an earlier note ({first}); `annals undo` restores it");
            work.warnings.push(Warning::file(&path, message));
        }
        let report = PauseReport {
            file: project.relative(&path).to_owned(),
            phase: position(&survey),
            last_completed: last_completed(project, &survey),
            next_pending: next_pending(project, &survey),
        };
        let next = survey.position.next.clone();
        let page = page(project, &survey, &report, &next, notes)?;
        work.changes.edit(&path, old, page)?;
        work.point_to(next);
        work.warnings.extend(survey.warnings);
        Ok(report)
    })
}

fn position(survey: &Survey) -> Option<String> {
    let derived = PhaseReport::derived(&survey.position);
    let parts = [
        derived.total.map(|total| format!(" of {total}")),
        derived.name.map(|name| format!(" ({name})")),
        derived.status.map(|status| format!(": {status}")),
    ];
    Some(format!("{}{}", derived.number?, parts.map(Option::unwrap_or_default).concat()))
}

fn last_completed(project: &Project, survey: &Survey) -> Option<String> {
    let current = survey.position.current?;
    let phases = survey.position.phases.get(..=current)?;
    phases.iter().rev().find_map(|phase| {
        let slot = phase.plans.iter().rfind(|slot| slot.state == PlanState::Complete)?;
        Some(shown(project, &slot.summary.as_ref()?.path))
    })
}

fn next_pending(project: &Project, survey: &Survey) -> Option<String> {
    let phase = survey.position.phase()?;
    let slot = phase.open_plans().next()?;
    Some(shown(project, slot.paths().next()?))
}

/// Returns a path relative to the project.
fn shown(project: &Project, path: &Path) -> String {
    project.relative(path).display().to_string()
}

/// Returns the complete plans as `phase/plan`, in order.
fn done_plans(survey: &Survey) -> Vec<String> {
    let of = |phase: &Phase| {
        phase
            .plans
            .iter()
            .filter(|slot| slot.state == PlanState::Complete)
            .map(|slot| format!("{}/{}", phase.number, slot.number))
            .collect::<Vec<_>>()
    };
    survey.position.phases.iter().flat_map(of).collect()
}

fn page(
    project: &Project,
    survey: &Survey,
    report: &PauseReport,
    next: &Next,
    notes: Option<&str>,
) -> Result<String> {
    let paused = project.clock.timestamp();
    let commit = project.git.head()?;
    let contested = next.contest();
    let lines = [
        ("Paused", Some(&paused)),
        ("Phase", report.phase.as_ref()),
        ("Last completed", report.last_completed.as_ref()),
        ("Next pending", report.next_pending.as_ref()),
        ("Next command", Some(&next.command)),
        ("Contested", contested.as_ref()),
        ("Commit", commit.as_ref()),
    ];
    let line = |(label, value): (&str, Option<&String>)| Some(format!("**{label}:** {}\n", value?));
    let lines: String = lines.into_iter().filter_map(line).collect();
    let notes = notes.unwrap_or("None.");
    let done = done_plans(survey).join(" ");
    let body = format!("# Resume\n\n{lines}\n## Notes\n\n{notes}\n\n<!-- annals:done {done} -->\n");
    let body = inert(&body);
    Ok(format!("{MARKER}{} -->\n{body}", digest(&body)))
}

/// Returns whether a note is unchanged since `pause` wrote it.
fn is_own(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some((first, body)) = text.split_once('\n') else {
        return false;
    };
    let hash = first.strip_prefix(MARKER).and_then(|rest| rest.trim_end().strip_suffix(" -->"));
    hash == Some(digest(body).as_str())
}

/// Returns the hash of a text, independent of line endings and trailing white space, which git or a formatter
/// may change.
fn digest(body: &str) -> String {
    let plain = body.replace("\r\n", "\n");
    sha256(plain.trim_end())[..16].to_owned()
}

/// Returns the path and text of the note of the active milestone, of the planning folder, or of the current
/// phase, else of the one of the planning tool that `status` shows.
fn find(survey: &Survey, warnings: &mut Vec<Warning>) -> Result<Option<(PathBuf, String)>> {
    let homes: [&Path; 2] = [&survey.folder.active.dir, &survey.folder.dir];
    let of_phase = survey.position.phase().and_then(|phase| phase.dir.as_ref());
    let mut places: Vec<PathBuf> = homes.iter().map(|home| home.join(vocabulary::RESUME)).collect();
    places.extend(of_phase.map(|dir| dir.path.join(vocabulary::CONTINUE_HERE)));
    let of_tool = survey.handoff.as_ref().filter(|handoff| !handoff.is_json());
    places.extend(of_tool.map(|handoff| survey.absolute(&handoff.file)));
    for path in places {
        if let Some(text) = read::text(&path)? {
            return Ok(Some((path, text.into_value(warnings))));
        }
    }
    Ok(None)
}

/// The outcome of `annals resume`. It is the document of `annals resume --json`.
#[derive(Debug, Serialize)]
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
#[derive(Debug, Default, Serialize)]
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
    let Some((path, text)) = find(&survey, &mut warnings)? else {
        let handoff = survey.handoff.as_ref().ok_or_else(|| no_note(project, &survey))?;
        return Ok(from_fields(project, &survey, handoff, warnings));
    };
    let is_own = is_own(text.as_bytes());
    let front = FrontMatter::parse(&text, &path).into_value(&mut warnings);
    let outline = Outline::parse(&text, front.range.end);
    let labels = outline.labels(&(front.range.end..text.len()));
    let said = |names: &[&str]| {
        names.iter().find_map(|name| {
            let label = labels.iter().find(|label| label.name.eq_ignore_ascii_case(name));
            let field = || front.text(&[&name.replace(' ', "_").to_lowercase()]);
            label.map(|label| label.value.as_str()).or_else(field).map(str::to_owned)
        })
    };
    let phase = said(&["Phase", "Current phase", "Position"]);
    let then = phase.as_deref().and_then(|phase| first_number(phase, &survey));
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
                done_plans(&survey)
                    .into_iter()
                    .filter(|plan| !then.contains(&plan.as_str()))
                    .collect()
            }),
            phase: moved_to(&survey, then),
            commits: commits.flatten(),
        },
        next: survey.position.next.clone(),
        file: project.relative(&path).to_owned(),
        phase,
        warnings: project.named(warnings),
    })
}

/// Returns the error that no session left a note.
fn no_note(project: &Project, survey: &Survey) -> Error {
    let place = survey.folder.active.dir.join(vocabulary::RESUME);
    Error::not_found("no session left a note here")
        .about(project.relative(&place))
        .hint("`annals pause` leaves one; `annals status` says where the work stands")
}

/// Returns what `status` reads of HANDOFF.json.
fn from_fields(
    project: &Project,
    survey: &Survey,
    handoff: &Handoff,
    warnings: Vec<Warning>,
) -> ResumeReport {
    let phase = handoff.phase_dir.clone();
    let then = phase.as_deref().and_then(|phase| first_number(phase, survey));
    ResumeReport {
        file: handoff.file.clone(),
        is_own: false,
        paused: Some(handoff.written.to_string()),
        last_completed: None,
        next_pending: None,
        notes: Some(handoff.next_action.clone()),
        since: ResumeProgress { phase: moved_to(survey, then), ..ResumeProgress::default() },
        next: survey.position.next.clone(),
        phase,
        warnings: project.named(warnings),
    }
}

/// Returns the current phase if it is not the one of the note.
fn moved_to(survey: &Survey, then: Option<PhaseNumber>) -> Option<String> {
    let now = &survey.position.phase()?.number;
    then.filter(|then| then != now).map(|_| now.to_string())
}

/// Returns the notes that `annals pause` took, unless a plan was completed since: then they may be out of date.
pub(crate) fn current_notes(
    survey: &Survey,
    warnings: &mut Vec<Warning>,
) -> Result<Option<String>> {
    let found = find(survey, warnings)?
        .filter(|(_, text)| done_then(text).is_some_and(|then| then == done_plans(survey)));
    Ok(found.and_then(|(_, text)| {
        let outline = Outline::parse(&text, 0);
        outline.section(&["Notes"])?;
        notes(&outline, true)
    }))
}

/// Returns the first phase number in the note's description of the phase: 2 for `Phase 02-name`, PAY-07 for `PAY-07 (Name)`.
fn first_number(phase: &str, survey: &Survey) -> Option<PhaseNumber> {
    let text = strip_prefix_ignore_case(phase, "phase ").unwrap_or(phase);
    let later = || survey.numbering.split(&phase[phase.find(|c: char| c.is_ascii_digit())?..]);
    survey.numbering.split(text).or_else(later).map(|(number, _)| number)
}

/// Returns the plans that were complete when the note was written.
fn done_then(text: &str) -> Option<Vec<&str>> {
    let list = text.lines().rev().find_map(|line| line.trim().strip_prefix("<!-- annals:done"))?;
    Some(list.trim_end_matches("-->").split_whitespace().collect())
}

/// Returns the notes section, or without one everything after the front matter.
fn notes(outline: &Outline<'_>, has_section: bool) -> Option<String> {
    let section = outline.section(&["Notes"]).filter(|_| has_section);
    let whole = 0..outline.text().len();
    let start = match section {
        Some(section) => section.own.start,
        None => outline.blocks(&whole).first().map_or(whole.end, |block| block.range.start),
    };
    let text = outline.text().get(start..).unwrap_or_default();
    let end = text.find("<!-- annals:done").unwrap_or(text.len());
    let text = text[..end].trim();
    (!text.is_empty() && text != "None.").then(|| text.to_owned())
}
