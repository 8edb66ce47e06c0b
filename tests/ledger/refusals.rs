//! Every rule refuses violations, names their location, and leaves the three files unchanged.

use serde_json::{Value, json};

use crate::ledger::{
    DECISIONS, STATE, commit, decision, initialised, moment, state, text, update, update_and_commit,
};
use crate::support::{Case, difference, require};

/// A ledger in use, and the hashes of the old anchor, the anchor, the checked-out commit and another branch.
fn in_use() -> (Case, [String; 4]) {
    let (case, first) = initialised();
    let second = commit(&case, 1);
    let document = json!({
        "state": state("One"),
        "constraints": [
            {"op": "add", "section": "Rules", "bullet": "Never panic on any bytes of a file"},
            {"op": "add", "section": "Rules", "bullet": "Sort before you print"},
        ],
        "decisions": [
            decision("Write by hand", &first), decision("Two", &first), decision("Three", &first),
            decision("Four", &first), decision("Five", &first),
        ],
        "rollup": ["a", "b", "c", "d", "e"],
        "covered_through": second,
    });
    // Committed, because otherwise switching the branch would keep the files.
    update_and_commit(&case, &document);
    case.program("git checkout -q -b apart").success();
    case.write("src/apart.rs", "// apart\n");
    let apart = case.commit("Go apart", &moment(2));
    case.program("git checkout -q main").success();
    let head = commit(&case, 3);
    (case, [first, second, head, apart])
}

/// Changes one value of a document that follows every rule.
fn with(document: &Value, pointer: &str, value: Value) -> Value {
    let mut changed = document.clone();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match changed.pointer_mut(parent).unwrap() {
        Value::Array(items) => items[name.parse::<usize>().unwrap()] = value,
        Value::Object(fields) => {
            fields.insert(name.to_owned(), value);
        }
        other => panic!("{other}"),
    }
    changed
}

fn lines(count: usize) -> Value {
    (0..count).map(|n| format!("line {n}")).collect()
}

/// The violations: the changed place, the new value, the expected pointer and a part of the message.
fn violations(hashes: &[String; 4]) -> Vec<(&'static str, Value, &'static str, &'static str)> {
    let [first, _, _, apart] = hashes;
    let many: Vec<String> = (0..25).map(|n| format!("Blocker {n}")).collect();
    vec![
        ("/state", json!(7), "", "expected struct NewState"),
        ("/state/objective", json!(" "), "/state/objective", "is empty"),
        ("/state/objective", json!("It should work"), "/state/objective", "should"),
        ("/state/objective", json!("What we used to do"), "/state/objective", "used to"),
        ("/state/active_work", lines(0), "/state/active_work", "0 items; 1 to 3"),
        ("/state/active_work", lines(4), "/state/active_work", "4 items; 1 to 3"),
        ("/state/next_actions", lines(6), "/state/next_actions", "6 items; 0 to 5"),
        ("/state/out_of_scope", lines(4), "/state/out_of_scope", "4 items; 0 to 3"),
        ("/state/quick_reference/more", lines(3), "/state/quick_reference/more", "3 items; 0 to 2"),
        ("/state/blockers", json!(many), "/state", "52 lines; at most 45"),
        ("/state/history", json!([]), "", "unknown field `history`"),
        ("/constraints/0/op", json!("delete"), "/constraints/0/op", "\"supersede\""),
        (
            "/constraints/0/bullet",
            json!("Never panic on any bytes of files"),
            "/constraints/0/bullet",
            "duplicates line",
        ),
        (
            "/constraints/0/bullet",
            json!("Sort before you print"),
            "/constraints/0/bullet",
            "duplicates line",
        ),
        ("/constraints/0/section", json!("Superseded"), "/constraints/0/section", "`supersede`"),
        (
            "/constraints/1/match",
            json!("no such bullet"),
            "/constraints/1/match",
            "matches no current bullet",
        ),
        (
            "/constraints/1/bullet",
            json!("Entirely else"),
            "/constraints/1/bullet",
            "supersede that bullet",
        ),
        ("/constraints/2/match", json!("e"), "/constraints/2/match", "matches 2 bullets"),
        ("/constraints/2/reason", json!(""), "/constraints/2/reason", "is required"),
        ("/decisions/0/date", json!("2026-02-31"), "/decisions/0/date", "not a valid date"),
        ("/decisions/0/date", json!("2027-01-01"), "/decisions/0/date", "future"),
        ("/decisions/0/title", json!("write by HAND"), "/decisions/0/title", "never edited"),
        ("/decisions/0/why", json!(null), "/decisions/0/why", "is required"),
        ("/decisions/0/symptom", json!("A crash"), "/decisions/0/prevention", "required"),
        ("/decisions/0/evidence", json!("everybody knows"), "/decisions/0/evidence", "no evidence"),
        ("/decisions/0/evidence", json!("0123456789"), "/decisions/0/evidence", "is not a commit"),
        (
            "/decisions/0/evidence",
            json!("src/none.rs (on-disk invariant)"),
            "/decisions/0/evidence",
            "not a file of this project",
        ),
        ("/rollup", lines(11), "/rollup", "11 items; 1 to 10"),
        ("/rollup/0", json!(["AKIA", "IOSFODNN7", "REALKEY"].concat()), "/rollup/0", "secret"),
        ("/covered_through", json!("HEAD"), "/covered_through", "HEAD is not the hash of a commit"),
        ("/covered_through", json!("0123456789"), "/covered_through", "the checked-out commit is"),
        ("/covered_through", json!(apart), "/covered_through", "not in the history"),
        ("/covered_through", json!(first), "/covered_through", "only moves forward"),
        ("/covered_through", json!(null), "/covered_through", "required with a state"),
        ("/more", json!(1), "", "unknown field `more`"),
    ]
}

