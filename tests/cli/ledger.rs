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
fn a_missing_section_is_restored_as_init_creates_it() {
    let case = Case::empty();
    case.run("ledger init").success();
    let path = "docs/memory/STATE.md";
    let made = String::from_utf8(case.read(path).unwrap()).unwrap();
    let starts: Vec<usize> = made.match_indices("## ").map(|(at, _)| at).collect();
    let footer = made.find("---\n").unwrap();
    assert_eq!(starts.len(), 6);
    for (place, start) in starts.iter().enumerate() {
        let end = starts.get(place + 1).copied().unwrap_or(footer);
        case.write(path, format!("{}{}", &made[..*start], &made[end..]));
        case.run("ledger check").code(1);
        case.run("ledger check --fix").success();
        let fixed = String::from_utf8(case.read(path).unwrap()).unwrap();
        assert_eq!(fixed, made);
    }
}

#[test]
fn check_finds_and_repairs() {
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
    let fixed = case.run("ledger check --fix").code(1);
    let left: Vec<String> = fixed.stdout().lines().map(str::to_owned).collect();
    assert_eq!(left.len(), 2, "{}", fixed.report());
    assert!(left[0].contains("has no impact, no evidence"), "{}", fixed.report());
    let text = String::from_utf8(case.read("docs/memory/DECISIONS.md").unwrap()).unwrap();
    assert!(text.contains("## Recent (last 30 days)\n- B\n\n## 2026-02\n"), "{text}");
    assert!(text.find("2026-02-02") < text.find("2026-01-02"), "{text}");
    let json = case.run("ledger check --json").code(1).json();
    assert_eq!(json["error"]["kind"], json!("failed"));
}
