use std::path::Path;

use super::*;
use crate::patterns::PlanRecord;
use crate::plan::{PhaseNumber, PlanNumber, Summary};

fn plan(number: u32, text: &str) -> PlanRecord {
    let path = Path::new("01-01-SUMMARY.md");
    let summary = Summary::parse(text, path).value;
    PlanRecord::new(PlanNumber::from(number), summary, text, path)
}

fn phase(number: u32, plans: Vec<PlanRecord>) -> FinishedPhase {
    FinishedPhase {
        number: PhaseNumber::from(number),
        name: "Phase".to_owned(),
        dir: format!("phases/{number}").into(),
        dir_name: number.to_string(),
        milestone: "default".to_owned(),
        plans,
        digest: String::new(),
    }
}

fn deviation(title: &str, issue: &str, fix: &str) -> String {
    format!("## Deviations\n\n**1. {title}**\n- **Issue:** {issue}\n- **Fix:** {fix}\n")
}

fn texts(lessons: &[Lesson]) -> Vec<&str> {
    lessons.iter().map(|lesson| lesson.text.as_str()).collect()
}

const GITIGNORED: &str = "`config/env.toml` is gitignored and so missing in every worktree";

#[test]
fn a_lesson_is_the_issue_with_its_fix_and_its_source() {
    let text = deviation(
        "[Rule 3 - Blocking] Stub missing",
        GITIGNORED,
        "Created the stub `env.toml` first",
    );
    let found = failed(&phase(1, vec![plan(2, &text)]), None);
    assert_eq!(
        texts(&found),
        [format!("{GITIGNORED}. Fix: created the stub `env.toml` first (plan 02)")]
    );
    let source = found[0].source.as_ref().unwrap();
    assert_eq!((source.plan.clone(), source.line), (PlanNumber::from(2), 3));
}

#[test]
fn what_is_expected_or_only_about_the_order_of_plans_did_not_fail() {
    for issue in [
        "PermissionError ao apagar o arquivo aberto \u{2014} comportamento esperado do Windows; nao afeta os testes",
        "A PermissionError on Windows is expected behavior while the store is open; does not affect results",
    ] {
        let text = format!("## Issues Encountered\n\n- {issue}\n");
        assert_eq!(texts(&failed(&phase(1, vec![plan(1, &text)]), None)), [""; 0], "{issue}");
    }
    let text = deviation(
        "[Rule 3 - Blocking] Prerequisite rows of the list from 03-01 not yet executed",
        "Plan 03-02 depends on 03-01, which had not been executed -- the list had no rows",
        "Implemented the rows inline",
    );
    assert_eq!(texts(&failed(&phase(3, vec![plan(2, &text)]), None)), [""; 0]);
}

#[test]
fn a_pattern_that_says_what_to_avoid_comes_first() {
    let text = "---\npatterns-established:\n  - \"Tables with a dynamic number of rows and one tree of nodes\"\n  \
                - \"Number of rows set BEFORE the content to prevent layout bugs\"\n---\n";
    assert_eq!(
        texts(&worked(&phase(3, vec![plan(2, text)])))[0],
        "Number of rows set BEFORE the content to prevent layout bugs (plan 02)"
    );
}

#[test]
fn what_recurs_is_one_lesson_that_names_its_plans() {
    let text = deviation("[Rule 3 - Blocking] Stub missing", GITIGNORED, "Created it");
    let own = phase(3, vec![plan(1, &text), plan(4, &text)]);
    let mut past = PastProblems::default();
    past.add(&phase(1, vec![plan(2, &text)]));
    assert_eq!(
        texts(&failed(&own, Some(&past))),
        [format!("{GITIGNORED} (plans 01, 04; before in phase 1 plan 02)")]
    );
}

#[test]
fn only_the_sentence_on_what_recurs_says_that_it_did() {
    let missing = "Zig is not installed in this environment, so the suites were not run";
    let other = "The loader always requires `std.mem` and fails without the `--deep` flag";
    let text = format!("## Deviations\n- {other}. {missing}\n");
    let alone = failed(&phase(3, vec![plan(1, &text)]), None);
    assert_eq!(texts(&alone), [format!("{other} (plan 01)")]);
    let mut past = PastProblems::default();
    let before = format!("## Deviations\n- {missing}\n");
    past.add(&phase(1, vec![plan(2, &before)]));
    assert_eq!(
        texts(&failed(&phase(3, vec![plan(1, &text)]), Some(&past))),
        [format!("{missing} (plan 01; before in phase 1 plan 02)")]
    );
}

