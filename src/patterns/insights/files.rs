//! Finds the files that are involved in deviations repeatedly.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::Serialize;

use crate::patterns::insights::PlanRef;
use crate::patterns::insights::comparison::{
    Comparison, ComparisonQuestion, compare_rates, is_evidence,
};
use crate::patterns::lesson::is_planning;
use crate::patterns::{FinishedPhase, PlanRecord, Rate};
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

/// The paths of a history by how they may be abbreviated, so that each file has one name.
pub(crate) struct KnownPaths<'a> {
    all: HashSet<&'a str>,
    /// The longer paths that end in each one.
    longer: HashMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> KnownPaths<'a> {
    pub(crate) fn new(paths: impl IntoIterator<Item = &'a String>) -> Self {
        let mut known = Self { all: HashSet::new(), longer: HashMap::new() };
        for path in paths.into_iter().map(|path| bare(path)).filter(|path| !is_planning(path)) {
            if known.all.insert(path) {
                for (at, _) in path.rmatch_indices('/').take(MAX_FOLDERS) {
                    known.longer.entry(&path[at + 1..]).or_default().insert(path);
                }
            }
        }
        known
    }

    /// Returns the full path of a file, which a plan may give by the end of its path.
    ///
    /// If several known paths end in `path`, the one that the plan touched is returned; otherwise it is ambiguous:
    /// `None`.
    pub(crate) fn full(&self, path: &'a str, plan: &PlanRecord) -> Option<&'a str> {
        let path = bare(path);
        if path.is_empty() || is_planning(path) {
            return None;
        }
        let Some(longer) = self.longer.get(path) else { return Some(path) };
        if let (Some(only), 1) = (longer.first(), longer.len()) {
            return Some(only);
        }
        let own: HashSet<&str> = plan.summary.files.iter().flatten().map(|own| bare(own)).collect();
        let mut of_own = longer.iter().filter(|known| own.contains(**known));
        match (of_own.next(), of_own.next()) {
            (Some(one), None) => Some(one),
            // A file with this path exists as well, for example in the root of the project.
            _ => self.all.contains(path).then_some(path),
        }
    }
}

/// Maximum number of folders of a path that an abbreviation may leave out or keep.
const MAX_FOLDERS: usize = 32;

fn bare(path: &str) -> &str {
    path.trim().trim_start_matches("./")
}

/// The plans that touched a file and those that named it in a deviation, by index in the history.
#[derive(Debug, Default)]
pub(super) struct Mentions {
    touched: BTreeSet<usize>,
    named: BTreeSet<usize>,
}

/// The files of a history, by path.
pub(super) type Files<'a> = BTreeMap<&'a str, Mentions>;

fn plans<'a>(
    phases: &[&'a FinishedPhase],
) -> impl Iterator<Item = (&'a FinishedPhase, &'a PlanRecord)> {
    phases.iter().flat_map(|phase| phase.plans.iter().map(|plan| (*phase, plan)))
}

/// Returns every file that a plan touched or a deviation names, by its full path.
pub(super) fn mentions<'a>(phases: &[&'a FinishedPhase]) -> Files<'a> {
    let known =
        KnownPaths::new(plans(phases).flat_map(|(_, plan)| plan.summary.files.iter().flatten()));
    let mut found = Files::new();
    for (at, (_, plan)) in plans(phases).enumerate() {
        for path in plan.summary.files.iter().flatten().filter_map(|path| known.full(path, plan)) {
            found.entry(path).or_default().touched.insert(at);
        }
        for path in plan.files_in_deviations().into_iter().filter_map(|path| known.full(path, plan))
        {
            found.entry(path).or_default().named.insert(at);
        }
    }
    found
}

/// Returns the files named in the deviations of several plans, most frequent first.
pub(super) fn named(phases: &[&FinishedPhase], files: &Files<'_>) -> Vec<DeviatingFile> {
    let all: Vec<(&FinishedPhase, &PlanRecord)> = plans(phases).collect();
    let reference = |at: &usize| {
        let (phase, plan) = all[*at];
        let number = phase.number.clone()?;
        Some(PlanRef { milestone: phase.milestone.clone(), phase: number, plan: plan.plan.clone() })
    };
    let several = files.iter().filter(|(_, mentions)| mentions.named.len() >= MIN_NAMED);
    let mut found: Vec<DeviatingFile> = several
        .map(|(file, mentions)| DeviatingFile {
            file: (*file).to_owned(),
            named_in: mentions.named.iter().filter_map(reference).collect(),
            // A plan that names a file in a deviation touched it, even if it does not list the file.
            deviated: Rate::measure_known(
                (&mentions.touched | &mentions.named).iter().map(|at| all[*at].1.deviated()),
            ),
        })
        .collect();
    found.sort_by_key(|file| std::cmp::Reverse(file.named_in.len()));
    found
}

/// Compares the plans that touched a file with those that did not, for each file with enough plans in both.
pub(super) fn compared(all: &[&PlanRecord], files: &Files<'_>) -> Vec<Comparison> {
    let says = |at: &usize| all[*at].file_count().is_some() && all[*at].deviated().is_some();
    let listed: BTreeSet<usize> = (0..all.len()).filter(says).collect();
    let rate =
        |plans: &BTreeSet<usize>| Rate::measure_known(plans.iter().map(|at| all[*at].deviated()));
    let compared = files.iter().filter_map(|(file, mentions)| {
        let (touched, others) = (&mentions.touched & &listed, &listed - &mentions.touched);
        if !is_evidence(touched.len(), others.len()) {
            return None;
        }
        let name = format!("plans that touched `{}`", Line::new(&sanitized(file)).clipped(80));
        let compared = compare_rates(
            ComparisonQuestion::DeviationsByFile,
            (name, rate(&touched)),
            ("others".to_owned(), rate(&others)),
        );
        Some(Comparison { file: Some((*file).to_owned()), ..compared })
    });
    compared.collect()
}
