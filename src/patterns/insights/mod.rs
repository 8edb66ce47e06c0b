//! Draws conclusions from the whole history of a project, and states where it is too short for any.
//!
//! Questions and boundaries are fixed before anything is counted, and a plan whose summary does not say
//! counts on neither side. A difference is a lesson if both groups have at least five plans and it is
//! significant after correction for all comparisons of the run; the others claim nothing.

mod comparison;
mod files;

use std::collections::BTreeMap;
use std::fmt;

pub use comparison::{Comparison, ComparisonQuestion, Group};
pub use files::DeviatingFile;
pub(crate) use files::KnownPaths;
use serde::Serialize;

use crate::clock::{Minutes, TimeUnit};
use crate::patterns::citation::{known_milestone, short_milestone};
use crate::patterns::insights::comparison::{
    compare_durations, compare_rates, is_evidence, mark_significant,
};
use crate::patterns::trace::plan_id;
use crate::patterns::{FinishedPhase, PlanRecord, Rate, kinds};
use crate::plan::{PhaseNumber, PlanNumber};

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

/// The statistics of a project's history. It is the document of `annals patterns insights --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Insights {
    /// Number of phases that have plans with a summary.
    pub phases: usize,
    /// Number of plans that have a summary.
    pub plans: usize,
    /// The share of plans that deviated, among those whose summaries say.
    pub deviated: Rate,
    /// The share of plans that were completed, among those whose summaries say.
    pub completed: Rate,
    /// Total number of deviations stated in the summaries.
    pub deviations: u32,
    /// The plans by their number of tasks.
    pub by_tasks: Sizes,
    /// The plans by the number of files they touched.
    pub by_files: Sizes,
    /// All comparisons made, significant or not.
    pub comparisons: Vec<Comparison>,
    /// Comparisons that were not made for lack of data, with the reason.
    pub not_compared: Vec<String>,
    /// The files named in the deviations of several plans, most frequent first.
    pub deviating_files: Vec<DeviatingFile>,
    /// The milestones, in chronological order.
    pub milestones: Vec<MilestoneHistory>,
    /// The effort profiles, as far as they are known.
    pub efforts: Vec<EffortHistory>,
}

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

/// The plans of one effort profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EffortHistory {
    /// The profile.
    pub effort: String,
    /// The share of its plans that deviated, among those whose summaries say.
    pub deviated: Rate,
    /// The share of its plans that were completed, among those whose summaries say.
    pub completed: Rate,
    /// The median duration, where known.
    pub median_minutes: Option<Minutes>,
}

/// The deviations of a milestone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MilestoneHistory {
    /// Its slug.
    pub milestone: String,
    /// The share of its plans that deviated, among those whose summaries say.
    pub deviated: Rate,
    /// The kinds of deviations, most frequent first.
    pub kinds: Vec<KindCount>,
}

/// A kind of deviation and its frequency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KindCount {
    /// The kind, as the words that all its spellings begin with.
    pub kind: String,
    /// Number of deviations of this kind.
    pub count: u32,
}

/// Identifies a plan by milestone, phase and number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanRef {
    /// The milestone's slug.
    pub milestone: String,
    /// The phase's number.
    pub phase: PhaseNumber,
    /// The plan's number within its phase.
    pub plan: PlanNumber,
}

impl PlanRef {
    /// Returns a copy with the milestone's name shortened to fit in a line.
    pub fn short(&self) -> String {
        let milestone = short_milestone(&self.milestone).to_owned();
        Self { milestone, ..self.clone() }.to_string()
    }
}

/// Prints `3-01`, after the milestone's name unless it is the default one: `first-shelf 3-01`.
impl fmt::Display for PlanRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(milestone) = known_milestone(&self.milestone) {
            write!(f, "{milestone} ")?;
        }
        write!(f, "{}-{}", self.phase, plan_id(&self.plan))
    }
}

/// A measure of a plan's size.
type Measure = fn(&PlanRecord) -> Option<u32>;

