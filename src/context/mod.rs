//! Builds a digest of all stores for a session, within a token budget.
//!
//! Parts are packed in order of importance: the state of the work, by plan and by ledger; blockers; pinned
//! notes; constraints; decisions; lessons; knowledge; the user's facts; todos. What does not fit is counted,
//! with the command that prints it.

mod gather;
mod packing;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use clap::Args;
pub use packing::{AlreadyRead, Digest, DigestPart, LeftOut};
use serde::{Deserialize, Serialize};

use crate::claude_md::MemoryPart;
use crate::context::gather::Gatherer;
use crate::context::packing::DigestSection;
use crate::error::{Error, ErrorKind, Result};
use crate::facts::{FactFilter, FactStatus, Facts, Purpose};
use crate::knowledge::{KnowledgeDir, notepad};
use crate::lifecycle::SyncRequest;
use crate::project::{LayoutName, Project};
use crate::storage::listing;
use crate::storage::read::PathKind;
use crate::warning::{Parsed, SourceLocation, Warning};
use crate::{claude_md, facts, journal, knowledge, ledger, lifecycle};

/// Default maximum number of tokens of a digest.
pub const BUDGET: usize = 2000;

/// Maximum number of tokens of the text at the start of a session.
pub const START_BUDGET: usize = 1200;

/// Maximum number of lines of a list at the start of a session.
pub(crate) const START_LINES: usize = 5;

/// How the note begins that a hook leaves before a compaction.
pub(crate) const BREADCRUMB: &str = "Before compaction (";

/// Maximum number of blockers at the start of a session.
const START_BLOCKERS: usize = 3;

/// Minimum budget for a digest, in tokens: a smaller one has room for nothing but the frame.
const MIN_BUDGET: usize = 100;

/// Returns whether a project has a planning folder, or its settings name one; if not, its status is an [`Overview`].
pub fn has_plan(project: &Project) -> bool {
    project.planning().is_ok() || project.settings.planning_dir.is_some()
}

/// Returns whether a project has a planning folder, entries or a ledger.
pub fn has_memory(project: &Project) -> bool {
    project.planning().is_ok()
        || KnowledgeDir::in_project(project).root().is_dir()
        || ledger::exists(project)
}

/// The options of a digest.
#[derive(Args, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DigestRequest {
    /// Maximum number of tokens to print (estimated)
    #[arg(long, value_name = "TOKENS", default_value_t = BUDGET)]
    pub budget: usize,
    /// What the session is about [default: the current phase]
    #[arg(long = "for", value_name = "TEXT")]
    #[serde(rename = "for")]
    pub topic: Option<String>,
    /// Whether the conversation was just compacted: if so, the notepad comes first, in full.
    #[arg(skip)]
    #[serde(skip)]
    pub compacted: bool,
    /// The parts to leave out.
    #[arg(skip)]
    #[serde(skip)]
    pub without: Vec<DigestPart>,
    /// Maximum number of lines of a list; each section of the ledger is one.
    #[arg(skip = usize::MAX)]
    #[serde(skip)]
    pub max_lines_per_list: usize,
    /// What the session has already read: those lines are left out and not counted.
    #[arg(skip)]
    #[serde(skip)]
    pub already_read: AlreadyRead,
    /// Whether the digest goes into a file, and so leaves out what changes with each commit.
    #[arg(skip)]
    #[serde(skip)]
    pub is_for_file: bool,
}

impl Default for DigestRequest {
    fn default() -> Self {
        Self {
            budget: BUDGET,
            topic: None,
            compacted: false,
            without: Vec::new(),
            max_lines_per_list: usize::MAX,
            already_read: AlreadyRead::default(),
            is_for_file: false,
        }
    }
}

/// Builds the digest for a session. A store that cannot be read becomes a warning, so that the other stores
/// are still included.
pub fn digest(project: &Project, request: &DigestRequest) -> Result<Digest> {
    if request.budget < MIN_BUDGET {
        return Err(Error::usage(format!(
            "{} tokens are too few for the start of a session",
            request.budget
        ))
        .hint(format!("give it {MIN_BUDGET} or more; {BUDGET} is the default")));
    }
    let mut warnings = Vec::new();
    let mut loaded = Vec::new();
    for (part, section) in sections(project, request, &mut warnings) {
        match section {
            Ok(section) => loaded.push(section),
            Err(error) => warnings.push(not_loaded(project, part.as_str(), &error)),
        }
    }
    let mut digest = packing::pack(loaded, request.budget);
    digest.warnings = project.named(warnings);
    Ok(digest)
}

