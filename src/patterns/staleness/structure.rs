//! How much of a project's tree has survived since a commit.

use std::collections::BTreeSet;
use std::collections::HashMap;
use std::collections::HashSet;

use chrono::NaiveDate;
use serde::Deserialize;
use serde::Serialize;

use crate::error::Result;
use crate::git::Object;
use crate::patterns::Rate;
use crate::patterns::staleness::dependencies::Dependencies;
use crate::patterns::staleness::dependencies::is_framework;
use crate::patterns::staleness::dependencies::is_manifest;
use crate::patterns::staleness::listing::FileNames;
use crate::patterns::staleness::tree_history::TreeHistory;

/// So many folders are read for all texts together: some 15 milliseconds.
const FOLDERS_READ: usize = 600;
/// And at least so many on each level for one text.
const MIN_FOLDERS_READ: usize = 32;
/// A sample that leaves no more than this may deceive, and all is read.
const CLEAR: f64 = 0.7;
/// So many manifests are compared.
const MAX_MANIFESTS: usize = 40;

/// A commit, and its day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Since {
    /// The commit, abbreviated.
    pub commit: String,
    /// Its day, in UTC.
    pub date: Option<NaiveDate>,
}

/// What has become of a project's tree since a commit. Folders that begin with a dot do not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Structure {
    /// The commit that today is compared with.
    pub since: Since,
    /// How many of the files then are there today, under the same path.
    pub files: Rate,
    /// How many of the folders then are there today.
    pub folders: Rate,
    /// Whether the tree was so large that a sample of its folders stands for all.
    pub is_estimated: bool,
    /// Manifests that came.
    pub manifests_added: Vec<String>,
    /// Manifests that went.
    pub manifests_removed: Vec<String>,
    /// Dependencies that came.
    pub dependencies_added: Vec<String>,
    /// Dependencies that went.
    pub dependencies_removed: Vec<String>,
    /// Those among them that a project is built on.
    pub frameworks: Vec<String>,
    /// Whether less than half survives, or a framework came or went.
    pub has_changed: bool,
}

/// The project today, as it is compared with its past.
pub(crate) struct Today<'a> {
    listing: &'a FileNames,
    folders: HashSet<&'a str>,
    manifests: BTreeSet<String>,
    dependencies: Dependencies,
}

/// Files and folders then, weighed where a sample stands for all.
#[derive(Default)]
struct TreeCounts {
    files: f64,
    files_left: f64,
    folders: f64,
    folders_left: f64,
    is_estimated: bool,
    manifests: BTreeSet<String>,
}

/// A folder then: its path with a slash, its hash, and how many folders it stands for.
struct OpenFolder {
    path: String,
    id: String,
    weight: f64,
}

impl TreeCounts {
    /// Returns whether so much is left that a sample is good enough.
    fn is_clear(&self) -> bool {
        self.files_left > CLEAR * self.files && self.folders_left > CLEAR * self.folders
    }
}

impl<'a> Today<'a> {
    /// Returns today's project; `read` gives the text of a file by its path.
    pub(crate) fn new(listing: &'a FileNames, read: impl Fn(&str) -> Option<String>) -> Self {
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
            if is_manifest(file) && manifests.len() < MAX_MANIFESTS {
                manifests.insert(file.to_owned());
            }
        }
        let mut dependencies = Dependencies::default();
        for manifest in &manifests {
            if let Some(text) = read(manifest) {
                dependencies.add(manifest, &text);
            }
        }
        Self {
            listing,
            folders,
            manifests,
            dependencies,
        }
    }
}