/// A property of a plan; `None` if its summary does not say.
type Answer = fn(&PlanRecord) -> Option<bool>;

impl Insights {
    /// Computes the statistics of the phases of all milestones, in chronological order.
    pub fn from_phases(phases: &[FinishedPhase]) -> Self {
        // Quick tasks, which have no number, are not plans.
        let numbered: Vec<&FinishedPhase> =
            phases.iter().filter(|phase| phase.number.is_some()).collect();
        let plans: Vec<&PlanRecord> = numbered.iter().flat_map(|phase| &phase.plans).collect();
        let by_tasks = Sizes::group(&plans, PlanRecord::tasks, TASKS, LARGE_BY_TASKS);
        let by_files = Sizes::group(&plans, PlanRecord::file_count, FILES, LARGE_BY_FILES);
        let files = files::mentions(&numbered);
        let mut comparisons = sizes_compared(&plans, &by_tasks, &by_files);
        let of_files = files::compared(&plans, &files);
        let gap = of_files.is_empty().then(|| {
            "deviations by file (no file was touched by at least 5 plans and not touched by at least 5)".to_owned()
        });
        comparisons.extend(of_files);
        // Listed last, because everyone expects larger plans to take longer.
        let (large, small) = parted(&plans, PlanRecord::tasks, by_tasks.large_from);
        comparisons.push(compare_durations(
            ComparisonQuestion::DurationByTasks,
            (large_plans(by_tasks.large_from, "tasks"), minutes(&large)),
            ("smaller ones".to_owned(), minutes(&small)),
        ));
        mark_significant(&mut comparisons);
        Self {
            phases: phases.iter().filter(|phase| !phase.plans.is_empty()).count(),
            plans: plans.len(),
            deviated: rate(&plans, PlanRecord::deviated),
            completed: rate(&plans, PlanRecord::completed_as_stated),
            deviations: plans
                .iter()
                .filter_map(|plan| plan.summary.deviation_count)
                .fold(0, u32::saturating_add),
            by_tasks,
            by_files,
            comparisons,
            not_compared: gap.into_iter().collect(),
            deviating_files: files::named(&numbered, &files),
            milestones: milestones(&numbered),
            efforts: efforts(&plans),
        }
    }

    /// Returns the significant comparisons.
    pub fn lessons(&self) -> impl Iterator<Item = &Comparison> {
        self.comparisons.iter().filter(|one| one.is_lesson)
    }
}

impl Sizes {
    fn group(all: &[&PlanRecord], measure: Measure, starts: &[u32], limits: [u32; 2]) -> Self {
        let is_split = |from: &u32| {
            let (large, small) = parted(all, measure, *from);
            is_evidence(large.len(), small.len())
        };
        let ends = starts.iter().skip(1).map(|next| Some(next - 1)).chain([None]);
        let bucket = |(from, to): (&u32, Option<u32>)| {
            let fits = |size: u32| size >= *from && to.is_none_or(|to| size <= to);
            let inside: Vec<&PlanRecord> =
                all.iter().copied().filter(|plan| measure(plan).is_some_and(fits)).collect();
            let minutes = minutes(&inside);
            Bucket {
                from: *from,
                to,
                plans: inside.len(),
                deviated: rate(&inside, PlanRecord::deviated),
                completed: rate(&inside, PlanRecord::completed_as_stated),
                timed: minutes.len(),
                median_minutes: median(&minutes),
            }
        };
        Self {
            large_from: limits.into_iter().find(is_split).unwrap_or(limits[0]),
            unknown: all.iter().filter(|plan| measure(plan).is_none()).count(),
            buckets: starts.iter().zip(ends).map(bucket).collect(),
        }
    }
}