/// Returns a warning about a store that cannot be read.
fn not_loaded(project: &Project, what: &str, error: &Error) -> Warning {
    let place =
        error.place.clone().unwrap_or_else(|| SourceLocation::new(project.root.clone(), None));
    Warning { place, message: format!("cannot load {what}: {}", error.reason()) }
}

/// Gathers the requested parts, most important first.
fn sections(
    project: &Project,
    request: &DigestRequest,
    warnings: &mut Vec<Warning>,
) -> Vec<(DigestPart, Result<DigestSection>)> {
    let gatherer = Gatherer::new(project, request, warnings);
    let mut parts = DigestPart::ALL.to_vec();
    if request.compacted {
        parts.sort_by_key(|part| *part != DigestPart::Notepad);
    }
    parts.retain(|part| !request.without.contains(part));
    parts.into_iter().map(|part| (part, gatherer.gather(part, warnings))).collect()
}

/// Returns what a context file says of a project without a planning folder: what a session reads at its start, but for
/// the user's facts and transcripts, which do not belong to the project. `None` with a planning folder, or without memory.
/// A store that cannot be read is an error: the file would lose what it says of it.
pub fn memory(project: &Project) -> Result<Parsed<Option<Vec<MemoryPart>>>> {
    let mut warnings = Vec::new();
    if has_plan(project) || !has_memory(project) {
        return Ok(Parsed::new(None, warnings));
    }
    let mut without = vec![DigestPart::Facts, DigestPart::Sessions];
    without.extend((!project.settings.notepad).then_some(DigestPart::Notepad));
    without.extend((!project.settings.entries).then_some(DigestPart::Entries));
    let request = DigestRequest {
        without,
        max_lines_per_list: START_LINES,
        is_for_file: true,
        ..DigestRequest::default()
    };
    let sections = sections(project, &request, &mut warnings)
        .into_iter()
        .map(|(_, section)| section)
        .collect::<Result<Vec<_>>>()?;
    let part = |one: DigestSection| MemoryPart { heading: one.part.heading(), lines: one.lines };
    let parts = packing::fitting(sections, START_BUDGET).into_iter().map(part).collect();
    Ok(Parsed::new(Some(parts), warnings))
}

/// Returns the request that brings the project's blocks up to date; `None` if there are none to keep. Without a planning
/// folder, only a block that the user asked for is kept.
pub fn upkeep(project: &Project, warnings: &mut Vec<Warning>) -> Result<Option<SyncRequest>> {
    if project.planning().is_ok() {
        return Ok(Some(SyncRequest::default()));
    }
    if claude_md::with_block(project).next().is_none() {
        return Ok(None);
    }
    let memory = memory(project)?.into_value(warnings);
    let request = SyncRequest { present_only: true, memory, ..SyncRequest::default() };
    Ok(request.memory.is_some().then_some(request))
}

/// Refreshes each context file that already has a block, and returns those that changed.
pub fn refresh_blocks(project: &Project) -> Result<Vec<PathBuf>> {
    let Some(request) = upkeep(project, &mut Vec::new())? else { return Ok(Vec::new()) };
    let request = SyncRequest { present_only: true, ..request };
    let done = lifecycle::sync(project, &request)?;
    done.verdict(&request).map(|()| done.changed)
}

/// Does the same after an entry was written or deleted, as a part of that write that needs no undo of its own. A block about
/// a plan has no entries.
pub fn refresh_entries(project: &Project) -> Result<Vec<PathBuf>> {
    let has_entries =
        project.planning().is_err() && claude_md::with_memory(project).next().is_some();
    if project.dry_run || !has_entries {
        return Ok(Vec::new());
    }
    let mut unrecorded = project.clone();
    unrecorded.settings.history = false;
    refresh_blocks(&unrecorded)
}

/// Maximum size of a journal whose records are counted, in bytes; reading a larger one takes too long.
const MAX_COUNTED_JOURNAL: u64 = 16 << 20;

