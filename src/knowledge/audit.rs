//! Checks all entries, removes old notes from Working Memory, and rebuilds INDEX.md if it is out of date.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use chrono::TimeDelta;
use serde::Serialize;

use crate::error::Result;
use crate::knowledge::checked::{CheckedEntry, check};
use crate::knowledge::dir::stem;
use crate::knowledge::duplicates::{Duplicate, duplicates};
use crate::knowledge::index::IndexRow;
use crate::knowledge::scan::{scan, unread};
use crate::knowledge::{Confidence, Entry, EntryStatus, KnowledgeDir, index, notepad};
use crate::project::Project;
use crate::storage::{Changes, Store, has_pending};
use crate::warning::Warning;

/// Age after which an entry of low confidence is due for review, in days.
const GUESS_DAYS: i64 = 30;
/// Age after which any entry is due for review, in days.
const STALE_DAYS: i64 = 180;
/// Maximum length of a body, in lines; a longer one should be split.
const MAX_LINES: usize = 500;

/// The findings of an audit. It is the document of `annals entry audit --json`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EntryAudit {
    /// Number of bullets of Working Memory removed because they were over seven days old.
    pub pruned_working: usize,
    /// Entries of low confidence that have not been updated for 30 days.
    pub stale_low_confidence: Vec<String>,
    /// Active entries that have not been updated for 180 days.
    pub stale: Vec<String>,
    /// Whether INDEX.md did not match the entries, and was rebuilt.
    pub index_rebuilt: bool,
    /// Pairs of duplicate entries.
    pub duplicates: Vec<Duplicate>,
    /// Links to entries that do not exist.
    pub broken_links: Vec<BrokenLink>,
    /// Entries whose bodies are longer than 500 lines.
    pub oversized: Vec<String>,
    /// Superseded entries that an active entry still links to.
    pub superseded_with_active_inbound: Vec<String>,
    /// Entries with an invalid format.
    pub invalid: Vec<Invalid>,
    /// The changes, on a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Warnings from reading and writing the store.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// A link to an entry that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct BrokenLink {
    /// The entry with the link.
    pub from: String,
    /// The target of the link.
    pub to: String,
    /// Line number in its file, from 1.
    pub line: usize,
}

/// An entry whose format is invalid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Invalid {
    /// The entry's key.
    pub key: String,
    /// Its file, relative to the project.
    pub file: PathBuf,
    /// Line number, from 1.
    pub line: Option<usize>,
    /// The problem.
    pub problem: String,
}

/// Runs all checks; it writes only the pruned notepad and the rebuilt INDEX.md.
pub fn audit(project: &Project) -> Result<EntryAudit> {
    let place = KnowledgeDir::in_project(project);
    // Without entries there is nothing to write, and no reason to create a folder for locks.
    if !place.root().exists() && !has_pending(&project.root) {
        return Ok(EntryAudit { diff: project.dry_run.then(String::new), ..EntryAudit::default() });
    }
    let (mut audit, applied) = project.transact("entry audit", &[Store::Entries], || {
        let mut audit = EntryAudit::default();
        let mut changes = Changes::new();
        prune_notepad(project, &place, &mut audit, &mut changes)?;
        let scanned = scan(&place, |file| Some(check(file)))?;
        let keys = scanned.value.iter().map(|one| one.entry.key.as_str());
        let unread = unread(&place, keys);
        rebuild_index(&place, &scanned.value, &unread, &mut audit, &mut changes)?;
        audit.invalid = invalid(project, &scanned.value, &scanned.warnings);
        let unchecked = scanned.value.iter().filter_map(|one| one.unchecked.clone());
        audit.warnings.extend(project.named(unchecked.collect()));
        ages(project, &scanned.value, &mut audit);
        references(&scanned.value, &unread, &mut audit);
        audit.duplicates = duplicates(&scanned.value);
        Ok((audit, changes))
    })?;
    audit.diff = applied.diff;
    audit.warnings.extend(project.named(applied.warnings));
    Ok(audit)
}

