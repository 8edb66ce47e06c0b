//! Checks all entries, removes old notes from Working Memory, and rebuilds INDEX.md if it is out of date.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use chrono::TimeDelta;
use serde::Serialize;

use crate::error::Result;
use crate::knowledge::entry::links;
use crate::knowledge::likeness::Likeness;
use crate::knowledge::store::{EntryFile, scan, stem};
use crate::knowledge::{Confidence, Entry, EntryStatus, KnowledgeDir, index, notepad};
use crate::project::Project;
use crate::storage::{Changes, Store, has_pending, read};
use crate::text::line_number;
use crate::warning::Warning;

/// Maximum number of mutually different entries of a group that each further entry is compared with.
const MAX_COMPARED: usize = 200;
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
        let mut changes = Changes::new();
        let pruned_working = notepad::prune(&place, &project.clock, &mut changes)?;
        let scanned = scan(&place, |file| Some(CheckedEntry::read(file)))?;
        let mut all = scanned.value;
        all.sort_by(|a, b| a.entry.key.cmp(&b.entry.key));
        let index_rebuilt = rebuild_index(&place, &all, &mut changes)?;
        let keys = |is_meant: &dyn Fn(&CheckedEntry) -> bool| {
            let meant = all.iter().filter(|one| is_meant(one));
            meant.map(|one| one.entry.key.clone()).collect::<Vec<String>>()
        };
        let today = project.clock.today();
        let is_older = |one: &CheckedEntry, days: i64| {
            one.entry.dated().is_some_and(|day| today - day > TimeDelta::days(days))
        };
        let is_guess = |one: &CheckedEntry| one.entry.confidence == Some(Confidence::Low);
        let (broken_links, superseded_with_active_inbound) = references(&all, &place.keys());
        let audit = EntryAudit {
            pruned_working,
            stale_low_confidence: keys(&|one| is_guess(one) && is_older(one, GUESS_DAYS)),
            stale: keys(&|one| one.entry.is_active() && is_older(one, STALE_DAYS)),
            index_rebuilt,
            duplicates: duplicates(&all),
            broken_links,
            oversized: keys(&|one| one.lines > MAX_LINES),
            superseded_with_active_inbound,
            invalid: invalid(project, &all, &scanned.warnings),
            ..EntryAudit::default()
        };
        Ok((audit, changes))
    })?;
    audit.diff = applied.diff;
    audit.warnings = project.named(applied.warnings);
    Ok(audit)
}

/// Plans to rebuild INDEX.md, and returns whether it has to be.
fn rebuild_index(
    place: &KnowledgeDir,
    all: &[CheckedEntry],
    changes: &mut Changes,
) -> Result<bool> {
    let old = changes.current(&place.index())?;
    let entries = all.iter().map(|one| one.entry.clone()).collect();
    let text = index::render(index::existing(place, entries, old.as_deref()));
    // Git may have checked it out with Windows line endings.
    let is_current = |old: &[u8]| String::from_utf8_lossy(old).replace("\r\n", "\n") == text;
    let is_drifted = !old.as_deref().map_or(all.is_empty(), is_current);
    if is_drifted {
        changes.edit(&place.index(), old, text)?;
    }
    Ok(is_drifted)
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

/// Returns the links to entries that do not exist, and the superseded entries that an active one links to.
fn references(all: &[CheckedEntry], existing: &BTreeSet<String>) -> (Vec<BrokenLink>, Vec<String>) {
    let status: BTreeMap<&str, EntryStatus> =
        all.iter().map(|one| (one.entry.key.as_str(), one.entry.status)).collect();
    let (mut broken, mut inbound) = (Vec::new(), BTreeSet::new());
    for one in all {
        for (to, line) in &one.links {
            match status.get(to.as_str()) {
                Some(EntryStatus::Superseded) if one.entry.is_active() => {
                    inbound.insert(to.clone());
                }
                // An entry that cannot be read still exists.
                None if !existing.contains(to) => {
                    let from = one.entry.key.clone();
                    broken.push(BrokenLink { from, to: to.clone(), line: *line });
                }
                _ => {}
            }
        }
    }
    broken.sort_by(|a, b| (&a.from, a.line, &a.to).cmp(&(&b.from, b.line, &b.to)));
    (broken, inbound.into_iter().collect())
}

/// An entry with the data that all checks need.
struct CheckedEntry {
    entry: Entry,
    likeness: Likeness,
    /// The targets of its links, with their lines.
    links: Vec<(String, usize)>,
    lines: usize,
    problems: Vec<Warning>,
}

impl CheckedEntry {
    fn read(file: &EntryFile<'_>) -> Self {
        let decoded = read::decode(file.bytes.clone(), &file.path);
        let (text, mut problems) = (decoded.value, decoded.warnings);
        let entry = Entry::parse(&text, &file.path).into_value(&mut problems);
        let body = &text[entry.body.clone()];
        let links = links(body, line_number(&text, entry.body.start));
        Self {
            likeness: Likeness::new(body, file.key),
            links: links.map(|(to, line)| (to.to_owned(), line)).collect(),
            lines: body.lines().count(),
            problems,
            entry,
        }
    }
}

/// A pair of duplicate entries.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Duplicate {
    /// The key that sorts first.
    pub a: String,
    /// The other key.
    pub b: String,
    /// The reason.
    pub reason: String,
}