/// What there is to remember. It is the document of `annals status --json` without a planning folder.
#[derive(Debug, Default, Serialize)]
pub struct Overview {
    /// The name of the project's folder.
    pub project: String,
    /// Always null; in the document of a planned project, the planning folder.
    pub planning_dir: Option<()>,
    /// The folders below that have a planning folder of their own.
    pub parts: Vec<PathBuf>,
    /// Number of active entries; null if they cannot be read.
    pub entries: Option<usize>,
    /// Number of lines in the notepad; null if it cannot be read.
    pub notes: Option<usize>,
    /// Whether there is a ledger.
    pub ledger: bool,
    /// Number of records in the journal, which all projects share; null if it is large or does not exist.
    pub journal: Option<usize>,
    /// Number of facts about the user, who need not be set; null if they cannot be read.
    pub facts: Option<usize>,
    /// Warnings about what was only partly understood or could not be read.
    pub warnings: Vec<Warning>,
}

/// Counts what each store has. A store that cannot be read becomes a warning.
pub fn overview(project: &Project) -> Overview {
    let mut warnings = Vec::new();
    let entries = knowledge::summaries(project).map(|all| all.into_value(&mut warnings).len());
    let mut known = |what: &str, count: Result<Option<usize>>| {
        count.unwrap_or_else(|error| {
            warnings.push(not_loaded(project, what, &error));
            None
        })
    };
    let name = project.root.file_name().unwrap_or(project.root.as_os_str());
    let mut found = Overview {
        project: name.to_string_lossy().into_owned(),
        parts: parts(project),
        entries: known("entries", entries.map(Some)),
        notes: known("notepad", notes(project).map(Some)),
        ledger: ledger::exists(project),
        journal: records(project),
        facts: known("facts", facts_about_user(project)),
        ..Overview::default()
    };
    found.warnings = project.named(warnings);
    found
}

fn notes(project: &Project) -> Result<usize> {
    let all = match notepad::read(project, None) {
        Err(error) if error.kind == ErrorKind::NotFound => return Ok(0),
        all => all?,
    };
    Ok(all
        .text
        .lines()
        .filter(|line| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with(['#', '<'])
        })
        .count())
}

/// Returns the number of records; a journal that cannot be read is reported by `audit`.
fn records(project: &Project) -> Option<usize> {
    let file = journal::default_path(&project.environment).ok()?;
    let size = std::fs::metadata(&file).ok()?.len();
    let counted = (size <= MAX_COUNTED_JOURNAL).then(|| journal::statistics(&file).ok());
    Some(counted??.records)
}

fn facts_about_user(project: &Project) -> Result<Option<usize>> {
    // What `remember --fact` has just stored is not nothing, also where no user is set.
    let Ok((user, _)) = facts::user_or_systems(project, None) else { return Ok(None) };
    let store = Facts::open(project, None, Purpose::Read)?;
    let active = FactFilter { statuses: vec![FactStatus::Active], ..FactFilter::default() };
    Ok(Some(facts::list(&store, &user, &active)?.facts.len()))
}

/// Maximum depth of a part, and number of folders that are listed.
const MAX_DEPTH: usize = 3;
const MAX_FOLDERS: usize = 500;

/// Folders that contain what others wrote.
const SKIPPED: [&str; 5] = ["node_modules", "target", "vendor", "dist", "build"];

/// Returns the folders below a project that have a planning folder, relative to it; none if it has one itself.
pub fn parts(project: &Project) -> Vec<PathBuf> {
    let mut parts = Vec::new();
    if project.planning().is_ok() {
        return parts;
    }
    let mut waiting = vec![(project.root.clone(), 0)];
    let mut at = 0;
    while let Some((folder, depth)) = waiting.get(at).cloned().filter(|_| at < MAX_FOLDERS) {
        at += 1;
        for (name, kind) in listing::entries(&folder).unwrap_or_default() {
            let path = folder.join(&name);
            if kind != PathKind::Folder {
                continue;
            }
            if LayoutName::from_dir(&path).is_some() {
                parts.push(project.relative(&folder).to_owned());
            } else if !name.starts_with('.')
                && !SKIPPED.contains(&name.as_str())
                && depth < MAX_DEPTH
            {
                waiting.push((path, depth + 1));
            }
        }
    }
    parts.dedup();
    parts
}