#[test]
fn each_rule_refuses_violations_and_nothing_is_written() {
    if !require("git") {
        return;
    }
    let (case, hashes) = in_use();
    let head = &hashes[2];
    let good = json!({
        "state": state("Two"),
        "constraints": [
            {"op": "add", "section": "Hazards", "bullet": "Clocks jump back"},
            {"op": "edit", "match": "Never panic", "bullet": "Never panic on any bytes of any file"},
            {"op": "supersede", "match": "Sort before", "reason": "order is kept"},
        ],
        "decisions": [decision("Six", head)],
        "rollup": ["a", "b", "c", "d", "e", "f"],
        "covered_through": head,
    });
    let before = case.tree();
    let violations = violations(&hashes);
    for (place, value, pointer, message) in &violations {
        let document = with(&good, place, value.clone());
        let refused = case.run("ledger update --json").stdin(document.to_string()).code(4);
        let error = &refused.json()["error"];
        assert_eq!(error["kind"], json!("refused"));
        let problems = error["problems"].as_array().unwrap();
        let fits = |problem: &&Value| {
            problem["pointer"] == json!(pointer)
                && problem["message"].as_str().unwrap().contains(message)
        };
        assert!(
            problems.iter().any(|problem| fits(&problem)),
            "{place}: {message}: {}",
            refused.report()
        );
        let changed = difference(&before, &case.tree());
        assert!(changed.is_empty(), "{place}: {changed:?}");
    }
    // Without the changes, the document is valid.
    update(&case, &good, "");
}

#[test]
fn one_answer_lists_all_problems() {
    if !require("git") {
        return;
    }
    let (case, _) = in_use();
    let document = json!({
        "state": {"objective": "It should work", "active_work": []},
        "constraints": [{"op": "add", "section": "Hazards", "bullet": "Sort before you print"}, {"op": "edit"}],
        "decisions": [decision("Write by hand", "nowhere"), {"date": "never", "title": "T", "evidence": "none"}],
        "rollup": [],
        "covered_through": "HEAD",
    });
    let refused = case.run("ledger update").stdin(document.to_string()).code(4);
    let stderr = refused.stderr();
    for pointer in [
        "/state/objective", "/state/active_work", "/constraints/0/bullet", "/constraints/1/match",
        "/constraints/1/bullet", "/decisions/0/evidence", "/decisions/1/date",
        "/decisions/1/evidence", "/decisions/1/why", "/rollup", "/covered_through",
    ] {
        assert!(stderr.contains(&format!("\n  {pointer}: ")), "{pointer}\n{}", refused.report());
    }
    assert!(stderr.starts_with("error: the update has "), "{stderr}");
    assert!(stderr.ends_with("the rules\n"), "{stderr}");
}

