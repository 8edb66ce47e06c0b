//! Resolves the paths that texts mention, traces missing ones through history, and compares the trees.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::path::Path;
use std::thread;
use std::thread::ScopedJoinHandle;

use chrono::NaiveDate;

use crate::error::{Error, Result};
use crate::git::Git;
use crate::patterns::staleness::missing_paths::MissingPath;
use crate::patterns::staleness::report::{Freshness, PathReport, PathStatus, Staleness};
use crate::patterns::staleness::structure::{CurrentTree, Structure};
use crate::patterns::staleness::tree::{Resolution, Tree};
use crate::patterns::staleness::tree_history::{CandidateCommits, TreeHistory};
use crate::patterns::staleness::{missing_paths, removal, structure};
use crate::patterns::{Certainty, Mention, PathForm, mentions};
use crate::project::LayoutName;
use crate::storage::read;

/// A text that may be stale.
#[derive(Clone, Copy, Debug)]
pub struct DatedText<'a> {
    /// Its identifier.
    pub id: &'a str,
    /// Line number of its start, from 1.
    pub line: usize,
    /// The text.
    pub text: &'a str,
    /// The commit that was checked out when it was written, if known.
    pub commit: Option<&'a str>,
    /// The day on which it was written.
    pub date: Option<NaiveDate>,
}

/// A path that a text mentions, with its resolution.
struct ResolvedMention {
    /// The path as written, which may be absolute.
    written: String,
    /// The mention of the path relative to the project.
    mention: Mention,
    resolution: Resolution,
}

/// A mention of a missing path, with the indices of its text and of the report to complete.
struct Missing {
    text: usize,
    report: usize,
    path: MissingPath,
}

/// The classification of a mention that does not resolve.
enum MissingKind {
    /// Not a path.
    NoPath,
    /// A path about which history says nothing.
    Unknown,
    /// A path that can be traced through history.
    Traceable(MissingPath),
}

impl Staleness {
    /// Checks texts against a project.
    pub fn check(texts: &[DatedText<'_>], root: &Path, git: &Git) -> Result<Self> {
        let tree = Tree::new(root, git);
        let objects = git.objects()?;
        // The two slowest steps run in parallel.
        let (timeline, found) = thread::scope(|scope| {
            let timeline = thread::Builder::new().spawn_scoped(scope, || git.timeline());
            let found = resolve_mentions(texts, &tree);
            // The system may refuse another thread.
            let timeline = timeline.map_or_else(|_| Ok(git.timeline()), ScopedJoinHandle::join);
            (timeline, found)
        });
        let timeline =
            timeline.map_err(|_| Error::failed("reading the git history panicked"))??;
        let past = TreeHistory::new(timeline, objects);
        CheckContext { git, tree, past }.all(texts, found?)
    }
}

/// The data that texts are checked against.
struct CheckContext<'a> {
    git: &'a Git,
    tree: Tree,
    past: Option<TreeHistory>,
}