/// Compares large plans with small ones: how often they deviated, and how often they were completed.
fn sizes_compared(all: &[&PlanRecord], by_tasks: &Sizes, by_files: &Sizes) -> Vec<Comparison> {
    use ComparisonQuestion::{
        CompletionByFiles, CompletionByTasks, DeviationsByFiles, DeviationsByTasks,
    };

    let tasks = (by_tasks.large_from, "tasks", PlanRecord::tasks as Measure);
    let files = (by_files.large_from, "files", PlanRecord::file_count as Measure);
    let (deviated, completed): (Answer, Answer) =
        (PlanRecord::deviated, PlanRecord::completed_as_stated);
    let asked = [
        (DeviationsByTasks, tasks, deviated),
        (DeviationsByFiles, files, deviated),
        (CompletionByTasks, tasks, completed),
        (CompletionByFiles, files, completed),
    ];
    let compared = asked.into_iter().map(|(question, (from, unit, measure), answer)| {
        let (large, small) = parted(all, measure, from);
        let large = (large_plans(from, unit), rate(&large, answer));
        compare_rates(question, large, ("smaller ones".to_owned(), rate(&small, answer)))
    });
    compared.collect()
}

/// Returns the plans of at least a size, and the smaller ones; plans of unknown size are in neither.
fn parted<'a>(
    all: &[&'a PlanRecord],
    measure: Measure,
    from: u32,
) -> (Vec<&'a PlanRecord>, Vec<&'a PlanRecord>) {
    let known = all.iter().copied().filter(|plan| measure(plan).is_some());
    known.partition(|plan| measure(plan).is_some_and(|size| size >= from))
}

fn large_plans(from: u32, unit: &str) -> String {
    format!("plans with {from} or more {unit}")
}

/// Returns how many of the plans that say have a property.
fn rate(plans: &[&PlanRecord], answer: Answer) -> Rate {
    Rate::measure_known(plans.iter().map(|plan| answer(plan)))
}

fn minutes(plans: &[&PlanRecord]) -> Vec<f64> {
    plans.iter().filter_map(|plan| plan.minutes()).collect()
}

/// Returns the median of durations; `None` if there are none.
fn median(minutes: &[f64]) -> Option<Minutes> {
    let mut sorted = minutes.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = *sorted.get((sorted.len() - 1) / 2)?;
    Minutes::from_number(f64::midpoint(lower, upper), TimeUnit::Minutes)
}

/// Returns the history of each effort profile, sorted by name; plans of an unknown one are left out.
fn efforts(all: &[&PlanRecord]) -> Vec<EffortHistory> {
    let mut profiles: BTreeMap<&str, Vec<&PlanRecord>> = BTreeMap::new();
    for plan in all {
        if let Some(effort) = plan.effort.as_deref() {
            profiles.entry(effort).or_default().push(plan);
        }
    }
    let history = |(effort, plans): (&str, Vec<&PlanRecord>)| EffortHistory {
        effort: effort.to_owned(),
        deviated: rate(&plans, PlanRecord::deviated),
        completed: rate(&plans, PlanRecord::completed_as_stated),
        median_minutes: median(&minutes(&plans)),
    };
    profiles.into_iter().map(history).collect()
}

/// Returns the milestones, in the order of their phases, which are next to each other.
fn milestones(phases: &[&FinishedPhase]) -> Vec<MilestoneHistory> {
    let with_plans: Vec<&&FinishedPhase> =
        phases.iter().filter(|phase| !phase.plans.is_empty()).collect();
    let groups = with_plans.chunk_by(|one, next| one.milestone == next.milestone);
    let history = groups.map(|group| {
        let plans: Vec<&PlanRecord> = group.iter().flat_map(|phase| &phase.plans).collect();
        let counted = kinds::counted(plans.iter().copied()).into_iter();
        MilestoneHistory {
            milestone: group[0].milestone.clone(),
            deviated: rate(&plans, PlanRecord::deviated),
            kinds: counted.map(|(kind, count)| KindCount { kind, count }).collect(),
        }
    });
    history.collect()
}

#[cfg(test)]
mod tests;
