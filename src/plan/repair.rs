//! Corrects STATE.md and ROADMAP.md by writing over what [`drift`](crate::plan::drift()) found.
//!
//! Only values that the planning tools' own templates could have written are written over; the rest remains, for a
//! person. Nothing is written where the files leave open what is right.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::markdown::edit;
use crate::markdown::edit::Edit;
use crate::plan::drift::{found, statements};
use crate::plan::phase::first_place;
use crate::plan::{DEFAULT_MILESTONE, Drift, DriftKind, MAX_CLAIMS, Phase, Survey, metrics};
use crate::project::{Project, vocabulary};
use crate::storage::{Changes, read};
use crate::warning::Parsed;

/// A corrected statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Correction {
    /// The kind of statement; `None` if it only depends on another.
    pub kind: Option<DriftKind>,
    /// The old text.
    pub stated: String,
    /// The new text.
    pub written: String,
    /// The file, relative to the project's root.
    pub file: PathBuf,
    /// Line number, from 1.
    pub line: usize,
    /// The place of the fact that proves it: a file or folder, and what it shows.
    pub because: String,
}

/// The corrections of a milestone's documents.
#[derive(Clone, Debug)]
pub struct Repair {
    /// The corrections, in the order in which they were made.
    pub corrections: Vec<Correction>,
    /// The remaining contradictions, which a person must settle.
    pub remaining: Vec<Drift>,
    /// The milestone after the corrections.
    pub survey: Survey,
}

/// Maximum number of rounds, since one correction may reveal the next: phase, plans, progress, status.
const MAX_ROUNDS: usize = 4;

/// Plans the corrections of STATE.md and ROADMAP.md according to the files, and of STATE.md's metrics according to the
/// summaries.
///
/// Returns an error if the files are ambiguous. A file that is not valid UTF-8 stays as it is.
pub fn repair(project: &Project, survey: &Survey, changes: &mut Changes) -> Result<Repair> {
    survey.check_understood()?;
    if statements(survey).next().is_some() {
        check_clear(survey)?;
    }
    let paths = [vocabulary::STATE, vocabulary::ROADMAP];
    let paths = paths.map(|name| survey.folder.active.dir.join(name));
    let before = &survey.position.next;
    let (mut survey, mut corrections) = (survey.clone(), Vec::new());
    for _ in 0..MAX_ROUNDS {
        let made = corrections.len();
        for (path, found) in paths.iter().zip(found(&survey)) {
            corrections.extend(correct(path, found, changes)?);
        }
        if corrections.len() == made {
            break;
        }
        let folder = Parsed::clean(survey.folder.clone());
        survey = Survey::read_folder(project, folder, Some(changes));
    }
    let after = &survey.position.next;
    if (before.action, &before.phase) != (after.action, &after.phase) {
        // Corrections may only remove contradictions.
        let [before, after] = [before, after].map(|next| first_place(&next.because));
        return ambiguous(
            &format!("{before}, but after correcting STATE.md, {after}"),
            "correct STATE.md by hand",
        );
    }
    let remaining = statements(&survey).collect();
    corrections.extend(correct(&paths[0], metrics(&survey), changes)?);
    Ok(Repair { corrections, remaining, survey })
}

fn ambiguous<T>(what: &str, hint: &str) -> Result<T> {
    let error = Error::refused(format!("the files are ambiguous: {what}"));
    Err(error.hint(format!("{hint}; then run it again")))
}

/// Returns an error that says what to decide, if the files leave open what is right.
fn check_clear(survey: &Survey) -> Result<()> {
    let (position, folder) = (&survey.position, &survey.folder);
    if survey.state.claims.len() >= MAX_CLAIMS {
        // The rest is not read, and might say something else.
        return ambiguous(
            &format!("STATE.md has {MAX_CLAIMS} statements about the position or more"),
            "remove those that are outdated",
        );
    }
    let active = folder.dir.join(vocabulary::ACTIVE);
    if folder.active.slug == DEFAULT_MILESTONE && read::exists(&active) {
        return ambiguous(
            &format!("{} names no milestone here", survey.show(&active)),
            "correct ACTIVE or remove it",
        );
    }
    if let Some(dir) = folder.archive_of_active().and_then(|one| one.dir.as_ref()) {
        return ambiguous(
            &format!("{}: contains the same phases, already archived", survey.show(dir)),
            "remove the phases that were left behind, or the archive",
        );
    }
    // The folder of the milestone that STATE.md calls active, if another is in use.
    let stated = survey.state.active_milestone.iter().flat_map(|slug| {
        [folder.dir.join(vocabulary::MILESTONES), folder.dir.clone()].map(|home| home.join(slug))
    });
    let stated = stated.into_iter().find(|dir| read::is_folder(dir));
    if let Some(dir) = stated.filter(|dir| *dir != folder.active.dir) {
        let dir = survey.show(&dir);
        return ambiguous(
            &format!("{dir}: STATE.md calls this milestone active, but no ACTIVE file names it"),
            "correct STATE.md, or name the milestone in ACTIVE",
        );
    }
    if let Some(current) = position.phase() {
        let mut same = position.with_number(&current.number);
        let is_unfinished = |phase: &Phase| !phase.has_plans() || phase.has_open_plan();
        if same.any(|phase| phase.dir != current.dir && is_unfinished(phase)) {
            return ambiguous(
                &format!("two folders carry the number {}", current.number),
                "rename one of them",
            );
        }
    }
    let Some(rival) = position.next.rival() else { return Ok(()) };
    ambiguous(
        &format!("{}, but {}", first_place(&position.next.because), first_place(&rival.because)),
        "finish what is open, or correct the document that is wrong",
    )
}

/// Writes over what may be corrected in a file, and returns what was corrected.
fn correct(path: &Path, found: Vec<Drift>, changes: &mut Changes) -> Result<Vec<Correction>> {
    // A file in which nothing is wrong need not be readable.
    let old = if found.is_empty() { None } else { changes.current(path)? };
    let Some(Ok(text)) = old.map(String::from_utf8) else { return Ok(Vec::new()) };
    let change = |drift: Drift| {
        let written = drift.written?;
        let stated = text.get(drift.range.clone()).filter(|stated| *stated != written)?;
        let correction = Correction {
            kind: drift.kind,
            stated: stated.to_owned(),
            written: written.clone(),
            line: drift.line,
            because: drift.because,
            file: drift.file,
        };
        Some((Edit::replace(drift.range, written), correction))
    };
    let mut found: Vec<(Edit, Correction)> = found.into_iter().filter_map(change).collect();
    found.sort_by_key(|(edit, _)| edit.range.start);
    found.dedup_by(|(later, _), (one, _)| later.range.start < one.range.end);
    let (edits, corrections) = found.into_iter().unzip();
    let new = edit::apply(&text, edits);
    changes.edit(path, Some(text.into_bytes()), new)?;
    Ok(corrections)
}

#[cfg(test)]
mod tests;
