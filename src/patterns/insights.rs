//! Draws conclusions from the whole history of a project, and states where it is too short for any.
//!
//! Questions and boundaries are fixed before anything is counted, and a plan whose summary does not say
//! counts on neither side. A difference is a lesson if both groups have at least five plans and it is
//! significant after correction for all comparisons of the run; the others claim nothing.

use std::fmt;

use serde::Serialize;

use crate::clock::{Minutes, TimeUnit};
use crate::patterns::trace::{known_milestone, plan_id};
use crate::patterns::{FinishedPhase, PlanRecord};
use crate::plan::{PhaseNumber, PlanNumber};
use crate::search::to_f64;
use crate::text::{capitalized, word_enum};

/// Minimum number of plans in each compared group; smaller groups are not compared, since a comparison would only add a
/// test.
const MIN_PLANS: usize = 5;

/// Accepted share of chance findings among the differences reported (the false discovery rate).
const FALSE_DISCOVERIES: f64 = 0.1;

/// A measure of a plan's size.
struct Size {
    unit: &'static str,
    of: fn(&PlanRecord) -> Option<u32>,
    /// Minimum sizes of a large plan, in order of preference; the next is tried if one group has too few plans.
    ///
    /// The limits stated by planning tools come first. The choice depends on the sizes alone, never on the
    /// outcomes of plans: the best of many splits would show a difference in noise.
    large: [u32; 2],
}

const TASKS: Size = Size { unit: "tasks", of: PlanRecord::tasks, large: [5, 3] };

const FILES: Size = Size { unit: "files", of: PlanRecord::file_count, large: [6, 3] };

/// The statistics of a project's history. It is the document of `annals patterns insights --json`.
#[derive(Debug, Serialize)]
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
    /// Minimum number of tasks of a large plan.
    pub large_tasks: u32,
    /// Minimum number of files of a large plan.
    pub large_files: u32,
    /// All comparisons made, significant or not.
    pub comparisons: Vec<Comparison>,
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
    /// Returns the reference to a plan of a phase; a quick task has none.
    pub(crate) fn new(phase: &FinishedPhase, plan: &PlanRecord) -> Option<Self> {
        let (milestone, plan) = (phase.milestone.clone(), plan.plan.clone());
        Some(Self { milestone, phase: phase.number.clone()?, plan })
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

word_enum! {
    /// The question that a comparison answers.
    pub enum ComparisonQuestion {
        /// Do larger plans deviate more often, by tasks?
        DeviationsByTasks = "deviations-by-tasks",
        /// Do larger plans deviate more often, by files?
        DeviationsByFiles = "deviations-by-files",
        /// Are larger plans completed as often, by tasks?
        CompletionByTasks = "completion-by-tasks",
        /// Do larger plans take longer, by tasks?
        DurationByTasks = "duration-by-tasks",
    }
}

impl ComparisonQuestion {
    /// Returns whether it is about how often plans deviated; the others are about what was completed, and how fast.
    pub(crate) fn is_about_deviations(self) -> bool {
        self.as_str().starts_with("deviations")
    }
}

/// One of two compared groups.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// The property that its plans share: `plans with 5 or more tasks`.
    pub name: String,
    /// Number of its plans for which the answer is known.
    pub plans: usize,
    /// The share of them that has the property in question, for a comparison of rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
}

/// A comparison of two groups.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The question that it answers.
    pub question: ComparisonQuestion,
    /// The group that the question is about.
    pub group: Group,
    /// The group that it is compared with.
    pub other: Group,
    /// The p-value: the probability of a difference at least this large by chance, from 0 to 1.
    pub p: f64,
    /// Whether both groups are large enough to compare.
    pub is_evidence: bool,
    /// Whether the difference is significant after correction for all comparisons of the run.
    pub is_lesson: bool,
    /// The difference in words: `Plans with 5 or more tasks deviated in 7 of 8, smaller ones in 3 of 15`.
    pub statement: String,
}

/// A group of plans with its name.
type Named<'a, 'b> = (String, &'b [&'a PlanRecord]);

/// Whether a plan has a property; `None` if its summary does not say.
type Answer = fn(&PlanRecord) -> Option<bool>;

