use std::collections::BTreeSet;

use serde_json::json;

use super::*;

/// A document with every field there is.
fn full() -> Value {
    json!({
        "state": {
            "objective": "Ship it", "active_work": ["one"], "blockers": ["two"], "next_actions": ["three"],
            "quick_reference": {"run": "a", "test": "b", "entry_point": "c", "more": ["four"]},
            "out_of_scope": ["five"],
        },
        "constraints": [{"op": "add", "section": "s", "bullet": "b", "match": "m", "reason": "r"}],
        "decisions": [{
            "date": "2026-02-17", "title": "Title", "why": "w", "impact": "i", "symptom": "s",
            "root_cause": "c", "fix": "f", "prevention": "p", "evidence": "84e9493",
        }],
        "rollup": ["six"],
        "covered_through": "84e9493",
    })
}

/// The parts of the schema with fields, each with its place in a document.
const PARTS: &[(&str, &str)] = &[
    ("", ""),
    ("/$defs/state", "/state"),
    ("/$defs/state/properties/quick_reference", "/state/quick_reference"),
    ("/$defs/constraint", "/constraints/0"),
    ("/$defs/decision", "/decisions/0"),
];

/// Returns what is read of a document, whatever its faults.
fn fields_read(document: &Value) -> String {
    format!("{:?}", Draft::read(&document.to_string(), SecretPolicy::Refuse).update)
}

fn names(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

fn pointers(text: &str) -> Vec<String> {
    update_problems(text).into_iter().map(|problem| problem.pointer).collect()
}

#[test]
fn an_array_is_no_object_with_its_fields_in_order() {
    for (text, pointer) in [
        ("[]", ""),
        (r#"[null, [{"op": "add", "section": "Rules", "bullet": "x"}], [], null, null]"#, ""),
        (r#"{"state": ["Ship it", ["one"]]}"#, "/state"),
        (
            r#"{"state": {"objective": "o", "active_work": ["one"], "quick_reference": []}}"#,
            "/state/quick_reference",
        ),
        (r#"{"constraints": [["add", "Rules", "text", "m", "r"]]}"#, "/constraints/0"),
        (
            r#"{"decisions": [["2026-02-17", "t", "w", "i", "s", "c", "f", "p", "84e9493"]]}"#,
            "/decisions/0",
        ),
    ] {
        assert_eq!(pointers(text), [pointer], "{text}");
    }
}

#[test]
fn the_schema_has_exactly_the_fields_that_are_read() {
    let document = full();
    assert_eq!(pointers(&document.to_string()), Vec::<String>::new());
    let whole = fields_read(&document);
    for (part, pointer) in PARTS {
        let described = schema().pointer(part).unwrap();
        assert_eq!(described["additionalProperties"], json!(false), "{part}");
        let written = names(document.pointer(pointer).unwrap());
        assert_eq!(names(&described["properties"]), written, "{part}");
        for name in written {
            let mut without = document.clone();
            let fields = without.pointer_mut(pointer).unwrap();
            fields.as_object_mut().unwrap().remove(&name);
            assert_ne!(fields_read(&without), whole, "{pointer}/{name}");
        }
    }
}

#[test]
fn every_violation_of_a_count_has_its_pointer() {
    let document = json!({
        "state": {"objective": "", "active_work": [], "next_actions": ["a", "b", "c", "d", "e", "f"]},
        "constraints": [{"op": "add", "section": " "}],
        "rollup": ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"],
    });
    let mut found = pointers(&document.to_string());
    found.sort();
    let expected = [
        "/constraints/0/section", "/rollup", "/state/active_work", "/state/next_actions",
        "/state/objective",
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_invalid_document_is_one_problem() {
    for text in ["", "{", "null", "7", "{}x", "{\"stat\": 1}", "{\"state\": {}}"] {
        assert_eq!(pointers(text), [""], "{text:?}");
    }
    assert_eq!(pointers("{}"), Vec::<String>::new());
}

#[test]
fn secrets_are_refused_unless_allowed() {
    let key = ["AKIA", "IOSFODNN7", "REALKEY"].concat();
    let document = json!({"rollup": [format!("The key is {key}")]}).to_string();
    assert_eq!(pointers(&document), ["/rollup/0"]);
    assert_eq!(Draft::read(&document, SecretPolicy::Allow).problems.all, []);
}
