//! Finds recorded patterns about files that no longer exist or a structure that has changed.
//!
//! A path that is clearly meant as one is stale if the project has no such file and `.gitignore` does not cover it,
//! unless the text itself reports the removal. That is the same with and without git: history only tells since when a
//! path is gone, and where it moved. The tree of the text's commit is compared with the current one by a single diff.

mod dependencies;
mod history;
mod removal;
mod report;
mod tree;

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use chrono::NaiveDate;
pub use report::{CommitRef, Freshness, PathReport, PathStatus, Staleness, Structure};

use crate::error::Result;
use crate::git::Git;
use crate::patterns::staleness::history::{Change, Past};
use crate::patterns::staleness::tree::{Resolution, Tree};
use crate::patterns::{
    Certainty, LoosePattern, Mention, PathForm, PatternEntry, Patterns, mentions,
};
use crate::project::LayoutName;

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

impl Staleness {
    /// Checks texts against a project.
    pub fn check(texts: &[DatedText<'_>], root: &Path, git: &Git) -> Result<Self> {
        let tree = Tree::new(root, git);
        let mut past = Past::new(git, &tree)?;
        let mut entries = Vec::new();
        let mut missing = Vec::new();
        for (at, text) in texts.iter().enumerate() {
            let base = past.written_at(text.commit, text.date);
            let paths = report_paths(text.text, &tree)?;
            let gone = paths.iter().enumerate().filter(|(_, path)| path.status == PathStatus::Gone);
            missing.extend(gone.map(|(path, _)| (at, path, base.clone())));
            let structure = match &base {
                Some(base) => past.structure(base)?,
                None => None,
            };
            entries.push(Freshness {
                id: text.id.to_owned(),
                line: text.line,
                is_stale: false,
                reasons: Vec::new(),
                paths,
                structure,
            });
        }
        // All missing paths are looked up at once.
        let names = missing.iter().map(|(at, path, base)| {
            let report = &entries[*at].paths[*path];
            (report.path.trim_end_matches('/').to_owned(), base.clone())
        });
        let changes = past.changes(&names.collect::<Vec<_>>())?;
        for ((at, path, _), change) in missing.into_iter().zip(changes) {
            let Change { since, to } = change;
            let report = &mut entries[at].paths[path];
            report.since = since;
            if to.is_some() {
                report.status = PathStatus::Moved;
                report.to = to;
            }
        }
        for entry in &mut entries {
            entry.reasons = entry.reasons();
            entry.is_stale = !entry.reasons.is_empty();
        }
        let skipped = past.is_empty().then(|| {
            "no git history: paths are only checked against the current files, and the \
             structure is not checked"
                .to_owned()
        });
        Ok(Self { entries, skipped })
    }

    /// Checks all of PATTERNS.md, in file order, entries first.
    pub fn check_patterns(patterns: &Patterns, root: &Path, git: &Git) -> Result<Self> {
        let entry_names: Vec<String> = patterns.entries.iter().map(PatternEntry::title).collect();
        let entries = patterns.entries.iter().zip(&entry_names);
        let mut texts: Vec<DatedText<'_>> =
            entries.map(|(entry, id)| from_entry(entry, id)).collect();
        texts.extend(patterns.loose.iter().map(from_loose));
        Self::check(&texts, root, git)
    }
}

/// Returns the reports on the paths of a text. A missing path that may be none is left out, and so is one whose removal
/// the text itself reports.
fn report_paths(text: &str, tree: &Tree) -> Result<Vec<PathReport>> {
    let removed = LazyCell::new(|| removal::removed_paths(text));
    let mut reports = Vec::new();
    for written in mentions(text) {
        let mention = tree.inside(written.clone());
        let mut report = PathReport::new(&written.path, &mention);
        match tree.locate(&mention)? {
            Resolution::Exists => {}
            Resolution::Ambiguous(homes) => {
                report.status = PathStatus::Ambiguous;
                report.homes = homes;
            }
            Resolution::Outside => report.status = PathStatus::Outside,
            Resolution::Missing => {
                if !is_clear(&mention, tree)? || removed.contains(&written.path) {
                    continue;
                }
                report.status = PathStatus::Gone;
            }
        }
        reports.push(report);
    }
    Ok(reports)
}

/// Returns whether a missing path is clearly meant as one of the project's own files or folders.
fn is_clear(mention: &Mention, tree: &Tree) -> Result<bool> {
    let path = mention.path.as_str();
    let is_path = match mention.form {
        PathForm::Plain => mention.certainty == Certainty::Sure,
        PathForm::Folder => path.contains('/') && tree.has_first_folder(path)?,
        PathForm::Glob | PathForm::Outside => false,
    };
    // Shipping moves the files of a planning folder.
    let is_planning = path.split('/').any(|part| LayoutName::from_dir(Path::new(part)).is_some());
    Ok(is_path && !is_planning && !tree.is_generated(path) && !tree.has_similar(path)?)
}

impl Freshness {
    /// Returns why some of its bullets may be out of date, by their texts.
    ///
    /// A bullet is stale because of the paths that it mentions itself or the structure, not because of other
    /// bullets. A path whose removal it reports does not make it stale.
    pub(crate) fn reasons_of<'t>(
        &self,
        bullets: impl IntoIterator<Item = &'t str>,
    ) -> BTreeMap<String, String> {
        if !self.is_stale {
            return BTreeMap::new();
        }
        // By path as written, without a folder's trailing slash.
        let paths = self.paths.iter();
        let paths: HashMap<&str, String> =
            paths.filter_map(|report| Some((report.written.as_str(), report.reason()?))).collect();
        let structure = self.structure.as_ref().and_then(Structure::reason);
        let reason = |text: &str| {
            let removed = LazyCell::new(|| removal::removed_paths(text));
            let of_path = |mention: Mention| {
                let reason = paths.get(mention.path.as_str())?;
                (!removed.contains(&mention.path)).then(|| reason.clone())
            };
            let of_paths = mentions(text).into_iter().find_map(of_path);
            of_paths.or_else(|| structure.clone())
        };
        let bullets = bullets.into_iter();
        bullets.filter_map(|text| Some((text.to_owned(), reason(text)?))).collect()
    }
}

fn from_entry<'a>(entry: &'a PatternEntry, id: &'a str) -> DatedText<'a> {
    let trace = entry.trace.as_ref();
    DatedText {
        id,
        line: entry.line,
        text: &entry.text,
        commit: trace.and_then(|trace| trace.commit.as_deref()),
        date: entry.date,
    }
}

fn from_loose(loose: &LoosePattern) -> DatedText<'_> {
    DatedText {
        id: loose.section.as_deref().unwrap_or("PATTERNS.md"),
        line: loose.line,
        text: &loose.text,
        commit: None,
        date: None,
    }
}

#[cfg(test)]
mod tests;
