//! `annals execute`

use serde_json::json;

use crate::cli::VBW;
use crate::cli::assert_error;
use crate::cli::assert_unchanged;
use crate::support::Case;

const PATTERNS: &str = ".vbw-planning/patterns/PATTERNS.md";

#[test]
fn a_phase_is_recorded_once_and_says_so_after() {
    let case = Case::new(VBW);
    let before = case.read(PATTERNS).unwrap();
    let first = case.run("execute 3 --json").success();
    assert_eq!(first.json()["recorded"], json!(["03-shopping-lists"]));
    let after = case.read(PATTERNS).unwrap();
    assert!(after.starts_with(&before), "the old text is changed");
    let added = String::from_utf8(after[before.len()..].to_vec()).unwrap();
    assert!(added.contains("### Phase 3: Shopping Lists (2026-02-13)\n<!-- annals: phase-dir=03-shopping-lists plans=01,02,03 digest="), "{added}");
    assert!(
        added.contains(
            "- Plans: 3, Average: 25m, Total: 1h 14m\n- Effort: balanced\n\n**Deviations:** 0\n"
        ),
        "{added}"
    );
    let written = case.tree();
    let second = case.run("execute 3 --json").success();
    assert_eq!(second.json()["recorded"], json!([]));
    assert_eq!(second.json()["already"], json!(["03-shopping-lists"]));
    assert_unchanged(&written, &case, &second);
}

#[test]
fn without_a_phase_it_is_the_latest_complete_one_not_yet_recorded() {
    let case = Case::new(VBW);
    let recorded = || case.run("execute --json").success().json()["recorded"].clone();
    assert_eq!(recorded(), json!(["03-shopping-lists"]));
    assert_eq!(recorded(), json!(["02.1-lost-updates"]));
}

#[test]
fn an_incomplete_phase_is_refused_unless_asked_for() {
    let case = Case::new(VBW);
    let before = case.tree();
    let refused = case.run("execute 4").code(4);
    assert_error(
        &refused,
        ".vbw-planning/phases/04-low-stock-alerts: phase 4 is not complete: no finished summary for 04-02-PLAN.md, 04-03-PLAN.md",
        "--partial records what is there",
    );
    assert_unchanged(&before, &case, &refused);
    let partial = case.run("execute 4 --partial --json").success();
    assert_eq!(partial.json()["recorded"], json!(["04-low-stock-alerts"]));
}

#[test]
fn an_unknown_phase_names_the_known_ones() {
    let case = Case::new(VBW);
    let refused = case.run("execute 9").code(3);
    assert_error(
        &refused,
        "there is no phase 9",
        "known phases: 1, 2, 2.1, 3, 4",
    );
    case.run("execute x1").code(2);
}

#[test]
fn changed_summaries_are_reported_and_recorded_again_only_when_asked() {
    let case = Case::new(VBW);
    case.run("execute 3").success();
    let summary = ".vbw-planning/phases/03-shopping-lists/03-01-SUMMARY.md";
    let mut text = case.read(summary).unwrap();
    text.extend(b"\nOne more thing.\n");
    case.write(summary, text);
    let written = case.tree();
    let second = case.run("execute 3 --json").success();
    assert_eq!(second.json()["changed_since"], json!(["03-shopping-lists"]));
    assert_unchanged(&written, &case, &second);
    let again = case.run("execute 3 --again --json").success();
    assert_eq!(again.json()["recorded"], json!(["03-shopping-lists"]));
}

#[test]
fn a_dry_run_shows_the_entry_and_writes_nothing() {
    let case = Case::new(VBW);
    let before = case.tree();
    let shown = case.run("execute 3 --dry-run").success();
    assert!(
        shown.stdout().contains("+### Phase 3: Shopping Lists"),
        "{}",
        shown.report()
    );
    assert!(
        shown.stdout().contains("+<!-- annals:begin"),
        "{}",
        shown.report()
    );
    assert_unchanged(&before, &case, &shown);
}

#[test]
fn a_hand_edit_in_the_block_stops_the_context_file_and_nothing_else() {
    let case = Case::new(VBW);
    case.run("sync").success();
    let block = String::from_utf8(case.read("CLAUDE.md").unwrap()).unwrap();
    case.write(
        "CLAUDE.md",
        block.replace("## Active Context", "## Active Context\n\nMine."),
    );
    let edited = case.read("CLAUDE.md");
    case.run("execute 3").code(4);
    assert_eq!(case.read("CLAUDE.md"), edited);
    let patterns = String::from_utf8(case.read(PATTERNS).unwrap()).unwrap();
    assert!(patterns.contains("### Phase 3: Shopping Lists"));
}
