//! Reads a document field by field: a missing field or one of a wrong type is empty, and does not hide
//! others.
//!
//! The schema reports the faults; the fields that can be read are checked against the rules all the same.

use serde_json::Value;

use crate::ledger::document::{
    ConstraintChange, ConstraintOperation, NewDecision, NewState, QuickReference,
};

/// Returns a string.
pub(crate) fn text(value: Option<&Value>) -> Option<String> {
    value?.as_str().map(str::to_owned)
}

/// Returns the strings of a list; any other element becomes an empty string, so that indexes stay the same.
fn list(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.map(|item| item.as_str().unwrap_or_default().to_owned()).collect()
}

/// Returns the readable items of a list, each with its index.
pub(crate) fn items<T>(
    value: Option<&Value>,
    read: impl Fn(&Value) -> Option<T>,
) -> Vec<(usize, T)> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.enumerate().filter_map(|(index, item)| Some((index, read(item)?))).collect()
}

/// Returns the state of an object.
pub(crate) fn state(value: Option<&Value>) -> Option<NewState> {
    let state = value.filter(|value| value.is_object())?;
    let reference = state.get("quick_reference");
    let reference_text = |name: &str| text(reference.and_then(|reference| reference.get(name)));
    Some(NewState {
        objective: text(state.get("objective")).unwrap_or_default(),
        active_work: list(state.get("active_work")),
        blockers: list(state.get("blockers")),
        next_actions: list(state.get("next_actions")),
        quick_reference: QuickReference {
            run: reference_text("run"),
            test: reference_text("test"),
            entry_point: reference_text("entry_point"),
            more: list(reference.and_then(|reference| reference.get("more"))),
        },
        out_of_scope: list(state.get("out_of_scope")),
    })
}

/// Returns a change whose operation is known.
pub(crate) fn constraint(value: &Value) -> Option<ConstraintChange> {
    Some(ConstraintChange {
        op: ConstraintOperation::from_word(value.get("op")?.as_str()?)?,
        section: text(value.get("section")),
        bullet: text(value.get("bullet")),
        matching: text(value.get("match")),
        reason: text(value.get("reason")),
    })
}

/// Returns the decision of an object.
pub(crate) fn decision(value: &Value) -> Option<NewDecision> {
    let decision = value.as_object()?;
    let field = |name: &str| text(decision.get(name));
    Some(NewDecision {
        date: field("date").unwrap_or_default(),
        title: field("title").unwrap_or_default(),
        why: field("why"),
        impact: field("impact"),
        symptom: field("symptom"),
        root_cause: field("root_cause"),
        fix: field("fix"),
        prevention: field("prevention"),
        evidence: field("evidence").unwrap_or_default(),
    })
}

/// Returns a rollup without empty bullets: the rules apply to it as a whole.
pub(crate) fn rollup(value: Option<&Value>) -> Option<Vec<String>> {
    let is_list = value.is_some_and(Value::is_array);
    let bullets = list(value.filter(|_| is_list));
    let are_filled = bullets.iter().all(|bullet| !bullet.trim().is_empty());
    (is_list && are_filled).then_some(bullets)
}
