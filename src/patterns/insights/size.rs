//! Groups and compares plans by size.

use serde::Serialize;

use crate::clock::Minutes;
use crate::patterns::Rate;
use crate::patterns::insights::comparison::{Comparison, ComparisonQuestion, is_evidence};
use crate::patterns::insights::member::{Member, median};

/// Lower bounds of the task buckets: some workflows ask for one or two tasks, others cut a plan off at five.
const TASKS: &[u32] = &[1, 3, 5];
/// Lower bounds of the file buckets.
const FILES: &[u32] = &[1, 3, 6, 10];

/// Minimum sizes of a large plan, in order of preference; the next is tried if one group has too few plans.
///
/// The limits stated by planning tools come first. The choice depends on the sizes alone, never on the
/// outcomes of plans: the best of many splits would show a difference in noise.
const LARGE_BY_TASKS: [u32; 2] = [5, 3];
const LARGE_BY_FILES: [u32; 2] = [6, 3];

/// The plans by one measure of size.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sizes {
    /// Minimum size of a large plan.
    pub large_from: u32,
    /// Number of plans of unknown size; they are in no bucket.
    pub unknown: usize,
    /// The plans by size, smallest first.
    pub buckets: Vec<Bucket>,
}

/// The plans in one range of sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bucket {
    /// Minimum size.
    pub from: u32,
    /// Maximum size; `None` for the last bucket.
    pub to: Option<u32>,
    /// Number of plans of this size.
    pub plans: usize,
    /// The share of its plans that deviated, among those whose summaries say.
    pub deviated: Rate,
    /// The share of its plans that were completed, among those whose summaries say.
    pub completed: Rate,
    /// Number of its plans with a known duration.
    pub timed: usize,
    /// Their median duration.
    pub median_minutes: Option<Minutes>,
}

/// A measure of a plan's size.
type Measure = fn(&Member<'_>) -> Option<u32>;

fn tasks(one: &Member<'_>) -> Option<u32> {
    one.tasks()
}

fn files(one: &Member<'_>) -> Option<u32> {
    one.files()
}

impl Sizes {
    pub(crate) fn by_tasks(all: &[Member<'_>]) -> Self {
        Self::group(all, tasks, TASKS, LARGE_BY_TASKS)
    }

    pub(crate) fn by_files(all: &[Member<'_>]) -> Self {
        Self::group(all, files, FILES, LARGE_BY_FILES)
    }

    fn group(all: &[Member<'_>], measure: Measure, starts: &[u32], limits: [u32; 2]) -> Self {
        let large_from = limits
            .into_iter()
            .find(|from| {
                let (large, small) = parted(all, measure, *from);
                is_evidence(large.len(), small.len())
            })
            .unwrap_or(limits[0]);
        let ends = starts.iter().skip(1).map(|next| Some(next - 1));
        let buckets = starts.iter().zip(ends.chain([None]));
        Self {
            large_from,
            unknown: all.iter().filter(|one| measure(one).is_none()).count(),
            buckets: buckets.map(|(from, to)| Bucket::new(all, measure, *from, to)).collect(),
        }
    }
}

impl Bucket {
    fn new(all: &[Member<'_>], measure: Measure, from: u32, to: Option<u32>) -> Self {
        let fits = |size: u32| size >= from && to.is_none_or(|to| size <= to);
        let inside: Vec<&Member<'_>> =
            all.iter().filter(|one| measure(one).is_some_and(fits)).collect();
        let minutes: Vec<f64> = inside.iter().filter_map(|one| one.minutes()).collect();
        Self {
            from,
            to,
            plans: inside.len(),
            deviated: Rate::measure_known(inside.iter().map(|one| one.deviated())),
            completed: Rate::measure_known(inside.iter().map(|one| one.completed())),
            timed: minutes.len(),
            median_minutes: median(&minutes),
        }
    }
}

/// Returns the plans of at least a size, and the smaller ones; plans of unknown size are in neither.
fn parted<'a>(
    all: &'a [Member<'a>],
    measure: Measure,
    from: u32,
) -> (Vec<&'a Member<'a>>, Vec<&'a Member<'a>>) {
    all.iter()
        .filter(|one| measure(one).is_some())
        .partition(|one| measure(one).is_some_and(|size| size >= from))
}

/// Compares large plans with small ones: how often they deviated, and how often they were completed.
pub(crate) fn comparisons(
    all: &[Member<'_>],
    by_tasks: &Sizes,
    by_files: &Sizes,
) -> Vec<Comparison> {
    use ComparisonQuestion::{
        CompletionByFiles, CompletionByTasks, DeviationsByFiles, DeviationsByTasks,
    };

    let deviated: PlanPredicate = |one| one.deviated();
    let completed: PlanPredicate = |one| one.completed();
    let tasks = (by_tasks.large_from, "tasks", tasks as Measure);
    let files = (by_files.large_from, "files", files as Measure);
    [
        (DeviationsByTasks, tasks, deviated),
        (DeviationsByFiles, files, deviated),
        (CompletionByTasks, tasks, completed),
        (CompletionByFiles, files, completed),
    ]
    .into_iter()
    .map(|(question, (from, unit, measure), answer)| {
        let (large, small) = parted(all, measure, from);
        question.spec().compare_rates(
            (large_plans(from, unit), rate(&large, answer)),
            ("smaller ones".to_owned(), rate(&small, answer)),
        )
    })
    .collect()
}

/// A property of a plan; `None` if its summary does not say.
type PlanPredicate = fn(&Member<'_>) -> Option<bool>;

fn rate(plans: &[&Member<'_>], answer: PlanPredicate) -> Rate {
    Rate::measure_known(plans.iter().map(|one| answer(one)))
}

/// Compares the durations of large and small plans.
pub(crate) fn durations(all: &[Member<'_>], by_tasks: &Sizes) -> Comparison {
    let (large, small) = parted(all, tasks, by_tasks.large_from);
    let minutes = |plans: Vec<&Member<'_>>| plans.iter().filter_map(|one| one.minutes()).collect();
    ComparisonQuestion::DurationByTasks.spec().compare_durations(
        (large_plans(by_tasks.large_from, "tasks"), minutes(large)),
        ("smaller ones".to_owned(), minutes(small)),
    )
}

fn large_plans(from: u32, unit: &str) -> String {
    format!("plans with {from} or more {unit}")
}
