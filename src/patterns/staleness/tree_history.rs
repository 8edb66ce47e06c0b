//! Looks up the project's files at past commits.

use std::collections::HashMap;
use std::rc::Rc;

use chrono::NaiveDate;

use crate::error::Result;
use crate::git::{Object, Objects, Timeline, TreeEntry};
use crate::patterns::staleness::listing::FileNames;

/// Number of later commits that are searched, since an entry of PATTERNS.md may be committed after its code.
const LATER_COMMITS: usize = 8;
/// Number of commits that are searched for a path if the date of a text is unknown.
const MAX_TRIED_COMMITS: usize = 64;
/// Maximum number of commits at which all files are listed. With many files it is lower, as limited by
/// `MAX_FILES_LISTED`: listing takes about a microsecond per file.
const MAX_LISTINGS: usize = 16;
const MAX_FILES_LISTED: usize = 20_000;
/// Number of commits after a removal that are checked for a reappearance of the path.
const CHECKS_AFTER_REMOVAL: usize = 8;
/// Maximum number of reappearances of a path that are followed.
const MAX_RETURNS: usize = 4;

/// The history of a repository.
pub(crate) struct TreeHistory {
    timeline: Timeline,
    objects: Objects,
    trees: HashMap<String, Rc<Vec<TreeEntry>>>,
    /// The files at some commits, to find paths of which only the end is known.
    listings: Vec<Rc<FileNames>>,
}

/// The commits at which the paths of a text may have existed, likeliest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CandidateCommits {
    Known {
        indices: Vec<usize>,
        /// The commit before the text's own, if known: a path that exists only there was removed by the
        /// text's own commit.
        before: Option<usize>,
    },
    /// Any commit.
    Unknown,
}

impl CandidateCommits {
    /// Returns the candidates just before the text's own commit.
    pub(crate) fn before(&self) -> Option<Self> {
        match self {
            Self::Known { before: Some(before), .. } => {
                Some(Self::Known { indices: vec![*before], before: None })
            }
            _ => None,
        }
    }
}

impl TreeHistory {
    /// Returns the history of these commits; `None` if there are none.
    pub(crate) fn new(timeline: Timeline, objects: Option<Objects>) -> Option<Self> {
        let objects = objects.filter(|_| !timeline.is_empty())?;
        Some(Self { timeline, objects, trees: HashMap::new(), listings: Vec::new() })
    }

    pub(crate) fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Returns the index of the commit at which a text was written: the one it states, or else the last of
    /// its day.
    pub(crate) fn written_at(
        &self,
        commit: Option<&str>,
        date: Option<NaiveDate>,
    ) -> Option<usize> {
        commit
            .and_then(|commit| self.timeline.index_of(commit))
            .or_else(|| self.timeline.at_end_of(date?))
    }

    /// Returns the commits at which the paths of a text may have existed.
    pub(crate) fn candidate_commits(
        &self,
        commit: Option<&str>,
        date: Option<NaiveDate>,
    ) -> CandidateCommits {
        if let Some(commit_index) = commit.and_then(|commit| self.timeline.index_of(commit)) {
            let later = (1..=LATER_COMMITS).map_while(|step| commit_index.checked_sub(step));
            let before = Some(commit_index + 1).filter(|before| *before < self.timeline.len());
            return CandidateCommits::Known {
                indices: std::iter::once(commit_index).chain(later).collect(),
                before,
            };
        }
        let of_day = |commit_index: &usize| self.timeline.date(*commit_index) == date;
        match date.and_then(|day| self.timeline.at_end_of(day)) {
            Some(end) => {
                let day = (end..self.timeline.len()).take_while(of_day).take(LATER_COMMITS);
                let mut indices: Vec<usize> = day.collect();
                let before = indices.last().map_or(end, |last| last + 1);
                indices.extend((before < self.timeline.len()).then_some(before));
                CandidateCommits::Known { indices, before: None }
            }
            // Undated, or older than the first commit.
            None => CandidateCommits::Unknown,
        }
    }

    /// Returns the first of the candidate commits at which a path exists.
    pub(crate) fn last_seen(
        &mut self,
        path: &str,
        commits: &CandidateCommits,
    ) -> Result<Option<usize>> {
        let indices = match commits {
            CandidateCommits::Known { indices, .. } => indices.clone(),
            CandidateCommits::Unknown => self.spread(MAX_TRIED_COMMITS),
        };
        self.first_with(path, &indices)
    }

    /// Lists all files at some of the commits at which texts were written, always including the newest.
    pub(crate) fn list(
        &mut self,
        all_commits: &[CandidateCommits],
        files_today: usize,
    ) -> Result<()> {
        let most = (MAX_FILES_LISTED / files_today.max(1)).clamp(1, MAX_LISTINGS);
        let mut indices: Vec<usize> = Vec::new();
        for commits in all_commits {
            match commits {
                CandidateCommits::Known { indices: known, before } => {
                    indices.extend(known.first().into_iter().chain(before));
                }
                CandidateCommits::Unknown => indices.extend(self.spread(most)),
            }
        }
        indices.sort_unstable_by(|a, b| b.cmp(a));
        indices.dedup();
        for at in evenly_spaced(indices.len(), most) {
            let listing = self.listing(indices[at])?;
            self.listings.push(Rc::new(listing));
        }
        Ok(())
    }

