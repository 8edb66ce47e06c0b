//! Compares past commits with the current tree, by one diff for each, and finds when missing paths were removed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use chrono::NaiveDate;

use crate::error::Result;
use crate::git::{ChangedFile, Git, Object, Removal, Timeline};
use crate::patterns::staleness::dependencies::{dependencies, is_framework, is_manifest};
use crate::patterns::staleness::report::{CommitRef, Structure};
use crate::patterns::staleness::tree::{FileNames, Tree};
use crate::patterns::{PathForm, Rate};
use crate::storage::read;

/// Maximum number of manifests whose dependencies are compared, those of the top folders first.
const MAX_MANIFESTS: usize = 40;

/// What happened to a missing path, as far as history tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Change {
    /// The commit that moved or removed it.
    pub(crate) since: Option<CommitRef>,
    /// Its current path.
    pub(crate) to: Option<String>,
}

/// What changed since a commit.
struct Diff {
    files: Vec<ChangedFile>,
    /// The paths that the commit had and the current tree has not.
    removed: FileNames,
    structure: Option<Structure>,
}

impl Diff {
    fn new(files: Vec<ChangedFile>) -> Self {
        let removed = files.iter().filter_map(removed_path).map(str::to_owned).collect();
        Self { removed: FileNames::new(removed), files, structure: None }
    }
}

/// Returns the path that a changed file no longer has.
fn removed_path(file: &ChangedFile) -> Option<&str> {
    match file.status {
        'D' => Some(&file.path),
        'R' => file.from.as_deref(),
        _ => None,
    }
}

/// Returns the path that a changed file did not have before.
fn added_path(file: &ChangedFile) -> Option<&str> {
    matches!(file.status, 'A' | 'R' | 'C').then_some(file.path.as_str())
}

/// The history of a repository; empty without git.
pub(crate) struct Past<'a> {
    git: &'a Git,
    tree: &'a Tree,
    timeline: Timeline,
    /// By the hash of the commit.
    diffs: HashMap<String, Diff>,
}

impl<'a> Past<'a> {
    pub(crate) fn new(git: &'a Git, tree: &'a Tree) -> Result<Self> {
        Ok(Self { git, tree, timeline: git.timeline()?, diffs: HashMap::new() })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.timeline.is_empty()
    }

    /// Returns the commit at which a text was written: the one that it states, or else the last of its day.
    pub(crate) fn written_at(
        &self,
        commit: Option<&str>,
        date: Option<NaiveDate>,
    ) -> Option<String> {
        let stated = commit.and_then(|commit| self.timeline.index_of(commit));
        let at = stated.or_else(|| self.timeline.at_end_of(date?))?;
        self.timeline.hash(at).map(str::to_owned)
    }

    fn diff(&mut self, commit: &str) -> Result<&mut Diff> {
        if !self.diffs.contains_key(commit) {
            let files = self.git.changes_since(commit)?;
            self.diffs.insert(commit.to_owned(), Diff::new(files));
        }
        Ok(self.diffs.entry(commit.to_owned()).or_insert_with(|| Diff::new(Vec::new())))
    }

