//! init, pending, update, brief, check over sixty commits, in batches that leave no gap.

use std::fs;

use serde_json::{Value, json};

use crate::ledger::{
    STATE, commit, decision, hashes, initialised, moment, pending, state, text, update,
    update_and_commit,
};
use crate::support::{Case, require};

/// Makes sixty commits: changes, a spec, a plan that a message names, renames.
fn sixty(case: &Case) -> Vec<String> {
    let mut made = Vec::new();
    for n in 1..=60 {
        made.push(match n {
            10 => {
                case.write("specs/reader.md", "# The reader\n\nReads footers.\n");
                case.commit("Specify the reader", &moment(n))
            }
            20 => {
                case.write("docs/plans/old.md", "# The plan\n");
                case.commit("Plan the reader", &moment(n))
            }
            30 => {
                case.program("git mv docs/plans/old.md docs/plans/reader.md").success();
                case.commit("Rename the plan", &moment(n))
            }
            55 => {
                case.write("src/late.rs", "// late\n");
                case.commit("Follow the plan\n\nSee docs/plans/reader.md.", &moment(n))
            }
            n => commit(case, n),
        });
    }
    made
}

#[test]
fn two_batches_leave_no_gap() {
    if !require("git") {
        return;
    }
    let (case, first) = initialised();
    assert!(text(&case, STATE).contains(&first));
    let made = sixty(&case);
    let brief = case.run("ledger brief").success().stdout();
    assert!(brief.starts_with("ACTION REQUIRED: the ledger is empty"), "{brief}");
    assert!(brief.contains("Change 60") && brief.contains("and 55 more"), "{brief}");

    let one = pending(&case, "");
    assert_eq!(hashes(&one), made[..50]);
    assert_eq!((&one["remaining"], &one["covered_through"]), (&json!(10), &json!(made[49])));
    let specs: Vec<_> =
        one["specs"]["files"].as_array().unwrap().iter().map(|spec| &spec["path"]).collect();
    assert_eq!(specs, ["docs/plans/reader.md", "specs/reader.md"]);
    assert_eq!(
        one["commits"][29]["files"][0],
        json!({"status": "R", "path": "docs/plans/reader.md", "from": "docs/plans/old.md"})
    );
    assert_eq!(one["commits"][1]["body"], json!("The body of 2."));
    let document = json!({
        "state": state("Read every ledger"),
        "constraints": [{"op": "add", "section": "Rules", "bullet": "Never panic on any bytes"}],
        "decisions": [decision("Write the reader by hand", &made[9][..8])],
        "rollup": ["The reader is written by hand"],
        "covered_through": one["covered_through"],
    });
    let report = update_and_commit(&case, &document);
    assert_eq!(report["outcome"], json!("applied"));

    // The ledger's own commit does not have to be covered.
    let two = pending(&case, "");
    assert_eq!(hashes(&two), made[50..]);
    assert_eq!(two["remaining"], json!(0));
    assert_eq!(two["specs"]["files"][0]["path"], json!("docs/plans/reader.md"));
    let document = json!({
        "state": state("Write every ledger"),
        "constraints": [{"op": "edit", "match": "panic", "bullet": "Never panic on any bytes or time"}],
        "covered_through": two["covered_through"],
    });
    update_and_commit(&case, &document);
    assert_eq!(pending(&case, "")["commits"], json!([]));
    let brief = case.run("ledger brief").success().stdout();
    assert!(
        brief.contains("Write every ledger")
            && brief.contains("Never panic on any bytes or time (updated 2026-03-01)"),
        "{brief}"
    );
    assert!(
        brief.contains("Write the reader by hand") && brief.contains("Coverage: complete through"),
        "{brief}"
    );
    case.run("ledger check").success();
}

#[test]
fn an_update_applied_already_changes_nothing_even_on_another_day() {
    if !require("git") {
        return;
    }
    let (case, first) = initialised();
    let document = json!({
        "state": state("One"),
        "constraints": [{"op": "add", "section": "Own", "bullet": "# odd `text`"}],
        "decisions": [decision("Two", &first)],
        "rollup": ["Two"],
        "covered_through": first,
    });
    update(&case, &document, "");
    let before = case.tree();
    let again = case
        .run("ledger update --json")
        .env("ANNALS_NOW", "2026-03-09T00:00:00Z")
        .stdin(document.to_string())
        .success()
        .json();
    assert_eq!(again["outcome"], json!("already_applied"));
    assert_eq!(case.tree(), before);
}

#[test]
fn what_an_update_leaves_out_of_the_quick_reference_is_named() {
    let case = Case::empty();
    case.run("ledger init").success();
    let warnings = |quick: Value| {
        let mut state = state("One");
        state["quick_reference"] = quick;
        let document = json!({"state": state}).to_string();
        case.run("ledger update").stdin(document).success().stderr()
    };
    assert_eq!(warnings(json!({"run": "cargo run", "test": "cargo test"})), "");
    let told = warnings(json!({"test": "just test"}));
    let lost =
        "docs/memory/STATE.md: the update leaves out of the quick reference what was known: Run\n";
    assert!(told.contains(lost), "{told}");
    assert!(warnings(json!({})).contains("what was known: Test\n"));
    assert_eq!(warnings(json!({})), "");
}

#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    if !require("git") {
        return;
    }
    let (case, first) = initialised();
    let before = case.whole_tree();
    let document = json!({"rollup": ["Never <!-- hidden -->"], "covered_through": first});
    let dry = case.run("ledger update --dry-run").stdin(document.to_string()).success();
    assert!(dry.stdout().contains("+- Never <\\!-- hidden --\\>"), "{}", dry.report());
    assert_eq!(case.whole_tree(), before);
}

#[test]
fn specs_beyond_the_maximum_are_only_named() {
    let (case, _) = initialised();
    for number in 0..23 {
        case.write(&format!("specs/{number:02}.md"), "# A spec\n");
    }
    case.commit("Write the specs", &moment(1));
    fs::remove_file(case.root().join("specs/22.md")).unwrap();
    case.commit("Remove the last one", &moment(2));
    let specs = &pending(&case, "")["specs"];
    assert_eq!(specs["files"].as_array().unwrap().len(), 20);
    assert_eq!(specs["files"][19]["path"], json!("specs/19.md"));
    assert_eq!(specs["left_out"], json!(["specs/20.md", "specs/21.md"]));
}
