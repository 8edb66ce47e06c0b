//! The rules of the repo ledger that its seed states.

use serde_json::json;

use crate::support::{Case, require};

/// A repository with this number of commits and a fresh ledger.
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
    commits.map(|one| one["hash"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_first_population_gets_the_recent_history_and_may_cover_it() {
    if !require("git") {
        return;
    }
    let (case, made) = fresh(60);
    let brief = case.run("ledger brief").success().stdout();
    assert!(brief.starts_with("ACTION REQUIRED"), "{brief}");
    assert!(brief.contains("Coverage: nothing is covered yet."), "{brief}");
    let pending = case.run("ledger pending --json").success().json();
    assert_eq!(hashes(&pending), made[10..]);
    assert_eq!(pending["covered_through"], json!(made[59]));
    assert_eq!((&pending["older"], &pending["remaining"]), (&json!(10), &json!(0)));
    let told = case.run("ledger pending").success().stdout();
    assert!(told.contains("10 older commits left out; `annals ledger pending --all`"), "{told}");
    let update = json!({"covered_through": made[59], "state": {
        "objective": "Ship", "active_work": ["Read"], "next_actions": ["Write"],
        "quick_reference": {"run": "x", "test": "y", "entry_point": "z"}}});
    case.run("ledger update").stdin(update.to_string()).success();
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
    case.run("ledger update").stdin(update.to_string()).success();
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
    assert!(told.contains("ACTION REQUIRED: the ledger is empty"), "{told}");
    assert!(told.contains("Commits covered: nothing is covered yet"), "{told}");
    assert!(!told.contains("Out of Scope (for now): Last memory update"), "{told}");
}

#[test]
fn a_session_gets_decisions_with_their_why() {
    let case = Case::empty();
    case.run("ledger init").success();
    let update = json!({
        "state": {"objective": "Ship", "active_work": ["Read"], "next_actions": ["Write"],
            "quick_reference": {"run": "x", "test": "y", "entry_point": "z"}},
        "decisions": [{"date": "2026-02-28", "title": "Keep one file", "why": "Two files drift apart",
            "impact": "None", "evidence": "https://example.org/a/b/pull/3"}],
    });
    case.run("ledger update").stdin(update.to_string()).success();
    let digest = case.run("context").success().stdout();
    assert!(digest.contains("Keep one file (Two files drift apart)"), "{digest}");
}

#[test]
fn a_session_gets_all_of_the_state() {
    let case = Case::empty();
    case.run("ledger init").success();
    let update = json!({"state": {"objective": "Ship", "active_work": ["Read"],
        "blockers": ["No key yet"], "next_actions": ["Write"], "out_of_scope": ["Windows"],
        "quick_reference": {"run": "x", "test": "y", "entry_point": "z"}}});
    case.run("ledger update").stdin(update.to_string()).success();
    let input = json!({"hook_event_name": "SessionStart", "source": "startup", "cwd": case.root()});
    let hook = case.run("hook session-start --harness claude");
    let told = hook.stdin(input.to_string()).success().stdout();
    for line in ["Ship", "Read", "No key yet", "Write", "Run: `x`", "Test: `y`", "`z`", "Windows"] {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert!(!told.contains("Last memory update"), "{told}");
}

#[test]
fn a_placeholder_is_not_a_bullet_of_the_rollup() {
    let case = Case::empty();
    case.run("ledger init").success();
    let with = |bullet: &str| {
        let before = decisions(10, &["2026-02-20"]);
        before.replace("- Gist 10\n", &format!("- Gist 10\n- {bullet}\n"))
    };
    case.write("docs/memory/DECISIONS.md", with("TBD"));
    case.run("ledger check").success();
    case.write("docs/memory/DECISIONS.md", with("Gist 11"));
    let found = case.run("ledger check").code(1).stdout();
    assert!(found.contains("the rollup has 11 bullets; at most 10 are allowed"), "{found}");
}

#[test]
fn old_entries_that_are_kept_as_they_are_do_not_fail_the_check() {
    let case = Case::empty();
    case.run("ledger init").success();
    let decisions = "<!-- DO: x -->\n<!-- DON'T: y -->\n\n# Decisions\n\n## Recent (last 30 days)\n- One file\n\n## 2026-02\n\n- (2026-02-01) One file - two drift apart\n";
    case.write("docs/memory/DECISIONS.md", decisions);
    let json = case.run("ledger check --json").success().json();
    assert_eq!(json["findings"], json!([]));
    // The same fields in our own format are a finding.
    for (separator, is_old) in [("-", true), (":", true), ("\u{2014}", false)] {
        let heading =
            format!("### 2026-02-01 {separator} One file\n\n- **Why**: x\n- **Trade-off**: y");
        case.write(
            "docs/memory/DECISIONS.md",
            decisions.replace("- (2026-02-01) One file - two drift apart", &heading),
        );
        let check = case.run("ledger check").code(i32::from(!is_old)).stdout();
        assert_eq!(check.contains("has no impact, no evidence"), !is_old, "{check}");
    }
}

fn text(case: &Case, path: &str) -> String {
    String::from_utf8(case.read(path).unwrap()).unwrap()
}

/// DECISIONS.md with a rollup of this number of bullets and an entry for each of these days.
fn decisions(bullets: usize, days: &[&str]) -> String {
    let rollup = (1..=bullets).fold(String::new(), |list, n| format!("{list}- Gist {n}\n"));
    let mut months: Vec<&str> = days.iter().map(|day| &day[..7]).collect();
    months.dedup();
    let entry = |day: &&str| {
        format!(
            "### {day} \u{2014} Entry of {day}\n\n- **Why:** w\n- **Impact:** i\n\
             - **Evidence:** https://example.org/a/b/pull/1\n\n"
        )
    };
    let of = |month: &&str| {
        let entries: String = days.iter().filter(|day| day.starts_with(month)).map(entry).collect();
        format!("## {month}\n\n{entries}")
    };
    let months: String = months.iter().map(of).collect();
    format!(
        "<!-- DO: x -->\n<!-- DON'T: y -->\n\n# Decisions\n\n## Recent (last 30 days)\n{rollup}\n{months}"
    )
}

#[test]
fn a_session_gets_the_constraints_under_sub_headings_and_decorated_headings() {
    let case = Case::empty();
    case.run("ledger init").success();
    case.write(
        "docs/memory/CONSTRAINTS.md",
        "## Rules\n- rule one\n\n### Security\n- Never log tokens\n\n## Key Facts\n- a fact\n\n\
         ## \u{26a0} Hazards & Pitfalls\n\n### Migrations\n- Never run migrate twice\n\n\
         ## Infrastructure (prod)\n- One server\n",
    );
    let input = json!({"hook_event_name": "SessionStart", "source": "startup", "cwd": case.root()});
    let hook = case.run("hook session-start --harness claude");
    for told in [
        case.run("ledger brief").success().stdout(),
        case.run("context").success().stdout(),
        hook.stdin(input.to_string()).success().stdout(),
    ] {
        for bullet in ["rule one", "Never log tokens", "Never run migrate twice", "One server"] {
            assert!(told.contains(bullet), "{bullet}: {told}");
        }
        assert!(!told.contains("a fact"), "{told}");
    }
}

#[test]
fn a_session_gets_the_rollup_s_bullets_under_sub_headings() {
    let case = Case::empty();
    case.run("ledger init").success();
    let rollup = "## Recent (last 30 days)\n\n### Storage\n- One file\n\n### Build\n- One binary\n";
    case.write("docs/memory/DECISIONS.md", format!("# Decisions\n\n{rollup}\n## 2026-02\n"));
    let brief = case.run("ledger brief").success().stdout();
    assert!(brief.contains("- One file") && brief.contains("- One binary"), "{brief}");
}

#[test]
fn an_accepted_update_passes_the_check() {
    let case = Case::empty();
    case.run("ledger init").success();
    let decision = |title: &str, day: &str| {
        json!({"date": day, "title": title, "why": "w", "impact": "i",
            "evidence": "https://example.org/a/b/pull/3"})
    };
    let update = json!({
        "state": {"objective": "Ship", "active_work": ["Read"], "next_actions": ["Write"],
            "quick_reference": {"run": "x", "test": "y", "entry_point": "z"}},
        "decisions": [decision("Keep one file", "2026-02-28"), decision("Use tabs", "2026-02-27")],
    });
    let hand_in = || case.run("ledger update").stdin(update.to_string()).success();
    hand_in();
    let check = case.run("ledger check --json").success().json();
    assert_eq!(check["findings"], json!([]));
    assert!(hand_in().stdout().contains("Already applied"));
}

#[test]
fn a_constraint_in_another_section_does_not_count_as_applied() {
    let case = Case::empty();
    case.run("ledger init").success();
    let add = |section: &str| json!({"constraints": [{"op": "add", "section": section, "bullet": "Never log tokens"}]});
    let run = |update: serde_json::Value| case.run("ledger update").stdin(update.to_string());
    run(add("Rules")).success();
    run(add("Rules")).success();
    let refused = run(add("Hazards")).code(4);
    let stands = text(&case, "docs/memory/CONSTRAINTS.md");
    let line = stands.lines().position(|line| line == "- Never log tokens").unwrap() + 1;
    let said = format!("duplicates line {line}");
    assert!(refused.stderr().contains(&said), "{}", refused.report());
}

#[test]
fn a_check_notices_a_deleted_constraint_and_an_edited_decision() {
    if !require("git") {
        return;
    }
    let (case, made) = fresh(1);
    let decision = |title: &str, day: &str| json!({"date": day, "title": title, "why": "w", "impact": "i", "evidence": made[0]});
    let add = |bullet: &str| json!({"op": "add", "section": "Rules", "bullet": bullet});
    let update = json!({"covered_through": made[0], "state": {
        "objective": "Ship", "active_work": ["Read"], "next_actions": ["Write"],
        "quick_reference": {"run": "x", "test": "y", "entry_point": "z"}},
        "constraints": [add("Never log tokens"), add("Tests run offline"), add("One binary")],
        "decisions": [decision("Keep one file", "2026-02-02"), decision("Use tabs", "2026-02-01")]});
    let hand_in = |update: serde_json::Value, flags: &str| {
        case.run(&format!("ledger update {flags}")).stdin(update.to_string()).success();
    };
    hand_in(update, "");
    case.commit("Update the ledger", "2026-02-03T10:00:00Z");
    case.run("ledger check").success();
    // Allowed changes are not findings: an edit with its note, a supersession, a new entry.
    hand_in(
        json!({"constraints": [
            {"op": "edit", "match": "Tests run offline", "bullet": "Tests run offline, and in a day"},
            {"op": "supersede", "match": "One binary", "reason": "two now"}],
            "decisions": [decision("Use spaces", "2026-02-03")]}),
        "",
    );
    case.run("ledger check").success();
    let (constraints, decisions) = ("docs/memory/CONSTRAINTS.md", "docs/memory/DECISIONS.md");
    case.write(constraints, text(&case, constraints).replace("- Never log tokens\n", ""));
    let written =
        text(&case, decisions).replace("Use tabs\n\n- **Why:** w", "Use tabs\n\n- **Why:** x");
    let (head, rest) = written.split_once("### 2026-02-02").unwrap();
    let rest = &rest[rest.find("### ").unwrap()..];
    case.write(decisions, format!("{head}{rest}"));
    let found = case.run("ledger check").code(1).stdout();
    for message in [
        "CONSTRAINTS.md: no longer contains \"Never log tokens\", which is in the last commit",
        "DECISIONS.md: no longer contains the entry 2026-02-02 \"Keep one file\" as it is in the last commit",
        "DECISIONS.md: no longer contains the entry 2026-02-01 \"Use tabs\" as it is in the last commit",
    ] {
        assert!(found.contains(message), "{message}: {found}");
    }
    assert_eq!(found.matches("-only)").count(), 3, "{found}");
}