    /// Returns what happened to missing paths, each with the commit at which its text was written.
    pub(crate) fn changes(&mut self, paths: &[(String, Option<String>)]) -> Result<Vec<Change>> {
        if self.is_empty() || paths.is_empty() {
            return Ok(vec![Change::default(); paths.len()]);
        }
        let mut full = Vec::new();
        for (path, base) in paths {
            let in_repository = self.tree.in_repository(path);
            let Some(base) = base else {
                full.push(in_repository);
                continue;
            };
            let removed = &self.diff(base)?.removed;
            let is_whole = removed.has(&in_repository, PathForm::Plain);
            let home =
                removed.paths_ending_in(path, PathForm::Plain).first().map(|&home| home.to_owned());
            full.push(if is_whole { in_repository } else { home.unwrap_or(in_repository) });
        }
        let removals = self.git.removals(&full.iter().map(String::as_str).collect::<Vec<_>>())?;
        let commits: BTreeSet<&str> =
            removals.iter().flatten().map(|removal| removal.commit.as_str()).collect();
        let commits: Vec<&str> = commits.into_iter().collect();
        let renames = self.git.renames(&commits)?;
        let renames: HashMap<&str, _> = commits.iter().copied().zip(renames).collect();
        let mut found = Vec::new();
        for (((_, base), path), removal) in paths.iter().zip(&full).zip(&removals) {
            let mut pairs: Vec<(&str, &str)> = Vec::new();
            if let Some(diff) = base.as_ref().and_then(|base| self.diffs.get(base)) {
                let renamed = diff.files.iter().filter(|file| file.status == 'R');
                pairs.extend(
                    renamed.filter_map(|file| Some((file.from.as_deref()?, file.path.as_str()))),
                );
            }
            let own = removal.as_ref().and_then(|removal| renames.get(removal.commit.as_str()));
            pairs.extend(own.into_iter().flatten().map(|one| (one.from.as_str(), one.to.as_str())));
            let to = new_path(path, &pairs).filter(|to| self.tree.has(to));
            found.push(Change {
                since: removal.as_ref().map(since),
                to: to.map(|to| self.tree.in_project(&to).to_owned()),
            });
        }
        Ok(found)
    }

    /// Returns how the tree has changed since a commit.
    pub(crate) fn structure(&mut self, commit: &str) -> Result<Option<Structure>> {
        if let Some(structure) = &self.diff(commit)?.structure {
            return Ok(Some(structure.clone()));
        }
        let structure = self.compare(commit)?;
        self.diff(commit)?.structure = Some(structure.clone());
        Ok(Some(structure))
    }

    fn compare(&mut self, commit: &str) -> Result<Structure> {
        let tree = self.tree;
        let date = self.timeline.index_of(commit).and_then(|at| self.timeline.date(at));
        let git = self.git;
        let diff = self.diff(commit)?;
        let counted = |path: &&str| !path.starts_with('.');
        let added: Vec<&str> = diff.files.iter().filter_map(added_path).filter(counted).collect();
        let removed: Vec<&str> =
            diff.files.iter().filter_map(removed_path).filter(counted).collect();
        let counts = tree.counts()?;
        let kept = counts.files.saturating_sub(added.len());
        let gone_folders: HashSet<&str> = removed
            .iter()
            .flat_map(|path| folders(path))
            .filter(|folder| !counts.folders.contains_key(*folder))
            .collect();
        let kept_folders = counts.folders.len() - new_folders(&counts.folders, &added, &removed);
        let files = Rate { count: kept, of: kept + removed.len() };
        let folders = Rate { count: kept_folders, of: kept_folders + gone_folders.len() };
        let manifests = |paths: &[&str]| -> Vec<String> {
            paths.iter().filter(|path| is_manifest(path)).map(|path| (*path).to_owned()).collect()
        };
        let (manifests_added, manifests_removed) = (manifests(&added), manifests(&removed));
        let changed: BTreeSet<&str> = diff
            .files
            .iter()
            .filter(|file| file.status == 'M')
            .map(|file| file.path.as_str())
            .filter(|path| is_manifest(path))
            .collect();
        let (then, now) = dependencies_then_and_now(
            git, tree, commit, &manifests_added, &manifests_removed, &changed,
        )?;
        let without = |one: &BTreeSet<String>, other: &BTreeSet<String>| -> Vec<String> {
            one.difference(other).cloned().collect()
        };
        let (dependencies_added, dependencies_removed) =
            (without(&now, &then), without(&then, &now));
        let came_and_went = dependencies_added.iter().chain(&dependencies_removed);
        let frameworks: Vec<String> =
            came_and_went.filter(|name| is_framework(name)).cloned().collect();
        let is_half_gone = [files, folders].iter().any(|rate| rate.count * 2 < rate.of);
        Ok(Structure {
            since: CommitRef { commit: commit[..commit.len().min(7)].to_owned(), date },
            files,
            folders,
            is_estimated: false,
            manifests_added,
            manifests_removed,
            dependencies_added,
            dependencies_removed,
            has_changed: is_half_gone || !frameworks.is_empty(),
            frameworks,
        })
    }
}

