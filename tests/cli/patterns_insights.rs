//! `annals patterns insights`

use serde_json::Value;

use crate::cli::{GSD, VBW};
use crate::support::Case;

fn comparison<'a>(insights: &'a Value, question: &str) -> &'a Value {
    let all = insights["comparisons"].as_array().unwrap();
    all.iter().find(|one| one["question"] == question).unwrap()
}

/// Counted by hand from the 23 summaries, deviations in brackets; A is the archived milestone.
///
/// Five tasks or more, 8 plans, 7 deviated: A 1-02 (2), A 2-02 (3), A 3-01 (1), A 3-04 (1), 1-02 (2),
/// 1-03 (2), 2-03 (2), 3-02 (none). Of the 14 others 3 deviated: A 2-03 (1), A 3-03 (1), 2.1-01 (1). 2-04 has
/// no field for its tasks, only a sentence in a list.
///
/// Six files or more, 7 plans, 6 deviated: the same without A 3-04. Of the 16 others 4 deviated.
#[test]
fn the_example_teaches_what_a_hand_count_confirms() {
    let insights = Case::new(VBW).run("patterns insights").success();
    assert_eq!(insights.stderr(), "");
    let page = insights.stdout();
    let lessons = page.split("Significant differences:\n").nth(1).unwrap();
    let lessons = lessons.split("\n\n").next().unwrap();
    assert_eq!(
        lessons,
        "\
- Plans with 5 or more tasks deviated in 7 of 8, smaller ones in 3 of 14 (p = 0.006)
- Plans with 6 or more files deviated in 6 of 7, smaller ones in 4 of 16 (p = 0.019)
- Plans with 5 or more tasks took 49m, smaller ones 18m (medians over 7 and 14 plans) (p < 0.001)"
    );
    assert!(
        page.starts_with("23 plans in 8 phases: 10 had deviations (16 in all); 22 are complete.\n")
    );
}

#[test]
fn the_document_has_every_comparison() {
    let insights = Case::new(VBW).run("patterns insights --json").success().json();
    assert_eq!(insights["deviations"], 16);
    let by_tasks = comparison(&insights, "deviations-by-tasks");
    assert_eq!(by_tasks["group"]["rate"]["count"], 7);
    assert_eq!(by_tasks["other"]["rate"]["of"], 14);
    assert_eq!(by_tasks["is_lesson"], true);
    // The one partial plan, A 3-04, is large: 7 of 8 large ones came to an end, 14 of 14 small ones.
    let completion = comparison(&insights, "completion-by-tasks");
    assert_eq!(completion["is_lesson"], false);
    assert_eq!(completion["group"]["rate"]["count"], 7);
}

#[test]
fn a_short_history_teaches_nothing() {
    let case = Case::new(GSD);
    let insights = case.run("patterns insights --json").success().json();
    let all = insights["comparisons"].as_array().unwrap();
    assert!(!all.is_empty() && all.iter().all(|one| one["is_lesson"] == false));
    let page = case.run("patterns insights").success().stdout();
    assert!(!page.contains("Significant"), "{page}");
    let last = page.lines().last().unwrap();
    assert!(
        last.starts_with("Not enough data: deviations by tasks, deviations by files"),
        "{page}"
    );
}

#[test]
fn a_project_without_summaries_says_so() {
    let case = Case::empty();
    case.write(".planning/ROADMAP.md", "# Roadmap\n");
    let insights = case.run("patterns insights").success();
    assert_eq!(insights.stdout(), "No plan has a summary yet.\n");
}
