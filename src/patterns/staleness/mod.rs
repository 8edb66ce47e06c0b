//! Finds recorded patterns about files that no longer exist or a structure that has changed.
//!
//! A path that is clearly meant as one is stale if the project has no such file and `.gitignore` does not cover it,
//! unless the text itself reports the removal. That is the same with and without git: history only tells where it moved,
//! by one diff between the commit of the text and the current tree.

mod structure;
mod tree;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use chrono::NaiveDate;
use serde::Serialize;
pub use structure::{CommitRef, Structure};

use crate::error::Result;
use crate::git::Git;
use crate::patterns::staleness::structure::Diff;
use crate::patterns::staleness::tree::{Lookup, Tree};
use crate::patterns::{PatternEntry, Patterns, mentions, sentences};

/// Words that say that a file was removed or moved.
const REMOVALS: &str = "absorbed delete deleted deletes deleting dissolved drop dropped dropping drops eliminated gone \
    inlined merged migrated move moved moves moving purged removal remove removed removes removing rename renamed \
    renames renaming replace replaced replaces replacing retired split superseded unused";

/// Words that negate either of the two words after them.
const NEGATIONS: &[&str] = &["cannot", "don't", "never", "not", "without"];

/// Texts that were written together, and may be stale.
#[derive(Clone, Debug)]
pub struct DatedText<'a> {
    /// Their identifier.
    pub id: &'a str,
    /// Line number of their start, from 1.
    pub line: usize,
    /// The texts.
    pub texts: Vec<&'a str>,
    /// The commit that was checked out when they were written, if known.
    pub commit: Option<&'a str>,
    /// The day on which they were written.
    pub date: Option<NaiveDate>,
}

/// The results of a staleness check. It is the document of `annals patterns check --json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Staleness {
    /// The result for each entry, in input order.
    pub entries: Vec<Freshness>,
    /// The parts that were not checked, and why.
    pub skipped: Option<String>,
}

/// The result of checking one entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Freshness {
    /// The entry's identifier.
    pub id: String,
    /// Line number of its start, from 1.
    pub line: usize,
    /// Whether a path it mentions was moved or removed, or the structure has changed.
    pub is_stale: bool,
    /// The reasons, one line each.
    pub reasons: Vec<String>,
    /// The paths it mentions, in order.
    pub paths: Vec<PathReport>,
    /// The tree then and now; `None` if history does not reach back to the entry.
    pub structure: Option<Structure>,
    /// Why each of its texts may be out of date, because of its own paths or of the structure.
    #[serde(skip)]
    pub(crate) stale_texts: BTreeMap<String, String>,
}

/// A path that a text mentions, with its status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathReport {
    /// The path, relative to the project.
    pub path: String,
    /// Its status.
    pub status: PathStatus,
    /// Its new path, if it was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The paths that it may stand for, if it is ambiguous.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub homes: Vec<String>,
}

/// The status of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PathStatus {
    /// It exists.
    Ok,
    /// It was moved.
    Moved,
    /// It does not exist.
    Gone,
    /// Several paths match it.
    Ambiguous,
}

impl PathReport {
    /// Returns why this path makes a text stale; `None` if it does not.
    fn reason(&self) -> Option<String> {
        match (&self.to, self.status) {
            (Some(to), _) => Some(format!("`{}` moved to `{to}`", self.path)),
            (None, PathStatus::Gone) => Some(format!("`{}` is gone", self.path)),
            _ => None,
        }
    }
}