/// Compares today with a commit; `texts` is the number of commits that are compared.
pub(crate) fn structure(
    today: &Today<'_>,
    past: &mut TreeHistory,
    place: usize,
    texts: usize,
) -> Result<Option<Structure>> {
    let Some(hash) = past.timeline().hash(place).map(str::to_owned) else {
        return Ok(None);
    };
    let most = (FOLDERS_READ / texts.max(1)).max(MIN_FOLDERS_READ);
    let mut counts = counts_at(today, past, &hash, most)?;
    if counts.is_estimated && !counts.is_clear() {
        counts = counts_at(today, past, &hash, usize::MAX)?;
    }
    let before = dependencies_at(past, &hash, &counts.manifests, &today.manifests)?;
    let (added, removed) = if counts.manifests.is_empty() {
        // A project that had no manifest was not built on anything yet.
        (Vec::new(), Vec::new())
    } else {
        before.changes(&today.dependencies)
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
        since: since(past, place, &hash),
        files,
        folders,
        is_estimated: counts.is_estimated,
        manifests_added: without(&today.manifests, &counts.manifests),
        manifests_removed: without(&counts.manifests, &today.manifests),
        dependencies_added: added,
        dependencies_removed: removed,
        has_changed: is_half_gone || !frameworks.is_empty(),
        frameworks,
    }))
}

/// Returns a commit as it is shown.
pub(crate) fn since(past: &TreeHistory, place: usize, hash: &str) -> Since {
    Since {
        commit: hash[..hash.len().min(7)].to_owned(),
        date: past.timeline().date(place),
    }
}

/// Counts files and folders level by level; of a level with too many folders some stand for all.
fn counts_at(
    today: &Today<'_>,
    past: &mut TreeHistory,
    hash: &str,
    most: usize,
) -> Result<TreeCounts> {
    let mut counts = TreeCounts::default();
    let mut open = vec![OpenFolder {
        path: String::new(),
        id: format!("{hash}^{{tree}}"),
        weight: 1.0,
    }];
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
                    if today.folders.contains(path.as_str()) {
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
                if today.listing.has_file(&path) {
                    counts.files_left += folder.weight;
                }
                if is_manifest(&path) && counts.manifests.len() < MAX_MANIFESTS {
                    counts.manifests.insert(path);
                }
            }
        }
        open = next;
    }
    Ok(counts)
}

/// Returns so many folders, each with the weight of those that it stands for.
///
/// Chosen by their hashes, which have no order that anything in the project could follow.
#[expect(clippy::cast_precision_loss, reason = "nobody has 2^53 folders")]
fn sample(mut open: Vec<OpenFolder>, most: usize) -> Vec<OpenFolder> {
    let factor = open.len() as f64 / most as f64;
    open.sort_by(|a, b| (&a.id, &a.path).cmp(&(&b.id, &b.path)));
    open.truncate(most);
    for folder in &mut open {
        folder.weight *= factor;
    }
    open
}

fn dependencies_at(
    past: &mut TreeHistory,
    hash: &str,
    then: &BTreeSet<String>,
    today: &BTreeSet<String>,
) -> Result<Dependencies> {
    // In a sample a manifest may be missed; those of today are asked for by name.
    let manifests: BTreeSet<&String> = then.union(today).collect();
    let names: Vec<String> = manifests
        .iter()
        .map(|manifest| format!("{hash}:{manifest}"))
        .collect();
    let mut dependencies = Dependencies::default();
    for (manifest, object) in manifests.iter().zip(past.read(&names)?) {
        if let Some(Object::Blob(bytes)) = object {
            dependencies.add(manifest, &String::from_utf8_lossy(&bytes));
        }
    }
    Ok(dependencies)
}

/// Folders of tools and of planning are no structure of the project.
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
    Rate {
        count: count.round() as usize,
        of: of.round() as usize,
    }
}

impl Structure {
    /// Returns what has changed, with the figures; nothing where too little has.
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
                    "{about}{} of {} {what} ({percent} %) are left",
                    rate.count, rate.of
                ));
            }
        }
        for framework in &self.frameworks {
            let came = self.dependencies_added.contains(framework);
            parts.push(format!(
                "{framework} {}",
                if came { "came" } else { "went" }
            ));
        }
        let Since { commit, date } = &self.since;
        let date = date.map(|date| format!(", {date}")).unwrap_or_default();
        Some(format!(
            "structure changed since {commit}{date}: {}",
            parts.join(", ")
        ))
    }
}

/// Joins equal commits, so that each is compared once.
pub(crate) type Compared = HashMap<usize, Option<Structure>>;