impl Comparison {
    /// Compares how often plans deviated or were completed, by Fisher's exact test, or how long they took, by that of
    /// Mann and Whitney.
    fn new(question: ComparisonQuestion, group: Named<'_, '_>, other: Named<'_, '_>) -> Self {
        let (verb, answer): (&str, Option<Answer>) = match question {
            ComparisonQuestion::DurationByTasks => ("took", None),
            _ if question.is_about_deviations() => ("deviated", Some(PlanRecord::deviated)),
            _ => ("were completed", Some(PlanRecord::completed_as_stated)),
        };
        let of = |(name, all): Named<'_, '_>| {
            let times = minutes(all);
            let rate = answer.map(|answer| rate(all, answer));
            let (plans, figure) = match rate {
                Some(Rate { count, of }) => (of, format!("in {count} of {of}")),
                None => (
                    times.len(),
                    median(&times).map_or("unknown".to_owned(), |middle| middle.to_string()),
                ),
            };
            (Group { name, plans, rate }, figure, times)
        };
        let ((group, figure, times), (other, other_figure, other_times)) = (of(group), of(other));
        let (p, note) = match (group.rate, other.rate) {
            (Some(one), Some(other)) => (fisher_exact(one, other), String::new()),
            _ => (
                mann_whitney(&times, &other_times),
                format!(" (medians over {} and {} plans)", group.plans, other.plans),
            ),
        };
        let statement =
            format!("{} {verb} {figure}, {} {other_figure}{note}", group.name, other.name);
        Self {
            question,
            p,
            is_evidence: is_evidence(group.plans, other.plans),
            group,
            other,
            is_lesson: false,
            statement: capitalized(&statement),
        }
    }
}

impl Insights {
    /// Computes the statistics of the phases of all milestones, in chronological order.
    pub fn from_phases(phases: &[FinishedPhase]) -> Self {
        use ComparisonQuestion::{
            CompletionByTasks, DeviationsByFiles, DeviationsByTasks, DurationByTasks,
        };

        // Quick tasks, which have no number, are not plans.
        let numbered = phases.iter().filter(|phase| phase.number.is_some());
        let plans: Vec<&PlanRecord> = numbered.flat_map(|phase| &phase.plans).collect();
        let (large_tasks, large_files) = (TASKS.large_from(&plans), FILES.large_from(&plans));
        // Compares the plans of at least a size with the smaller ones.
        let sized = |question, size: &Size, from| {
            let (large, small) = size.parted(&plans, from);
            let name = format!("plans with {from} or more {}", size.unit);
            Comparison::new(question, (name, &large), ("smaller ones".to_owned(), &small))
        };
        let mut comparisons = vec![
            sized(DeviationsByTasks, &TASKS, large_tasks),
            sized(DeviationsByFiles, &FILES, large_files),
            sized(CompletionByTasks, &TASKS, large_tasks),
            // Listed last, because everyone expects larger plans to take longer.
            sized(DurationByTasks, &TASKS, large_tasks),
        ];
        mark_significant(&mut comparisons);
        let deviations = plans.iter().filter_map(|plan| plan.summary.deviation_count);
        Self {
            phases: phases.iter().filter(|phase| !phase.plans.is_empty()).count(),
            plans: plans.len(),
            deviated: rate(&plans, PlanRecord::deviated),
            completed: rate(&plans, PlanRecord::completed_as_stated),
            deviations: deviations.fold(0, u32::saturating_add),
            large_tasks,
            large_files,
            comparisons,
        }
    }

    /// Returns the significant comparisons.
    pub fn lessons(&self) -> impl Iterator<Item = &Comparison> {
        self.comparisons.iter().filter(|one| one.is_lesson)
    }
}

impl Size {
    /// Returns the plans of at least a size, and the smaller ones; plans of unknown size are in neither.
    fn parted<'a>(
        &self,
        all: &[&'a PlanRecord],
        from: u32,
    ) -> (Vec<&'a PlanRecord>, Vec<&'a PlanRecord>) {
        let known = all.iter().copied().filter(|plan| (self.of)(plan).is_some());
        known.partition(|plan| (self.of)(plan) >= Some(from))
    }

