//! Applies an update completely or not at all, to each file in its own mode.
//!
//! The document is checked against its schema, templates/ledger/update.schema.json, which agents get. What it says is
//! checked against the rules whatever its shape, so that one answer lists every problem; any problem refuses all of it.

use std::path::PathBuf;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Problem, Result};
use crate::ledger::constraints::ConstraintChange;
use crate::ledger::decisions::NewDecision;
use crate::ledger::edits::FileUpdate;
use crate::ledger::files::{LedgerFile, LedgerFiles};
use crate::ledger::footer::Footer;
use crate::ledger::state::NewState;
use crate::ledger::{constraints, decisions, json_schema, rollup, state};
use crate::project::Project;
use crate::secrets;
use crate::secrets::{REDACTED, SecretPolicy};
use crate::storage::{Changes, Store};
use crate::templates::Template;
use crate::text::{Line, quantity};
use crate::warning::Warning;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    // It is compiled in, and a test parses it.
    serde_json::from_str(Template::LedgerSchema.text()).unwrap_or_default()
});

/// Returns the schema of the update document.
pub fn schema() -> &'static Value {
    &SCHEMA
}

/// The result of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UpdateResult {
    /// It was applied, or on a dry run would be.
    Applied,
    /// All of it was applied before.
    AlreadyApplied,
}

/// The outcome of `annals ledger update`. It is the document of `annals ledger update --json`.
#[derive(Clone, Debug, Serialize)]
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

/// What an agent submits.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
struct Update {
    state: Option<NewState>,
    constraints: Vec<ConstraintChange>,
    decisions: Vec<NewDecision>,
    rollup: Option<Vec<String>>,
    covered_through: Option<String>,
}

/// A document as it was read.
#[derive(Debug, Default)]
struct Draft {
    update: Update,
    /// The texts in which something is redacted, each with its JSON pointer.
    redacted: Vec<(String, String)>,
    problems: Vec<Problem>,
}

impl Draft {
    fn read(text: &str, policy: SecretPolicy) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let mut document = match serde_json::from_str(text) {
            Ok(document) => document,
            Err(_) if text.trim().is_empty() => return Self::unreadable("is empty".to_owned()),
            Err(error) => return Self::unreadable(format!("is not JSON: {error}")),
        };
        let mut problems = json_schema::check(&SCHEMA, &mut document);
        let mut redacted = Vec::new();
        for (pointer, text) in texts(&document, String::new()) {
            if text.contains(REDACTED) {
                redacted.push((pointer.clone(), text.to_owned()));
            }
            if policy == SecretPolicy::Refuse
                && let Some(rule) = secrets::first_rule(text)
            {
                let message = format!("contains what looks like a secret ({rule})");
                problems.push(Problem::new(pointer, message));
            }
        }
        match serde_json::from_value(document) {
            Ok(update) => Self { update, redacted, problems },
            Err(error) => Self::unreadable(error.to_string()),
        }
    }

    fn unreadable(message: String) -> Self {
        Self { problems: vec![Problem::new("", message)], ..Self::default() }
    }

    /// Returns a problem for each redacted text that its file does not contain already.
    fn redacted_problems(&self, files: &LedgerFiles) -> impl Iterator<Item = Problem> {
        let new = self.redacted.iter().filter(|(pointer, text)| {
            let file = match pointer.split('/').nth(1) {
                Some("state") => &files.state,
                Some("constraints") => &files.constraints,
                _ => &files.decisions,
            };
            // `match` only selects a bullet and is not written.
            !pointer.ends_with("/match") && !file.text.contains(Line::new(text).as_str())
        });
        new.map(|(pointer, _)| {
            let message = format!(
                "contains {REDACTED:?}, the placeholder for a secret that annals does not print: \
                 use the text of the file, or reword it without the secret"
            );
            Problem::new(pointer, message)
        })
    }
}

