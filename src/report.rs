//! Generates a self-contained page for people that shows what the project remembers.
//!
//! The page needs no network, scripts or external fonts. Stored text is escaped; the page's head also forbids all scripts.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::facts::{Facts, Pending, Purpose};
use crate::patterns::PatternEntry;
use crate::plan::{Phase, PlanState, StatusReport, Survey};
use crate::project::Project;
use crate::storage::{Changes, Store};
use crate::text::{is_absent, sanitize_json};
use crate::warning::{Parsed, Warning};
use crate::{facts, knowledge, ledger, patterns, templates};

/// The result of `annals report`. It is the document of `annals report --json`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReportFile {
    /// Path of the page, relative to the project; null if the page is in `html`.
    pub file: Option<PathBuf>,
    /// The page; null if it was written to a file.
    pub html: Option<String>,
    /// The changes that would be made, on a dry run.
    pub diff: Option<String>,
    /// Warnings about what was only partly understood.
    pub warnings: Vec<Warning>,
}

/// A text read at the start of a session, and its length in tokens, as estimated by `text::estimate_tokens`.
pub type SessionCost = (&'static str, usize);

/// Name of the operation that writes the page.
const OPERATION: &str = "report";

/// Returns whether a file starts like a report: with a title that has the same ending.
fn is_report(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_TITLE_END)]);
    head.starts_with("<!doctype html>")
        && head
            .split_once("</title>")
            .is_some_and(|(before, _)| before.ends_with(": project memory"))
}

/// Maximum offset of the end of a report's title, in bytes.
const MAX_TITLE_END: usize = 16 * 1024;

/// Returns the page of a project, or writes it to a file in it; refused outside it, and if a file that is not a report
/// exists there. The costs of the context files are measured here; `costs` has those of the other texts that are read at
/// the start of a session.
///
/// The page may contain facts about a user, so no record of it is kept. The file that it replaces cannot be restored,
/// but that can only be an earlier report, which can be regenerated at any time.
pub fn report(project: &Project, costs: &[SessionCost], file: Option<&Path>) -> Result<ReportFile> {
    let gathered = page(project, costs);
    let page = templates::page(&gathered.value)?;
    let mut done =
        ReportFile { warnings: project.named(gathered.warnings), ..ReportFile::default() };
    let Some(file) = file else {
        done.html = Some(page);
        return Ok(done);
    };
    let path = project.root.join(file);
    let stores = [Store::Context];
    let ((), applied) =
        project.storage().keep_history(false).transact(OPERATION, &stores, || {
            let mut changes = Changes::new();
            if let Some(old) = changes.current(&path)?
                && !is_report(&old)
            {
                return Err(Error::refused("is not a report, so it is not overwritten")
                    .at(project.relative(&path), None)
                    .hint("name another file, or move this one away"));
            }
            changes.write(&path, page.as_bytes())?;
            Ok(((), changes))
        })?;
    done.warnings.extend(project.named(applied.warnings));
    done.file = Some(project.relative(&path).to_owned());
    done.diff = applied.diff;
    Ok(done)
}

/// The content of the page: mostly the documents that commands print with `--json`.
#[derive(Default, Serialize)]
struct Page {
    project: String,
    made: String,
    status: Option<StatusReport>,
    /// The title of the active milestone.
    title: String,
    contested: Option<String>,
    drift: Vec<String>,
    phases: Vec<Value>,
    lessons: Vec<PatternEntry>,
    /// The sections of the ledger's STATE.md and CONSTRAINTS.md that say something.
    ledger: Vec<(String, Vec<String>)>,
    decisions: Vec<Value>,
    entries: Vec<Value>,
    /// The facts that wait for confirmation; `None` if no user is set, since the page must not show the wrong user's.
    facts: Option<Vec<Pending>>,
    costs: Vec<SessionCost>,
    #[serde(skip)]
    warnings: Vec<Warning>,
}

/// A function that fills some fields.
type Fill = fn(&mut Page, &Project) -> Result<()>;