    /// Returns the minimum size of a large plan: the first with enough plans in both groups.
    fn large_from(&self, all: &[&PlanRecord]) -> u32 {
        let is_split = |from: &u32| {
            let (large, small) = self.parted(all, *from);
            is_evidence(large.len(), small.len())
        };
        self.large.into_iter().find(is_split).unwrap_or(self.large[0])
    }
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

/// Marks the significant differences: Benjamini-Hochberg over all comparisons of a run.
///
/// Comparisons with a group that is too small are not tested and not counted.
fn mark_significant(comparisons: &mut [Comparison]) {
    let tested = comparisons.iter().filter(|one| one.is_evidence);
    let mut p_values: Vec<f64> = tested.map(|one| one.p).collect();
    p_values.sort_by(f64::total_cmp);
    let all = to_f64(p_values.len());
    let within = |(rank, p): &(usize, &f64)| **p <= to_f64(rank + 1) / all * FALSE_DISCOVERIES;
    let Some((_, limit)) = p_values.iter().enumerate().rfind(within) else { return };
    for one in comparisons.iter_mut() {
        one.is_lesson = one.is_evidence && one.p <= *limit;
    }
}

/// Returns whether both groups are large enough to compare.
fn is_evidence(one: usize, other: usize) -> bool {
    one.min(other) >= MIN_PLANS
}

/// Tolerance for rounding when comparing the probabilities of equally likely tables.
const ROUNDING: f64 = 1e-7;

/// How many members of a group have a property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rate {
    /// Number of members with the property.
    pub count: usize,
    /// The size of the group; never less than `count`.
    pub of: usize,
}

impl Rate {
    /// Returns the number of known values that are true; unknown ones count on neither side.
    pub fn measure_known(all: impl IntoIterator<Item = Option<bool>>) -> Self {
        let mut rate = Self::default();
        for is_true in all.into_iter().flatten() {
            rate.of += 1;
            rate.count += usize::from(is_true);
        }
        rate
    }

    /// Returns the share, in whole percent; `None` for an empty group.
    pub fn percent(self) -> Option<usize> {
        (self.count * 100 + self.of / 2).checked_div(self.of)
    }
}

/// Returns the p-value of Fisher's exact test, two-sided: the probability that two rates differ by chance at least as much
/// as these.
///
/// It is the sum over all tables with the same margins that are at most as likely as this one.
pub fn fisher_exact(one: Rate, other: Rate) -> f64 {
    let within = |rate: Rate| Rate { count: rate.count.min(rate.of), of: rate.of };
    let (one, other) = (within(one), within(other));
    let all = one.of + other.of;
    let hits = one.count + other.count;
    // The logarithm of a factorial.
    let ln = |number: usize| libm::lgamma(to_f64(number) + 1.0);
    let choices = |of: usize, chosen: usize| ln(of) - ln(chosen) - ln(of - chosen);
    let probability = |count: usize| {
        let logarithm = choices(one.of, count) + choices(other.of, hits - count);
        (logarithm - choices(all, hits)).exp()
    };
    let observed = probability(one.count);
    let least = hits.saturating_sub(other.of);
    let sum: f64 = (least..=hits.min(one.of))
        .map(probability)
        .filter(|probability| *probability <= observed * (1.0 + ROUNDING))
        .sum();
    sum.min(1.0)
}

