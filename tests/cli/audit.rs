//! `annals audit`

use serde_json::{Value, json};

use crate::cli::{GSD, VBW};
use crate::support::{Case, require};

/// A key of a known shape, put together here so that no scanner finds one in this file.
fn key() -> String {
    format!("AKIA{}", "Q7ZT2LMX9VKC4RBW")
}

fn row<'a>(audit: &'a Value, store: &str, check: &str) -> &'a Value {
    let rows = audit["rows"].as_array().unwrap();
    rows.iter().find(|row| row["store"] == store && row["check"] == check).unwrap_or(&Value::Null)
}

#[test]
fn an_empty_folder_has_nothing_to_audit() {
    let case = Case::empty();
    let run = case.run("audit --check").success();
    assert_eq!(run.stdout(), "Nothing to audit: no store is in use here.\n");
    assert_eq!(case.whole_tree().len(), 0, "nothing is written");
}

#[test]
fn what_is_in_order_is_ok_and_passes_the_check() {
    let case = Case::new(GSD);
    case.run("sync --fix-state").success();
    case.run("sync").success();
    let before = case.whole_tree();
    let run = case.run("audit --check").success();
    assert!(run.stdout().starts_with("context   block          ok\n"), "{}", run.report());
    assert_eq!(case.whole_tree(), before, "nothing is written");
    let audit = case.run("audit --json").success().json();
    assert_eq!(audit["level"], "ok");
    assert_eq!(row(&audit, "entries", "format"), &Value::Null);
    assert_eq!(row(&audit, "ledger", "rules"), &Value::Null);
    assert_eq!(row(&audit, "facts", "database"), &Value::Null);
}

#[test]
fn every_store_is_checked_at_once_and_nothing_is_changed() {
    let case = Case::new(VBW);
    case.write(".vbw-planning/phases/notes.md", format!("one\n\nid {}\n", key()));
    case.write(
        ".vibekit/memory/port.md",
        "---\ntitle: Port\ntype: fact\nstatus: active\nupdated: 2025-01-01\n---\n# Port\n\nSee [[gone]].\n",
    );
    case.write("docs/memory/STATE.md", "# State\n");
    case.write("journal.jsonl", "{\"content\":\"a\"}\ntorn\n");
    let before = case.whole_tree();
    let run = case
        .run("audit --json")
        .env("MEMORY_FILE", case.root().join("journal.jsonl").to_str().unwrap())
        .success();
    let audit = run.json();
    assert_eq!(audit["level"], "fault");
    let block = row(&audit, "context", "block");
    assert_eq!(block["fix"], "annals sync");
    assert_eq!(
        block["details"],
        json!([{"file": "CLAUDE.md", "line": null, "message": "is out of date"}])
    );
    let stale = row(&audit, "patterns", "stale");
    assert_eq!(stale["level"], "attention");
    assert_eq!(stale["details"][0]["file"], ".vbw-planning/patterns/PATTERNS.md");
    assert!(stale["details"][0]["line"].as_u64().unwrap() > 1);
    assert_eq!(stale["fix"], "correct the path in PATTERNS.md, or remove the lesson");
    assert_eq!(row(&audit, "entries", "age")["count"], 1);
    assert_eq!(row(&audit, "entries", "links")["details"][0]["file"], ".vibekit/memory/port.md");
    assert_eq!(row(&audit, "entries", "index")["fix"], "annals entry audit");
    assert_eq!(row(&audit, "ledger", "rules")["level"], "attention");
    assert_eq!(
        row(&audit, "journal", "lines")["details"][0],
        json!({"file": "journal.jsonl", "line": 2, "message": "is not a JSON object, or is too long to be read"})
    );
    let secrets = row(&audit, "plan", "secrets");
    assert_eq!(secrets["level"], "fault");
    assert_eq!(
        secrets["details"],
        json!([{
            "file": ".vbw-planning/phases/notes.md",
            "line": 3,
            "message": "contains what looks like a secret (aws-access-key)"
        }])
    );
    assert!(!run.stdout().contains(&key()), "the secret is not told");
    assert_eq!(case.whole_tree(), before, "nothing is written");
}

#[test]
fn secrets_are_found_in_each_store() {
    let case = Case::empty();
    let text = format!("# T\n\n{}\n", key());
    for file in [
        "AGENTS.md",
        ".planning/patterns/PATTERNS.md",
        ".vibekit/memory/a.md",
        ".vibekit/notepad.md",
        "docs/memory/DECISIONS.md",
    ] {
        case.write(file, &text);
    }
    let long = format!("{{\"content\":\"{}\"}}\n", "x".repeat(3000)).repeat(600);
    case.write("m.jsonl", format!("{long}{{\"content\":\"{}\"}}\n", key()));
    let run = case
        .run("audit --json")
        .env("MEMORY_FILE", case.root().join("m.jsonl").to_str().unwrap())
        .success();
    let audit = run.json();
    for (store, count, line) in [
        ("context", 1, 3),
        ("patterns", 1, 3),
        ("entries", 2, 3),
        ("ledger", 1, 3),
        ("journal", 1, 601),
    ] {
        let row = row(&audit, store, "secrets");
        assert_eq!(row["count"], count, "{store}: {audit:#}");
        assert_eq!(row["details"][0]["line"], line, "{store}: {audit:#}");
    }
    assert!(!run.stdout().contains(&key()));
}