impl CheckContext<'_> {
    fn all(
        mut self,
        texts: &[DatedText<'_>],
        resolved: Vec<Vec<ResolvedMention>>,
    ) -> Result<Staleness> {
        let all_commits: Vec<CandidateCommits> =
            texts.iter().map(|text| self.candidate_commits(text)).collect();
        self.list_the_past(&resolved, &all_commits)?;
        let mut missing = Vec::new();
        let mut entries = Vec::new();
        for ((text, resolved), commits) in texts.iter().zip(resolved).zip(&all_commits) {
            let paths =
                self.report_paths(text.text, resolved, commits, entries.len(), &mut missing)?;
            entries.push(Freshness {
                id: text.id.to_owned(),
                line: text.line,
                is_stale: false,
                reasons: Vec::new(),
                paths,
                structure: None,
            });
        }
        self.trace_missing(missing, &mut entries)?;
        self.compare(texts, &mut entries)?;
        for entry in &mut entries {
            entry.reasons = entry.reasons();
            entry.is_stale = !entry.reasons.is_empty();
        }
        let skipped = self.past.is_none().then(|| {
            "no git history: paths are only checked against the current files, and the \
             structure is not checked"
                .to_owned()
        });
        Ok(Staleness { entries, skipped })
    }

    fn candidate_commits(&self, text: &DatedText<'_>) -> CandidateCommits {
        match &self.past {
            Some(past) => past.candidate_commits(text.commit, text.date),
            None => CandidateCommits::Unknown,
        }
    }

    /// Lists the files of past trees, if a mention that does not resolve may be only the end of a path.
    fn list_the_past(
        &mut self,
        resolved: &[Vec<ResolvedMention>],
        all_commits: &[CandidateCommits],
    ) -> Result<()> {
        let Some(past) = &mut self.past else {
            return Ok(());
        };
        let may_be_end = |one: &ResolvedMention| {
            one.resolution == Resolution::Missing && one.mention.certainty > Certainty::Unsure
        };
        let texts = resolved.iter().zip(all_commits);
        let all_commits: Vec<CandidateCommits> = texts
            .filter(|(resolved, _)| resolved.iter().any(may_be_end))
            .map(|(_, commits)| commits.clone())
            .collect();
        if all_commits.is_empty() {
            return Ok(());
        }
        past.list(&all_commits, self.tree.listing()?.files().len())
    }

    /// Returns the reports on the paths of a text; paths still to be traced are reported as `gone` for now.
    fn report_paths(
        &mut self,
        words: &str,
        resolved: Vec<ResolvedMention>,
        commits: &CandidateCommits,
        text: usize,
        missing: &mut Vec<Missing>,
    ) -> Result<Vec<PathReport>> {
        let removed = LazyCell::new(|| removal::removed_paths(words));
        let mut reports: Vec<PathReport> = Vec::new();
        for one in resolved {
            let mut report = PathReport::new(&one.written, &one.mention);
            match one.resolution {
                Resolution::Exists => {}
                Resolution::Ambiguous(homes) => {
                    report.status = PathStatus::Ambiguous;
                    report.homes = homes;
                }
                Resolution::Outside => report.status = PathStatus::Outside,
                Resolution::Missing => {
                    report.status = PathStatus::Gone;
                    let says_removed = || removed.contains(&one.written);
                    match self.classify(&one.mention, says_removed, commits)? {
                        MissingKind::NoPath => continue,
                        MissingKind::Unknown => {}
                        MissingKind::Traceable(path) => {
                            missing.push(Missing { text, report: reports.len(), path });
                        }
                    }
                }
            }
            reports.push(report);
        }
        Ok(reports)
    }

    /// Classifies a mention that does not resolve by whether it was a path when the text was written, or just
    /// before. `says_removed` returns whether the text reports its removal.
    fn classify(
        &mut self,
        mention: &Mention,
        says_removed: impl Fn() -> bool,
        commits: &CandidateCommits,
    ) -> Result<MissingKind> {
        let Some(past) = &mut self.past else {
            return self.classify_without_history(mention);
        };
        let mut found = missing_paths::find_in_history(mention, commits, &self.tree, past)?;
        if let (None, Some(before)) = (&found, commits.before()) {
            found = missing_paths::find_in_history(mention, &before, &self.tree, past)?
                .filter(|_| !says_removed());
        }
        if let Some(path) = found {
            return Ok(if is_planning(path.path()) {
                MissingKind::NoPath
            } else {
                MissingKind::Traceable(path)
            });
        }
        // A shallow clone proves nothing about the part of the history that it lacks.
        if self.git.is_shallow() && !says_removed() {
            return self.classify_without_history(mention);
        }
        Ok(MissingKind::NoPath)
    }

    /// Classifies a mention that does not resolve without using history: is it certainly missing?
    fn classify_without_history(&self, mention: &Mention) -> Result<MissingKind> {
        let path = mention.path.as_str();
        let is_gone = mention.certainty == Certainty::Sure
            && !Tree::is_generated(path)
            && self.tree.has_first_folder(path)?
            && !self.tree.has_similar(path)?;
        Ok(if is_gone { MissingKind::Unknown } else { MissingKind::NoPath })
    }

    /// Traces all missing paths at once, and completes their reports.
    fn trace_missing(
        &mut self,
        mut missing: Vec<Missing>,
        entries: &mut [Freshness],
    ) -> Result<()> {
        let Some(past) = self.past.as_mut().filter(|_| !missing.is_empty()) else {
            return Ok(());
        };
        let mut paths: Vec<MissingPath> = missing.iter().map(|one| one.path.clone()).collect();
        missing_paths::trace(&mut paths, self.git, &self.tree, past)?;
        for (one, path) in missing.iter_mut().zip(paths) {
            let report = &mut entries[one.text].paths[one.report];
            report.since = path.removed.and_then(|commit_index| {
                let hash = past.timeline().hash(commit_index)?;
                Some(structure::since(past, commit_index, hash))
            });
            if let Some(now) = path.now {
                report.status = PathStatus::Moved;
                report.to = Some(self.tree.in_project(&now).to_owned());
            }
        }
        Ok(())
    }

    /// Compares the tree of each text's commit with the current one.
    fn compare(&mut self, texts: &[DatedText<'_>], entries: &mut [Freshness]) -> Result<()> {
        let Some(past) = &mut self.past else {
            return Ok(());
        };
        let commit_indices: Vec<Option<usize>> =
            texts.iter().map(|text| past.written_at(text.commit, text.date)).collect();
        let indices = commit_indices.iter().flatten();
        // Each commit is compared only once.
        let mut compared: HashMap<usize, Option<Structure>> =
            indices.map(|commit_index| (*commit_index, None)).collect();
        if compared.is_empty() {
            return Ok(());
        }
        let git = self.git;
        let read = |path: &str| {
            let text = read::text(&git.top()?.join(path));
            text.ok()?.map(|text| text.value)
        };
        let current = CurrentTree::new(self.tree.listing()?, &read);
        let count = compared.len();
        for (commit_index, structure) in &mut compared {
            *structure = structure::compare_with(&current, past, *commit_index, count)?;
        }
        for (entry, commit_index) in entries.iter_mut().zip(commit_indices) {
            entry.structure =
                commit_index.and_then(|commit_index| compared.get(&commit_index)?.clone());
        }
        Ok(())
    }
}

/// Resolves the paths that each text mentions.
fn resolve_mentions(texts: &[DatedText<'_>], tree: &Tree) -> Result<Vec<Vec<ResolvedMention>>> {
    let resolve = |mention: Mention| {
        let written = mention.path.clone();
        let mention = tree.inside(mention);
        let resolution = match mention.form {
            PathForm::Outside => Resolution::Outside,
            _ => tree.locate(&mention)?,
        };
        Ok(ResolvedMention { written, mention, resolution })
    };
    let in_text = |text: &DatedText<'_>| mentions(text.text).into_iter().map(resolve).collect();
    texts.iter().map(in_text).collect()
}

/// Returns whether a path is in a planning folder, whose files are moved by shipping.
fn is_planning(path: &str) -> bool {
    path.split('/').any(|part| LayoutName::from_dir(Path::new(part)).is_some())
}