/// Returns the p-value of the Mann-Whitney U test, two-sided: the probability that two samples differ by chance at least as
/// much as these; 1 if one is empty.
///
/// It uses the normal approximation, for which five values each are enough, with corrections for ties and continuity.
pub fn mann_whitney(one: &[f64], other: &[f64]) -> f64 {
    let (first, second) = (one.len(), other.len());
    let (product, all) = (to_f64(first * second), to_f64(first + second));
    let of_first = one.iter().map(|value| (*value, true));
    let mut row: Vec<(f64, bool)> =
        of_first.chain(other.iter().map(|value| (*value, false))).collect();
    row.sort_by(|a, b| a.0.total_cmp(&b.0));
    // The sum of the ranks of the first group, from 1; tied values share their mean rank. The sum of t³ - t over all groups
    // of t tied values.
    let (mut sum_of_first, mut ties, mut before) = (0.0, 0.0, 0);
    for tied in row.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let length = to_f64(tied.len());
        let place = to_f64(before) + f64::midpoint(length, 1.0);
        let of_first = tied.iter().filter(|(_, is_first)| *is_first).count();
        sum_of_first += place * to_f64(of_first);
        ties += length.powi(3) - length;
        before += tied.len();
    }
    let variance = product / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    // An empty group, or none but equal values.
    if variance.is_nan() || variance <= 0.0 {
        return 1.0;
    }
    let u = sum_of_first - to_f64(first * (first + 1)) / 2.0;
    let distance = (u.max(product - u) - product / 2.0 - 0.5) / variance.sqrt();
    libm::erfc(distance / std::f64::consts::SQRT_2).min(1.0)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::patterns::PlanRecord;
    use crate::plan::{Deviation, PhaseNumber, PlanNumber, Summary};

    /// The properties of a plan in these tests.
    #[derive(Clone, Debug, Default)]
    struct Made {
        tasks: Option<u32>,
        files: Vec<String>,
        minutes: Option<u32>,
        deviations: Vec<Deviation>,
        is_partial: bool,
        is_silent: bool,
    }

    impl Made {
        fn sized(tasks: u32) -> Self {
            Self { tasks: Some(tasks), ..Self::default() }
        }

        fn deviating(mut self, text: &str, kind: Option<&str>) -> Self {
            self.deviations.push(Deviation {
                text: text.to_owned(),
                kind: kind.map(str::to_owned),
                ..Deviation::default()
            });
            self
        }

        fn record(self, number: u32) -> PlanRecord {
            let status = if self.is_partial { "partial" } else { "complete" };
            let duration = self.minutes.map(|minutes| format!("duration: {minutes}min\n"));
            let text = format!("---\nstatus: {status}\n{}---\n", duration.unwrap_or_default());
            let path = Path::new("01-01-SUMMARY.md");
            let summary = Summary::parse(&text, path).value;
            let mut record =
                PlanRecord::new(PlanNumber::from(number), path.to_owned(), summary, &text);
            record.summary.tasks.total = self.tasks;
            record.summary.files = Some(self.files);
            record.summary.deviation_count =
                (!self.is_silent).then(|| u32::try_from(self.deviations.len()).unwrap());
            record.summary.deviations = Some(self.deviations);
            record
        }
    }

    /// Returns a phase with these plans.
    fn phase(milestone: &str, plans: Vec<Made>) -> FinishedPhase {
        let numbered = plans.into_iter().zip(1..);
        FinishedPhase {
            number: Some(PhaseNumber::from(1)),
            name: "Phase".to_owned(),
            dir: "phases/01-phase".into(),
            dir_name: "01-phase".to_owned(),
            milestone: milestone.to_owned(),
            plans: numbered.map(|(plan, number)| plan.record(number)).collect(),
            slots: Vec::new(),
            is_complete: true,
            digest: String::new(),
        }
    }

    fn insights_from(plans: Vec<Made>) -> Insights {
        Insights::from_phases(&[phase("default", plans)])
    }

    /// Returns `large` plans of five tasks and `small` ones of two, each as the number deviating and the total.
    fn sizes(large: [usize; 2], small: [usize; 2]) -> Vec<Made> {
        let group = |tasks: u32, [deviating, all]: [usize; 2]| {
            (0..all).map(move |at| {
                let plan = Made::sized(tasks);
                if at < deviating { plan.deviating("x", None) } else { plan }
            })
        };
        group(5, large).chain(group(2, small)).collect()
    }

    fn statements(insights: &Insights) -> Vec<&str> {
        let lessons = insights.lessons();
        lessons.map(|lesson| lesson.statement.as_str()).collect()
    }

    /// Returns the comparison of deviations by the number of tasks.
    fn deviations_by_tasks(insights: &Insights) -> &Comparison {
        let is_wanted = |one: &&Comparison| one.question == ComparisonQuestion::DeviationsByTasks;
        insights.comparisons.iter().find(is_wanted).unwrap()
    }

    #[test]
    fn a_lesson_says_its_figures() {
        let insights = insights_from(sizes([7, 8], [3, 15]));
        let by_tasks = deviations_by_tasks(&insights);
        assert_eq!(
            by_tasks.statement,
            "Plans with 5 or more tasks deviated in 7 of 8, smaller ones in 3 of 15"
        );
        assert_eq!(format!("{:.3}", by_tasks.p), "0.006");
        assert!(statements(&insights).contains(&by_tasks.statement.as_str()));
    }

    #[test]
    fn four_plans_teach_nothing_whatever_they_show() {
        // p is 0.0002 here, and 0.00006 with five plans.
        let few = insights_from(sizes([4, 4], [0, 17]));
        let by_tasks = deviations_by_tasks(&few);
        assert!(by_tasks.p < 0.001 && !by_tasks.is_lesson && !by_tasks.is_evidence);
        let enough = insights_from(sizes([5, 5], [0, 17]));
        let by_tasks = deviations_by_tasks(&enough);
        assert!(by_tasks.is_lesson);
    }

    #[test]
    fn silence_counts_on_neither_side() {
        let mut plans = sizes([7, 8], [3, 15]);
        let silent = Made { is_silent: true, ..Made::sized(2) };
        plans.extend(std::iter::repeat_n(silent, 40));
        let insights = insights_from(plans);
        assert_eq!(insights.deviated, Rate { count: 10, of: 23 });
        assert_eq!((insights.plans, insights.deviated.of), (63, 23));
        assert_eq!(
            statements(&insights)[0],
            "Plans with 5 or more tasks deviated in 7 of 8, smaller ones in 3 of 15"
        );
    }

    #[test]
    fn the_boundary_depends_on_sizes_alone() {
        let sized = |sizes: &[u32]| {
            let plans = sizes.iter().map(|tasks| Made::sized(*tasks)).collect();
            insights_from(plans).large_tasks
        };
        assert_eq!(sized(&[5, 5, 5, 5, 5, 1, 1, 1, 1, 1]), 5);
        // Four on one side: the next boundary is used if it has five on both.
        assert_eq!(sized(&[5, 5, 5, 5, 3, 1, 1, 1, 1, 1]), 3);
        assert_eq!(sized(&[5, 5, 5, 5, 2, 1, 1, 1, 1, 1]), 5);
        assert_eq!(sized(&[]), 5);
    }

    #[test]
    fn what_is_not_known_does_not_count() {
        let mut plans = sizes([1, 6], [1, 6]);
        plans.push(Made::default().deviating("x", None));
        plans.push(Made::sized(0));
        let by_tasks = deviations_by_tasks(&insights_from(plans)).clone();
        assert_eq!(by_tasks.group.plans + by_tasks.other.plans, 12);
        // An unfinished plan's completed tasks are not its size, and its time is not its duration.
        let mut record = Made::sized(3).record(1);
        record.summary.tasks.total = None;
        record.summary.tasks.completed = Some(3);
        assert_eq!(record.tasks(), Some(3));
        record.summary.status = Some(crate::plan::PlanState::Partial);
        assert_eq!(record.tasks(), None);
    }

    prop_compose! {
        fn made()(
            tasks in proptest::option::of(0..9_u32),
            files in proptest::collection::vec("(src/)?[a-c]{1,2}\\.rs|[./`]{0,3}|é", 0..12),
            minutes in proptest::option::of(0..90_u32),
            deviations in proptest::collection::vec(("`?[a-c./]{0,5}`?", proptest::option::of("minor|bug|[`*]|")), 0..3),
            is_partial in proptest::bool::weighted(0.2),
            is_silent in proptest::bool::weighted(0.3),
        ) -> Made {
            let deviations = deviations
                .into_iter()
                .map(|(text, kind)| Deviation { text, kind, ..Deviation::default() })
                .collect();
            Made { tasks, files, minutes, deviations, is_partial, is_silent }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn no_history_panics_and_no_small_group_teaches(
            first in proptest::collection::vec(made(), 0..30),
            second in proptest::collection::vec(made(), 0..30),
        ) {
            let all = first.len() + second.len();
            let insights = Insights::from_phases(&[phase("one", first), phase("default", second)]);
            prop_assert_eq!(insights.plans, all);
            prop_assert!(insights.deviated.of <= all);
            for one in &insights.comparisons {
                prop_assert!((0.0..=1.0).contains(&one.p), "{:?}", one);
                let is_small = one.group.plans.min(one.other.plans) < 5;
                prop_assert!(!(one.is_lesson && (is_small || one.p >= 0.1)), "{:?}", one);
                prop_assert!(one.group.plans + one.other.plans <= all);
            }
        }
    }
}

