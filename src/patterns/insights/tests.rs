mod statistics;

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
            PlanRecord::new(PlanNumber::from(number), "01-01-SUMMARY.md", summary, &text);
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
    record.summary.status = Some(crate::plan::SummaryStatus::Partial);
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
    #![proptest_config(ProptestConfig::with_cases(64))]
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
