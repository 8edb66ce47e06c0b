//! Regenerates the context files on demand.

use std::path::PathBuf;

use serde::Serialize;
use serde::Serializer;

use crate::error::Error;
use crate::error::Result;
use crate::lifecycle::outcome::CommandOutcome;
use crate::lifecycle::outcome::Work;
use crate::lifecycle::outcome::carry_out;
use crate::lifecycle::refresh;
use crate::lifecycle::refresh::RefreshRequest;
use crate::markdown::edit;
use crate::markdown::edit::Edit;
use crate::position;
use crate::position::Correction;
use crate::position::Drift;
use crate::position::Survey;
use crate::project::ContextTarget;
use crate::project::Project;
use crate::project::vocabulary;
use crate::storage::Changes;
use crate::storage::Store;
use crate::storage::read;
use crate::warning::Warning;

/// What `annals sync` was asked.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is asked for by itself, most of them by a flag"
)]
pub struct SyncRequest {
    /// Only tell whether the files are up to date.
    pub check: bool,
    /// The files that are to hold the block; empty for those that the settings name.
    pub targets: Vec<ContextTarget>,
    /// Replace hand edits inside the block.
    pub force: bool,
    /// Put the position lines of STATE.md and the roadmap right first.
    pub fix_state: bool,
    /// Only the files that have a block already: none is made.
    pub present_only: bool,
}

/// What `annals sync` put right of what the planning folder states.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SyncReport {
    /// The statements of STATE.md and ROADMAP.md that were put right.
    pub corrections: Vec<Correction>,
    /// What the files contradict still: it cannot be put right without losing a person's words.
    pub left: Vec<Drift>,
}

impl CommandOutcome<SyncReport> {
    /// Fails where a rule kept a file from being written, or with `check` where one is out of date.
    ///
    /// The report holds in either case: the other files are written, and the warnings are to be told.
    pub fn verdict(&self, request: &SyncRequest) -> Result<()> {
        self.refusal()?;
        if request.check && !self.changed.is_empty() {
            return Err(out_of_date(&self.changed));
        }
        match self.value.left.first() {
            Some(first) => Err(unfixed(&self.value, first)),
            None => Ok(()),
        }
    }
}

/// Brings the context files up to date, or with `check` works out whether they are.
pub fn sync(project: &Project, request: &SyncRequest) -> Result<CommandOutcome<SyncReport>> {
    // Before the lock is taken: taking it makes a folder, and nothing is written where there is no planning folder.
    project.planning()?;
    let project = &project.dry_run(project.dry_run || request.check);
    let asked = RefreshRequest {
        targets: request.targets.clone(),
        force: request.force,
        present_only: request.present_only,
    };
    let stores: &[Store] = if request.fix_state {
        &[Store::Plan, Store::Context]
    } else {
        &[Store::Context]
    };
    carry_out(project, "sync", stores, |work| {
        let mut survey = Survey::read(project)?;
        let report = if request.fix_state {
            repaired(project, &mut survey, &mut work.changes)?
        } else {
            SyncReport::default()
        };
        work.warnings.append(&mut survey.warnings);
        refresh::plan_with(project, &survey, &asked, work)?;
        Ok(report)
    })
}

/// Puts the position lines of STATE.md and the roadmap right, and nothing else; returns what was corrected.
pub fn fix_state(project: &Project) -> Result<Vec<Correction>> {
    project.planning()?;
    let (corrections, _) = project
        .storage()
        .transact("fix-state", &[Store::Plan], || {
            let mut changes = Changes::new();
            let mut survey = Survey::read(project)?;
            let repaired = repaired(project, &mut survey, &mut changes)?;
            Ok((repaired.corrections, changes))
        })?;
    Ok(corrections)
}