#[test]
fn what_no_other_plan_will_meet_is_left_out() {
    for text in [
        "## Deviations\n- Tasks 2 and 3 were committed together in one commit\n",
        "## Deviations\n- Removed an unused import of the old module path\n",
        "## Deviations\n- Deferred the second half of the report to a later phase\n",
        "## Deviations\n- [Rule 2 - Missing Critical] Added a second button to the report page\n",
        "## Deviations\n- ~~The lock must be taken before the file is read by anyone~~\n",
        "## Deviations\n- \u{2713} The lock must be taken before the file is read by anyone\n",
        "## Deviations\n- Used the -e SC1000 flag of the checker (plan preferred a comment in CI)\n",
        "## Deviations\n- The store is flaky under load \u{2014} RESOLVED, not a regression of this phase\n",
        "## Deviations\n- Removed the old lock of the store\n\n## Issues Encountered\n\nThe store requires a lock, but that is not a deviation.\n",
        "## Deviations\n\nNone - plan executed exactly as written.\n",
    ] {
        let found = failed(&phase(1, vec![plan(1, text)]), None);
        assert_eq!(texts(&found), [""; 0], "{text}");
    }
}

#[test]
fn an_entry_has_three_lessons_at_most() {
    let issues = [
        "`parser` requires a full stop behind every heading",
        "The lexer rejects tables without header rows",
        "Colour codes cannot be stripped by `printer.rs` on Windows",
        "Locks of `store.rs` are shared state between workers",
        "An index of unsorted keys is not available offline",
    ];
    let plans = issues
        .iter()
        .zip(1..)
        .map(|(issue, number)| plan(number, &deviation("[Rule 3 - Blocking] X", issue, "Added")));
    assert_eq!(failed(&phase(1, plans.collect()), None).len(), MAX_LESSONS);
}

#[test]
fn what_was_set_up_and_used_again_worked() {
    let text = "---\npatterns-established:\n  - \"Every command returns a report struct that is also the JSON document\"\n---\n";
    let once = "---\npatterns-established:\n  - \"Templates are rendered with `strict` undefined values\"\n  - \"builder\"\n---\n";
    let found = worked(&phase(1, vec![plan(1, text), plan(2, once), plan(3, text)]));
    assert_eq!(
        texts(&found),
        [
            "Every command returns a report struct that is also the JSON document (plans 01, 03)",
            "Templates are rendered with `strict` undefined values (plan 02)",
        ]
    );
    let lines: Vec<usize> =
        found.iter().filter_map(|one| Some(one.source.as_ref()?.line)).collect();
    assert_eq!(lines, [3, 3]);
}

#[test]
fn a_lesson_is_made_from_the_beginning_of_a_long_text() {
    let of = |length: usize| {
        let issue = format!("{GITIGNORED}. {}", "The word é again. ".repeat(length));
        let text = deviation("[Rule 3 - Blocking] Stub missing", &issue, "Created it");
        let own = format!("{text}\n## Issues Encountered\n\n- {issue}\n");
        let found = failed(&phase(1, vec![plan(2, &own)]), None);
        texts(&found).join("\n")
    };
    let long = of(1_000);
    assert!(long.contains("is gitignored"), "{long}");
    assert_eq!(long, of(10_000));
    let mark = "zirconium is missing and fails";
    let text = deviation("Stub", &format!("{}{mark}", "a ".repeat(1_000)), "Created it");
    let record = plan(1, &text);
    let kept = sentence_of(&record.deviations[0], 10_000);
    assert!(!kept.unwrap_or_default().contains("zirconium"));
}

#[test]
fn an_issue_about_the_environment_counts_although_a_check_was_skipped() {
    let skipped = "Zig is not installed in the sandbox, so the suite was skipped";
    let issue = |text: &str| format!("## Issues Encountered\n\n- {text}\n");
    let found = failed(&phase(1, vec![plan(1, &issue(skipped))]), None);
    assert_eq!(texts(&found), [format!("{skipped} (plan 01)")]);
    for other in [
        "The last report was skipped, it belongs to phase 4",
        "Four warnings of the loader in the sandbox are unrelated to this plan",
    ] {
        let found = failed(&phase(1, vec![plan(1, &issue(other))]), None);
        assert_eq!(texts(&found), [""; 0], "{other}");
    }
}

#[test]
fn what_was_done_for_a_reason_is_judged_by_the_reason() {
    let lesson = |text: &str| {
        let text = format!("## Deviations\n- DEVN-01: {text}\n");
        let found = failed(&phase(1, vec![plan(1, &text)]), None);
        texts(&found).join("|")
    };
    assert_eq!(
        lesson(
            "Removed `boxes` from the heading -- the harbour service does not return the number of boxes. The heading shows weights."
        ),
        "The harbour service does not return the number of boxes. Fix: removed `boxes` from the heading (plan 01)"
    );
    for other in [
        "Removed `boxes` from the heading -- it does not fit",
        "Removed `boxes` from the heading -- dropped the number that the service does not return",
    ] {
        assert_eq!(lesson(other), "", "{other}");
    }
}
