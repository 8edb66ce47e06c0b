//! Applies an update completely or not at all, to each file in its own mode.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::{Error, Problem, Result};
use crate::ledger::anchor::Footer;
use crate::ledger::apply::FileUpdate;
use crate::ledger::document::DocumentDraft;
use crate::ledger::files::{LedgerFile, LedgerFiles};
use crate::ledger::{apply, document, redacted};
use crate::project::Project;
use crate::secrets::SecretPolicy;
use crate::storage::{Changes, Store};
use crate::templates::Template;
use crate::text::quantity;
use crate::warning::Warning;

/// The options of an update.
#[derive(Clone, Copy, Debug, Default)]
pub struct UpdateRequest {
    /// Whether text that looks like a secret is accepted.
    pub secrets: SecretPolicy,
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

/// A planned update.
struct UpdatePlan {
    covered_through: Option<String>,
    warnings: Vec<Warning>,
}

/// The anchor that an update moves to.
#[derive(Default)]
struct AnchorTarget {
    hash: Option<String>,
    problems: Vec<Problem>,
    warnings: Vec<Warning>,
}

/// Applies an update document, given as JSON.
pub fn update(project: &Project, text: &str, request: &UpdateRequest) -> Result<UpdateReport> {
    let update = document::read(text, request.secrets);
    let (plan, applied) =
        project.transact("ledger update", &[Store::Ledger], || plan(project, &update))?;
    let UpdatePlan { covered_through, mut warnings } = plan;
    warnings.extend(applied.warnings);
    let changed = applied.changed;
    let outcome =
        if changed.is_empty() { UpdateResult::AlreadyApplied } else { UpdateResult::Applied };
    Ok(UpdateReport {
        outcome,
        changed,
        covered_through,
        diff: applied.diff,
        warnings: project.named(warnings),
    })
}

/// Plans the changes to the three files, or returns all problems.
fn plan(project: &Project, update: &DocumentDraft) -> Result<(UpdatePlan, Changes)> {
    let mut warnings = Vec::new();
    let files = LedgerFiles::read(project, &mut warnings)?;
    files.refuse_sparse(project)?;
    for file in [&files.state, &files.constraints, &files.decisions] {
        file.refuse_conflict()?;
    }
    let target = anchor_target(project, update, &files.state)?;
    warnings.extend(target.warnings.iter().cloned());
    let state =
        apply::state::apply(project, &files.state, update.state.as_ref(), target.hash.as_deref())?;
    let constraints = apply_constraints(project, update, &files.constraints);
    let decisions = apply_decisions(project, update, &files.decisions)?;
    let outcomes =
        [(&files.state, state), (&files.constraints, constraints), (&files.decisions, decisions)];
    let mut problems = update.problems.clone();
    problems.extend(redacted::problems(update, &files));
    let rule_problems = outcomes.iter().flat_map(|(_, outcome)| &outcome.problems);
    let rule_problems = target.problems.iter().chain(rule_problems);
    problems.extend(rule_problems.filter(|problem| !is_already_reported(update, problem)).cloned());
    let is_changed = outcomes.iter().any(|(_, outcome)| outcome.is_changed);
    if is_changed || !problems.is_empty() {
        // Only a whole update may have been applied before.
        problems.extend(outcomes.iter().flat_map(|(_, outcome)| outcome.repeated.iter().cloned()));
    }
    if !problems.is_empty() {
        return Err(refusal(problems));
    }
    let mut changes = Changes::new();
    for (file, outcome) in outcomes.into_iter().filter(|(_, outcome)| outcome.is_changed) {
        file.refuse_uneditable()?;
        changes.edit(&file.path, file.bytes.clone(), outcome.text)?;
    }
    let footer = Footer::parse(&files.state.text);
    let covered = target.hash.or_else(|| footer.hash().map(str::to_owned));
    let planned = UpdatePlan { covered_through: covered, warnings };
    Ok((planned, changes))
}

/// Returns whether the check of a field's form has already reported a rule's problem.
fn is_already_reported(update: &DocumentDraft, problem: &Problem) -> bool {
    let pointer = &problem.pointer;
    let validated_fields = ["/covered_through", "/date", "/evidence"];
    validated_fields.iter().any(|name| pointer.ends_with(name))
        && update.problems.iter().any(|known| known.pointer == *pointer)
}

fn apply_constraints(project: &Project, update: &DocumentDraft, file: &LedgerFile) -> FileUpdate {
    if update.constraints.is_empty() {
        return FileUpdate::unchanged(&file.text);
    }
    let text = text_or_template(file, Template::LedgerConstraints);
    apply::constraints::apply(text, &update.constraints, project.clock.today(), file.line_end())
}

fn apply_decisions(
    project: &Project,
    update: &DocumentDraft,
    file: &LedgerFile,
) -> Result<FileUpdate> {
    if update.decisions.is_empty() && update.rollup.is_none() {
        return Ok(FileUpdate::unchanged(&file.text));
    }
    let text = text_or_template(file, Template::LedgerDecisions);
    let line_end = file.line_end();
    let today = project.clock.today();
    let mut outcome = apply::decisions::apply(project, text, &update.decisions, line_end)?;
    if let Some(rollup) = &update.rollup {
        let rolled = apply::rollup::apply(&outcome.text, rollup, today, line_end);
        outcome.problems.extend(rolled.problems);
        outcome.change(rolled.text);
    } else if outcome.is_changed {
        // The result of an update has to pass the check.
        outcome.change(apply::rollup::fill(&outcome.text, today, line_end));
    }
    Ok(outcome)
}

fn text_or_template(file: &LedgerFile, template: Template) -> &str {
    if file.exists() { &file.text } else { template.text() }
}

/// Resolves the commit that the update covers, and checks it against the anchor and the checked-out commit.
fn anchor_target(
    project: &Project,
    update: &DocumentDraft,
    file: &LedgerFile,
) -> Result<AnchorTarget> {
    let git = &project.git;
    let mut target = AnchorTarget::default();
    let head = git.head()?;
    let mut refuse = |message: String| {
        target.problems.push(Problem::new("/covered_through", message));
    };
    let (wanted, head) = match (&update.covered_through, head) {
        (Some(wanted), Some(head)) => (wanted.to_ascii_lowercase(), head),
        (Some(_), None) => {
            let what = if git.is_repository() { "no commit" } else { "no git repository" };
            refuse(format!("there is {what} here; omit this field"));
            return Ok(target);
        }
        (None, head) => {
            if let (Some(head), true) = (head, update.state.is_some()) {
                refuse(format!("is required with a state; the checked-out commit is {head}"));
            }
            return Ok(target);
        }
    };
    let Some(full) = git.resolve_hash(&wanted)? else {
        refuse(format!("{wanted} is not a commit of this repository"));
        return Ok(target);
    };
    if full != head && git.distance(&full)?.is_none_or(|distance| distance.behind > 0) {
        refuse(format!("{wanted} is not in the history of the checked-out commit"));
        return Ok(target);
    }
    if let Some(anchor) = Footer::parse(&file.text).hash()
        && let Some(fault) = target.check_move(project, anchor, &full, &head, file)?
    {
        target.problems.push(Problem::new("/covered_through", fault));
    }
    target.hash = Some(full);
    Ok(target)
}

impl AnchorTarget {
    /// Returns the reason why the anchor cannot move to a commit; if the old one is not in the history any
    /// more, warns and allows it.
    fn check_move(
        &mut self,
        project: &Project,
        anchor: &str,
        full: &str,
        head: &str,
        file: &LedgerFile,
    ) -> Result<Option<String>> {
        let git = &project.git;
        let old = git.resolve_hash(anchor)?;
        let is_lost = match &old {
            None => true,
            Some(old) if old == full || old == head => false,
            Some(old) => git.distance(old)?.is_none_or(|distance| distance.behind > 0),
        };
        if is_lost {
            let message = format!(
                "the old anchor {anchor} is not in this history, so commits may have been skipped"
            );
            self.warnings.push(Warning::file(&file.path, message));
            return Ok(None);
        }
        let Some(old) = old.filter(|old| old != full) else {
            return Ok(None);
        };
        let distance = git.distance_between(&old, full)?;
        let is_backward = distance.is_none_or(|distance| distance.behind > 0);
        Ok(is_backward.then(|| {
            format!("{full} does not descend from the anchor {old}: an anchor only moves forward")
        }))
    }
}

fn refusal(problems: Vec<Problem>) -> Error {
    Error::refused(format!(
        "the update has {}; nothing was written",
        quantity(problems.len(), "problem")
    ))
    .hint("`annals ledger pending --schema` prints the schema, `annals ledger pending --skill` the rules")
    .problems(problems)
}