fn prune_notepad(
    project: &Project,
    place: &KnowledgeDir,
    audit: &mut EntryAudit,
    changes: &mut Changes,
) -> Result<()> {
    let pruned = notepad::pruned(place, &project.clock)?;
    let pruned = pruned.into_value(&mut audit.warnings);
    audit.warnings = project.named(std::mem::take(&mut audit.warnings));
    audit.pruned_working = pruned.count;
    changes.extend(pruned.changes)
}

fn rebuild_index(
    place: &KnowledgeDir,
    all: &[CheckedEntry],
    unread: &BTreeSet<String>,
    audit: &mut EntryAudit,
    changes: &mut Changes,
) -> Result<()> {
    let path = place.index();
    let old = changes.current(&path)?;
    if old.is_none() && all.is_empty() {
        return Ok(());
    }
    let rows = all.iter().map(|one| IndexRow::from_entry(&one.entry));
    let text = index::render(rows.chain(index::unread_rows(old.as_deref(), unread)));
    // Git may have checked it out with Windows line endings.
    let is_current = |old: &[u8]| String::from_utf8_lossy(old).replace("\r\n", "\n") == text;
    if old.as_deref().is_some_and(is_current) {
        return Ok(());
    }
    audit.index_rebuilt = true;
    changes.edit(&path, old, text)
}

fn invalid(project: &Project, all: &[CheckedEntry], unread: &[Warning]) -> Vec<Invalid> {
    let of = |warning: &Warning| {
        let name = warning.place.file.file_name().unwrap_or_default();
        let name = name.to_string_lossy();
        Invalid {
            key: stem(&name).unwrap_or(&name).to_owned(),
            file: project.relative(&warning.place.file).to_owned(),
            line: warning.place.line,
            problem: warning.message.clone(),
        }
    };
    let problems = all.iter().flat_map(|one| &one.problems).chain(unread);
    let mut invalid: Vec<Invalid> = problems.map(of).collect();
    invalid.sort();
    invalid
}

fn ages(project: &Project, all: &[CheckedEntry], audit: &mut EntryAudit) {
    let today = project.clock.today();
    let is_older = |entry: &Entry, days: i64| {
        entry.dated().is_some_and(|day| today - day > TimeDelta::days(days))
    };
    for one in all {
        let entry = &one.entry;
        if entry.confidence == Some(Confidence::Low) && is_older(entry, GUESS_DAYS) {
            audit.stale_low_confidence.push(entry.key.clone());
        }
        if entry.is_active() && is_older(entry, STALE_DAYS) {
            audit.stale.push(entry.key.clone());
        }
        if one.lines > MAX_LINES {
            audit.oversized.push(entry.key.clone());
        }
    }
    for keys in [&mut audit.stale_low_confidence, &mut audit.stale, &mut audit.oversized] {
        keys.sort();
    }
}

fn references(all: &[CheckedEntry], unread: &BTreeSet<String>, audit: &mut EntryAudit) {
    let status: BTreeMap<&str, EntryStatus> =
        all.iter().map(|one| (one.entry.key.as_str(), one.entry.status)).collect();
    let mut inbound = BTreeSet::new();
    for one in all {
        let from = &one.entry;
        for (to, line) in &one.links {
            match status.get(to.as_str()) {
                None if unread.contains(to) => {}
                None => audit.broken_links.push(BrokenLink {
                    from: from.key.clone(),
                    to: to.clone(),
                    line: *line,
                }),
                Some(EntryStatus::Superseded) if from.is_active() => {
                    inbound.insert(to.clone());
                }
                Some(_) => {}
            }
        }
    }
    audit.broken_links.sort_by(|a, b| (&a.from, a.line, &a.to).cmp(&(&b.from, b.line, &b.to)));
    audit.superseded_with_active_inbound = inbound.into_iter().collect();
}
