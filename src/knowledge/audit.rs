//! Checks all entries, removes old notes from Working Memory, and rebuilds INDEX.md if it is out of date; decides whether
//! two entries are near-duplicates: an identical title or first line, and most lines in common.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use chrono::TimeDelta;
use serde::Serialize;

use crate::error::Result;
use crate::knowledge::entry::{in_words, links};
use crate::knowledge::store::{EntryFile, render_index, scan, stem};
use crate::knowledge::{Confidence, Entry, EntryStatus, KnowledgeDir, notepad};
use crate::project::Project;
use crate::storage::{Changes, Store, has_pending};
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
#[derive(Debug, Default, Serialize)]
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
    pub broken_links: Vec<EntryLink>,
    /// Entries whose bodies are longer than 500 lines.
    pub oversized: Vec<String>,
    /// Superseded entries that an active entry still links to.
    pub superseded_with_active_inbound: Vec<String>,
    /// Entries with an invalid format.
    pub invalid: Vec<Invalid>,
    /// The links of active entries to superseded ones.
    pub superseded_links: Vec<EntryLink>,
    /// The paths in active entries that do not exist; `audit::entry_audit` fills them in.
    pub missing_paths: Vec<MissingPath>,
    /// The changes, on a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Warnings from reading and writing the store.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// A link from an entry to another one.
#[derive(Debug, Serialize)]
pub struct EntryLink {
    /// The entry with the link.
    pub from: String,
    /// The target of the link.
    pub to: String,
    /// Line number in its file, from 1.
    pub line: usize,
}

/// A path in an entry that does not exist.
#[derive(Debug, Serialize)]
pub struct MissingPath {
    /// The entry that names it.
    pub from: String,
    /// The path.
    pub path: String,
    /// Its new path, if it was moved.
    pub to: Option<String>,
    /// Line number in its file, from 1.
    pub line: usize,
}

/// An entry whose format is invalid.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
        let (mut changes, mut warnings) = (Changes::new(), Vec::new());
        let pruned_working = notepad::prune(&place, &project.clock, &mut changes)?;
        let pruned_working = pruned_working.into_value(&mut warnings);
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
        let (broken_links, superseded_links) = references(&all, &place.keys());
        let superseded: BTreeSet<String> =
            superseded_links.iter().map(|link| link.to.clone()).collect();
        let audit = EntryAudit {
            pruned_working,
            stale_low_confidence: keys(&|one| is_guess(one) && is_older(one, GUESS_DAYS)),
            stale: keys(&|one| one.entry.is_active() && is_older(one, STALE_DAYS)),
            index_rebuilt,
            duplicates: duplicates(&all),
            broken_links,
            oversized: keys(&|one| one.lines > MAX_LINES),
            superseded_with_active_inbound: superseded.into_iter().collect(),
            invalid: invalid(project, &all, &scanned.warnings),
            superseded_links,
            warnings,
            ..EntryAudit::default()
        };
        Ok((audit, changes))
    })?;
    audit.diff = applied.diff;
    audit.warnings.extend(applied.warnings);
    audit.warnings = project.named(audit.warnings);
    Ok(audit)
}

/// Plans to rebuild INDEX.md, and returns whether it has to be.
fn rebuild_index(
    place: &KnowledgeDir,
    all: &[CheckedEntry],
    changes: &mut Changes,
) -> Result<bool> {
    let old = changes.current(&place.index())?;
    let text = render_index(all.iter().map(|one| one.entry.clone()));
    // Git may have checked it out with Windows line endings.
    let is_current = |old: &[u8]| String::from_utf8_lossy(old).replace("\r\n", "\n") == text;
    let is_drifted = !old.as_deref().map_or(all.is_empty(), is_current);
    if is_drifted {
        changes.edit(&place.index(), old, text)?;
    }
    Ok(is_drifted)
}

fn invalid(project: &Project, all: &[CheckedEntry], of_files: &[Warning]) -> Vec<Invalid> {
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
    let problems = all.iter().flat_map(|one| &one.problems).chain(of_files);
    let mut invalid: Vec<Invalid> = problems.map(of).collect();
    invalid.sort();
    invalid
}

