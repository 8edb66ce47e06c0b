use std::path::PathBuf;

use super::*;
use crate::patterns::PlanRef;
use crate::patterns::Rate;
use crate::planning::PhaseNumber;
use crate::planning::PlanNumber;
use crate::planning::PlanTask;

fn plan(tasks: usize, files: &[&str]) -> Plan {
    Plan {
        tasks: vec![PlanTask::default(); tasks],
        files_modified: Some(files.iter().map(|file| (*file).to_owned()).collect()),
        file: PathBuf::from("phases/04-x/04-03-PLAN.md"),
        ..Plan::default()
    }
}

fn group(name: &str, count: usize, of: usize) -> Group {
    Group {
        name: name.to_owned(),
        plans: of,
        rate: Some(Rate { count, of }),
        median_minutes: None,
    }
}

/// A history whose plans of 5 tasks and more deviated in `large`, others in `small`.
fn history(large: [usize; 2], small: [usize; 2], is_lesson: bool) -> Insights {
    let mut insights = Insights {
        deviated: Rate {
            count: large[0] + small[0],
            of: large[1] + small[1],
        },
        ..Insights::default()
    };
    insights.by_tasks.large_from = 5;
    insights.by_files.large_from = 6;
    insights.comparisons.push(Comparison {
        question: Question::DeviationsByTasks,
        file: None,
        group: group("plans with 5 or more tasks", large[0], large[1]),
        other: group("smaller ones", small[0], small[1]),
        p: 0.5,
        tests: 1,
        is_lesson,
        text: "Plans with 5 or more tasks deviated more".to_owned(),
    });
    insights
}

fn named(file: &str) -> DeviatingFile {
    let of = |plan: u32| PlanRef {
        milestone: "default".to_owned(),
        phase: PhaseNumber::from(2),
        plan: PlanNumber::from(plan),
    };
    DeviatingFile {
        file: file.to_owned(),
        named_in: vec![of(1), of(3)],
        deviated: Rate { count: 2, of: 3 },
    }
}

fn judged(plan: Plan, history: &Insights) -> (RiskLevel, Vec<String>) {
    let risk = risk(&[plan], history).remove(0);
    assert_eq!(risk.plan, "04-03-PLAN.md");
    (risk.level, risk.reasons)
}

#[test]
fn without_history_nothing_is_said() {
    let (level, reasons) = judged(plan(9, &["a.rs"]), &Insights::default());
    assert_eq!(level, RiskLevel::Unknown);
    assert_eq!(reasons, ["no finished plan to compare it with"]);
    let (level, reasons) = judged(plan(9, &["a.rs"]), &history([4, 4], [0, 0], false));
    assert_eq!(level, RiskLevel::Unknown);
    assert_eq!(
        reasons,
        [
            "only 4 finished plans to compare it with",
            "9 tasks: plans with 5 or more tasks deviated in 4 of 4"
        ]
    );
    let (level, reasons) = judged(plan(0, &[]), &history([7, 8], [3, 15], true));
    assert_eq!(level, RiskLevel::Unknown);
    assert_eq!(reasons, ["the plan lists neither tasks nor files"]);
}

#[test]
fn a_plan_is_held_against_those_of_its_size() {
    let proven = history([7, 8], [3, 15], true);
    let text = "plans with 5 or more tasks deviated more";
    assert_eq!(
        judged(plan(6, &[]), &proven),
        (RiskLevel::Raised, vec![format!("6 tasks: {text}")])
    );
    assert_eq!(
        judged(plan(1, &[]), &proven),
        (RiskLevel::Low, vec![format!("1 task: {text}")])
    );
    // No lesson, and yet most plans of this size deviated.
    let frequent = history([6, 8], [9, 15], false);
    assert_eq!(
        judged(plan(2, &[]), &frequent),
        (
            RiskLevel::Raised,
            vec!["2 tasks: smaller ones deviated in 9 of 15".to_owned()]
        )
    );
    let rare = history([3, 8], [3, 15], false);
    assert_eq!(judged(plan(6, &[]), &rare).0, RiskLevel::Low);
}

#[test]
fn files_that_plans_stumbled_over_add_to_it() {
    let mut proven = history([7, 8], [3, 15], true);
    proven.deviating_files = vec![named("src/store/log.rs"), named("mod.rs")];
    let stumbled = "changes `src/store/log.rs`, which deviations of 2 plans name (2-01, 2-03)";
    let (level, reasons) = judged(plan(2, &["./store/log.rs", "src/x/mod.rs"]), &proven);
    assert_eq!(level, RiskLevel::Raised);
    assert_eq!(reasons[0], stumbled);
    let (level, reasons) = judged(plan(5, &["src/store/log.rs"]), &proven);
    assert_eq!(level, RiskLevel::High);
    assert_eq!(reasons[1], stumbled);
    // A catalog.rs is no log.rs.
    assert_eq!(
        judged(plan(2, &["src/store/catalog.rs"]), &proven).0,
        RiskLevel::Low
    );
}

#[test]
fn a_file_counts_only_where_its_plans_went_worse() {
    let touched = |count: usize| {
        let mut history = history([7, 8], [3, 15], true);
        history.comparisons.push(Comparison {
            question: Question::DeviationsByFile,
            file: Some("src/a.rs".to_owned()),
            group: group("plans that touched `src/a.rs`", count, 8),
            other: group("others", 4, 15),
            p: 0.01,
            tests: 1,
            is_lesson: true,
            text: "Plans that touched `src/a.rs` deviated".to_owned(),
        });
        history
    };
    assert_eq!(
        judged(plan(2, &["src/a.rs"]), &touched(8)).0,
        RiskLevel::Raised
    );
    assert_eq!(
        judged(plan(2, &["src/a.rs"]), &touched(0)).0,
        RiskLevel::Low
    );
    assert_eq!(
        judged(plan(5, &["src/a.rs"]), &touched(8)).0,
        RiskLevel::High
    );
}
