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

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::lifecycle::outcome::{CommandOutcome, carry_out};
use crate::plan::{Next, Phase, PlanState, StatusReport, Survey};
use crate::project::{Project, vocabulary};
use crate::secrets;
use crate::storage::{Store, read};
use crate::text::{hexadecimal, inert};
use crate::warning::Warning;

const MARKER: &str = "<!-- annals:resume sha256=";

/// The outcome of `annals pause`.
#[derive(Clone, Debug, Default, Serialize)]
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
    if let Some(rule) = notes.and_then(secrets::first_rule) {
        let message = format!("the notes contain what looks like a secret ({rule})");
        return Err(
            Error::refused(message).hint("the next session reads them; leave the secret out")
        );
    }
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
        let report = PauseReport {
            file: project.relative(&path).to_owned(),
            ..pause_report(project, &survey)
        };
        let next = survey.position.next.clone();
        let page = page(project, &survey, &report, &next, notes)?;
        work.changes.edit(&path, old, page)?;
        work.point_to(next);
        work.warnings.extend(survey.warnings);
        Ok(report)
    })
}

fn pause_report(project: &Project, survey: &Survey) -> PauseReport {
    let derived = StatusReport::from_survey(project, survey).derived;
    let phase = derived.number.map(|number| {
        let total = derived.total.map(|total| format!(" of {total}"));
        let name = derived.name.map(|name| format!(" ({name})"));
        let status = derived.status.map(|status| format!(": {status}"));
        let parts = [total, name, status].map(Option::unwrap_or_default);
        format!("{number}{}", parts.concat())
    });
    PauseReport {
        phase,
        last_completed: last_completed(project, survey),
        next_pending: next_pending(project, survey),
        ..PauseReport::default()
    }
}

fn last_completed(project: &Project, survey: &Survey) -> Option<String> {
    let current = survey.position.current?;
    let phases = survey.position.phases.get(..=current)?;
    phases.iter().rev().find_map(|phase| {
        let (slot, _) =
            phase.plans.iter().rev().find(|(_, state)| *state == PlanState::Complete)?;
        path_in_project(project, phase, slot.summary.as_ref()?)
    })
}

fn next_pending(project: &Project, survey: &Survey) -> Option<String> {
    let phase = survey.position.phase()?;
    let slot = phase.open_plans().next()?;
    path_in_project(project, phase, slot.plan.as_ref().or(slot.summary.as_ref())?)
}

/// Returns the path of a phase's file, relative to the project.
fn path_in_project(project: &Project, phase: &Phase, file: &str) -> Option<String> {
    let path = phase.dir.as_ref()?.join(file);
    Some(project.relative(&path).display().to_string())
}

/// Returns the complete plans as `phase/plan`, in order.
pub(crate) fn done_plans(survey: &Survey) -> Vec<String> {
    let mut done = Vec::new();
    for phase in &survey.position.phases {
        for (slot, state) in &phase.plans {
            if *state == PlanState::Complete {
                done.push(format!("{}/{}", phase.number, slot.number));
            }
        }
    }
    done
}

fn page(
    project: &Project,
    survey: &Survey,
    report: &PauseReport,
    next: &Next,
    notes: Option<&str>,
) -> Result<String> {
    let mut body = String::from("# Resume\n\n");
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
    for (label, value) in lines {
        if let Some(value) = value {
            writeln!(body, "**{label}:** {value}").ok();
        }
    }
    let notes = notes.unwrap_or("None.");
    let done = done_plans(survey).join(" ");
    write!(body, "\n## Notes\n\n{notes}\n\n<!-- annals:done {done} -->\n").ok();
    let body = inert(&body);
    Ok(format!("{MARKER}{} -->\n{body}", digest(&body)))
}

/// Returns whether a note is unchanged since `pause` wrote it.
pub(crate) fn is_own(bytes: &[u8]) -> bool {
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
    hexadecimal(&Sha256::digest(plain.trim_end())[..8])
}

/// Returns the path and text of the note of the active milestone, of the planning folder, or of the current
/// phase.
pub(crate) fn find(
    survey: &Survey,
    warnings: &mut Vec<Warning>,
) -> Result<Option<(PathBuf, String)>> {
    let homes: [&Path; 2] = [&survey.folder.active.dir, &survey.folder.dir];
    let of_phase = survey.position.phase().and_then(|phase| phase.dir.as_ref());
    let mut places: Vec<PathBuf> = homes.iter().map(|home| home.join(vocabulary::RESUME)).collect();
    places.extend(of_phase.map(|dir| dir.join(".continue-here.md")));
    for path in places {
        if let Some(text) = read::text(&path)? {
            return Ok(Some((path, text.into_value(warnings))));
        }
    }
    Ok(None)
}