    /// Returns the listings, oldest first.
    pub(crate) fn listings(&self) -> Vec<Rc<FileNames>> {
        self.listings.clone()
    }

    /// Returns the commit that last removed a path that existed at `seen`.
    ///
    /// Uses binary search. A path that was removed and reappeared between two of the commits checked is not
    /// noticed. Returns `None` if the path exists at the newest commit.
    pub(crate) fn removed_at(&mut self, path: &str, seen: usize) -> Result<Option<usize>> {
        let mut with = seen;
        for _ in 0..MAX_RETURNS {
            let mut without = 0;
            if with == 0 || self.has(path, 0)? {
                return Ok(None);
            }
            while with - without > 1 {
                let middle = without.midpoint(with);
                if self.has(path, middle)? {
                    with = middle;
                } else {
                    without = middle;
                }
            }
            let step = (without / CHECKS_AFTER_REMOVAL).max(1);
            let later: Vec<usize> = (0..without).step_by(step).skip(1).collect();
            match self.first_with(path, &later)? {
                Some(back) => with = back,
                None => return Ok(Some(without)),
            }
        }
        Ok(Some(with.saturating_sub(1)))
    }

    /// Reads objects by name: `<commit>:<path>`.
    pub(crate) fn read(&mut self, names: &[String]) -> Result<Vec<Option<Object>>> {
        self.objects.read(names)
    }

    /// Returns the number of these folders that have not been read yet.
    pub(crate) fn unread<'a>(&self, ids: impl Iterator<Item = &'a String>) -> usize {
        ids.filter(|id| !self.trees.contains_key(*id)).count()
    }

    /// Returns the entries of folders, by their hashes.
    pub(crate) fn folders(&mut self, ids: &[String]) -> Result<Vec<Rc<Vec<TreeEntry>>>> {
        let mut unknown: Vec<String> = Vec::new();
        for id in ids {
            if !self.trees.contains_key(id) {
                unknown.push(id.clone());
            }
        }
        let objects = self.objects.read(&unknown)?;
        for (id, object) in unknown.into_iter().zip(objects) {
            let entries = match object {
                Some(Object::Tree(entries)) => entries,
                _ => Vec::new(),
            };
            self.trees.insert(id, Rc::new(entries));
        }
        let none = Rc::new(Vec::new());
        let of = |id| Rc::clone(self.trees.get(id).unwrap_or(&none));
        Ok(ids.iter().map(of).collect())
    }

    fn listing(&mut self, commit_index: usize) -> Result<FileNames> {
        let mut files = Vec::new();
        let top = format!("{}^{{tree}}", self.timeline.hash(commit_index).unwrap_or("HEAD"));
        let mut open = vec![(String::new(), top)];
        while !open.is_empty() {
            let ids: Vec<String> = open.iter().map(|(_, id)| id.clone()).collect();
            let folders = self.folders(&ids)?;
            let mut next = Vec::new();
            for ((folder, _), entries) in open.iter().zip(folders) {
                for entry in entries.iter() {
                    let path = format!("{folder}{}", entry.name);
                    if entry.is_tree {
                        next.push((path + "/", entry.id.clone()));
                    } else {
                        files.push(path);
                    }
                }
            }
            open = next;
        }
        Ok(FileNames::new(files))
    }

    fn has(&mut self, path: &str, commit_index: usize) -> Result<bool> {
        Ok(self.first_with(path, &[commit_index])?.is_some())
    }

    /// Returns the first of these commits at which a path exists.
    fn first_with(&mut self, path: &str, indices: &[usize]) -> Result<Option<usize>> {
        // The likeliest commit is queried separately, because a batch is always answered completely.
        let (first, rest) = indices.split_at(indices.len().min(1));
        for indices in std::iter::once(first).chain(rest.chunks(LATER_COMMITS)) {
            let names: Vec<String> = indices
                .iter()
                .filter_map(|commit_index| {
                    Some(format!("{}:{path}", self.timeline.hash(*commit_index)?))
                })
                .collect();
            let found = self.objects.exist(&names)?;
            if let Some(at) = found.iter().position(|is_there| *is_there) {
                return Ok(Some(indices[at]));
            }
        }
        Ok(None)
    }

    /// Returns at most this many commits, evenly spread from the newest to the oldest.
    fn spread(&self, most: usize) -> Vec<usize> {
        evenly_spaced(self.timeline.len(), most).collect()
    }
}

/// Returns at most this many indices, evenly spread and including the last.
fn evenly_spaced(length: usize, most: usize) -> impl Iterator<Item = usize> {
    let count = length.min(most);
    (1..=count).map(move |step| step * length / count - 1)
}
