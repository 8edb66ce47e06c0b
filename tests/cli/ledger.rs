//! `annals ledger`

use serde_json::json;

use crate::support::Case;

const UPDATE: &str = r#"{"state":{"objective":"Ship the reader","active_work":["Read footers"]},
    "constraints":[{"op":"add","section":"Rules","bullet":"Never panic on any bytes"}]}"#;

#[test]
fn the_loop_from_an_empty_folder() {
    let case = Case::empty();
    let none = case.run("ledger brief").success();
    assert!(
        none.stdout()
            .starts_with("ACTION REQUIRED: this project has no ledger: run `annals ledger init`"),
        "{}",
        none.report()
    );
    assert_eq!(case.tree().len(), 0);
    let made = case.run("ledger init").success();
    assert_eq!(
        made.stdout(),
        "Created in docs/memory: STATE.md, CONSTRAINTS.md, DECISIONS.md.\nNext: annals ledger pending --skill\n"
    );
    assert!(case.run("ledger init").success().stdout().contains("complete already"));
    let updated = case.run("ledger update").stdin(UPDATE).success();
    assert_eq!(updated.stdout(), "Updated docs/memory/STATE.md, docs/memory/CONSTRAINTS.md.\n");
    let brief = case.run("ledger brief").success().stdout();
    for part in
        ["Ship the reader", "## Rules\n- Never panic on any bytes", "Coverage: no git repository"]
    {
        assert!(brief.contains(part), "{part}\n{brief}");
    }
    assert_eq!(
        case.run("ledger pending").success().stdout(),
        "Coverage: no git repository, so commits are not tracked.\nNothing is pending.\n"
    );
    case.run("ledger check").success();
    case.run("undo").success();
    assert!(
        case.run("ledger brief")
            .success()
            .stdout()
            .starts_with("ACTION REQUIRED: the ledger is empty")
    );
}

#[test]
fn the_command_that_commits_works_where_the_run_was_started() {
    let case = Case::empty();
    case.git_init().write("src/lib.rs", "");
    let head = case.commit("one", "2026-02-01T00:00:00Z");
    case.run("ledger init").success();
    let next = |bullet: &str, folder: &str, line: &str| {
        let update = json!({
            "constraints": [{"op": "add", "section": "Rules", "bullet": bullet}],
            "covered_through": head,
        });
        let done = case.run(line).inside(folder).stdin(update.to_string()).success().stdout();
        // A root with a drive is quoted.
        done.lines().last().unwrap().replace('\'', "")
    };
    let plain = "git add docs/memory && git commit -m \"Update the ledger\" docs/memory";
    let whole = plain.replace("git ", "git -C [ROOT] ");
    assert_eq!(next("Never panic", "", "ledger update"), format!("Next: {plain}"));
    assert_eq!(next("One file each", "src", "ledger update"), format!("Next: {whole}"));
    assert_eq!(next("No locks held", "src", "-C .. ledger update"), format!("Next: {whole}"));
}

#[test]
fn the_schema_and_the_procedure_are_printed() {
    let case = Case::empty();
    let schema = case.run("ledger pending --schema").success().json();
    assert_eq!(schema["properties"]["decisions"]["items"]["$ref"], json!("#/$defs/decision"));
    assert_eq!(case.run("ledger pending --schema --json").success().json(), schema);
    assert_eq!(case.run("ledger pending --json").success().json()["schema"], schema);
    let skill = case.run("ledger pending --skill").success().stdout();
    assert!(skill.starts_with("---\nname: update-ledger\n"), "{skill}");
    assert!(skill.contains("Leave out refactors, renames, lint fixes"), "{skill}");
}

#[test]
fn check_finds_what_breaks_a_rule() {
    let case = Case::empty();
    case.run("ledger init").success();
    case.run("ledger update").stdin(UPDATE).success();
    case.write(
        "docs/memory/DECISIONS.md",
        "# Decisions\n\n## 2026-01\n\n### 2026-01-02 \u{2014} A\n- **Why:** x\n- **Impact:** y\n- **Evidence:** https://example.org/pull/1\n\n## 2026-02\n\n### 2026-02-02 \u{2014} B\n- **Why:** x\n",
    );
    let found = case.run("ledger check").code(1);
    for rule in ["(header)", "(rollup)", "(month-order)", "has no impact, no evidence (entry)"] {
        assert!(found.stdout().contains(rule), "{rule}\n{}", found.report());
    }
    let json = case.run("ledger check --json").code(1).json();
    assert_eq!(json["error"]["message"], "4 findings");
    assert_eq!(json["findings"].as_array().unwrap().len(), 4);
}
