//! Groups and compares plans by size, by effort and over time.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::clock::Minutes;
use crate::patterns::insights::comparison::{
    Comparison, ComparisonQuestion, ComparisonSpec, MIN_PLANS, is_evidence,
};
use crate::patterns::insights::{Answer, Compared, Member, median, minutes, rate};
use crate::patterns::{PlanRecord, Rate, kinds};
use crate::text::{Line, sanitized};

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
type Measure = fn(&PlanRecord) -> Option<u32>;

impl Sizes {
    pub(super) fn by_tasks(all: &[&PlanRecord]) -> Self {
        Self::group(all, PlanRecord::tasks, TASKS, LARGE_BY_TASKS)
    }

    pub(super) fn by_files(all: &[&PlanRecord]) -> Self {
        Self::group(all, PlanRecord::file_count, FILES, LARGE_BY_FILES)
    }

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

/// Returns the plans of at least a size, and the smaller ones; plans of unknown size are in neither.
fn parted<'a>(
    all: &[&'a PlanRecord],
    measure: Measure,
    from: u32,
) -> (Vec<&'a PlanRecord>, Vec<&'a PlanRecord>) {
    let known = all.iter().copied().filter(|plan| measure(plan).is_some());
    known.partition(|plan| measure(plan).is_some_and(|size| size >= from))
}

/// Compares large plans with small ones: how often they deviated, and how often they were completed.
pub(super) fn sizes_compared(
    all: &[&PlanRecord],
    by_tasks: &Sizes,
    by_files: &Sizes,
) -> Vec<Comparison> {
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
        question.spec().compare_rates(
            (large_plans(from, unit), rate(&large, answer)),
            ("smaller ones".to_owned(), rate(&small, answer)),
        )
    });
    compared.collect()
}

/// Compares the durations of large and small plans.
pub(super) fn durations_compared(all: &[&PlanRecord], by_tasks: &Sizes) -> Comparison {
    let (large, small) = parted(all, PlanRecord::tasks, by_tasks.large_from);
    ComparisonQuestion::DurationByTasks.spec().compare_durations(
        (large_plans(by_tasks.large_from, "tasks"), minutes(&large)),
        ("smaller ones".to_owned(), minutes(&small)),
    )
}

fn large_plans(from: u32, unit: &str) -> String {
    format!("plans with {from} or more {unit}")
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

/// Returns the plans by profile; plans of an unknown profile are left out.
fn profiles<'a>(all: &[&'a PlanRecord]) -> BTreeMap<&'a str, Vec<&'a PlanRecord>> {
    let mut profiles: BTreeMap<&str, Vec<&PlanRecord>> = BTreeMap::new();
    for plan in all {
        if let Some(effort) = plan.effort.as_deref() {
            profiles.entry(effort).or_default().push(plan);
        }
    }
    profiles
}

/// Returns the history of each profile, sorted by name.
pub(super) fn efforts(all: &[&PlanRecord]) -> Vec<EffortHistory> {
    let history = |(effort, plans): (&str, Vec<&PlanRecord>)| EffortHistory {
        effort: effort.to_owned(),
        deviated: rate(&plans, PlanRecord::deviated),
        completed: rate(&plans, PlanRecord::completed_as_stated),
        median_minutes: median(&minutes(&plans)),
    };
    profiles(all).into_iter().map(history).collect()
}

