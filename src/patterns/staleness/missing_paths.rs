//! Traces what happened to missing paths.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::git::{Git, Rename};
use crate::patterns::staleness::listing::FileNames;
use crate::patterns::staleness::tree::Tree;
use crate::patterns::staleness::tree_history::{CandidateCommits, TreeHistory};
use crate::patterns::{Certainty, Mention, PathForm};
use crate::text::file_name;

/// Maximum number of renames of a path that are followed.
const MAX_RENAMES: usize = 8;
/// Maximum number of paths with the same end that are tried.
const MAX_HOMES: usize = 4;

/// A path that existed once and no longer does.
#[derive(Clone, Debug)]
pub(crate) struct MissingPath {
    /// The path, relative to the root of the repository.
    subject: Subject,
    /// The newest commit known to contain it.
    seen: usize,
    /// The commit that removed it; `None` if the removal is not committed yet.
    pub(crate) removed: Option<usize>,
    /// Its current path.
    pub(crate) now: Option<String>,
    is_settled: bool,
}

/// The object being traced.
#[derive(Clone, Debug)]
enum Subject {
    File(String),
    Folder(String),
    /// A glob and the files it matched: it is gone once the last of them is removed.
    Pattern {
        pattern: String,
        files: Vec<String>,
    },
}

/// Resolves a missing path as of the time when it was written; returns `None` if it never existed.
pub(crate) fn find_in_history(
    mention: &Mention,
    commits: &CandidateCommits,
    tree: &Tree,
    past: &mut TreeHistory,
) -> Result<Option<MissingPath>> {
    if mention.certainty == Certainty::Unsure && !mention.path.contains('/') {
        return Ok(None);
    }
    if mention.form == PathForm::Glob {
        return pattern(mention, commits, past);
    }
    let mut candidates = vec![tree.in_repository(&mention.path), mention.path.clone()];
    candidates.dedup();
    for path in candidates {
        if let Some(seen) = past.last_seen(&path, commits)? {
            return Ok(Some(MissingPath::new(subject(path, seen, past)?, seen)));
        }
    }
    if mention.certainty == Certainty::Unsure {
        return Ok(None);
    }
    for listing in past.listings() {
        let homes = listing.paths_ending_in(&mention.path, mention.form);
        for home in homes.into_iter().take(MAX_HOMES) {
            if let Some(seen) = past.last_seen(home, commits)? {
                return Ok(Some(MissingPath::new(subject(home.to_owned(), seen, past)?, seen)));
            }
        }
    }
    Ok(None)
}

fn subject(path: String, seen: usize, past: &mut TreeHistory) -> Result<Subject> {
    let hash = past.timeline().hash(seen).unwrap_or("HEAD").to_owned();
    let folder = past.folders(&[format!("{hash}:{path}")])?;
    let is_folder = folder.first().is_some_and(|entries| !entries.is_empty());
    Ok(if is_folder { Subject::Folder(path) } else { Subject::File(path) })
}

fn pattern(
    mention: &Mention,
    commits: &CandidateCommits,
    past: &mut TreeHistory,
) -> Result<Option<MissingPath>> {
    for listing in past.listings() {
        let matched = listing.matches(&mention.path);
        for file in matched.iter().take(MAX_HOMES) {
            if let Some(seen) = past.last_seen(file, commits)? {
                let subject = Subject::Pattern {
                    pattern: mention.path.clone(),
                    files: matched.iter().map(|file| (*file).to_owned()).collect(),
                };
                return Ok(Some(MissingPath::new(subject, seen)));
            }
        }
    }
    Ok(None)
}

/// Traces each path to its current location, or to the commit that finally removed it.
pub(crate) fn trace(
    paths: &mut [MissingPath],
    git: &Git,
    tree: &Tree,
    past: &mut TreeHistory,
) -> Result<()> {
    for _ in 0..MAX_RENAMES {
        let mut removers: Vec<usize> = Vec::new();
        for one in paths.iter_mut().filter(|one| !one.is_settled) {
            one.removed = one.find_removal(past)?;
            match one.removed {
                Some(commit_index) => removers.push(commit_index),
                None => one.is_settled = true,
            }
        }
        removers.sort_unstable();
        removers.dedup();
        if removers.is_empty() {
            break;
        }
        let hashes: Vec<&str> = removers
            .iter()
            .filter_map(|commit_index| past.timeline().hash(*commit_index))
            .collect();
        let renames: BTreeMap<usize, Vec<Rename>> =
            removers.iter().copied().zip(git.renames(&hashes)?).collect();
        for one in paths.iter_mut().filter(|one| !one.is_settled) {
            let commit_index = one.removed.unwrap_or_default();
            let none = Vec::new();
            one.step(renames.get(&commit_index).unwrap_or(&none), commit_index, tree)?;
        }
    }
    Ok(())
}