#[cfg(test)]
mod statistics_tests {
    use std::fmt::Write as _;
    use std::io::Write as _;
    use std::process::Stdio;

    use crate::patterns::insights::*;

    fn rate(count: usize, misses: usize) -> Rate {
        Rate { count, of: count + misses }
    }

    fn close(actual: f64, expected: f64) {
        let tolerance = 1e-6 * expected.max(1e-3);
        assert!((actual - expected).abs() <= tolerance, "{actual}, not {expected}");
    }

    /// R. A. Fisher, The Design of Experiments, 1935: the lady tasting tea; and Statistical Methods for Research
    /// Workers: the twin brothers of thirty criminals, two-sided 0.000537.
    #[test]
    fn fishers_own_tables() {
        close(fisher_exact(rate(3, 1), rate(1, 3)), 34.0 / 70.0);
        close(fisher_exact(rate(4, 0), rate(0, 4)), 2.0 / 70.0);
        close(fisher_exact(rate(2, 15), rate(10, 3)), 0.000_536_724_119);
    }

    #[test]
    fn equal_and_empty_groups_show_nothing() {
        close(fisher_exact(rate(5, 5), rate(5, 5)), 1.0);
        close(fisher_exact(rate(0, 7), rate(0, 9)), 1.0);
        close(fisher_exact(rate(0, 0), rate(3, 9)), 1.0);
        close(mann_whitney(&[], &[1.0]), 1.0);
        close(mann_whitney(&[4.0; 6], &[4.0; 9]), 1.0);
    }