/// Returns the pairs of duplicates: the first entry of each group with each of the others.
fn duplicates(all: &[CheckedEntry]) -> Vec<Duplicate> {
    let mut found = same_keys(all);
    // Entries that differ only in the first line share the title or the second line.
    let mut groups: BTreeMap<(usize, u64), Vec<&CheckedEntry>> = BTreeMap::new();
    for one in all {
        let like = &one.likeness;
        let lines = [like.first, like.title, like.second].into_iter().enumerate();
        for group in lines.filter(|(_, line)| *line != 0) {
            groups.entry(group).or_default().push(one);
        }
    }
    let mut known = BTreeSet::new();
    for ((kind, _), group) in groups {
        let what = ["same first line, ", "same title, ", ""][kind];
        // Each entry is compared with the earlier ones that are not duplicates themselves.
        let mut different: Vec<&CheckedEntry> = Vec::new();
        for one in group {
            let shared = |other: &&CheckedEntry| {
                Some((one.likeness.shared(&other.likeness)?, other.entry.key.clone()))
            };
            match different.iter().find_map(shared) {
                Some((percent, other)) => {
                    let reason = format!("{what}{percent} % of the lines in common");
                    let pair = pair(&other, &one.entry.key, reason);
                    if known.insert((pair.a.clone(), pair.b.clone())) {
                        found.push(pair);
                    }
                }
                None if different.len() < MAX_COMPARED => different.push(one),
                None => {}
            }
        }
    }
    found.sort();
    found
}

fn same_keys(all: &[CheckedEntry]) -> Vec<Duplicate> {
    // The keys of the entries that have a name, ignoring case, and how each of them spells it.
    let mut named: BTreeMap<String, BTreeMap<&str, &str>> = BTreeMap::new();
    for one in all {
        let key = one.entry.key.as_str();
        for name in [Some(key), one.entry.named.as_deref()].into_iter().flatten() {
            named.entry(name.to_lowercase()).or_default().entry(key).or_insert(name);
        }
    }
    let pairs = named.iter().flat_map(|(folded, keys)| {
        keys.iter().skip(1).zip(keys.iter().take(1).cycle()).map(
            move |((other, name), (first, spelled))| {
                let case = if name == spelled { "" } else { ", ignoring case" };
                pair(first, other, format!("both have the key `{folded}`{case}"))
            },
        )
    });
    pairs.collect()
}

fn pair(one: &str, other: &str, reason: String) -> Duplicate {
    let (a, b) = if one <= other { (one, other) } else { (other, one) };
    Duplicate { a: a.to_owned(), b: b.to_owned(), reason }
}
