//! Parses the update document that an agent submits.
//!
//! One reader takes each field that it can and reports every fault of the shape with its JSON pointer. Any fault refuses
//! the whole document; what could be read is checked against the rules all the same, so that one answer lists every
//! problem. The schema that agents get, templates/ledger/update.schema.json, says the same; a test compares them.

use std::sync::LazyLock;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::Problem;
use crate::secrets;
use crate::secrets::{REDACTED, SecretPolicy};
use crate::templates::Template;
use crate::text::{quantity, word_enum};

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    // It is compiled in, and a test parses it.
    serde_json::from_str(Template::LedgerSchema.text()).unwrap_or_default()
});

/// Returns the schema of the update document.
pub fn schema() -> &'static Value {
    &SCHEMA
}

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

/// Reads a document.
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
    let mut reader = Reader { problems: Vec::new(), redacted: Vec::new(), policy };
    let mut draft = reader.document(&value);
    reader.search(&value, "");
    (draft.problems, draft.redacted) = (reader.problems, reader.redacted);
    draft
}

/// Returns every fault of the shape of a document, and every secret.
pub fn update_problems(text: &str) -> Vec<Problem> {
    read(text, SecretPolicy::Refuse).problems
}

/// The form of a text, as a problem describes it.
#[derive(Clone, Copy)]
enum Form {
    Line,
    Text,
    Day,
    Hash,
}

impl Form {
    /// Returns the description of the form, and whether a text has it.
    fn check(self, text: &str) -> (&'static str, bool) {
        let is_filled = !text.trim().is_empty();
        let is_date =
            |(at, b): (usize, u8)| if at == 4 || at == 7 { b == b'-' } else { b.is_ascii_digit() };
        match self {
            Self::Line => ("one line of text", is_filled && !text.contains(['\r', '\n'])),
            Self::Text => ("a text that is not empty", is_filled),
            Self::Day => {
                ("a day like 2026-02-17", text.len() == 10 && text.bytes().enumerate().all(is_date))
            }
            Self::Hash => (
                "the hash of a commit, 7 to 64 hexadecimal digits",
                (7..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit()),
            ),
        }
    }

    fn most(self) -> usize {
        if matches!(self, Self::Text) { 4000 } else { 2000 }
    }
}

/// The fields of an object, and its place.
struct Fields<'a> {
    fields: &'a Map<String, Value>,
    pointer: String,
}

impl Fields<'_> {
    fn at(&self, name: &str) -> String {
        format!("{}/{}", self.pointer, name.replace('~', "~0").replace('/', "~1"))
    }
}

/// Reads a document field by field.
struct Reader {
    problems: Vec<Problem>,
    redacted: Vec<(String, String)>,
    policy: SecretPolicy,
}

impl Reader {
    fn report(&mut self, pointer: impl Into<String>, message: impl Into<String>) {
        self.problems.push(Problem::new(pointer, message));
    }

    fn document(&mut self, value: &Value) -> DocumentDraft {
        let mut draft = DocumentDraft::default();
        let known = ["state", "constraints", "decisions", "rollup", "covered_through"];
        let Some(document) = self.object(value, String::new(), &known) else {
            return draft;
        };
        draft.state =
            document.fields.get("state").and_then(|state| self.state(state, document.at("state")));
        draft.constraints = self.items(&document, "constraints", Self::constraint);
        draft.decisions = self.items(&document, "decisions", Self::decision);
        let bullets = self.list(&document, "rollup", 1, 10);
        // The rules apply to a rollup as a whole.
        let is_filled = bullets.iter().all(|bullet| !bullet.trim().is_empty());
        let is_list = document.fields.get("rollup").is_some_and(Value::is_array);
        draft.rollup = (is_list && is_filled).then_some(bullets);
        if document.fields.get("covered_through").is_some_and(|value| !value.is_null()) {
            draft.covered_through = self.text(&document, "covered_through", Form::Hash);
        }
        draft
    }

    fn state(&mut self, value: &Value, pointer: String) -> Option<NewState> {
        let known = [
            "objective", "active_work", "blockers", "next_actions", "quick_reference",
            "out_of_scope",
        ];
        let state = self.object(value, pointer, &known)?;
        self.require(&state, &["objective", "active_work"]);
        let mut quick_reference = QuickReference::default();
        if let Some(value) = state.fields.get("quick_reference")
            && let Some(part) = self.object(
                value,
                state.at("quick_reference"),
                &["run", "test", "entry_point", "more"],
            )
        {
            quick_reference = QuickReference {
                run: self.text(&part, "run", Form::Line),
                test: self.text(&part, "test", Form::Line),
                entry_point: self.text(&part, "entry_point", Form::Line),
                more: self.list(&part, "more", 0, 2),
            };
        }
        Some(NewState {
            objective: self.text(&state, "objective", Form::Line).unwrap_or_default(),
            active_work: self.list(&state, "active_work", 1, 3),
            blockers: self.list(&state, "blockers", 0, usize::MAX),
            next_actions: self.list(&state, "next_actions", 0, 5),
            quick_reference,
            out_of_scope: self.list(&state, "out_of_scope", 0, 3),
        })
    }

