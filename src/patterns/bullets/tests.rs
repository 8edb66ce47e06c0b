use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::patterns::bullets::lesson::WIDTH;
use crate::planning::PlanNumber;
use crate::planning::Summary;

fn plan(number: u32, summary: &str) -> PlanRecord {
    let path = Path::new("SUMMARY.md");
    let read = Summary::parse(summary, path).value;
    PlanRecord::new(PlanNumber::from(number), read, summary, path)
}

fn plans(summaries: &[&str]) -> Vec<PlanRecord> {
    (1..)
        .zip(summaries)
        .map(|(number, summary)| plan(number, summary))
        .collect()
}

fn front(fields: &str) -> String {
    format!("---\nstatus: complete\n{fields}\n---\n")
}

fn shown(lines: &[Line]) -> Vec<&str> {
    lines.iter().map(Line::as_str).collect()
}

fn said_failed(summaries: &[&str]) -> Vec<String> {
    let lines = failed(&PhaseNumber::from(3), &plans(summaries));
    shown(&lines).into_iter().map(str::to_owned).collect()
}

fn said_worked(summaries: &[&str]) -> Vec<String> {
    let lines = worked(&plans(summaries));
    shown(&lines).into_iter().map(str::to_owned).collect()
}

#[test]
fn nothing_told_says_nothing() {
    assert_eq!(said_failed(&["", ""]), [""; 0]);
    assert_eq!(said_worked(&["---\nstatus: failed\n---\n"]), [""; 0]);
}

#[test]
fn plans_without_deviations_are_told_with_their_sizes() {
    let small =
        front("tasks_completed: 2\ntasks_total: 2\nduration: 4 min\nfiles_modified: [a.rs, b.rs]");
    let large =
        front("tasks_completed: 5\ntasks_total: 5\nduration: 9 min\nfiles_modified: [c.rs]");
    let other = front(
        "tasks_completed: 1\ntasks_total: 1\ndeviations: [\"Renamed `d.rs`, which the plan had twice\"]",
    );
    assert_eq!(
        said_worked(&[&small, &large, &other]),
        ["2 of 3 plans without deviations: 2-5 tasks, 1-2 files, 4m-9m each (plans 01, 02)"]
    );
    assert_eq!(
        said_worked(&[&other]),
        ["The one task was done, with 1 deviation (plan 01)"]
    );
    assert_eq!(
        said_worked(&[&front("deviations: 0")]),
        ["No deviations (plan 01)"]
    );
}

#[test]
fn an_unfinished_plan_comes_first_with_its_reason() {
    let partial = "---\nstatus: partial\ntasks_completed: 2\ntasks_total: 5\n---\n\
                   ## Issues Encountered\n\n- Builds were slow.\n- Blocked: the sandbox has no network, so tasks 3-5 wait.\n";
    let fine = front("deviations: [\"Used `rg` instead of `grep`, which the image has not\"]");
    assert_eq!(
        said_failed(&[&fine, partial]),
        [
            "Ended partial, 2 of 5 tasks done: Blocked: the sandbox has no network, so tasks 3-5 wait (plan 02)",
            "Used `rg` instead of `grep`, which the image has not (plan 01)",
            "Builds were slow (plan 02)",
        ]
    );
}

#[test]
fn missed_checks_show_what_was_found_instead() {
    let checks = "ac_results:\n  - {criterion: \"truth: CI is green on all systems\", verdict: partial, evidence: Local run only}\n  \
                  - {criterion: Docs build, verdict: pass}\n  - {criterion: Docs are linked, verdict: pass}";
    assert_eq!(
        said_failed(&[&front(checks)]),
        ["Acceptance fell short: CI is green on all systems: Local run only (plan 01)"]
    );
    let passed = checks.replace("partial", "pass");
    assert!(
        said_worked(&[&front(&passed)])
            .contains(&"All 3 acceptance checks passed (plan 01)".to_owned())
    );
}

#[test]
fn plans_that_met_are_told_together() {
    let first = "## Issues Encountered\n\n- Types were already created by parallel plan 03-03 and committed there.\n";
    let second = "## Deviations\n\n- `api.ts` was staged by plan 01 when this one began\n";
    assert_eq!(
        said_failed(&[first, second, ""])[0],
        "3 plans collided: Types were already created by parallel plan 03-03 and committed there (plans 01-03)"
    );
}

#[test]
fn what_several_plans_had_is_told_once() {
    let locked = [
        "A running server process locked the build output",
        "Build output locked by the running server process",
    ];
    let issues = locked.map(|issue| format!("## Issues\n\n- {issue}\n"));
    assert_eq!(
        said_failed(&[&issues[0], "", &issues[1]]),
        ["In 2 plans: Build output locked by the running server process (plans 01, 03)"]
    );
}

#[test]
fn files_that_made_several_plans_deviate_are_named() {
    let one = "## Deviations\n\n### Auto-fixed Issues\n\n**1. [Rule 3 - Blocking] Added a missing port**\n\
               - **Issue:** Nothing listened on 8080\n- **Files modified:** compose.yaml\n";
    let other = "## Deviations\n\n- Moved the volume of the cache in `compose.yaml` under the data folder\n";
    let said = said_failed(&[one, other]);
    assert_eq!(
        said[0],
        "`compose.yaml` was in deviations of 2 plans (plans 01, 02)"
    );
    assert_eq!(
        said[1],
        "Blocking: Added a missing port: Nothing listened on 8080 (plan 01)"
    );
}

