//! Measures how much of a project's tree has survived since a commit.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use chrono::NaiveDate;
use serde::Serialize;

use crate::error::Result;
use crate::git::Object;
use crate::patterns::Rate;
use crate::patterns::staleness::dependencies::{Dependencies, is_framework, is_manifest};
use crate::patterns::staleness::listing::FileNames;
use crate::patterns::staleness::tree_history::TreeHistory;

/// Number of folders to read on each level, divided among all texts; reading them takes about 15
/// milliseconds.
const MAX_FOLDERS_READ: usize = 600;
/// Minimum number of folders to read on each level for one text.
const MIN_FOLDERS_READ: usize = 32;
/// Share of surviving files and folders up to which a sample is not trusted, and the whole tree is read.
const CLEAR: f64 = 0.7;
/// Maximum number of manifests whose dependencies are compared, those of the top folders first.
const MAX_MANIFESTS: usize = 40;

/// A commit and its date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommitRef {
    /// The abbreviated commit hash.
    pub commit: String,
    /// Its date, in UTC.
    pub date: Option<NaiveDate>,
}

/// The changes to a project's tree since a commit. Top-level files and folders whose names begin with a dot
/// are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Structure {
    /// The commit that the current tree is compared with.
    pub since: CommitRef,
    /// The share of the old files that still exist under the same path.
    pub files: Rate,
    /// The share of the old folders that still exist.
    pub folders: Rate,
    /// Whether the figures are extrapolated from a sample of folders, because the tree is large.
    pub is_estimated: bool,
    /// Added manifests.
    pub manifests_added: Vec<String>,
    /// Removed manifests.
    pub manifests_removed: Vec<String>,
    /// Added dependencies.
    pub dependencies_added: Vec<String>,
    /// Removed dependencies.
    pub dependencies_removed: Vec<String>,
    /// The frameworks among the added and removed dependencies.
    pub frameworks: Vec<String>,
    /// Whether less than half of the files or folders survives, or a framework was added or removed.
    pub has_changed: bool,
}

/// The current state of the project, for comparison with the past.
pub(crate) struct CurrentTree<'a> {
    listing: &'a FileNames,
    folders: HashSet<&'a str>,
    manifests: BTreeSet<String>,
    read: &'a dyn Fn(&str) -> Option<String>,
    /// The dependencies of each manifest read so far.
    dependencies: RefCell<HashMap<String, Dependencies>>,
}

/// The counts of files and folders in an old tree, weighted if they are from a sample.
#[derive(Default)]
struct TreeCounts {
    files: f64,
    files_left: f64,
    folders: f64,
    folders_left: f64,
    is_estimated: bool,
    manifests: BTreeSet<String>,
}

/// A folder to be read: its path with a slash, its hash, and the number of folders it represents.
struct OpenFolder {
    path: String,
    id: String,
    weight: f64,
}

impl TreeCounts {
    /// Returns whether enough has survived to trust a sample.
    fn is_clear(&self) -> bool {
        self.files_left > CLEAR * self.files && self.folders_left > CLEAR * self.folders
    }
}

impl<'a> CurrentTree<'a> {
    /// Returns the current state of the project; `read` returns the text of a file by its path.
    pub(crate) fn new(listing: &'a FileNames, read: &'a dyn Fn(&str) -> Option<String>) -> Self {
        let files = listing.files().iter().map(String::as_str);
        let mut folders = HashSet::new();
        let mut manifests = BTreeSet::new();
        for file in files.filter(|file| is_counted(file)) {
            let mut rest = file;
            while let Some((folder, _)) = rest.rsplit_once('/') {
                if !folders.insert(folder) {
                    break;
                }
                rest = folder;
            }
            if is_manifest(file) {
                manifests.insert(file.to_owned());
            }
        }
        Self { listing, folders, manifests, read, dependencies: RefCell::default() }
    }

    /// Returns the dependencies of some manifests.
    fn dependencies(&self, manifests: &[&str]) -> Dependencies {
        let mut known = self.dependencies.borrow_mut();
        let mut all = Dependencies::default();
        for manifest in manifests {
            let own = known.entry((*manifest).to_owned()).or_insert_with(|| {
                let mut own = Dependencies::default();
                if let Some(text) = (self.read)(manifest) {
                    own.add(manifest, &text);
                }
                own
            });
            all.extend(own);
        }
        all
    }
}

/// Compares the current tree with a commit; `texts` is the number of commits compared in all.
pub(crate) fn compare_with(
    current: &CurrentTree<'_>,
    past: &mut TreeHistory,
    commit_index: usize,
    texts: usize,
) -> Result<Option<Structure>> {
    let Some(hash) = past.timeline().hash(commit_index).map(str::to_owned) else {
        return Ok(None);
    };
    let most = (MAX_FOLDERS_READ / texts.max(1)).max(MIN_FOLDERS_READ);
    let mut counts = counts_at(current, past, &hash, most)?;
    if counts.is_estimated && !counts.is_clear() {
        counts = counts_at(current, past, &hash, usize::MAX)?;
    }
    let (added, removed) = if counts.manifests.is_empty() {
        // A project's first manifest does not count as a change of frameworks.
        (Vec::new(), Vec::new())
    } else {
        // The same manifests are read on both sides: a dependency of one that is not read did not come or go.
        let manifests = compared_manifests(&counts.manifests, &current.manifests);
        let before = dependencies_at(past, &hash, &manifests)?;
        before.changes(&current.dependencies(&manifests))
    };
    let changed = added.iter().chain(&removed);
    let frameworks: Vec<String> = changed.filter(|name| is_framework(name)).cloned().collect();
    let files = rate(counts.files_left, counts.files);
    let folders = rate(counts.folders_left, counts.folders);
    let is_half_gone = [files, folders].iter().any(|rate| rate.count * 2 < rate.of);
    let without = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
        one.difference(other).cloned().collect::<Vec<_>>()
    };
    Ok(Some(Structure {
        since: since(past, commit_index, &hash),
        files,
        folders,
        is_estimated: counts.is_estimated,
        manifests_added: without(&current.manifests, &counts.manifests),
        manifests_removed: without(&counts.manifests, &current.manifests),
        dependencies_added: added,
        dependencies_removed: removed,
        has_changed: is_half_gone || !frameworks.is_empty(),
        frameworks,
    }))
}

