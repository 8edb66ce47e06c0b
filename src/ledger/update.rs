//! Applies an update completely or not at all, to each file in its own mode.
//!
//! Its schema, templates/ledger/update.schema.json, is what agents get. One answer lists every problem of a document that
//! has this shape; any problem refuses all of it.

use std::path::PathBuf;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Problem, Result};
use crate::ledger::constraints::ConstraintChange;
use crate::ledger::decisions::NewDecision;
use crate::ledger::files::{LedgerFile, LedgerFiles};
use crate::ledger::state::{Footer, NewState, non_present_word};
use crate::ledger::{constraints, decisions, state};
use crate::project::Project;
use crate::secrets;
use crate::secrets::{REDACTED, SecretPolicy};
use crate::storage::{Changes, Store};
use crate::templates::Template;
use crate::text::{Line, join, quantity};
use crate::warning::Warning;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(Template::LedgerSchema.text()).expect("the built-in schema")
});

/// Returns the schema of the update document.
pub fn schema() -> &'static Value {
    &SCHEMA
}

/// The result of an update.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UpdateResult {
    /// It was applied, or on a dry run would be.
    Applied,
    /// All of it was applied before.
    AlreadyApplied,
}

/// The outcome of `annals ledger update`. It is the document of `annals ledger update --json`.
#[derive(Debug, Serialize)]
pub struct UpdateReport {
    /// The result.
    pub outcome: UpdateResult,
    /// The files changed, relative to the project.
    pub changed: Vec<PathBuf>,
    /// The anchor afterwards.
    pub covered_through: Option<String>,
    /// On a dry run, what would change.
    pub diff: Option<String>,
    /// Warnings of rules that do not refuse the update.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// All that is wrong with an update, each fault with the JSON pointer of its place.
#[derive(Clone, Default)]
pub(crate) struct Problems {
    pub(crate) all: Vec<Problem>,
}

impl Problems {
    pub(crate) fn add(&mut self, pointer: impl Into<String>, message: impl Into<String>) {
        self.all.push(Problem::new(pointer, message));
    }
}

/// What an agent submits.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Update {
    state: Option<NewState>,
    constraints: Vec<ConstraintChange>,
    decisions: Vec<NewDecision>,
    rollup: Option<Vec<String>>,
    covered_through: Option<String>,
}

/// A document as it was read.
#[derive(Default)]
struct Draft {
    update: Update,
    /// The texts in which something is redacted, each with its JSON pointer.
    redacted: Vec<(String, String)>,
    problems: Problems,
}

impl Draft {
    fn read(text: &str, policy: SecretPolicy) -> Self {
        let mut draft = Self::default();
        let text = text.trim_start_matches('\u{feff}');
        match (serde_json::from_str(text), serde_json::from_str(text)) {
            (Ok(document), Ok(update)) => {
                draft.check(&document, schema(), String::new(), policy);
                draft.update = update;
            }
            (Err(error), _) => draft.problems.add("", format!("is not JSON: {error}")),
            (_, Err(error)) => draft.problems.add("", format!("is not an update: {error}")),
        }
        draft
    }

    /// Checks a part of a document against its part of the schema as far as serde does not: the numbers of items, and arrays
    /// in the place of an object, whose fields serde would read from them in order. Checks every text for content and
    /// secrets, and those of the state for words that are not about the present.
    fn check(&mut self, value: &Value, schema: &Value, pointer: String, policy: SecretPolicy) {
        let named = schema["$ref"].as_str().and_then(|place| place.strip_prefix('#'));
        let schema = named.and_then(|place| self::schema().pointer(place)).unwrap_or(schema);
        match value {
            Value::Array(_) if schema["type"] == "object" => {
                self.problems.add(pointer, "must be an object, not an array");
            }
            Value::Array(items) => {
                let limit = |name: &str| schema[name].as_u64();
                let (least, most) = (limit("minItems").unwrap_or(0), limit("maxItems"));
                let count = items.len() as u64;
                if let Some(most) = most.filter(|most| !(least..=*most).contains(&count)) {
                    let message = format!("has {count} items; {least} to {most} are allowed");
                    self.problems.add(&pointer, message);
                }
                for (index, item) in items.iter().enumerate() {
                    self.check(item, &schema["items"], format!("{pointer}/{index}"), policy);
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    let schema = &schema["properties"][name];
                    self.check(field, schema, format!("{pointer}/{name}"), policy);
                }
            }
            Value::String(text) => {
                if text.trim().is_empty() {
                    self.problems.add(&pointer, "is empty");
                }
                if policy == SecretPolicy::Refuse
                    && let Some(rule) = secrets::first_rule(text)
                {
                    let message = format!("contains what looks like a secret ({rule})");
                    self.problems.add(&pointer, message);
                }
                // The quick reference consists of commands.
                let is_prose = pointer.starts_with("/state/")
                    && !pointer.starts_with("/state/quick_reference/");
                if let Some(word) = non_present_word(text).filter(|_| is_prose) {
                    let message =
                        format!("contains {word:?}, but the state describes only the present");
                    self.problems.add(&pointer, message);
                }
                if text.contains(REDACTED) {
                    self.redacted.push((pointer, text.clone()));
                }
            }
            _ => {}
        }
    }

    /// Adds a problem for each redacted text that its file does not contain already.
    fn check_redacted(&self, files: &LedgerFiles, problems: &mut Problems) {
        for (pointer, text) in &self.redacted {
            let file = match pointer.split('/').nth(1) {
                Some("state") => &files.state,
                Some("constraints") => &files.constraints,
                _ => &files.decisions,
            };
            // `match` only selects a bullet and is not written.
            if !pointer.ends_with("/match") && !file.text.contains(Line::new(text).as_str()) {
                let message = format!(
                    "contains {REDACTED:?}, the placeholder for a secret that annals does not print: \
                     use the text of the file, or reword it without the secret"
                );
                problems.add(pointer, message);
            }
        }
    }
}

