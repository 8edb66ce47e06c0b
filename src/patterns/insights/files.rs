//! Finds the files that are involved in deviations repeatedly.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::Serialize;

use crate::patterns::Rate;
use crate::patterns::insights::comparison::{Comparison, ComparisonQuestion, is_evidence};
use crate::patterns::insights::{Compared, Member, PlanRef};
use crate::patterns::lesson::is_planning;
use crate::text::{Line, sanitized};

/// Minimum number of plans whose deviations name a file; a single one may be chance.
const MIN_NAMED: usize = 2;

/// A file named in the deviations of several plans.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviatingFile {
    /// Its path, as written in the summaries.
    pub file: String,
    /// The plans whose deviations name it.
    pub named_in: Vec<PlanRef>,
    /// The share of plans with any deviation, among those that touched it and whose summaries say.
    pub deviated: Rate,
}

/// The paths of a history, for resolving abbreviated paths, so that each file has one name.
#[derive(Debug, Default)]
pub(crate) struct KnownPaths<'a> {
    /// Sorted by their reversed bytes, so that paths with the same ending are adjacent.
    paths: Vec<&'a str>,
}

impl<'a> KnownPaths<'a> {
    pub(crate) fn new(paths: impl IntoIterator<Item = &'a str>) -> Self {
        let paths = paths.into_iter().map(bare);
        let mut paths: Vec<&str> = paths.filter(|path| !is_planning(path)).collect();
        paths.sort_unstable_by(|one, other| from_end(one).cmp(from_end(other)));
        paths.dedup();
        Self { paths }
    }

    /// Returns the full path of a file, which may be given by the end of its path.
    ///
    /// If several known paths end in `path`, the one in `own` is returned; otherwise it is ambiguous: `None`.
    pub(crate) fn full(&self, path: &'a str, own: &OwnPaths<'_>) -> Option<&'a str> {
        let path = bare(path);
        if path.is_empty() || is_planning(path) {
            return None;
        }
        let longer = self.ending_in(path);
        let mut of_own = longer.iter().filter(|known| own.0.contains(**known));
        match (longer, of_own.next(), of_own.next()) {
            ([], ..) => Some(path),
            ([only], ..) => Some(only),
            (_, Some(one), None) => Some(one),
            // A file with this path exists as well, for example in the root of the project.
            _ if self.contains(path) => Some(path),
            _ => None,
        }
    }

    /// Returns the longer paths that end with this one.
    fn ending_in(&self, path: &str) -> &[&'a str] {
        let ending = || from_end(path).chain([b'/']);
        let is_before = |known: &&str| from_end(known).lt(ending());
        let rest = &self.paths[self.paths.partition_point(is_before)..];
        &rest[..rest.partition_point(|known| ends_in(known, path))]
    }

    fn contains(&self, path: &str) -> bool {
        let order = |known: &&str| from_end(known).cmp(from_end(path));
        self.paths.binary_search_by(order).is_ok()
    }
}

/// The files that one plan touched.
pub(crate) struct OwnPaths<'a>(HashSet<&'a str>);

impl<'a> OwnPaths<'a> {
    pub(crate) fn new(paths: Option<&'a [String]>) -> Self {
        let paths = paths.into_iter().flatten();
        Self(paths.map(|path| bare(path)).collect())
    }
}

fn from_end(path: &str) -> impl Iterator<Item = u8> + '_ {
    path.bytes().rev()
}

/// The plans that touched a file and those that named it in a deviation, by index in the history.
#[derive(Debug, Default)]
pub(super) struct Mentions {
    touched: Vec<usize>,
    named: Vec<usize>,
}

/// Appends a plan, unless it is the last one already; plans come in ascending order.
fn mention(plans: &mut Vec<usize>, at: usize) {
    if plans.last() != Some(&at) {
        plans.push(at);
    }
}

/// The files of a history, by path.
pub(super) type Files<'a> = BTreeMap<&'a str, Mentions>;

