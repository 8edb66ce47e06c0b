//! Records what finished phases taught.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::Error;
use crate::error::Result;
use crate::lifecycle::refresh;
use crate::lifecycle::refresh::ContextFiles;
use crate::patterns;
use crate::patterns::FinishedPhase;
use crate::patterns::Patterns;
use crate::planning::Milestone;
use crate::planning::Phase;
use crate::planning::PhaseNumber;
use crate::planning::Roadmap;
use crate::planning::Standing;
use crate::planning::State;
use crate::planning::Summary;
use crate::planning::Survey;
use crate::planning::phases;
use crate::project::Project;
use crate::storage::Changes;
use crate::storage::Store;
use crate::storage::read;
use crate::warning::Warning;

/// What `annals execute` was asked.
#[derive(Clone, Debug, Default)]
pub struct ExecuteRequest {
    /// The phase; without, the latest complete one not yet recorded.
    pub phase: Option<PhaseNumber>,
    /// Record every complete phase not yet recorded, archived milestones included.
    pub all: bool,
    /// Record a phase although plans are open.
    pub partial: bool,
    /// Record a phase again that is recorded already.
    pub again: bool,
}

/// What `annals execute` did. It is the document of `annals execute --json`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ExecuteReport {
    /// The phases that were recorded, by folder name.
    pub recorded: Vec<String>,
    /// The phases that had been recorded before, by folder name.
    pub already: Vec<String>,
    /// The phases whose summaries changed since they were recorded.
    pub changed_since: Vec<String>,
    /// The context files.
    pub context: ContextFiles,
    /// The files changed, relative to the project.
    pub changed: Vec<PathBuf>,
    /// On a dry run, what would change.
    pub diff: Option<String>,
    /// What was read in part only.
    pub warnings: Vec<Warning>,
}

/// A phase that may be recorded, and the milestone it belongs to.
struct Candidate {
    milestone: String,
    phase: Phase,
}

/// Appends an entry to PATTERNS.md for each phase asked for, and refreshes the context files.
pub fn execute(project: &Project, request: &ExecuteRequest) -> Result<ExecuteReport> {
    let stores = [Store::Plan, Store::Patterns, Store::Context];
    let ((mut report, refused), applied) = project.storage().transact("execute", &stores, || {
        let mut changes = Changes::new();
        let survey = Survey::take(project)?;
        let mut report = ExecuteReport {
            warnings: survey.warnings.clone(),
            ..ExecuteReport::default()
        };
        let patterns = refresh::recorded(project, &changes, &mut report.warnings)?;
        let candidates = candidates(project, &survey, request, &patterns, &mut report)?;
        record(project, candidates, request.again, &patterns, &mut changes, &mut report)?;
        let refreshed = refresh::plan(project, &survey, &mut changes)?;
        report.context = refreshed.files;
        report.warnings.extend(refreshed.warnings);
        Ok(((report, refreshed.refused), changes))
    })?;
    report.changed = applied.changed.iter().map(|path| project.relative(path).to_owned()).collect();
    report.diff = applied.dry_run.then_some(applied.diff);
    report.warnings.extend(applied.warnings);
    refused.map_or(Ok(report), Err)
}