    #[test]
    fn a_rate_is_counted_and_rounded() {
        assert_eq!(rate(1, 7).percent(), Some(13));
        assert_eq!(rate(0, 0).percent(), None);
        assert_eq!(Rate::measure_known([Some(false), None, Some(true), Some(true)]), rate(2, 1));
    }

    /// A small random number generator, so that every run uses the same tables.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, limit: u64) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from((self.0 >> 33) % limit).unwrap()
        }
    }

    /// Compares the results for random groups with scipy, an independent implementation.
    #[test]
    fn scipy_says_the_same() {
        let mut numbers = Numbers(7);
        let (mut script, mut ours) = (String::from(HEAD), Vec::new());
        for _ in 0..100 {
            let [a, b, c, d] = [25, 25, 40, 12].map(|limit| numbers.below(limit));
            writeln!(script, "print(fisher_exact([[{a},{b}],[{c},{d}]])[1])").unwrap();
            ours.push(fisher_exact(rate(a, b), rate(c, d)));
        }
        for round in 0..80 {
            let distinct = round % 2 == 0;
            let mut group = |longest: u64, shift: usize| -> Vec<f64> {
                let length = numbers.below(longest) + 1;
                let values = (0..length).map(|_| {
                    let value = numbers.below(if distinct { 1 << 30 } else { 12 }) + shift;
                    f64::from(u32::try_from(value).unwrap())
                });
                values.collect()
            };
            let (one, other) = (group(14, 0), group(300, round % 4));
            writeln!(script, "print(mannwhitneyu({one:?},{other:?},method='asymptotic')[1])")
                .unwrap();
            ours.push(mann_whitney(&one, &other));
        }
        let Some(theirs) = python(&script) else {
            return;
        };
        assert_eq!(theirs.len(), ours.len());
        for (ours, theirs) in ours.iter().zip(theirs) {
            // If all values are equal, scipy divides by zero.
            close(*ours, if theirs.is_nan() { 1.0 } else { theirs });
        }
    }

    const HEAD: &str = "import warnings\nwarnings.simplefilter('ignore')\n\
    from scipy.stats import fisher_exact, mannwhitneyu\n";

    /// Returns the output of a Python script that uses scipy, or prints why it cannot be run.
    #[expect(clippy::disallowed_methods, reason = "the test runs a reference tool")]
    fn python(script: &str) -> Option<Vec<f64>> {
        let program = std::env::var("ANNALS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let has_scipy = std::process::Command::new(&program)
            .args(["-c", "import scipy"])
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if !has_scipy {
            let required = std::env::var("ANNALS_REQUIRE").unwrap_or_default();
            assert!(!required.split(',').any(|name| name == "scipy"), "no scipy");
            let skipped = format!(
                "SKIPPED: {program} has no scipy, the statistics are not compared with it\n"
            );
            // A print macro is not used, because the test runner captures its output.
            std::io::stderr().write_all(skipped.as_bytes()).unwrap();
            return None;
        }
        let mut child = std::process::Command::new(&program)
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let lines = String::from_utf8(output.stdout).unwrap();
        Some(lines.lines().map(|line| line.parse().unwrap()).collect())
    }
}