impl MissingPath {
    fn new(subject: Subject, seen: usize) -> Self {
        Self { subject, seen, removed: None, now: None, is_settled: false }
    }

    /// Returns the path found in history, relative to the root of the repository.
    pub(crate) fn path(&self) -> &str {
        match &self.subject {
            Subject::File(path) | Subject::Folder(path) => path,
            Subject::Pattern { pattern, .. } => pattern,
        }
    }

    fn find_removal(&self, past: &mut TreeHistory) -> Result<Option<usize>> {
        match &self.subject {
            Subject::File(path) | Subject::Folder(path) => past.removed_at(path, self.seen),
            Subject::Pattern { files, .. } => {
                let mut newest = None;
                // A glob is gone with the last removal of a file that it matched.
                for file in files.iter().rev().take(MAX_RENAMES) {
                    let removed = past.removed_at(file, self.seen)?;
                    newest = match (newest, removed) {
                        (Some(one), Some(other)) => Some(usize::min(one, other)),
                        (one, other) => one.or(other),
                    };
                }
                Ok(newest)
            }
        }
    }

    /// Follows a rename in a commit; settled if there is none, or if the new path still exists.
    fn step(&mut self, renames: &[Rename], commit_index: usize, tree: &Tree) -> Result<()> {
        let Some(next) = self.subject.renamed(renames) else {
            self.is_settled = true;
            return Ok(());
        };
        let is_there = match &next {
            Subject::File(path) => tree.has(path, PathForm::Plain)?,
            Subject::Folder(path) => tree.has(path, PathForm::Folder)?,
            Subject::Pattern { files, .. } => {
                let mut any = false;
                for file in files {
                    any = any || tree.has(file, PathForm::Plain)?;
                }
                any
            }
        };
        self.subject = next;
        self.seen = commit_index;
        if is_there {
            self.now = Some(self.path().to_owned());
            self.is_settled = true;
        }
        Ok(())
    }
}

impl Subject {
    /// Returns the object under its new path; `None` if none of the renames concerns it.
    fn renamed(&self, renames: &[Rename]) -> Option<Self> {
        match self {
            Self::File(path) => {
                let rename = renames.iter().find(|rename| rename.from == *path)?;
                Some(Self::File(rename.to.clone()))
            }
            Self::Folder(path) => {
                let start = format!("{path}/");
                let targets = renames.iter().filter_map(|rename| {
                    let rest = rename.from.strip_prefix(&start)?;
                    rename.to.strip_suffix(rest)?.strip_suffix('/')
                });
                most_frequent(targets).map(|target| Self::Folder(target.to_owned()))
            }
            Self::Pattern { pattern, files } => {
                let name = file_name(pattern);
                let moved: Vec<&Rename> =
                    renames.iter().filter(|rename| files.contains(&rename.from)).collect();
                let folders = moved
                    .iter()
                    .map(|rename| rename.to.rsplit_once('/').map_or("", |(folder, _)| folder));
                let folder = most_frequent(folders)?;
                let pattern = match folder {
                    "" => name.to_owned(),
                    _ => format!("{folder}/{name}"),
                };
                let targets = moved.iter().map(|rename| rename.to.clone()).collect();
                let matched = FileNames::new(targets).matches(&pattern).len();
                // If the files were also given other names, the glob did not move.
                (matched > 0).then(|| Self::Pattern {
                    pattern,
                    files: moved.iter().map(|rename| rename.to.clone()).collect(),
                })
            }
        }
    }
}

/// Returns the most frequent text; if several are equally frequent, the first in alphabetical order.
fn most_frequent<'a>(texts: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for text in texts {
        *counts.entry(text).or_default() += 1;
    }
    let most = counts.values().copied().max()?;
    counts.into_iter().find(|(_, count)| *count == most).map(|(text, _)| text)
}