#[test]
fn plans_without_a_summary_are_listed_apart_from_what_fix_state_repairs() {
    let case = Case::empty();
    case.write(
        ".planning/ROADMAP.md",
        "# Roadmap: A\n\n- [x] **Phase 1: One** - a\n- [ ] **Phase 2: Two** - b\n",
    );
    case.write(".planning/STATE.md", "# State\n\nPhase: 2 of 2 (Two)\n");
    for plan in ["01-one/01-01", "01-one/01-02", "02-two/02-01"] {
        case.write(&format!(".planning/phases/{plan}-PLAN.md"), "# Plan\n");
    }
    let done = "---\nstatus: complete\n---\n\n# Summary\n";
    case.write(".planning/phases/01-one/01-01-SUMMARY.md", done);
    let audit = case.run("audit --json").success().json();
    let left = row(&audit, "plan", "left plans");
    assert_eq!(left["count"], 1, "{audit:#}");
    let file = left["details"][0]["file"].as_str().unwrap();
    assert!(file.ends_with("01-02-PLAN.md"), "{audit:#}");
    assert_eq!(row(&audit, "plan", "drift")["count"], 0, "{audit:#}");
}

#[test]
fn a_check_that_cannot_be_run_hides_no_other() {
    let case = Case::new(VBW);
    case.write(".local/mem.db", "no database at all, but long enough to be looked at".repeat(40));
    let audit = case
        .run("audit --json")
        .env("ANNALS_DB", case.root().join(".local/mem.db").to_str().unwrap())
        .success()
        .json();
    let failed = row(&audit, "facts", "database");
    assert_eq!((&failed["level"], &failed["count"]), (&json!("fault"), &json!(1)));
    assert_eq!(failed["fix"], "annals facts check");
    assert!(row(&audit, "plan", "drift").is_object());
    assert!(row(&audit, "context", "secrets").is_object());
}

#[test]
fn facts_are_counted_and_their_values_never_told() {
    let case = Case::empty();
    case.run("facts add --user ada --key preference.editor --value helix").success();
    case.run("facts observe --user ada")
        .stdin("{\"user_input\": \"I moved to Zanzibar\", \"turn_id\": \"a\"}")
        .success();
    let run = case.run("audit --json").env("ANNALS_USER", "ada").success();
    let audit = run.json();
    assert_eq!(row(&audit, "facts", "database")["level"], "ok");
    assert_eq!(row(&audit, "facts", "vectors")["level"], "ok");
    assert_eq!(row(&audit, "facts", "pending")["level"], "ok");
    let waiting = row(&audit, "facts", "waiting turns");
    assert_eq!((&waiting["count"], &waiting["fix"]), (&json!(1), &json!("annals facts work")));
    assert!(!run.stdout().contains("helix") && !run.stdout().contains("Zanzibar"));
}

#[test]
fn the_ledger_that_is_behind_is_told_with_the_command() {
    require("git");
    let case = Case::empty();
    case.git_init();
    case.run("ledger init").success();
    case.commit("one", "2026-01-01T00:00:00Z");
    let audit = case.run("audit --json").success().json();
    let coverage = row(&audit, "ledger", "coverage");
    assert_eq!(coverage["level"], "attention");
    assert_eq!(coverage["fix"], "annals ledger pending");
}

#[test]
fn the_check_fails_on_what_is_to_be_mended() {
    let case = Case::new(VBW);
    let run = case.run("audit --check").code(1);
    assert!(
        run.stdout().contains(
            "context   block          attention    1  annals sync\n    CLAUDE.md: is out of date\n"
        ),
        "{}",
        run.report()
    );
    assert!(run.stderr().ends_with("checks found problems\n"), "{}", run.report());
    case.run("audit").success();
    let document = case.run("audit --check --json").code(1).json();
    assert_eq!(document["rows"][0]["fix"], "annals sync");
    assert_eq!(document["error"]["kind"], "failed");
}

#[test]
fn a_text_so_long_that_the_block_is_shortened_is_told_by_audit_and_doctor_alone() {
    let case = Case::new(VBW);
    case.write("CLAUDE.md", "A line of one's own.\n\n".repeat(100));
    let written = case.run("sync").success();
    assert_eq!(written.stderr(), "");
    let told = "CLAUDE.md: contains so much of your own text that the block was shortened";
    for command in ["audit", "doctor"] {
        let run = case.run(command).success();
        assert!(run.stdout().contains(told), "{}", run.report());
        assert_eq!(run.stdout().matches(told).count(), 1);
    }
    case.write("annals.toml", "max_lines = 100\n");
    let over = case.run("audit").success().stdout();
    assert!(over.contains("over its limit") && !over.contains(told), "{over}");
    case.write("CLAUDE.md", "Short.\n");
    case.run("sync").success();
    assert!(!case.run("doctor").success().stdout().contains("budget"));
}

#[cfg(unix)]
#[test]
fn a_context_file_that_is_a_link_is_searched_for_secrets() {
    let case = Case::new(GSD);
    case.write("docs/C.md", format!("one\n{}\n", key()));
    std::os::unix::fs::symlink("docs/C.md", case.root().join("CLAUDE.md")).unwrap();
    let audit = case.run("audit --json").output().json();
    let found = row(&audit, "context", "secrets");
    assert_eq!(found["level"], "fault", "{audit}");
}