/// Returns a commit as shown to users.
pub(crate) fn since(past: &TreeHistory, commit_index: usize, hash: &str) -> CommitRef {
    CommitRef {
        commit: hash[..hash.len().min(7)].to_owned(),
        date: past.timeline().date(commit_index),
    }
}

/// Counts files and folders level by level; a level with too many folders is sampled.
fn counts_at(
    current: &CurrentTree<'_>,
    past: &mut TreeHistory,
    hash: &str,
    most: usize,
) -> Result<TreeCounts> {
    let mut counts = TreeCounts::default();
    let mut open =
        vec![OpenFolder { path: String::new(), id: format!("{hash}^{{tree}}"), weight: 1.0 }];
    while !open.is_empty() {
        if past.unread(open.iter().map(|folder| &folder.id)) > most {
            open = sample(open, most);
            counts.is_estimated = true;
        }
        let ids: Vec<String> = open.iter().map(|folder| folder.id.clone()).collect();
        let mut next = Vec::new();
        for (folder, entries) in open.iter().zip(past.folders(&ids)?) {
            for entry in entries.iter() {
                let path = format!("{}{}", folder.path, entry.name);
                if !is_counted(&path) {
                    continue;
                }
                if entry.is_tree {
                    counts.folders += folder.weight;
                    if current.folders.contains(path.as_str()) {
                        counts.folders_left += folder.weight;
                    }
                    next.push(OpenFolder {
                        path: path + "/",
                        id: entry.id.clone(),
                        weight: folder.weight,
                    });
                    continue;
                }
                counts.files += folder.weight;
                if current.listing.has_file(&path) {
                    counts.files_left += folder.weight;
                }
                if is_manifest(&path) {
                    counts.manifests.insert(path);
                }
            }
        }
        open = next;
    }
    Ok(counts)
}

/// Returns a sample of `most` folders, each weighted by the number of folders it represents.
///
/// The sample is chosen by hash, which is independent of any structure in the project.
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn sample(mut open: Vec<OpenFolder>, most: usize) -> Vec<OpenFolder> {
    let factor = open.len() as f64 / most as f64;
    open.sort_by(|a, b| (&a.id, &a.path).cmp(&(&b.id, &b.path)));
    open.truncate(most);
    for folder in &mut open {
        folder.weight *= factor;
    }
    open
}

/// Returns the manifests whose dependencies are compared, by depth and path.
///
/// A sample may miss manifests of the past; those of the current tree are requested by path.
fn compared_manifests<'a>(
    then: &'a BTreeSet<String>,
    current: &'a BTreeSet<String>,
) -> Vec<&'a str> {
    let mut manifests: Vec<&str> = then.union(current).map(String::as_str).collect();
    // The sort is stable, and a set is sorted by path.
    manifests.sort_by_key(|path| path.matches('/').count());
    manifests.truncate(MAX_MANIFESTS);
    manifests
}

fn dependencies_at(past: &mut TreeHistory, hash: &str, manifests: &[&str]) -> Result<Dependencies> {
    let names: Vec<String> =
        manifests.iter().map(|manifest| format!("{hash}:{manifest}")).collect();
    let mut dependencies = Dependencies::default();
    for (manifest, object) in manifests.iter().zip(past.read(&names)?) {
        if let Some(Object::Blob(bytes)) = object {
            dependencies.add(manifest, &String::from_utf8_lossy(&bytes));
        }
    }
    Ok(dependencies)
}

/// Returns whether a path counts: dot folders belong to tools or planning, not to the project's structure.
fn is_counted(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or(path);
    !first.starts_with('.')
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are small and not negative"
)]
fn rate(count: f64, of: f64) -> Rate {
    Rate { count: count.round() as usize, of: of.round() as usize }
}

impl Structure {
    /// Returns what has changed, with figures; `None` if the structure has not changed enough.
    pub fn reason(&self) -> Option<String> {
        if !self.has_changed {
            return None;
        }
        let mut parts = Vec::new();
        let about = if self.is_estimated { "about " } else { "" };
        for (rate, what) in [(self.files, "files"), (self.folders, "folders")] {
            if rate.count * 2 < rate.of {
                let percent = rate.percent().unwrap_or_default();
                parts.push(format!(
                    "{about}{} of {} {what} ({percent} %) remain",
                    rate.count, rate.of
                ));
            }
        }
        for framework in &self.frameworks {
            let is_added = self.dependencies_added.contains(framework);
            parts.push(format!("{framework} {}", if is_added { "added" } else { "removed" }));
        }
        let CommitRef { commit, date } = &self.since;
        let date = date.map(|date| format!(", {date}")).unwrap_or_default();
        Some(format!("structure changed since {commit}{date}: {}", parts.join(", ")))
    }
}