#[test]
fn most_deviations_on_few_large_plans_are_told_with_both_sides() {
    let small = front("files_modified: [a.rs]");
    let large = front("files_modified: [a.rs, b.rs, c.rs, d.rs, e.rs]\ndeviations: 4");
    assert_eq!(
        said_failed(&[&small, &large, &small]),
        [
            "All of 4 deviations fell on 1 plan with 5+ files (plan 02), none on 2 smaller (plans 01, 03)"
        ]
    );
}

#[test]
fn small_plans_that_were_faster_are_told_with_both_sides() {
    let plan = |tasks: u32, minutes: u32| {
        front(&format!(
            "tasks_completed: {tasks}\ntasks_total: {tasks}\nduration: {minutes} min\ndeviations: 1"
        ))
    };
    assert_eq!(
        said_worked(&[&plan(2, 4), &plan(2, 6), &plan(6, 40)]),
        [
            "Small plans were faster per task: 2 tasks took 4m-6m (plans 01, 02), 6 tasks took 40m (plan 03)"
        ]
    );
}

#[test]
fn a_plan_far_slower_than_the_others_is_told() {
    let plan =
        |minutes: u32, title: &str| front(&format!("duration: {minutes} min\ntitle: {title}"));
    let said = said_failed(&[
        &plan(5, "a"),
        &plan(6, "b"),
        &plan(60, "Live capture"),
        &plan(4, "d"),
    ]);
    assert_eq!(
        said,
        ["Took 1h 00m against a median of 6m: Live capture (plan 03)"]
    );
}

#[test]
fn patterns_used_again_come_before_those_set_up() {
    let one = "---\npatterns-established:\n  - \"Pattern 1: Services return data only, never print it\"\n---\n";
    let two = "---\ntech-stack:\n  patterns:\n    - Services return data only and never print\n    - dom-caching\n    - named-exports\n---\n";
    assert_eq!(
        said_worked(&[one, two])[1..],
        [
            "Used in 2 plans: Services return data only, never print it (plans 01, 02)",
            "Pattern set up: dom-caching, named-exports (plan 02)",
        ]
    );
}

#[test]
fn keys_are_taken_out_before_a_bullet_is_cut() {
    let key = format!("AKIA{}", "Q7ZT2LMX9VKC4RBW");
    let text = format!(
        "{} the key {key} was in it",
        "Rewrote the client, ".repeat(6)
    );
    let said = said_failed(&[&format!("## Deviations\n\n- {text}\n")]);
    assert!(!said[0].contains("AKIA"), "{said:?}");
}

#[test]
fn no_more_than_five_are_taken_and_no_plan_crowds_out_the_others() {
    let first = "deviations:\n  - Renamed the `first` thing for a reason\n  - Dropped the `second` cache\n  \
                 - Moved the `third` parser out\n  - Split `fourth` in two";
    let alone = said_failed(&[&front(first)]);
    assert_eq!(alone.len(), 4, "{alone:?}");
    let second = "deviations: [Wrote documentation earlier, Used another port]";
    let third = "deviations: [Left colours out]";
    let said = said_failed(&[&front(first), &front(second), &front(third)]);
    let of = |plan: &str| said.iter().filter(|line| line.ends_with(plan)).count();
    assert_eq!(
        (of("(plan 01)"), of("(plan 02)"), of("(plan 03)")),
        (2, 2, 1),
        "{said:?}"
    );
}

fn any_summary() -> impl Strategy<Value = String> {
    (
        "(complete|partial|failed|)",
        proptest::option::of((0_u32..9, 0_u32..9)),
        proptest::option::of("[a-z<>@/`*#. -]{0,20}"),
        0_u32..90,
        proptest::collection::vec("[ -~é\u{1b}]{0,90}", 0..4),
        proptest::collection::vec(
            "(already|parallel|plan 02|03-01|`a/b.rs`|locked|build|the| ){0,9}",
            0..3,
        ),
    )
        .prop_map(|(status, tasks, title, minutes, deviations, issues)| {
            let tasks = tasks.map_or(String::new(), |(done, all)| {
                format!("tasks_completed: {done}\ntasks_total: {all}\n")
            });
            let title = title.map_or(String::new(), |title| format!("title: '{title}'\n"));
            let bullets = |list: &[String], tag: &str| -> String {
                let bullets: Vec<_> = list.iter().map(|one| format!("- {tag}{one}\n")).collect();
                bullets.concat()
            };
            format!(
                "---\nstatus: {status}\nduration: {minutes} min\n{tasks}{title}---\n\
                 ## Deviations\n\n{}\n## Issues\n\n{}",
                bullets(&deviations, "[Rule 1 - Bug] "),
                bullets(&issues, "")
            )
        })
}

proptest! {
    #[test]
    fn every_bullet_fits_and_names_a_plan(summaries in proptest::collection::vec(any_summary(), 0..6)) {
        let plans = plans(&summaries.iter().map(String::as_str).collect::<Vec<_>>());
        for lines in [worked(&plans), failed(&PhaseNumber::from(3), &plans)] {
            prop_assert!(lines.len() <= 5);
            for line in shown(&lines) {
                prop_assert!(line.chars().count() <= WIDTH, "{}", line);
                prop_assert!(line.contains("(plan") && line.ends_with(')'), "{}", line);
                prop_assert!(!line.starts_with('('), "{}", line);
            }
        }
    }
}