/// Returns every file that a plan touched or a deviation names, by its full path.
pub(super) fn mentions<'a>(all: &[Member<'a>]) -> Files<'a> {
    let touched = |one: &Member<'a>| one.plan.summary.files.iter().flatten().map(String::as_str);
    let known = KnownPaths::new(all.iter().flat_map(touched));
    let mut found = Files::new();
    for (at, one) in all.iter().enumerate() {
        let own = OwnPaths::new(one.plan.summary.files.as_deref());
        for path in touched(one).filter_map(|path| known.full(path, &own)) {
            mention(&mut found.entry(path).or_default().touched, at);
        }
        let named = one.plan.files_in_deviations();
        for path in named.into_iter().filter_map(|path| known.full(path, &own)) {
            mention(&mut found.entry(path).or_default().named, at);
        }
    }
    found
}

/// Returns the files named in the deviations of several plans, most frequent first.
pub(super) fn named(all: &[Member<'_>], files: &Files<'_>) -> Vec<DeviatingFile> {
    let mut found: Vec<DeviatingFile> = files
        .iter()
        .filter(|(_, mentions)| mentions.named.len() >= MIN_NAMED)
        .map(|(file, mentions)| DeviatingFile {
            file: (*file).to_owned(),
            named_in: mentions.named.iter().map(|at| all[*at].reference()).collect(),
            // A plan that names a file in a deviation touched it, even if it does not list the file.
            deviated: Rate::measure_known(
                either(mentions).into_iter().map(|at| all[at].plan.deviated()),
            ),
        })
        .collect();
    found.sort_by_key(|file| std::cmp::Reverse(file.named_in.len()));
    found
}

fn either(mentions: &Mentions) -> BTreeSet<usize> {
    let both = mentions.touched.iter().chain(&mentions.named);
    both.copied().collect()
}

/// Compares the plans that touched a file with those that did not, for each file with enough plans in both.
pub(super) fn compared(all: &[Member<'_>], files: &Files<'_>) -> Compared {
    let listed: BTreeSet<usize> = (0..all.len())
        .filter(|at| all[*at].plan.file_count().is_some() && all[*at].plan.deviated().is_some())
        .collect();
    let listed_of = |mentions: &Mentions| -> Vec<usize> {
        let touched = mentions.touched.iter().copied();
        touched.filter(|at| listed.contains(at)).collect()
    };
    let tested: Vec<(&str, Vec<usize>)> = files
        .iter()
        .map(|(file, mentions)| (*file, listed_of(mentions)))
        .filter(|(_, touched)| is_evidence(touched.len(), listed.len() - touched.len()))
        .collect();
    let rate = |plans: &mut dyn Iterator<Item = &usize>| {
        Rate::measure_known(plans.map(|at| all[*at].plan.deviated()))
    };
    let comparisons = tested.iter().map(|(file, touched)| {
        let compared = ComparisonQuestion::DeviationsByFile.spec().compare_rates(
            (format!("plans that touched `{}`", path_line(file)), rate(&mut touched.iter())),
            (
                "others".to_owned(),
                rate(&mut listed.iter().filter(|at| touched.binary_search(at).is_err())),
            ),
        );
        Comparison { file: Some((*file).to_owned()), ..compared }
    });
    let gap = tested.is_empty().then(|| {
        format!(
            "deviations by file (n={}; no file was touched by at least 5 plans and not \
             touched by at least 5)",
            listed.len()
        )
    });
    Compared { comparisons: comparisons.collect(), gap }
}

/// Returns a path that is safe to show in one line of markdown.
fn path_line(path: &str) -> Line {
    Line::new(&sanitized(path)).clipped(80)
}

fn bare(path: &str) -> &str {
    path.trim().trim_start_matches("./")
}

fn ends_in(whole: &str, part: &str) -> bool {
    whole.strip_suffix(part).is_some_and(|head| head.ends_with('/'))
}