/// Returns the links to entries that do not exist, and those of active entries to superseded ones.
fn references(
    all: &[CheckedEntry],
    existing: &BTreeSet<String>,
) -> (Vec<EntryLink>, Vec<EntryLink>) {
    let status: BTreeMap<&str, EntryStatus> =
        all.iter().map(|one| (one.entry.key.as_str(), one.entry.status)).collect();
    let (mut broken, mut superseded) = (Vec::new(), Vec::new());
    for one in all {
        for (to, line) in &one.links {
            let link = EntryLink { from: one.entry.key.clone(), to: to.clone(), line: *line };
            match status.get(to.as_str()) {
                Some(EntryStatus::Superseded) if one.entry.is_active() => superseded.push(link),
                // An entry that cannot be read still exists.
                None if !existing.contains(to) => broken.push(link),
                _ => {}
            }
        }
    }
    for links in [&mut broken, &mut superseded] {
        links.sort_by(|a, b| (&a.from, a.line, &a.to).cmp(&(&b.from, b.line, &b.to)));
    }
    (broken, superseded)
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
        let text = &file.text;
        let mut problems = Vec::new();
        let entry = Entry::parse(text, &file.path).into_value(&mut problems);
        let body = &text[entry.body.clone()];
        let links = links(body, line_number(text, entry.body.start));
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
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
    let mut frequency: HashMap<u64, usize> = HashMap::new();
    for line in all.iter().flat_map(|one| &one.likeness.lines) {
        *frequency.entry(*line).or_default() += 1;
    }
    let mut groups: BTreeMap<(usize, u64), Vec<&CheckedEntry>> = BTreeMap::new();
    for one in all {
        let like = &one.likeness;
        let named = [(0, like.first), (1, like.title)].into_iter().filter(|(_, line)| *line != 0);
        let rarest = like.rarest(&frequency).into_iter().map(|line| (2, line));
        for group in named.chain(rarest) {
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
    let mut found = Vec::new();
    for (folded, keys) in named {
        let mut keys = keys.into_iter();
        let Some((first, spelled)) = keys.next() else { continue };
        found.extend(keys.map(|(other, name)| {
            let case = if name == spelled { "" } else { ", ignoring case" };
            pair(first, other, format!("both have the key `{folded}`{case}"))
        }));
    }
    found
}

fn pair(one: &str, other: &str, reason: String) -> Duplicate {
    let (a, b) = if one <= other { (one, other) } else { (other, one) };
    Duplicate { a: a.to_owned(), b: b.to_owned(), reason }
}

/// Minimum share of common lines at which two bodies are near-duplicates, in percent.
const MIN_SHARED_PERCENT: usize = 80;

/// The data for comparing two bodies.
pub(crate) struct Likeness {
    /// Hash of the first line below the title; 0 if there is none.
    pub(crate) first: u64,
    /// Hash of the title; 0 if there is none, or nothing below it.
    title: u64,
    /// Sorted hashes of all lines except the title.
    lines: Vec<u64>,
}

impl Likeness {
    /// Computes the data for a body with a key.
    pub(crate) fn new(body: &str, key: &str) -> Self {
        let (title, said) = parts(body, key);
        let mut lines: Vec<u64> = said.map(hash).collect();
        let first = lines.first().copied().unwrap_or(0);
        lines.sort_unstable();
        Self { first, title: title.map_or(0, hash), lines }
    }

    /// Returns the rarest lines: so many that a body with enough lines in common has one of them among its own.
    fn rarest(&self, frequency: &HashMap<u64, usize>) -> Vec<u64> {
        let mut lines = self.lines.clone();
        lines.sort_unstable_by_key(|line| (frequency.get(line).copied(), *line));
        let common = (lines.len() * MIN_SHARED_PERCENT).div_ceil(100);
        lines.truncate(lines.len() - common + 1);
        lines.dedup();
        lines
    }

    /// Returns the share of common lines in the longer body, in percent; `None` if it is too low, or if both the
    /// titles and the first lines below them differ.
    ///
    /// A common title counts as one line; different titles make no difference.
    pub(crate) fn overlap(&self, other: &Self) -> Option<usize> {
        let is_same = |one: u64, other: u64| one != 0 && one == other;
        if is_same(self.first, other.first) || is_same(self.title, other.title) {
            return self.shared(other);
        }
        None
    }

    /// Like [`overlap`](Self::overlap), but the titles and the first lines may differ.
    fn shared(&self, other: &Self) -> Option<usize> {
        let title = usize::from(self.title != 0 && self.title == other.title);
        let longer = self.lines.len().max(other.lines.len()) + title;
        let shorter = self.lines.len().min(other.lines.len()) + title;
        if shorter * 100 < longer * MIN_SHARED_PERCENT {
            return None;
        }
        let percent = (common(&self.lines, &other.lines) + title) * 100 / longer;
        (percent >= MIN_SHARED_PERCENT).then_some(percent)
    }
}

/// Returns the title of a body and the lines that count as content.
///
/// If there is only a title, it is the content, unless it merely repeats the key.
fn parts<'t>(body: &'t str, key: &str) -> (Option<&'t str>, impl Iterator<Item = &'t str>) {
    let mut lines = body.lines().filter(|line| !line.trim().is_empty()).peekable();
    let title = lines.next_if(|line| line.starts_with("# "));
    let alone = title.filter(|title| lines.peek().is_none() && !is_key(title, key));
    (title.filter(|_| alone.is_none()), alone.into_iter().chain(lines))
}

fn is_key(title: &str, key: &str) -> bool {
    let title = title.trim_start_matches("# ").trim().replace('-', " ");
    title.to_lowercase() == in_words(key).to_lowercase()
}

/// Counts the common elements of two sorted lists.
fn common(one: &[u64], other: &[u64]) -> usize {
    let (mut at, mut count) = (0, 0);
    for line in one {
        while other.get(at).is_some_and(|found| found < line) {
            at += 1;
        }
        if other.get(at) == Some(line) {
            at += 1;
            count += 1;
        }
    }
    count
}

/// Returns a hash of a line with white space normalised; never 0.
fn hash(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.split_whitespace().for_each(|word| word.hash(&mut hasher));
    hasher.finish().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlap(one: &str, other: &str) -> Option<usize> {
        Likeness::new(one, "one").overlap(&Likeness::new(other, "other"))
    }

    #[test]
    fn bodies_with_four_fifths_in_common_are_duplicates() {
        let five = "# T\na\nb\nc\nd\n";
        assert_eq!(overlap(five, five), Some(100));
        assert_eq!(overlap(five, "# T\na\nb\nc\nx\n"), Some(80));
        assert_eq!(overlap(five, "# T\na\nb\nx\ny\n"), None);
        assert_eq!(overlap(five, "# T\na\nb\nc\n"), Some(80));
        assert_eq!(overlap(five, "# T\na\nb\n"), None);
        assert_eq!(overlap(five, "#  T \n\n a\r\nb\nc\nd"), Some(100));
        assert_eq!(overlap(five, "# U\na\nb\nc\nd\n"), Some(100));
        assert_eq!(overlap(five, "# U\na\nb\nc\nx\n"), None);
        assert_eq!(overlap("", ""), None);
    }

    #[test]
    fn a_common_title_counts_as_a_common_first_line() {
        let one = "# T\none\na\nb\nc\nd\ne\nf\n";
        assert_eq!(overlap(one, &one.replace("one", "other")), Some(87));
        assert_eq!(overlap(one, &one.replace("one", "other").replace("# T", "# U")), None);
        assert_eq!(overlap("# T\na\n", "# T\nb\n"), None);
    }

    #[test]
    fn titles_only_count_without_a_body_and_unless_they_repeat_the_key() {
        assert_eq!(overlap("# One\n\nsame\n", "# One\n\nsame\n"), Some(100));
        assert_eq!(overlap("# T\n", "# T\n"), Some(100));
        assert_eq!(overlap("# T\n", "# U\n"), None);
        assert_eq!(overlap("# One\n\nsame\n", "# Other\n\nsame\n"), Some(100));
        assert_eq!(overlap("# One\n", "# Other\n"), None);
    }

    #[test]
    fn a_repeated_line_counts_each_time() {
        assert_eq!(overlap("a\na\na\na\na\n", "a\nb\nc\nd\ne\n"), None);
    }
}
