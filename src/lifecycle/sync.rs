//! Refreshes the context files, at the end of lifecycle commands and on demand.

use std::path::PathBuf;

use clap::Args;
use serde::{Serialize, Serializer};

use crate::claude_md::{Content, ContextFileOutcome, MemoryPart, Pattern, Recorded};
use crate::error::{Error, Result};
use crate::lifecycle::init::code_profile;
use crate::lifecycle::outcome::{CommandOutcome, Work, carry_out};
use crate::patterns::{Insights, StaleReasons};
use crate::plan::{Action, Correction, Drift, Repair, Shipped, StatusReport, Survey};
use crate::project::{ContextTarget, Project};
use crate::storage::{Changes, Store};
use crate::text::join;
use crate::warning::Warning;
use crate::{claude_md, parallel, patterns, plan};

/// The corrections of `annals sync` in the planning folder.
#[derive(Debug, Default, Serialize)]
pub struct SyncReport {
    /// The corrected statements of STATE.md and ROADMAP.md.
    pub corrections: Vec<Correction>,
    /// Remaining contradictions, which cannot be corrected without losing text that a person wrote.
    pub left: Vec<Drift>,
}

impl CommandOutcome<SyncReport> {
    /// Fails if a rule prevented a file from being written, or with `check` if a file is out of date or in conflict.
    ///
    /// The report is valid in either case: the other files were written, and the warnings should be shown.
    pub fn verdict(&self, request: &SyncRequest) -> Result<()> {
        self.refusal()?;
        if request.check && !self.changed.is_empty() {
            return Err(out_of_date(&self.changed, request));
        }
        let mut files = self.context.iter().flat_map(|context| &context.files);
        let conflict = files.find(|file| file.outcome == ContextFileOutcome::InConflict);
        if let Some(file) = conflict.filter(|_| request.check) {
            return Err(Error::failed("has an unresolved merge conflict")
                .about(&file.file)
                .hint("resolve it, then run `annals sync`"));
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
    if request.memory.is_none() {
        project.planning()?;
    }
    let project = &project.dry_run(project.dry_run || request.check);
    let stores: &[Store] =
        if request.fix_state { &[Store::Plan, Store::Context] } else { &[Store::Context] };
    carry_out(project, "sync", stores, |work| planned(project, request, work))
}

/// Plans the context files, and the corrections if requested.
fn planned(project: &Project, request: &SyncRequest, work: &mut Work) -> Result<SyncReport> {
    if request.memory.is_some() {
        let content = Content { memory: request.memory.clone(), ..Content::default() };
        regenerated(project, &content, &Recorded::default(), request, work)?;
        return Ok(SyncReport::default());
    }
    let mut survey = Survey::read(project)?;
    // Warnings about the folder itself are reported once, from the first survey.
    work.warnings.append(&mut survey.warnings);
    let mut report = SyncReport::default();
    if request.fix_state {
        let repair = plan::repair(project, &survey, &mut work.changes)?;
        report = SyncReport { corrections: repair.corrections, left: repair.remaining };
        survey = repair.survey;
    }
    refresh_with(project, &survey, &survey, request, work)?;
    Ok(report)
}

/// Corrects only the position lines of STATE.md and ROADMAP.md.
pub fn fix_state(project: &Project) -> Result<Repair> {
    project.planning()?;
    let (repair, _) = project.transact("fix-state", &[Store::Plan], || {
        let mut changes = Changes::new();
        Ok((plan::repair(project, &Survey::read(project)?, &mut changes)?, changes))
    })?;
    Ok(repair)
}

/// Returns the error that lists the contradictions which remain.
fn unfixed(report: &SyncReport, first: &Drift) -> Error {
    let listed = report.left.iter().map(|drift| {
        let (file, line) = (drift.file.display(), drift.line);
        format!("{file}:{line}: {}", drift.sentence())
    });
    let message = format!(
        "{} corrected, {} left as they are: {}",
        report.corrections.len(),
        report.left.len(),
        join(listed, "; ")
    );
    Error::failed(message).at(&first.file, first.line).hint(
        "these lines contain more than a status, or their file is not UTF-8; edit them by hand",
    )
}

/// Returns the error that lists the files which are out of date.
fn out_of_date(changed: &[PathBuf], request: &SyncRequest) -> Error {
    let names = join(changed.iter().map(|path| path.display().to_string()), ", ");
    let targets = join(request.targets.iter().map(|target| target.as_str()), ",");
    let command = match &request.memory {
        Some(_) if !targets.is_empty() => format!("annals sync --target {targets}"),
        _ => "annals sync".to_owned(),
    };
    Error::failed(format!("out of date: {names}")).hint(command)
}

/// The planned content of a context file. It is the document of `annals sync --stdout --json`.
#[derive(Debug, Serialize)]
pub struct Preview {
    /// The file, relative to the project.
    pub file: PathBuf,
    /// Its bytes; in JSON as text, with U+FFFD for invalid UTF-8.
    #[serde(rename = "text", serialize_with = "text")]
    pub bytes: Vec<u8>,
    /// Warnings about files that were only partially understood.
    pub warnings: Vec<Warning>,
}

fn text<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&String::from_utf8_lossy(bytes))
}

