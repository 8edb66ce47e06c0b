//! Regenerates the context files on demand.

use std::path::PathBuf;

use serde::{Serialize, Serializer};

use crate::error::{Error, Result};
use crate::lifecycle::outcome::{CommandOutcome, Work, carry_out};
use crate::lifecycle::refresh;
use crate::lifecycle::refresh::SyncRequest;
use crate::plan;
use crate::plan::{Correction, Drift, Survey};
use crate::project::{ContextTarget, Project};
use crate::storage::{Changes, Store};
use crate::warning::Warning;

/// The corrections of `annals sync` in the planning folder.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SyncReport {
    /// The corrected statements of STATE.md and ROADMAP.md.
    pub corrections: Vec<Correction>,
    /// Remaining contradictions, which cannot be corrected without losing text that a person wrote.
    pub left: Vec<Drift>,
}

impl CommandOutcome<SyncReport> {
    /// Fails if a rule prevented a file from being written, or with `check` if a file is out of date.
    ///
    /// The report is valid in either case: the other files were written, and the warnings should be shown.
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

/// Refreshes the context files, or with `check` only determines whether they are up to date.
pub fn sync(project: &Project, request: &SyncRequest) -> Result<CommandOutcome<SyncReport>> {
    // Checked before taking the lock, which creates a folder: without a planning folder, nothing may be
    // written.
    project.planning()?;
    let project = &project.dry_run(project.dry_run || request.check);
    let stores: &[Store] =
        if request.fix_state { &[Store::Plan, Store::Context] } else { &[Store::Context] };
    carry_out(project, "sync", stores, |work| {
        let mut survey = Survey::read(project)?;
        let report = if request.fix_state {
            repaired(project, &mut survey, &mut work.changes)?
        } else {
            SyncReport::default()
        };
        work.warnings.append(&mut survey.warnings);
        refresh::plan_with(project, &survey, &survey, request, work)?;
        Ok(report)
    })
}

/// Corrects only the position lines of STATE.md and ROADMAP.md, and returns the corrections.
pub fn fix_state(project: &Project) -> Result<Vec<Correction>> {
    project.planning()?;
    let (corrections, _) = project.transact("fix-state", &[Store::Plan], || {
        let mut changes = Changes::new();
        let mut survey = Survey::read(project)?;
        let repaired = repaired(project, &mut survey, &mut changes)?;
        Ok((repaired.corrections, changes))
    })?;
    Ok(corrections)
}

/// Plans the corrections of STATE.md and ROADMAP.md, and updates the survey accordingly.
fn repaired(project: &Project, survey: &mut Survey, changes: &mut Changes) -> Result<SyncReport> {
    let repair = plan::repair(project, survey)?;
    for (path, old, new) in repair.files {
        changes.edit(&path, Some(old), new)?;
    }
    // Warnings about the folder itself are reported once, from the first survey.
    let warnings = std::mem::take(&mut survey.warnings);
    *survey = repair.survey;
    survey.warnings = warnings;
    Ok(SyncReport { corrections: repair.corrections, left: repair.remaining })
}

/// Returns the error that lists the contradictions which remain.
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

/// Returns the error that lists the files which are out of date.
fn out_of_date(changed: &[PathBuf]) -> Error {
    let names: Vec<String> = changed.iter().map(|path| path.display().to_string()).collect();
    Error::failed(format!("out of date: {}", names.join(", "))).hint("annals sync")
}

/// The planned content of a context file. It is the document of `annals sync --stdout --json`.
#[derive(Clone, Debug, Serialize)]
pub struct Preview {
    /// The file, relative to the project.
    pub file: PathBuf,
    /// Its bytes; in JSON as text, with U+FFFD for invalid UTF-8.
    #[serde(rename = "text", serialize_with = "text")]
    pub bytes: Vec<u8>,
    /// Warnings about files that were only partially understood.
    pub warnings: Vec<Warning>,
}

fn text<S: Serializer>(bytes: &[u8], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(&String::from_utf8_lossy(bytes))
}

/// Returns the planned content of a context file without writing it.
pub fn preview(project: &Project, target: ContextTarget) -> Result<Preview> {
    let project = &project.dry_run(true);
    let survey = Survey::read(project)?;
    let mut work = Work::default();
    let request = SyncRequest { targets: vec![target], ..SyncRequest::default() };
    work.warnings.extend(survey.warnings.iter().cloned());
    refresh::plan_with(project, &survey, &survey, &request, &mut work)?;
    let mut refused = work.context.iter().flat_map(|files| &files.refused);
    if let Some(refusal) = refused.next().cloned() {
        return Err(Error::from(refusal));
    }
    // Another file may get the block in its place.
    let files = work.context.iter().flat_map(|files| &files.files).map(|file| file.file.clone());
    let files: Vec<PathBuf> = files.collect();
    let asked = PathBuf::from(target.file());
    let file =
        if files.contains(&asked) { asked } else { files.into_iter().next().unwrap_or(asked) };
    Ok(Preview {
        bytes: work.changes.current(&project.root.join(&file))?.unwrap_or_default(),
        file,
        warnings: project.named(work.warnings),
    })
}