    /// Reads a change whose operation is known.
    fn constraint(&mut self, value: &Value, pointer: String) -> Option<ConstraintChange> {
        let change =
            self.object(value, pointer, &["op", "section", "bullet", "match", "reason"])?;
        let word = change.fields.get("op");
        let op = word.and_then(Value::as_str).and_then(ConstraintOperation::from_word);
        let needed: &[&str] = match op {
            Some(ConstraintOperation::Add) => &["section", "bullet"],
            Some(ConstraintOperation::Edit) => &["match", "bullet"],
            Some(ConstraintOperation::Supersede) => &["match", "reason"],
            None if word.is_some() => {
                let words = ConstraintOperation::ALL.map(|one| format!("{:?}", one.as_str()));
                self.report(change.at("op"), format!("must be one of {}", words.join(", ")));
                &[]
            }
            None => &["op"],
        };
        self.require(&change, needed);
        let section = self.text(&change, "section", Form::Line);
        let bullet = self.text(&change, "bullet", Form::Line);
        let matching = self.text(&change, "match", Form::Line);
        let reason = self.text(&change, "reason", Form::Line);
        Some(ConstraintChange { op: op?, section, bullet, matching, reason })
    }

    fn decision(&mut self, value: &Value, pointer: String) -> Option<NewDecision> {
        let known = [
            "date", "title", "why", "impact", "symptom", "root_cause", "fix", "prevention",
            "evidence",
        ];
        let decision = self.object(value, pointer, &known)?;
        let is_fix = decision.fields.contains_key("symptom");
        self.require(&decision, &["date", "title", "evidence"]);
        let fields: &[&str] =
            if is_fix { &["root_cause", "fix", "prevention"] } else { &["why", "impact"] };
        self.require(&decision, fields);
        Some(NewDecision {
            date: self.text(&decision, "date", Form::Day).unwrap_or_default(),
            title: self.text(&decision, "title", Form::Line).unwrap_or_default(),
            why: self.text(&decision, "why", Form::Text),
            impact: self.text(&decision, "impact", Form::Text),
            symptom: self.text(&decision, "symptom", Form::Text),
            root_cause: self.text(&decision, "root_cause", Form::Text),
            fix: self.text(&decision, "fix", Form::Text),
            prevention: self.text(&decision, "prevention", Form::Text),
            evidence: self.text(&decision, "evidence", Form::Line).unwrap_or_default(),
        })
    }

    fn object<'a>(
        &mut self,
        value: &'a Value,
        pointer: String,
        known: &[&str],
    ) -> Option<Fields<'a>> {
        let Some(fields) = value.as_object() else {
            self.report(pointer, format!("must be an object, not {}", described(value)));
            return None;
        };
        let object = Fields { fields, pointer };
        for name in fields.keys().filter(|name| !known.contains(&name.as_str())) {
            let message = format!("is not a known field; known fields: {}", known.join(", "));
            self.report(object.at(name), message);
        }
        Some(object)
    }

    fn require(&mut self, object: &Fields<'_>, names: &[&str]) {
        for name in names.iter().filter(|name| !object.fields.contains_key(**name)) {
            self.report(object.at(name), "is required");
        }
    }

    fn text(&mut self, object: &Fields<'_>, name: &str, form: Form) -> Option<String> {
        let value = object.fields.get(name)?;
        self.checked(value, &object.at(name), form)
    }

    fn checked(&mut self, value: &Value, pointer: &str, form: Form) -> Option<String> {
        let Some(text) = value.as_str() else {
            self.report(pointer, format!("must be a string, not {}", described(value)));
            return None;
        };
        let (length, most) = (text.chars().count(), form.most());
        if length > most {
            self.report(pointer, format!("has {length} characters; at most {most} are allowed"));
        }
        let (expected, is_right) = form.check(text);
        if !is_right {
            self.report(pointer, format!("must be {expected}"));
        }
        Some(text.to_owned())
    }

    /// Reads a list of lines; what is none becomes an empty text, so that indexes stay the same.
    fn list(&mut self, object: &Fields<'_>, name: &str, least: usize, most: usize) -> Vec<String> {
        let pointer = object.at(name);
        let Some(items) = self.array(object, name) else {
            return Vec::new();
        };
        let count = items.len();
        if count > most {
            let message =
                format!("has {}; at most {most} are allowed", quantity(count as u64, "item"));
            self.report(&pointer, message);
        } else if count < least {
            let message =
                format!("has {}; at least {least} are needed", quantity(count as u64, "item"));
            self.report(&pointer, message);
        }
        let items = items.iter().enumerate();
        items
            .map(|(index, item)| self.checked(item, &format!("{pointer}/{index}"), Form::Line))
            .map(Option::unwrap_or_default)
            .collect()
    }

    /// Reads the items of a list that can be read, each with its index.
    fn items<T>(
        &mut self,
        object: &Fields<'_>,
        name: &str,
        read: fn(&mut Self, &Value, String) -> Option<T>,
    ) -> Vec<(usize, T)> {
        let items = self.array(object, name).into_iter().flatten().enumerate();
        items
            .filter_map(|(index, item)| {
                Some((index, read(self, item, format!("{}/{index}", object.at(name)))?))
            })
            .collect()
    }

    fn array<'a>(&mut self, object: &Fields<'a>, name: &str) -> Option<&'a Vec<Value>> {
        let value = object.fields.get(name)?;
        if !value.is_array() {
            self.report(object.at(name), format!("must be a list, not {}", described(value)));
        }
        value.as_array()
    }

    /// Looks in every text for secrets, and for the mark that replaces them.
    fn search(&mut self, value: &Value, pointer: &str) {
        match value {
            Value::String(text) => {
                if text.contains(REDACTED) {
                    self.redacted.push((pointer.to_owned(), text.to_owned()));
                }
                if self.policy == SecretPolicy::Refuse
                    && let Some(rule) = secrets::first_rule(text)
                {
                    self.report(pointer, format!("contains what looks like a secret ({rule})"));
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.search(item, &format!("{pointer}/{index}"));
                }
            }
            Value::Object(fields) => {
                let object = Fields { fields, pointer: pointer.to_owned() };
                fields.iter().for_each(|(name, field)| self.search(field, &object.at(name)));
            }
            _ => {}
        }
    }
}

fn described(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests;