/// Gathers the content of a project's page, without keys and what a reader does not see.
pub(crate) fn page(project: &Project, costs: &[SessionCost]) -> Parsed<Value> {
    let name = project.root.file_name().unwrap_or_default().to_string_lossy();
    let made = project.clock.timestamp();
    let mut page =
        Page { project: name.into_owned(), made, costs: costs.to_vec(), ..Page::default() };
    let fills: [(&str, Fill); 4] = [
        ("the planning folder", Page::fill_planning),
        ("the ledger", Page::fill_ledger),
        ("the knowledge entries", Page::fill_entries),
        ("the facts", Page::fill_pending_facts),
    ];
    for (what, fill) in fills {
        if let Err(error) = fill(&mut page, project) {
            let message = format!("cannot load {what}: {error}");
            page.warnings.push(Warning::file(&project.root, message));
        }
    }
    let mut warnings = std::mem::take(&mut page.warnings);
    let mut page = serde_json::to_value(page).unwrap_or_else(|error| {
        warnings.push(Warning::file(&project.root, format!("cannot be shown: {error}")));
        Value::Null
    });
    sanitize_json(&mut page);
    Parsed::new(page, warnings)
}

impl Page {
    fn fill_planning(&mut self, project: &Project) -> Result<()> {
        if project.planning().is_err() {
            return Ok(());
        }
        let survey = Survey::read(project)?;
        self.warnings.extend(survey.warnings.iter().cloned());
        let status = StatusReport::with_metrics(project, &survey);
        self.title = status.milestone.display_name().unwrap_or_else(|| "Phases".to_owned());
        self.contested = status.next.contest();
        self.drift = status
            .drift
            .iter()
            .map(|drift| format!("`{}:{}`: {}", drift.file.display(), drift.line, drift.sentence()))
            .collect();
        // New decisions are appended to lists without dates.
        self.decisions = status.decisions.iter().rev().map(|decision| json!(decision)).collect();
        self.project.clone_from(&status.project);
        self.status = Some(status);
        let phase = |phase: &Phase| {
            json!({
                "number": phase.number.to_string(),
                "name": phase.name.as_deref().unwrap_or_default(),
                "complete": phase.count(PlanState::Complete),
                "total": phase.plans.len(),
            })
        };
        self.phases = survey.position.phases.iter().map(phase).collect();
        self.lessons = patterns::stored(project)?
            .into_value(&mut self.warnings)
            .entries
            .into_iter()
            .rev()
            .filter(|entry| !entry.worked.is_empty() || !entry.failed.is_empty())
            .collect();
        Ok(())
    }

    fn fill_ledger(&mut self, project: &Project) -> Result<()> {
        if ledger::exists(project) {
            let brief = ledger::brief(project, ledger::BRIEF_DAYS)?;
            self.ledger = brief.state_sections();
            self.ledger.extend(brief.constraint_sections());
            for (_, lines) in &mut self.ledger {
                lines.retain(|line| !is_absent(line));
            }
            self.ledger.retain(|(_, lines)| !lines.is_empty());
        }
        let decisions = ledger::list_decisions(project)?.into_value(&mut self.warnings);
        self.decisions
            .extend(decisions.iter().map(|one| json!({ "date": one.date, "text": one.title })));
        self.decisions.sort_by(|one, other| other["date"].as_str().cmp(&one["date"].as_str()));
        Ok(())
    }

    fn fill_entries(&mut self, project: &Project) -> Result<()> {
        let entries = knowledge::linked(project)?.into_value(&mut self.warnings);
        self.entries = entries
            .iter()
            .map(
                |one| json!({ "entry": one.entry, "dated": one.entry.dated(), "links": one.links }),
            )
            .collect();
        Ok(())
    }

    fn fill_pending_facts(&mut self, project: &Project) -> Result<()> {
        if project.settings.user.is_some() {
            let facts = Facts::open(project, None, Purpose::Read)?;
            self.facts = Some(facts::pending(&facts, &facts::user(project, None)?)?);
        }
        Ok(())
    }
}
