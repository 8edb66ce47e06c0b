//! The rules of the repo ledger that its seed states.

use serde_json::json;

use crate::support::Case;
use crate::support::require;

/// A repository of so many commits with a fresh ledger.
fn fresh(commits: usize) -> (Case, Vec<String>) {
    let case = Case::empty();
    case.git_init();
    let commit = |n: usize| {
        case.write("src/lib.rs", format!("// {n}\n"));
        let date = format!("2026-02-{:02}T{:02}:00:00Z", 1 + n / 24, n % 24);
        case.commit(&format!("Change {n}"), &date)
    };
    let made = (0..commits).map(commit).collect();
    case.run("ledger init").success();
    (case, made)
}

fn hashes(pending: &serde_json::Value) -> Vec<String> {
    let commits = pending["commits"].as_array().unwrap().iter();
    commits
        .map(|one| one["hash"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_first_population_gets_the_recent_history_and_may_cover_it() {
    if !require("git") {
        return;
    }
    let (case, made) = fresh(60);
    let brief = case.run("ledger brief").success().stdout();
    assert!(brief.starts_with("ACTION REQUIRED"), "{brief}");
    assert!(
        brief.contains("Coverage: nothing is covered yet."),
        "{brief}"
    );
    let pending = case.run("ledger pending --json").success().json();
    assert_eq!(hashes(&pending), made[10..]);
    assert_eq!(pending["covered_through"], json!(made[59]));
    assert_eq!(
        (&pending["older"], &pending["remaining"]),
        (&json!(10), &json!(0))
    );
    let told = case.run("ledger pending").success().stdout();
    assert!(
        told.contains("10 older commits left out; `annals ledger pending --all`"),
        "{told}"
    );
    let update = json!({"covered_through": made[59], "state": {
        "objective": "Ship", "active_work": ["Read"], "next_actions": ["Write"],
        "quick_reference": {"run": "x", "test": "y", "entry_point": "z"}}});
    case.run("ledger update")
        .stdin(update.to_string())
        .success();
    let brief = case.run("ledger brief").success().stdout();
    assert!(!brief.contains("ACTION REQUIRED"), "{brief}");
    let pending = case.run("ledger pending").success().stdout();
    assert!(pending.contains("Nothing is pending."), "{pending}");
}

#[test]
fn all_of_the_history_can_be_taken_batch_by_batch() {
    if !require("git") {
        return;
    }
    let (case, made) = fresh(60);
    let first = case.run("ledger pending --all --json").success().json();
    assert_eq!(hashes(&first), made[..50]);
    let update = json!({"covered_through": made[49]});
    case.run("ledger update")
        .stdin(update.to_string())
        .success();
    let second = case.run("ledger pending --json").success().json();
    assert_eq!(hashes(&second), made[50..]);
}

#[test]
fn the_session_hook_keeps_action_required_and_the_coverage_line() {
    if !require("git") {
        return;
    }
    let (case, _) = fresh(3);
    let input = json!({"hook_event_name": "SessionStart", "source": "startup", "cwd": case.root()});
    let hook = || {
        let run = case.run("hook session-start --harness claude");
        run.stdin(input.to_string()).success().stdout()
    };
    let told = hook();
    assert!(
        told.contains("ACTION REQUIRED: nobody has filled in the ledger"),
        "{told}"
    );
    assert!(
        told.contains("Commits covered: nothing is covered yet"),
        "{told}"
    );
    assert!(
        !told.contains("Out of Scope (for now): Last memory update"),
        "{told}"
    );
}

#[test]
fn a_decision_comes_to_a_session_with_its_why() {
    let case = Case::empty();
    case.run("ledger init").success();
    let update = json!({
        "state": {"objective": "Ship", "active_work": ["Read"], "next_actions": ["Write"],
            "quick_reference": {"run": "x", "test": "y", "entry_point": "z"}},
        "decisions": [{"date": "2026-02-28", "title": "Keep one file", "why": "Two files drift apart",
            "impact": "None", "evidence": "https://example.org/a/b/pull/3"}],
    });
    case.run("ledger update")
        .stdin(update.to_string())
        .success();
    let digest = case.run("context").success().stdout();
    assert!(
        digest.contains("Keep one file (Two files drift apart)"),
        "{digest}"
    );
}

#[test]
fn a_placeholder_is_no_bullet_of_the_rollup() {
    let case = Case::empty();
    let entries = |n: usize| {
        format!(
            "### 2026-02-0{n} \u{2014} Entry {n}\n\n- **Why:** w\n- **Impact:** i\n- **Evidence:** https://example.org/a/b/pull/{n}\n\n"
        )
    };
    let decisions = format!(
        "<!-- DO: x -->\n<!-- DON'T: y -->\n\n# Decisions\n\n## Recent (last 30 days)\n- TBD\n\n## 2026-02\n\n{}{}",
        entries(2),
        entries(1)
    );
    case.run("ledger init").success();
    case.write("docs/memory/DECISIONS.md", decisions);
    let found = case.run("ledger check").code(1).stdout();
    assert!(
        found.contains("the rollup has 0 bullets, at least 2 needed"),
        "{found}"
    );
    case.run("ledger check --fix").success();
    let fixed = String::from_utf8(case.read("docs/memory/DECISIONS.md").unwrap()).unwrap();
    assert!(fixed.contains("- Entry 2\n- Entry 1\n"), "{fixed}");
    assert!(!fixed.contains("TBD"), "{fixed}");
}

#[test]
fn old_entries_that_are_kept_as_they_are_do_not_fail_the_check() {
    let case = Case::empty();
    case.run("ledger init").success();
    let decisions = "<!-- DO: x -->\n<!-- DON'T: y -->\n\n# Decisions\n\n## Recent (last 30 days)\n- One file\n\n## 2026-02\n\n- (2026-02-01) One file - two drift apart\n";
    case.write("docs/memory/DECISIONS.md", decisions);
    let check = case.run("ledger check").success().stdout();
    assert!(
        check.contains("DECISIONS.md:11: note: is of an older form"),
        "{check}"
    );
    let json = case.run("ledger check --json").success().json();
    assert_eq!(json["findings"], json!([]));
    assert_eq!(json["kept"].as_array().unwrap().len(), 1);
}