/// Compares each profile with all others; if there are only two, once.
pub(super) fn efforts_compared(all: &[&PlanRecord]) -> Compared {
    let profiles = profiles(all);
    let mut names = profiles.keys();
    let tests = match (names.next(), names.next(), names.next()) {
        (Some(_), Some(_), Some(_)) => profiles.len(),
        (Some(_), Some(_), None) => 1,
        (first, ..) => {
            let known: usize = profiles.values().map(Vec::len).sum();
            let which = first.map_or("none known".to_owned(), |one| format!("all of them {one}"));
            let gap = Some(format!("effort profiles (n={known}; {which})"));
            return Compared { comparisons: Vec::new(), gap };
        }
    };
    let mut comparisons = Vec::new();
    for (effort, own) in profiles.iter().take(tests) {
        let others = profiles.iter().filter(|(other, _)| *other != effort);
        let against = match others.clone().next() {
            Some((other, _)) if tests == 1 => format!("those of {other} effort"),
            _ => "those of other efforts".to_owned(),
        };
        let others: Vec<&PlanRecord> =
            others.flat_map(|(_, plans)| plans.iter().copied()).collect();
        let name = format!("plans of {effort} effort");
        comparisons.push(ComparisonQuestion::DeviationsByEffort.spec().compare_rates(
            (name.clone(), rate(own, PlanRecord::deviated)),
            (against.clone(), rate(&others, PlanRecord::deviated)),
        ));
        comparisons.push(
            ComparisonQuestion::DurationByEffort
                .spec()
                .compare_durations((name, minutes(own)), (against, minutes(&others))),
        );
    }
    Compared { comparisons, gap: None }
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

/// Returns the milestones, in the order of their plans, which are next to each other.
pub(super) fn milestones(all: &[Member<'_>]) -> Vec<MilestoneHistory> {
    let groups = all.chunk_by(|one, next| one.milestone == next.milestone);
    let history = |group: &[Member<'_>]| {
        let plans: Vec<&PlanRecord> = group.iter().map(|member| member.plan).collect();
        let counted = kinds::counted(plans.iter().copied()).into_iter();
        MilestoneHistory {
            milestone: group[0].milestone.to_owned(),
            deviated: rate(&plans, PlanRecord::deviated),
            kinds: counted.map(|(kind, count)| KindCount { kind, count }).collect(),
        }
    };
    groups.map(history).collect()
}

/// Compares the first half of the plans with the second: how often they deviated, and by which kinds.
pub(super) fn halves_compared(all: &[&PlanRecord]) -> Compared {
    let compare = |asked: ComparisonSpec<'_>, answer: &dyn Fn(&PlanRecord) -> Option<bool>| {
        let known: Vec<bool> = all.iter().filter_map(|plan| answer(plan)).collect();
        let (first, last) = known.split_at(known.len() / 2);
        let rate = |half: &[bool]| Rate::measure(half, |is_true| *is_true);
        asked.over_time(rate(first), rate(last))
    };
    let mut comparisons =
        vec![compare(ComparisonQuestion::DeviationsOverTime.spec(), &PlanRecord::deviated)];
    for (kind, _) in kinds::counted(all.iter().copied()) {
        if all.iter().filter(|plan| has_kind(plan, &kind)).count() < MIN_PLANS {
            continue;
        }
        let shown = Line::new(&sanitized(&kind)).clipped(40);
        let asked = ComparisonSpec {
            verb: &format!("had `{shown}` deviations"),
            subject: &format!("`{shown}` deviations over time"),
            ..ComparisonQuestion::KindOverTime.spec()
        };
        comparisons.push(compare(asked, &|plan| had_kind(plan, &kind)));
    }
    let gap = (comparisons.len() == 1).then(|| {
        format!(
            "kinds of deviations over time (n={}; no kind was named by {MIN_PLANS} plans)",
            all.iter().filter(|plan| plan.deviated().is_some()).count()
        )
    });
    Compared { comparisons, gap }
}

/// Returns whether a plan had deviations of a kind; `None` if unknown, as some kinds are not stated.
fn had_kind(plan: &PlanRecord, kind: &str) -> Option<bool> {
    if has_kind(plan, kind) {
        return Some(true);
    }
    let named = plan.deviations().iter().filter(|one| one.kind.is_some());
    let count = usize::try_from(plan.summary.deviation_count?).ok()?;
    (named.count() >= count).then_some(false)
}

fn has_kind(plan: &PlanRecord, kind: &str) -> bool {
    let named = plan.deviations().iter().filter_map(|one| one.kind.as_deref());
    named.map(kinds::plain).any(|own| kinds::is_same(&own, kind))
}
