//! Parses the update document that an agent submits.

mod lenient;
mod schema;

pub use schema::schema;
use serde::Serialize;
use serde_json::Value;

use crate::error::Problem;
use crate::secrets;
use crate::secrets::{REDACTED, SecretPolicy};
use crate::text::word_enum;

/// The current state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NewState {
    /// The current objective, on one line.
    pub(crate) objective: String,
    /// One to three lines.
    pub(crate) active_work: Vec<String>,
    /// Obstacles that block the work.
    pub(crate) blockers: Vec<String>,
    /// At most five lines.
    pub(crate) next_actions: Vec<String>,
    /// How to run it.
    pub(crate) quick_reference: QuickReference,
    /// At most three lines.
    pub(crate) out_of_scope: Vec<String>,
}

/// How to run and test, and where to begin reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct QuickReference {
    /// The command that runs it.
    pub(crate) run: Option<String>,
    /// The command that tests it.
    pub(crate) test: Option<String>,
    /// The file to begin reading with.
    pub(crate) entry_point: Option<String>,
    /// At most two more lines.
    pub(crate) more: Vec<String>,
}

word_enum! {
    /// A change to a constraint.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub(crate) enum ConstraintOperation {
        /// Adds a bullet.
        Add = "add",
        /// Replaces the text of a bullet in place.
        Edit = "edit",
        /// Moves the bullet to Superseded.
        Supersede = "supersede",
    }
}

/// A change to one bullet of CONSTRAINTS.md.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConstraintChange {
    /// The operation.
    pub(crate) op: ConstraintOperation,
    /// The section to add to, or to search.
    pub(crate) section: Option<String>,
    /// The new text.
    pub(crate) bullet: Option<String>,
    /// The bullet to change: its text, or a part that is unique.
    pub(crate) matching: Option<String>,
    /// Why it is no longer valid.
    pub(crate) reason: Option<String>,
}

/// A new entry of DECISIONS.md: a decision, or a fix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NewDecision {
    /// The day, as `2026-02-17`.
    pub(crate) date: String,
    /// The decision or fix, on one line.
    pub(crate) title: String,
    /// For a decision: the reason.
    pub(crate) why: Option<String>,
    /// For a decision: its impact.
    pub(crate) impact: Option<String>,
    /// For a fix: the symptom.
    pub(crate) symptom: Option<String>,
    /// For a fix: the root cause.
    pub(crate) root_cause: Option<String>,
    /// For a fix: the change made.
    pub(crate) fix: Option<String>,
    /// For a fix: how a recurrence is prevented.
    pub(crate) prevention: Option<String>,
    /// A commit, a pull request, or a path marked as an on-disk invariant.
    pub(crate) evidence: String,
}

/// The valid fields of a document; those of a wrong type are left out and reported.
#[derive(Clone, Debug, Default)]
pub(crate) struct DocumentDraft {
    /// The new content of STATE.md.
    pub(crate) state: Option<NewState>,
    /// Changes to CONSTRAINTS.md, each with its index in the list.
    pub(crate) constraints: Vec<(usize, ConstraintChange)>,
    /// New entries of DECISIONS.md, each with its index in the list.
    pub(crate) decisions: Vec<(usize, NewDecision)>,
    /// The bullets of the rollup.
    pub(crate) rollup: Option<Vec<String>>,
    /// The hash of the last commit that the update covers.
    pub(crate) covered_through: Option<String>,
    /// The texts in which something is redacted, each with its JSON pointer.
    pub(crate) redacted: Vec<(String, String)>,
    /// Every fault of the shape, and every secret.
    pub(crate) problems: Vec<Problem>,
}

/// Reads a document: each field that can be read, and every fault of its shape, each with its JSON pointer.
///
/// Any fault refuses the whole document; the readable fields are checked against the rules all the same, so
/// that one answer lists every problem.
pub(crate) fn read(text: &str, policy: SecretPolicy) -> DocumentDraft {
    let text = text.trim_start_matches('\u{feff}');
    let unreadable = |message: String| DocumentDraft {
        problems: vec![Problem::new("", message)],
        ..DocumentDraft::default()
    };
    if text.trim().is_empty() {
        return unreadable("is empty".to_owned());
    }
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => return unreadable(format!("is not JSON: {error}")),
    };
    let mut problems = schema::validate(&value);
    let mut redacted = Vec::new();
    for_each_string(&value, "", &mut |pointer, text| {
        if text.contains(REDACTED) {
            redacted.push((pointer.to_owned(), text.to_owned()));
        }
        if policy == SecretPolicy::Allow {
            return;
        }
        if let Some(rule) = secrets::first_rule(text) {
            let message = format!("contains what looks like a secret ({rule})");
            problems.push(Problem::new(pointer, message));
        }
    });
    DocumentDraft {
        state: lenient::state(value.get("state")),
        constraints: lenient::items(value.get("constraints"), lenient::constraint),
        decisions: lenient::items(value.get("decisions"), lenient::decision),
        rollup: lenient::rollup(value.get("rollup")),
        covered_through: lenient::text(value.get("covered_through")),
        redacted,
        problems,
    }
}

/// Returns every fault of the shape of a document, and every secret.
pub fn update_problems(text: &str) -> Vec<Problem> {
    read(text, SecretPolicy::Refuse).problems
}

/// Calls a function with every text of a document and its JSON pointer.
fn for_each_string(value: &Value, pointer: &str, visit: &mut impl FnMut(&str, &str)) {
    match value {
        Value::String(text) => visit(pointer, text),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                for_each_string(item, &format!("{pointer}/{index}"), visit);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                for_each_string(field, &schema::child_pointer(pointer, name), visit);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