impl Staleness {
    /// Checks texts against a project.
    pub fn check(entries: &[DatedText<'_>], root: &Path, git: &Git) -> Result<Self> {
        let tree = Tree::new(root, git)?;
        let timeline = git.timeline()?;
        let mut diffs: BTreeMap<usize, Diff> = BTreeMap::new();
        let mut found = Vec::new();
        for entry in entries {
            // The commit that the entry states, or else the last of its day.
            let stated = entry.commit.and_then(|commit| timeline.index_of(commit));
            let base = stated.or_else(|| timeline.at_end_of(entry.date?));
            if let Some(at) = base.filter(|at| !diffs.contains_key(at)) {
                let hash = timeline.hash(at).unwrap_or_default();
                let commit = hash[..hash.len().min(7)].to_owned();
                let since = CommitRef { commit, date: timeline.date(at) };
                diffs.insert(at, Diff::new(since, hash, git, &tree)?);
            }
            let diff = base.and_then(|at| diffs.get(&at));
            found.push(Freshness::new(entry, &tree, diff));
        }
        let skipped = timeline.is_empty().then(|| {
            "no git history: paths are only checked against the current files, and the structure is not checked".to_owned()
        });
        Ok(Self { entries: found, skipped })
    }

    /// Checks all of PATTERNS.md, in file order, entries first.
    pub fn check_patterns(patterns: &Patterns, root: &Path, git: &Git) -> Result<Self> {
        let titles: Vec<String> = patterns.entries.iter().map(PatternEntry::title).collect();
        let entries = patterns.entries.iter().zip(&titles).map(|(entry, id)| DatedText {
            id,
            line: entry.line,
            texts: entry.all_texts().collect(),
            commit: entry.trace.as_ref().and_then(|trace| trace.commit.as_deref()),
            date: entry.date,
        });
        let loose = patterns.loose.iter().map(|loose| DatedText {
            id: loose.section.as_deref().unwrap_or("PATTERNS.md"),
            line: loose.line,
            texts: vec![&loose.text],
            commit: None,
            date: None,
        });
        Self::check(&entries.chain(loose).collect::<Vec<_>>(), root, git)
    }
}

impl Freshness {
    fn new(entry: &DatedText<'_>, tree: &Tree, diff: Option<&Diff>) -> Self {
        let structure = diff.map(|diff| diff.structure.clone());
        let changed = structure.as_ref().and_then(Structure::reason);
        let mut found =
            Self { id: entry.id.to_owned(), line: entry.line, structure, ..Self::default() };
        for text in &entry.texts {
            let reports = report_paths(text, tree, diff);
            let reason = reports.iter().find_map(PathReport::reason).or_else(|| changed.clone());
            found.stale_texts.extend(reason.map(|reason| ((*text).to_owned(), reason)));
            for report in reports {
                if !found.paths.contains(&report) {
                    found.paths.push(report);
                }
            }
        }
        found.reasons = found.paths.iter().filter_map(PathReport::reason).chain(changed).collect();
        found.is_stale = !found.reasons.is_empty();
        found
    }
}

/// Returns the reports on the paths of a text. A missing path that may be none is left out, and so is one whose removal
/// the text itself reports.
fn report_paths(text: &str, tree: &Tree, diff: Option<&Diff>) -> Vec<PathReport> {
    let mut removed = None;
    let mut reports = Vec::new();
    for mention in mentions(text) {
        let (mut status, mut homes) = (PathStatus::Ok, Vec::new());
        let mut to = None;
        match tree.look_up(&mention) {
            Lookup::Exists => {}
            Lookup::Ambiguous(all) => (status, homes) = (PathStatus::Ambiguous, all),
            Lookup::Unknown => continue,
            Lookup::Missing => {
                if removed.get_or_insert_with(|| removed_paths(text)).contains(&mention.path) {
                    continue;
                }
                let moved = diff.and_then(|diff| diff.new_path(&mention.path));
                to = moved.filter(|to| tree.has(to)).map(|to| tree.in_project(to).to_owned());
                status = if to.is_some() { PathStatus::Moved } else { PathStatus::Gone };
            }
        }
        let slash = if mention.is_folder { "/" } else { "" };
        reports.push(PathReport { path: format!("{}{slash}", mention.path), status, to, homes });
    }
    reports
}

/// Returns the paths mentioned in sentences that report a removal or a move.
fn removed_paths(text: &str) -> HashSet<String> {
    let mut statements: Vec<String> = vec![String::new()];
    for line in text.lines().map(str::trim) {
        // Each bullet and each paragraph is a statement of its own.
        if line.is_empty() || line.starts_with(['-', '*', '+', '#', '|']) {
            statements.push(String::new());
        }
        if let Some(statement) = statements.last_mut() {
            *statement = format!("{statement} {line}");
        }
    }
    let all = statements.iter().flat_map(|statement| sentences(statement));
    let removals = all.filter(|sentence| speaks_of_removal(sentence));
    removals.flat_map(mentions).map(|mention| mention.path).collect()
}

fn speaks_of_removal(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let words =
        lower.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let words: Vec<&str> = words.collect();
    let removes = words.iter().enumerate().any(|(at, word)| {
        let before = &words[at.saturating_sub(2)..at];
        REMOVALS.split(' ').any(|removal| removal == *word)
            && !before.iter().any(|word| NEGATIONS.contains(word))
    });
    removes || lower.contains("no longer") || lower.contains("rid of")
}

#[cfg(test)]
mod tests;
