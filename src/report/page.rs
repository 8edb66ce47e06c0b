//! Gathers the content of the page. A store that cannot be read yields a warning and an empty section.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::clock::Minutes;
use crate::error::Result;
use crate::facts::{Facts, Pending, Purpose};
use crate::patterns::{FinishedPhase, Insights, PatternEntry};
use crate::plan::{Drift, PlanState, StatusReport, Survey};
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
    milestones: Vec<Value>,
    lessons: Vec<PatternEntry>,
    insights: Option<Insights>,
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
    let status = StatusReport::from_survey(project, &survey);
    let place =
        |drift: &Drift| format!("`{}:{}`: {}", drift.file.display(), drift.line, drift.sentence());
    page.title = status.milestone.display_name().unwrap_or_else(|| "Phases".to_owned());
    page.contested = status.next.contest();
    page.drift = status.drift.iter().map(place).collect();
    // New decisions are appended to lists without dates.
    page.decisions = status.decisions.iter().rev().map(|decision| json!(decision)).collect();
    page.project.clone_from(&status.project);
    page.status = Some(status);
    let recorded = patterns::stored(project)?.into_value(warnings);
    let finished = patterns::history(&survey)?.into_value(warnings);
    page.milestones = milestones(&finished, &survey, &page.title);
    page.insights = Some(Insights::from_phases(&finished));
    let said = |entry: &PatternEntry| !entry.worked.is_empty() || !entry.failed.is_empty();
    page.lessons = recorded.entries.into_iter().rev().filter(said).collect();
    Ok(())
}

/// Returns the milestones, the active one first, then from newest to oldest.
fn milestones(finished: &[FinishedPhase], survey: &Survey, title: &str) -> Vec<Value> {
    let active = survey.folder.active.slug.as_str();
    let mut groups: Vec<(&str, Vec<Value>)> = Vec::new();
    for phase in finished.iter().filter(|phase| phase.milestone != active) {
        match groups.last_mut() {
            Some((slug, rows)) if *slug == phase.milestone => rows.push(finished_row(phase, 0)),
            _ => groups.push((&phase.milestone, vec![finished_row(phase, 0)])),
        }
    }
    groups.push((active, active_rows(finished, survey)));
    groups.retain(|(_, rows)| !rows.is_empty());
    let milestone = |(slug, rows): (&str, Vec<Value>)| {
        let is_active = slug == active;
        let sum = |field: &str| rows.iter().filter_map(|row| row[field].as_u64()).sum::<u64>();
        json!({
            "name": if is_active { title } else { slug },
            "is_active": is_active,
            "complete": sum("complete"),
            "total": sum("total"),
            "phases": rows,
        })
    };
    groups.into_iter().rev().map(milestone).collect()
}

/// Returns the phases of the active milestone in numerical order, whether they are started or not.
fn active_rows(finished: &[FinishedPhase], survey: &Survey) -> Vec<Value> {
    let of_active = finished.iter().filter(|done| done.milestone == survey.folder.active.slug);
    let done: BTreeMap<_, _> =
        of_active.filter_map(|done| Some((done.number.as_ref()?, done))).collect();
    let mut rows: BTreeMap<_, Value> = BTreeMap::new();
    for phase in &survey.position.phases {
        let row = match done.get(&phase.number) {
            Some(done) => finished_row(done, phase.plans.len()),
            None => json!({
                "number": phase.number.to_string(),
                "name": phase.name.as_deref().unwrap_or_default(),
                "complete": phase.count(PlanState::Complete),
                "total": phase.plans.len(),
                "deviations": null,
            }),
        };
        rows.insert(&phase.number, row);
    }
    for (number, done) in done {
        rows.entry(number).or_insert_with(|| finished_row(done, 0));
    }
    rows.into_values().collect()
}

/// Returns the row of a phase with summaries; it may have more plans than summaries.
fn finished_row(phase: &FinishedPhase, planned: usize) -> Value {
    let plans = &phase.plans;
    let completion_dates = || plans.iter().filter_map(|plan| plan.summary.completed);
    let durations: Vec<Minutes> =
        plans.iter().filter_map(|plan| plan.summary.duration_minutes).collect();
    let sum: Minutes = durations.iter().copied().sum();
    let is_derived = plans.iter().any(|plan| plan.summary.duration_derived);
    let duration = format!("{}{sum}", if is_derived { "~" } else { "" });
    json!({
        "number": phase.number.as_ref().map(ToString::to_string).unwrap_or_default(),
        "name": phase.name,
        "complete": plans.iter().filter(|plan| !plan.is_unfinished()).count(),
        "total": plans.len().max(planned),
        "first": completion_dates().min(),
        "last": completion_dates().max(),
        "deviations": patterns::stated_deviations(plans),
        "silent": patterns::plans_without_deviation_count(plans),
        "duration": (!durations.is_empty()).then_some(duration),
        "untimed": plans.len() - durations.len(),
    })
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