/// Returns the folders above a file, deepest first.
pub(crate) fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').rev().map(|(at, _)| &path[..at])
}

/// Returns the number of folders all of whose files were added.
fn new_folders(now: &HashMap<String, usize>, added: &[&str], removed: &[&str]) -> usize {
    let old: HashSet<&str> = removed.iter().flat_map(|path| folders(path)).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for folder in added.iter().flat_map(|path| folders(path)) {
        *counts.entry(folder).or_default() += 1;
    }
    let is_new = |(folder, count): &(&&str, &usize)| {
        now.get(**folder) == Some(count) && !old.contains(**folder)
    };
    counts.iter().filter(is_new).count()
}

/// Returns the dependencies at a commit and now. A project's first manifest does not count as a change.
fn dependencies_then_and_now(
    git: &Git,
    tree: &Tree,
    commit: &str,
    added: &[String],
    removed: &[String],
    changed: &BTreeSet<&str>,
) -> Result<(BTreeSet<String>, BTreeSet<String>)> {
    let mut current: Vec<&String> = tree.manifests()?.iter().collect();
    // The sort is stable.
    current.sort_by_key(|path| path.matches('/').count());
    current.truncate(MAX_MANIFESTS);
    let is_kept = |path: &&&String| !added.contains(path);
    if removed.is_empty() && !current.iter().any(|path| is_kept(&path)) {
        return Ok(<(BTreeSet<String>, BTreeSet<String>)>::default());
    }
    let (mut then, mut now) = (BTreeSet::new(), BTreeSet::new());
    let mut old: Vec<&str> = removed.iter().take(MAX_MANIFESTS).map(String::as_str).collect();
    for path in current {
        let text = git.top().and_then(|top| read::text(&top.join(path)).ok().flatten());
        let own = text.map(|text| dependencies(path, &text.value)).unwrap_or_default();
        if changed.contains(path.as_str()) {
            old.push(path);
        } else if !added.contains(path) {
            then.extend(own.iter().cloned());
        }
        now.extend(own);
    }
    let Some(objects) = git.objects()?.filter(|_| !old.is_empty()) else {
        return Ok((then, now));
    };
    let names: Vec<String> = old.iter().map(|path| format!("{commit}:{path}")).collect();
    for (path, object) in old.iter().zip(objects.read(&names)?) {
        if let Some(Object::Blob(bytes)) = object {
            then.extend(dependencies(path, &String::from_utf8_lossy(&bytes)));
        }
    }
    Ok((then, now))
}

/// Returns the new path of a file, or of a folder most of whose files moved alike.
fn new_path(path: &str, renames: &[(&str, &str)]) -> Option<String> {
    if let Some((_, to)) = renames.iter().find(|(from, _)| *from == path) {
        return Some((*to).to_owned());
    }
    let start = format!("{path}/");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (from, to) in renames {
        let target = from.strip_prefix(&start).and_then(|rest| to.strip_suffix(rest));
        if let Some(target) = target.and_then(|target| target.strip_suffix('/')) {
            *counts.entry(target).or_default() += 1;
        }
    }
    let most = counts.values().copied().max()?;
    counts.into_iter().find(|(_, count)| *count == most).map(|(target, _)| target.to_owned())
}

fn since(removal: &Removal) -> CommitRef {
    let commit = removal.commit[..removal.commit.len().min(7)].to_owned();
    CommitRef { commit, date: Some(removal.date) }
}
