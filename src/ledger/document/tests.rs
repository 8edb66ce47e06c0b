use std::collections::BTreeSet;

use serde_json::json;

use super::*;

/// A document with every field there is, as the types write it.
fn full() -> Update {
    let text = || Some("text".to_owned());
    let list = || vec!["one".to_owned()];
    Update {
        state: Some(NewState {
            objective: "Ship it".to_owned(),
            active_work: list(),
            blockers: list(),
            next_actions: list(),
            quick_reference: QuickReference {
                run: text(),
                test: text(),
                entry_point: text(),
                more: list(),
            },
            out_of_scope: list(),
        }),
        constraints: vec![ConstraintChange {
            op: ConstraintOperation::Add,
            section: text(),
            bullet: text(),
            matching: text(),
            reason: text(),
        }],
        decisions: vec![NewDecision {
            date: "2026-02-17".to_owned(),
            title: "Title".to_owned(),
            why: text(),
            impact: text(),
            symptom: text(),
            root_cause: text(),
            fix: text(),
            prevention: text(),
            evidence: "84e9493".to_owned(),
        }],
        rollup: Some(list()),
        covered_through: Some("84e9493".to_owned()),
    }
}

fn names(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

fn pointers(text: &str) -> Vec<String> {
    read(text, SecretPolicy::Refuse)
        .problems
        .into_iter()
        .map(|problem| problem.pointer)
        .collect()
}

#[test]
fn the_schema_has_exactly_the_fields_of_the_types() {
    let document = serde_json::to_value(full()).unwrap();
    for (part, value) in [
        ("", ""),
        ("/$defs/state", "/state"),
        (
            "/$defs/state/properties/quick_reference",
            "/state/quick_reference",
        ),
        ("/$defs/constraint", "/constraints/0"),
        ("/$defs/decision", "/decisions/0"),
    ] {
        let described = schema().pointer(part).unwrap();
        assert_eq!(described["additionalProperties"], json!(false), "{part}");
        let written = names(document.pointer(value).unwrap());
        assert_eq!(names(&described["properties"]), written, "{part}");
    }
    assert_eq!(schema::validate(&document), []);
    let operations = schema()
        .pointer("/$defs/constraint/properties/op/enum")
        .unwrap();
    let written = [
        ConstraintOperation::Add,
        ConstraintOperation::Edit,
        ConstraintOperation::Supersede,
    ];
    assert_eq!(*operations, serde_json::to_value(written).unwrap());
}

#[test]
fn schema_and_types_require_the_same_fields() {
    let document = serde_json::to_value(full()).unwrap();
    let fits = |value: &Value, pointer: &str| match pointer {
        "" => Update::deserialize(value).is_ok(),
        "/state" => NewState::deserialize(value).is_ok(),
        "/state/quick_reference" => QuickReference::deserialize(value).is_ok(),
        "/constraints/0" => ConstraintChange::deserialize(value).is_ok(),
        _ => NewDecision::deserialize(value).is_ok(),
    };
    for (part, pointer) in [
        ("", ""),
        ("/$defs/state", "/state"),
        (
            "/$defs/state/properties/quick_reference",
            "/state/quick_reference",
        ),
        ("/$defs/constraint", "/constraints/0"),
        ("/$defs/decision", "/decisions/0"),
    ] {
        let described = schema().pointer(part).unwrap();
        let required: Vec<&str> = described["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let whole = document.pointer(pointer).unwrap();
        for name in names(whole) {
            let mut without = whole.clone();
            without.as_object_mut().unwrap().remove(&name);
            assert_eq!(
                fits(&without, pointer),
                !required.contains(&name.as_str()),
                "{pointer}/{name}"
            );
        }
    }
}

#[test]
fn a_document_round_trips() {
    let text = serde_json::to_string(&full()).unwrap();
    let draft = read(&text, SecretPolicy::Refuse);
    assert_eq!(draft.problems, []);
    assert_eq!(draft.state, full().state);
    assert_eq!(draft.constraints, [(0, full().constraints[0].clone())]);
    assert_eq!(draft.decisions, [(0, full().decisions[0].clone())]);
    assert_eq!(
        (draft.rollup, draft.covered_through),
        (full().rollup, full().covered_through)
    );
    assert_eq!(serde_json::from_str::<Update>(&text).unwrap(), full());
}

#[test]
fn every_schema_violation_has_its_pointer() {
    let document = json!({
        "stat": 1,
        "state": {"objective": "", "active_work": [], "next_actions": ["a", "b", "c", "d", "e", "f"], "quick_reference": []},
        "constraints": [{"op": "add"}, {"op": "remove"}, {"op": "edit", "match": "x"}, {"op": "supersede", "match": "a\nb", "reason": "c"}, 7],
        "decisions": [{"date": "17.2.2026", "title": "T", "symptom": "s", "evidence": "e"}, {"date": "2026-02-17", "title": "T", "why": "w", "impact": "i"}],
        "rollup": ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"],
        "covered_through": "HEAD",
    });
    let mut found = pointers(&document.to_string());
    found.sort();
    let mut expected = [
        "/stat",
        "/state/objective",
        "/state/active_work",
        "/state/next_actions",
        "/state/quick_reference",
        "/constraints/0/section",
        "/constraints/0/bullet",
        "/constraints/1/op",
        "/constraints/2/bullet",
        "/constraints/3/match",
        "/constraints/4",
        "/decisions/0/date",
        "/decisions/0/root_cause",
        "/decisions/0/fix",
        "/decisions/0/prevention",
        "/decisions/1/evidence",
        "/rollup",
        "/covered_through",
    ];
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn an_invalid_document_is_one_problem() {
    for text in ["", "{", "[]", "null", "7", "{}x"] {
        assert_eq!(pointers(text), [""], "{text:?}");
    }
    assert_eq!(pointers("{}"), Vec::<String>::new());
}

#[test]
fn secrets_are_refused_unless_allowed() {
    let key = ["AKIA", "IOSFODNN7", "REALKEY"].concat();
    let document = json!({"rollup": [format!("The key is {key}")]}).to_string();
    assert_eq!(pointers(&document), ["/rollup/0"]);
    assert_eq!(read(&document, SecretPolicy::Allow).problems, []);
}