/// Returns every problem of a document that can be found without the files.
pub fn update_problems(text: &str) -> Vec<Problem> {
    Draft::read(text, SecretPolicy::Refuse).problems.all
}

/// Applies an update document, given as JSON.
pub fn update(project: &Project, text: &str, secrets: SecretPolicy) -> Result<UpdateReport> {
    let draft = Draft::read(text, secrets);
    let ((covered_through, mut warnings), applied) =
        project.transact("ledger update", &[Store::Ledger], || plan(project, &draft))?;
    warnings.extend(applied.warnings);
    let outcome = match applied.changed.is_empty() {
        true => UpdateResult::AlreadyApplied,
        false => UpdateResult::Applied,
    };
    Ok(UpdateReport {
        outcome,
        changed: applied.changed,
        covered_through,
        diff: applied.diff,
        warnings: project.named(warnings),
    })
}

/// The anchor after an update, and its warnings.
type Updated = (Option<String>, Vec<Warning>);

/// Plans the changes to the three files, or returns all problems.
fn plan(project: &Project, draft: &Draft) -> Result<(Updated, Changes)> {
    let mut files = LedgerFiles::read(project)?;
    files.refuse_unwritable(project)?;
    let update = &draft.update;
    let mut problems = draft.problems.clone();
    draft.check_redacted(&files, &mut problems);
    let anchor = covered_commit(project, update, &files.state, &mut problems, &mut files.warnings)?;
    let state = update.state.as_ref();
    let state = state::apply(project, &files.state, state, anchor.as_deref(), &mut problems)?;
    let lost = state::lost_reference(&files.state.text, &state);
    if !lost.is_empty() {
        let message = format!(
            "the update leaves out of the quick reference what was known: {}",
            join(lost, ", ")
        );
        files.warnings.push(Warning::file(&files.state.path, message));
    }
    let mut constraints = files.constraints.text.clone();
    if !update.constraints.is_empty() {
        let old = files.constraints.text_or(Template::LedgerConstraints);
        let today = project.clock.today();
        constraints = constraints::apply(old, &update.constraints, today, &mut problems);
    }
    let mut decisions = files.decisions.text.clone();
    if !update.decisions.is_empty() || update.rollup.is_some() {
        let old = files.decisions.text_or(Template::LedgerDecisions);
        decisions = decisions::apply(project, old, &update.decisions, &mut problems)?;
    }
    if let Some(bullets) = &update.rollup {
        decisions = decisions::with_rollup(&decisions, bullets, &mut problems);
    }
    if !problems.all.is_empty() {
        let count = quantity(problems.all.len(), "problem");
        return Err(Error::refused(format!("the update has {count}; nothing was written"))
            .hint("`annals ledger pending --schema` prints the schema, `annals ledger pending --skill` the rules")
            .problems(problems.all));
    }
    let mut changes = Changes::new();
    let texts = files.all().into_iter().zip([state, constraints, decisions]);
    for (file, text) in texts.filter(|(file, text)| *text != file.text) {
        file.refuse_uneditable()?;
        changes.edit(&file.path, file.bytes.clone(), text)?;
    }
    let covered = anchor.or_else(|| Footer::parse(&files.state.text).hash().map(str::to_owned));
    Ok(((covered, files.warnings), changes))
}

/// Returns the commit that the update covers, unless it cannot be covered.
///
/// An anchor only moves forward in the history of the checked-out commit. If the old one is not in that history any
/// more, the new one is accepted with a warning.
fn covered_commit(
    project: &Project,
    update: &Update,
    file: &LedgerFile,
    problems: &mut Problems,
    warnings: &mut Vec<Warning>,
) -> Result<Option<String>> {
    let git = &project.git;
    let mut refuse = |message: String| {
        problems.add("/covered_through", message);
        Ok(None)
    };
    let (wanted, head) = match (&update.covered_through, git.head()?) {
        (Some(wanted), Some(head)) => (wanted, head),
        (Some(_), None) => {
            let what = if git.is_repository() { "no commit" } else { "no git repository" };
            return refuse(format!("there is {what} here; omit this field"));
        }
        (None, Some(head)) if update.state.is_some() => {
            return refuse(format!("is required with a state; the checked-out commit is {head}"));
        }
        (None, _) => return Ok(None),
    };
    let Some(full) = git.resolve_hash(&wanted.to_ascii_lowercase())? else {
        return refuse(format!(
            "{wanted} is not the hash of a commit of this repository; the checked-out commit is {head}"
        ));
    };
    let is_before = |one: &str, other: &str| -> Result<bool> {
        Ok(one == other || git.count_lacking(one, other)? == Some(0))
    };
    if !is_before(&full, &head)? {
        return refuse(format!("{wanted} is not in the history of the checked-out commit"));
    }
    let footer = Footer::parse(&file.text);
    let Some(anchor) = footer.hash() else {
        return Ok(Some(full));
    };
    match git.resolve_hash(anchor)? {
        Some(old) if is_before(&old, &head)? => {
            if !is_before(&old, &full)? {
                let rule = "an anchor only moves forward";
                return refuse(format!("{full} does not descend from the anchor {old}: {rule}"));
            }
        }
        _ => {
            let message = format!(
                "the old anchor {anchor} is not in this history, so commits may have been skipped"
            );
            warnings.push(Warning::file(&file.path, message));
        }
    }
    Ok(Some(full))
}

#[cfg(test)]
mod tests;