#[test]
fn evidence_is_found_in_free_text() {
    if !require("git") {
        return;
    }
    let (case, [first, _, head, _]) = in_use();
    let (short, long) = (&first[..8], head.to_uppercase());
    let link = format!("https://example.org/o/r/commit/{short}");
    let entries = [
        (format!("{short}, `{long}`."), ""),
        (format!("deployed 20260217 in {short}, not defaced"), ""),
        ("https://example.org/a/b/pull/12".to_owned(), ""),
        ("defaced https://example.org/g/-/merge_requests/7 (merged)".to_owned(), ""),
        (link.clone(), ""),
        // Beside other evidence, a link may lead to another repository.
        (
            format!("{short}, https://example.org/commit/0123456, https://ci.example.org/12345678"),
            "",
        ),
        ("./src/apart.rs. On-disk invariant".to_owned(), "not a file of this project"),
        ("`src/file1.rs` (an on-disk invariant)".to_owned(), ""),
        ("the on-disk invariant **src/file1.rs**: kept".to_owned(), ""),
        ("Makefile (on-disk invariant)".to_owned(), "not a file of this project"),
        ("../file1.rs (on-disk invariant)".to_owned(), "not a file of this project"),
        ("src/file1.rs".to_owned(), "cites no evidence"),
        ("this commit, reviewed".to_owned(), "cites no evidence"),
        ("https://example.org/commit/0123456".to_owned(), "0123456 is not a commit"),
        (format!("{short} and 0123456"), ""),
        ("defaced".to_owned(), "defaced is not a commit"),
    ];
    let written = entries.iter().enumerate().map(|(n, (evidence, _))| {
        format!("### 2026-02-20 \u{2014} Entry {n}\n\n- **Evidence:** {evidence}\n\n")
    });
    case.write(DECISIONS, format!("# Decisions\n\n## 2026-02\n\n{}", written.collect::<String>()));
    let found = case.run("ledger check").code(1).stdout();
    let found: Vec<&str> = found.lines().filter(|line| line.ends_with("(evidence)")).collect();
    let faulty = entries.iter().enumerate().filter(|(_, (_, fault))| !fault.is_empty());
    let faulty: Vec<_> = faulty.map(|(n, (_, fault))| (5 + 4 * n, fault)).collect();
    assert_eq!(found.len(), faulty.len(), "{found:#?}");
    for (line, (number, fault)) in found.iter().zip(faulty) {
        let place = format!("docs/memory/DECISIONS.md:{number}: ");
        assert!(line.starts_with(&place) && line.contains(fault), "{place} {fault}: {line}");
    }
}

#[test]
fn an_invalid_document_is_refused() {
    let case = Case::empty();
    for (input, message) in [
        ("", "error: standard input is empty\n"),
        (" \n", "error: standard input is empty\n"),
        ("7", "  the document: is not an update"),
        ("{", "is not JSON"),
    ] {
        let refused = case.run("ledger update").stdin(input).code(4);
        assert!(refused.stderr().contains(message), "{}", refused.report());
    }
    case.run("ledger update").stdin(b"\xff\xfe".to_vec()).code(4);
    case.run("ledger update --file none.json").code(3);
    assert_eq!(case.tree().len(), 0);
}

#[test]
fn a_file_in_conflict_is_not_written() {
    let case = Case::empty();
    case.run("ledger init").success();
    let conflict =
        "# Decisions\n\n<<<<<<< ours\n## 2026-02\n\n=======\n## 2026-03\n\n>>>>>>> theirs\n";
    case.write(DECISIONS, conflict);
    let before = case.tree();
    let refused = case.run("ledger init").code(4).stderr();
    assert!(refused.contains("has an unresolved merge conflict"), "{refused}");
    assert_eq!(difference(&before, &case.tree()), [""; 0]);
}

#[test]
fn a_file_with_invalid_utf_8_is_read_and_not_written() {
    let case = Case::empty();
    case.write("docs/memory/CONSTRAINTS.md", b"# Constraints\n\n## Rules\n- caf\xe9\n");
    let before = case.tree();
    let document =
        json!({"constraints": [{"op": "add", "section": "Rules", "bullet": "One more"}]});
    let refused = case.run("ledger update").stdin(document.to_string()).code(4);
    assert!(refused.stderr().contains("not valid UTF-8"), "{}", refused.report());
    assert_eq!(case.tree(), before);
    case.run("ledger brief").success();
}

#[test]
fn an_allowed_secret_is_written_and_survives_a_redacted_update() {
    if !require("git") {
        return;
    }
    let (case, [_, _, head, _]) = in_use();
    let key = ["AKIA", "IOSFODNN7", "REALKEY"].concat();
    let with_key = json!({"state": state(&format!("Replace {key}")), "covered_through": head});
    update(&case, &with_key, "--allow-secret");
    assert!(text(&case, STATE).contains(&format!("Replace {key}\n")));
    let brief = case.run("ledger brief").success().stdout();
    assert!(brief.contains("Replace [redacted]\n"), "{brief}");
    let read = json!({
        "state": state("Replace [redacted]"),
        "constraints": [{"op": "edit", "match": "Sort before", "bullet": "Sort [redacted]"}],
        "rollup": ["a", "b", "c", "d", "with [redacted]"],
        "covered_through": head,
    });
    let before = case.tree();
    for flags in ["", "--allow-secret"] {
        let run = case.run(&format!("ledger update {flags}"));
        let refused = run.stdin(read.to_string()).code(4).stderr();
        for pointer in ["/state/objective", "/constraints/0/bullet", "/rollup/4"] {
            let line =
                format!("  {pointer}: contains \"[redacted]\", the placeholder for a secret");
            assert!(refused.contains(&line), "{pointer}: {refused}");
        }
    }
    assert!(difference(&before, &case.tree()).is_empty());
    // A file that already contains the placeholder may keep it.
    let own = text(&case, STATE).replace(&key, "[redacted]");
    case.write(STATE, own);
    update(&case, &json!({"state": state("Replace [redacted]"), "covered_through": head}), "");
}