/// Plans STATE.md and ROADMAP.md as the files say they should be, and goes on with what they say then.
fn repaired(project: &Project, survey: &mut Survey, changes: &mut Changes) -> Result<SyncReport> {
    let repair = position::repair(project, survey)?;
    for (path, old, new) in repair.files {
        changes.edit(&path, Some(old), new)?;
    }
    let mut corrections = repair.corrections;
    corrections.extend(measure(project, &repair.survey, changes)?);
    // What was odd about the folder itself is said once, by the first reading.
    let warnings = std::mem::take(&mut survey.warnings);
    *survey = repair.survey;
    survey.warnings = warnings;
    Ok(SyncReport {
        corrections,
        left: repair.left,
    })
}

/// Plans STATE.md's performance metrics as the summaries have them.
fn measure(project: &Project, survey: &Survey, changes: &mut Changes) -> Result<Vec<Correction>> {
    let path = survey.folder.active.dir.join(vocabulary::STATE);
    let Some(bytes) = changes.current(&path)? else {
        return Ok(Vec::new());
    };
    // What is not text is not edited.
    let Ok(text) = String::from_utf8(bytes) else {
        return Ok(Vec::new());
    };
    let edits = position::metrics(&text, survey, &read::text)?;
    let shown = path.strip_prefix(&project.root).unwrap_or(&path);
    let correction = |edit: &Edit| Correction {
        kind: None,
        stated: text[edit.range.clone()].to_owned(),
        written: edit.text.clone(),
        file: shown.to_owned(),
        line: 1 + text[..edit.range.start].matches('\n').count(),
        because: "what the summaries of this milestone say".to_owned(),
    };
    let corrections = edits.iter().map(correction).collect();
    changes.write(&path, edit::apply(&text, edits))?;
    Ok(corrections)
}

/// Returns the error that lists what could not be put right without losing a person's words.
fn unfixed(report: &SyncReport, first: &Drift) -> Error {
    let listed: Vec<String> = report
        .left
        .iter()
        .map(|drift| {
            let (file, line) = (drift.file.display(), drift.line);
            format!("{file}:{line}: {}", drift.sentence())
        })
        .collect();
    let message = format!(
        "{} corrected, {} left as they are: {}",
        report.corrections.len(),
        report.left.len(),
        listed.join("; ")
    );
    Error::failed(message)
        .at(&first.file, first.line)
        .hint("these lines contain more than a status; edit them by hand")
}

/// Returns the error that names the files which a check found out of date.
fn out_of_date(changed: &[PathBuf]) -> Error {
    let names: Vec<String> = changed
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    Error::failed(format!("out of date: {}", names.join(", "))).hint("annals sync")
}

/// A context file as it would be written. It is the document of `annals sync --stdout --json`.
#[derive(Clone, Debug, Serialize)]
pub struct Preview {
    /// The file, relative to the project.
    pub file: PathBuf,
    /// Its bytes; in JSON as text, with U+FFFD for those that are none.
    #[serde(rename = "text", serialize_with = "text")]
    pub bytes: Vec<u8>,
    /// What was read in part only.
    pub warnings: Vec<Warning>,
}

fn text<S: Serializer>(bytes: &[u8], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(&String::from_utf8_lossy(bytes))
}

/// Returns the context file as it would be written, and writes nothing.
pub fn preview(project: &Project, target: ContextTarget) -> Result<Preview> {
    let project = &project.dry_run(true);
    let survey = Survey::read(project)?;
    let mut work = Work::default();
    let asked = RefreshRequest {
        targets: vec![target],
        force: false,
        present_only: false,
    };
    work.warnings.extend(survey.warnings.iter().cloned());
    refresh::plan_with(project, &survey, &asked, &mut work)?;
    let mut refused = work.context.iter().flat_map(|files| &files.refused);
    if let Some(refusal) = refused.next().cloned() {
        return Err(Error::from(refusal));
    }
    let path = project.root.join(target.file());
    Ok(Preview {
        file: PathBuf::from(target.file()),
        bytes: work.changes.current(&path)?.unwrap_or_default(),
        warnings: project.named(work.warnings),
    })
}