/// Returns every text of a document with its JSON pointer.
fn texts(value: &Value, pointer: String) -> Vec<(String, &str)> {
    match value {
        Value::String(text) => vec![(pointer, text)],
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.flat_map(|(index, item)| texts(item, format!("{pointer}/{index}"))).collect()
        }
        Value::Object(fields) => {
            let fields = fields.iter();
            fields
                .flat_map(|(name, field)| texts(field, json_schema::field_pointer(&pointer, name)))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Returns every problem of a document that can be found without the files.
pub fn update_problems(text: &str) -> Vec<Problem> {
    Draft::read(text, SecretPolicy::Refuse).problems
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

/// The anchor afterwards and warnings, and the changes.
type Plan = ((Option<String>, Vec<Warning>), Changes);

/// Plans the changes to the three files, with the anchor afterwards and warnings, or returns all problems.
fn plan(project: &Project, draft: &Draft) -> Result<Plan> {
    let mut warnings = Vec::new();
    let files = LedgerFiles::read(project, &mut warnings)?;
    files.refuse_unwritable(project)?;
    let update = &draft.update;
    let mut found = Vec::new();
    let anchor = match covered_commit(project, update, &files.state, &mut warnings)? {
        Ok(anchor) => anchor,
        Err(message) => {
            found.push(Problem::new("/covered_through", message));
            None
        }
    };
    let outcomes = [
        state::apply(project, &files.state, update.state.as_ref(), anchor.as_deref())?,
        apply_constraints(project, update, &files.constraints),
        apply_decisions(project, update, &files.decisions)?,
    ];
    let outcomes: Vec<_> = files.all().into_iter().zip(outcomes).collect();
    found.extend(outcomes.iter().flat_map(|(_, outcome)| outcome.problems.clone()));
    let mut problems = draft.problems.clone();
    // What is wrong with a field's shape is all there is to say about it.
    found.retain(|one| !draft.problems.iter().any(|known| known.pointer == one.pointer));
    problems.extend(draft.redacted_problems(&files));
    problems.extend(found);
    if !problems.is_empty() {
        let count = quantity(problems.len(), "problem");
        return Err(Error::refused(format!("the update has {count}; nothing was written"))
            .hint("`annals ledger pending --schema` prints the schema, `annals ledger pending --skill` the rules")
            .problems(problems));
    }
    let mut changes = Changes::new();
    for (file, outcome) in outcomes.into_iter().filter(|(file, after)| after.text != file.text) {
        file.refuse_uneditable()?;
        changes.edit(&file.path, file.bytes.clone(), outcome.text)?;
    }
    let footer = Footer::parse(&files.state.text);
    let covered = anchor.or_else(|| footer.hash().map(str::to_owned));
    Ok(((covered, warnings), changes))
}

fn apply_constraints(project: &Project, update: &Update, file: &LedgerFile) -> FileUpdate {
    if update.constraints.is_empty() {
        return FileUpdate::of(&file.text);
    }
    let text = file.text_or(Template::LedgerConstraints);
    constraints::apply(text, &update.constraints, project.clock.today())
}

fn apply_decisions(project: &Project, update: &Update, file: &LedgerFile) -> Result<FileUpdate> {
    if update.decisions.is_empty() && update.rollup.is_none() {
        return Ok(FileUpdate::of(&file.text));
    }
    let today = project.clock.today();
    let text = file.text_or(Template::LedgerDecisions);
    let mut outcome = decisions::apply(project, text, &update.decisions)?;
    if let Some(bullets) = &update.rollup {
        let rolled = rollup::apply(&outcome.text, bullets, today);
        outcome.problems.extend(rolled.problems);
        outcome.text = rolled.text;
    } else if outcome.text != text {
        // The result of an update has to pass the check.
        outcome.text = rollup::fill(&outcome.text, today);
    }
    Ok(outcome)
}

/// Returns the commit that the update covers, or why it cannot be covered.
///
/// An anchor only moves forward in the history of the checked-out commit. If the old one is not in that history any
/// more, the new one is accepted with a warning.
fn covered_commit(
    project: &Project,
    update: &Update,
    file: &LedgerFile,
    warnings: &mut Vec<Warning>,
) -> Result<std::result::Result<Option<String>, String>> {
    let git = &project.git;
    let (wanted, head) = match (&update.covered_through, git.head()?) {
        (Some(wanted), Some(head)) => (wanted.to_ascii_lowercase(), head),
        (Some(_), None) => {
            let what = if git.is_repository() { "no commit" } else { "no git repository" };
            return Ok(Err(format!("there is {what} here; omit this field")));
        }
        (None, Some(head)) if update.state.is_some() => {
            return Ok(Err(format!("is required with a state; the checked-out commit is {head}")));
        }
        (None, _) => return Ok(Ok(None)),
    };
    let is_in_history = |hash: &str| -> Result<bool> {
        Ok(hash == head || git.distance(hash)?.is_some_and(|distance| distance.behind == 0))
    };
    let Some(full) = git.resolve_hash(&wanted)? else {
        return Ok(Err(format!("{wanted} is not a commit of this repository")));
    };
    if !is_in_history(&full)? {
        return Ok(Err(format!("{wanted} is not in the history of the checked-out commit")));
    }
    let footer = Footer::parse(&file.text);
    let Some(anchor) = footer.hash() else {
        return Ok(Ok(Some(full)));
    };
    let Some(old) = git.resolve_hash(anchor)?.filter(|old| is_in_history(old).unwrap_or(false))
    else {
        let message = format!(
            "the old anchor {anchor} is not in this history, so commits may have been skipped"
        );
        warnings.push(Warning::file(&file.path, message));
        return Ok(Ok(Some(full)));
    };
    let is_forward = old == full
        || git.distance_between(&old, &full)?.is_some_and(|distance| distance.behind == 0);
    Ok(if is_forward {
        Ok(Some(full))
    } else {
        Err(format!("{full} does not descend from the anchor {old}: an anchor only moves forward"))
    })
}

#[cfg(test)]
mod tests;