/// Returns the planned content of the first context file of a request, by default CLAUDE.md, without writing it.
pub fn preview(project: &Project, request: &SyncRequest) -> Result<Preview> {
    let project = &project.dry_run(true);
    let target = request.targets(project).first().copied().unwrap_or(ContextTarget::Claude);
    let request = &SyncRequest { targets: vec![target], ..request.clone() };
    let mut work = Work::default();
    planned(project, request, &mut work)?;
    let context = work.context.unwrap_or_default();
    context.refusal()?;
    // Another file may get the block in its place.
    let mut files: Vec<PathBuf> = context.files.into_iter().map(|file| file.file).collect();
    let asked = PathBuf::from(target.file());
    let is_kept = files.is_empty() || files.contains(&asked);
    let file = if is_kept { asked } else { files.swap_remove(0) };
    Ok(Preview {
        bytes: work.changes.current(&project.root.join(&file))?.unwrap_or_default(),
        file,
        warnings: project.named(work.warnings),
    })
}

/// The options of `annals sync`.
#[derive(Args, Clone, Debug, Default)]
pub struct SyncRequest {
    /// Change nothing; if a file is out of date, show a diff and exit with 1
    #[arg(long)]
    pub check: bool,
    /// The files that get the block [default: those that have it; with a planning folder, also those named in the settings]
    #[arg(long = "target", value_name = "NAME", value_delimiter = ',')]
    pub targets: Vec<ContextTarget>,
    /// First repair STATE.md's position lines and the roadmap's checkboxes and progress rows
    ///
    /// Every other byte stays. Refused (exit 4) if the files are ambiguous; a status line that says more than
    /// the status is left and listed (exit 1).
    #[arg(long)]
    pub fix_state: bool,
    /// Update only files that already have a block.
    #[arg(skip)]
    pub present_only: bool,
    /// The milestone that ships with the same changes.
    #[arg(skip)]
    pub shipped: Option<Shipped>,
    /// The slug of its archive.
    #[arg(skip)]
    pub archived_as: Option<String>,
    /// What the block says in a project without a planning folder.
    #[arg(skip)]
    pub memory: Option<Vec<MemoryPart>>,
}

impl SyncRequest {
    /// Returns the files that should contain the block, besides those that have it.
    fn targets<'a>(&'a self, project: &'a Project) -> &'a [ContextTarget] {
        match &self.targets[..] {
            _ if self.present_only => &[],
            [] => claude_md::default_targets(project),
            named => named,
        }
    }
}

/// Plans the context files as they should be after the changes of `work`.
pub(crate) fn refresh(project: &Project, survey: &Survey, work: &mut Work) -> Result<()> {
    refresh_with(project, survey, survey, &SyncRequest::default(), work)
}

/// Maximum number of lessons of the whole history, which follow the patterns of single phases.
const LESSONS: usize = 1;

/// Plans the context files with options, for a folder that `work` may restructure: with its state before and after.
///
/// The history is read from `before`, where the files still are.
pub(crate) fn refresh_with(
    project: &Project,
    before: &Survey,
    survey: &Survey,
    request: &SyncRequest,
    work: &mut Work,
) -> Result<()> {
    let warnings = &mut work.warnings;
    let (history, known) = parallel::both(
        || patterns::history(before),
        || {
            let mut patterns = patterns::with_changes(project, &work.changes, warnings)?;
            patterns.name_milestones(&before.folder, request.archived_as.as_deref(), warnings);
            let reasons = StaleReasons::cached_or_checked(project, &patterns, warnings);
            let relevant = patterns::worth_knowing(&patterns, &reasons, survey);
            Ok::<_, Error>((patterns, relevant))
        },
    )?;
    let (patterns, relevant) = known?;
    let insights = Insights::from_phases(&history?.into_value(warnings));
    let lessons: Vec<Pattern> = insights
        .lessons()
        .take(LESSONS)
        .map(|lesson| Pattern { summary: lesson.statement.clone(), is_stale: false })
        .collect();
    // What the whole history shows keeps its line.
    let room = claude_md::MAX_PATTERNS - lessons.len();
    let shown: Vec<Pattern> = relevant
        .into_iter()
        .filter_map(|pattern| {
            Some(Pattern { summary: pattern.standalone()?, is_stale: pattern.stale.is_some() })
        })
        .take(room)
        .chain(lessons)
        .collect();
    let mut status = StatusReport::from_survey(project, survey);
    if let Some(just) = request.shipped.as_ref().filter(|_| status.next.action == Action::None) {
        status.milestone.last = Some(just.clone());
    }
    let place = project.planning_place();
    let code =
        if place.layout.is_in_use { Vec::new() } else { code_profile(&project.root, &place.dir) };
    let content = Content::new(project, survey, &status, &code, &shown, warnings);
    let known = Recorded::new(project, survey, &status, &patterns);
    regenerated(project, &content, &known, request, work)
}

fn regenerated(
    project: &Project,
    content: &Content,
    known: &Recorded<'_>,
    request: &SyncRequest,
    work: &mut Work,
) -> Result<()> {
    let targets = request.targets(project);
    let (mut files, planned) = claude_md::regenerate(project, content, known, targets)?;
    work.changes.extend(planned)?;
    work.warnings.append(&mut files.warnings);
    work.context = Some(files);
    Ok(())
}
