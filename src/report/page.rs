//! Gathers the content of the page. A store that cannot be read yields a warning and an empty section.

use serde::Serialize;
use serde_json::{Value, json};

use crate::error::Result;
use crate::facts::{Facts, Pending, Purpose};
use crate::patterns::PatternEntry;
use crate::plan::{Drift, Phase, PlanState, StatusReport, Survey};
use crate::project::Project;
use crate::report::SessionCost;
use crate::storage::read;
use crate::text::{estimate_tokens, sanitize_json};
use crate::warning::{Parsed, Warning};
use crate::{facts, knowledge, ledger, patterns};

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
    decisions: Vec<Value>,
    entries: Vec<Value>,
    /// The facts that wait for confirmation; `None` if no user is set, since the page must not show the wrong user's.
    facts: Option<Vec<Pending>>,
    costs: Vec<SessionCost>,
}

/// A function that fills some fields.
type Fill = fn(&mut Page, &Project, &mut Vec<Warning>) -> Result<()>;

/// Gathers the content of a project's page, without keys and what a reader does not see.
pub(crate) fn page(project: &Project, costs: &[SessionCost]) -> Parsed<Value> {
    let mut warnings = Vec::new();
    let name = project.root.file_name().unwrap_or_default().to_string_lossy();
    let made = project.clock.timestamp();
    let mut page = Page { project: name.into_owned(), made, ..Page::default() };
    let fills: [(&str, Fill); 5] = [
        ("the planning folder", fill_planning),
        ("the ledger", fill_decisions),
        ("the knowledge entries", fill_entries),
        ("the facts", fill_pending_facts),
        ("the cost of a session", fill_costs),
    ];
    for (what, fill) in fills {
        if let Err(error) = fill(&mut page, project, &mut warnings) {
            let message = format!("cannot load {what}: {error}");
            warnings.push(Warning::file(&project.root, message));
        }
    }
    page.costs.extend_from_slice(costs);
    let mut page = serde_json::to_value(page).unwrap_or_else(|error| {
        warnings.push(Warning::file(&project.root, format!("cannot be shown: {error}")));
        Value::Null
    });
    sanitize_json(&mut page);
    Parsed::new(page, warnings)
}

fn fill_planning(page: &mut Page, project: &Project, warnings: &mut Vec<Warning>) -> Result<()> {
    if project.planning().is_err() {
        return Ok(());
    }
    let survey = Survey::read(project)?;
    warnings.extend(survey.warnings.iter().cloned());
    let status = StatusReport::with_metrics(project, &survey);
    let place =
        |drift: &Drift| format!("`{}:{}`: {}", drift.file.display(), drift.line, drift.sentence());
    page.title = status.milestone.display_name().unwrap_or_else(|| "Phases".to_owned());
    page.contested = status.next.contest();
    page.drift = status.drift.iter().map(place).collect();
    // New decisions are appended to lists without dates.
    page.decisions = status.decisions.iter().rev().map(|decision| json!(decision)).collect();
    page.project.clone_from(&status.project);
    page.status = Some(status);
    let phase = |phase: &Phase| {
        json!({
            "number": phase.number.to_string(),
            "name": phase.name.as_deref().unwrap_or_default(),
            "complete": phase.count(PlanState::Complete),
            "total": phase.plans.len(),
        })
    };
    page.phases = survey.position.phases.iter().map(phase).collect();
    let recorded = patterns::stored(project)?.into_value(warnings);
    let said = |entry: &PatternEntry| !entry.worked.is_empty() || !entry.failed.is_empty();
    page.lessons = recorded.entries.into_iter().rev().filter(said).collect();
    Ok(())
}

fn fill_decisions(page: &mut Page, project: &Project, warnings: &mut Vec<Warning>) -> Result<()> {
    let decisions = ledger::list_decisions(project)?.into_value(warnings);
    let decisions = decisions.iter();
    page.decisions.extend(decisions.map(|one| json!({ "date": one.date, "text": one.title })));
    page.decisions.sort_by(|one, other| other["date"].as_str().cmp(&one["date"].as_str()));
    Ok(())
}

fn fill_entries(page: &mut Page, project: &Project, warnings: &mut Vec<Warning>) -> Result<()> {
    let entries = knowledge::linked(project)?.into_value(warnings);
    let entries = entries.iter();
    page.entries = entries
        .map(|one| json!({ "entry": one.entry, "dated": one.entry.dated(), "links": one.links }))
        .collect();
    Ok(())
}

fn fill_pending_facts(page: &mut Page, project: &Project, _: &mut Vec<Warning>) -> Result<()> {
    if project.settings.user.is_some() {
        let facts = Facts::open(project, None, Purpose::Read)?;
        page.facts = Some(facts::pending(&facts, &facts::user(project, None)?)?);
    }
    Ok(())
}

fn fill_costs(page: &mut Page, project: &Project, warnings: &mut Vec<Warning>) -> Result<()> {
    for target in &project.settings.targets {
        let name = target.file();
        if let Some(found) = read::text(&project.root.join(name))? {
            let tokens = estimate_tokens(&found.into_value(warnings));
            page.costs.push(SessionCost { what: format!("{name}, read by the harness"), tokens });
        }
    }
    Ok(())
}
