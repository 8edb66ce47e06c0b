//! Gathers the content of the page. A store that cannot be read yields a warning and an empty section.

use serde_json::{Map, Value, json};

use crate::clock::Minutes;
use crate::error::Result;
use crate::facts::{Facts, Purpose};
use crate::patterns::{FinishedPhase, PatternEntry};
use crate::plan::{Drift, Phase, PlanState, StatusReport, Survey};
use crate::project::Project;
use crate::report::SessionCost;
use crate::storage::read;
use crate::text::{estimate_tokens, sanitize_json};
use crate::warning::{Parsed, Warning};
use crate::{facts, knowledge, ledger, patterns};

/// The fields of the page.
type Page = Map<String, Value>;

/// A function that fills some fields.
type Fill = fn(&mut Page, &Project, &mut Vec<Warning>) -> Result<()>;

/// Gathers the content of a project's page, without keys and what a reader does not see.
pub(crate) fn page(project: &Project, costs: &[SessionCost]) -> Parsed<Value> {
    let mut warnings = Vec::new();
    let mut page = Map::new();
    let name = project.root.file_name().unwrap_or_default().to_string_lossy();
    page.insert("project".to_owned(), json!(name));
    page.insert("made".to_owned(), json!(project.clock.timestamp()));
    for field in ["core_value", "standing", "insights", "facts"] {
        page.insert(field.to_owned(), Value::Null);
    }
    for field in ["milestones", "lessons", "decisions", "entries"] {
        page.insert(field.to_owned(), json!([]));
    }
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
    extend(&mut page, "costs", costs.iter().map(|cost| json!(cost)));
    let mut page = Value::Object(page);
    sanitize_json(&mut page);
    Parsed::new(page, warnings)
}

/// Adds values to a list of the page.
fn extend(page: &mut Page, field: &str, more: impl Iterator<Item = Value>) {
    if let Value::Array(list) = page.entry(field).or_insert_with(|| json!([])) {
        list.extend(more);
    }
}

fn fill_planning(page: &mut Page, project: &Project, warnings: &mut Vec<Warning>) -> Result<()> {
    if project.planning().is_err() {
        return Ok(());
    }
    let survey = Survey::read(project)?;
    warnings.extend(survey.warnings.iter().cloned());
    let mut status = StatusReport::from_survey(project, &survey);
    status.add_metric_drift(project, &survey);
    let place =
        |drift: &Drift| format!("`{}:{}`: {}", drift.file.display(), drift.line, drift.sentence());
    let title = status.milestone.display_name().unwrap_or_else(|| "Phases".to_owned());
    page.insert("project".to_owned(), json!(status.project));
    page.insert("core_value".to_owned(), json!(status.core_value));
    // New decisions are appended to lists without dates.
    extend(page, "decisions", status.decisions.iter().rev().map(|decision| json!(decision)));
    page.insert(
        "standing".to_owned(),
        json!({
            "title": title,
            "phase": status.derived,
            "plans": status.plans,
            "next": status.next,
            "contested": status.next.contest(),
            "blockers": status.blockers,
            "todos": status.todos,
            "drift": status.drift.iter().map(place).collect::<Vec<String>>(),
        }),
    );
    let recorded = patterns::stored(project)?.into_value(warnings);
    let finished = patterns::history(&survey)?.into_value(warnings);
    page.insert("milestones".to_owned(), json!(milestones(&finished, &survey, &title)));
    let said = |entry: &&PatternEntry| !entry.worked.is_empty() || !entry.failed.is_empty();
    extend(page, "lessons", recorded.entries.iter().rev().filter(said).map(|one| json!(one)));
    let insights = patterns::Insights::from_phases(&finished);
    page.insert("insights".to_owned(), json!(insights));
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
    let phases = &survey.position.phases;
    let of_active = finished.iter().filter(|done| done.milestone == survey.folder.active.slug);
    let of_active = of_active.filter_map(|done| Some((done.number.as_ref()?, done)));
    let mut rows: Vec<_> = of_active
        .map(|(number, done)| {
            let phase = phases.iter().find(|phase| phase.number == *number);
            (number, finished_row(done, phase.map_or(0, |phase| phase.plans.len())))
        })
        .collect();
    for phase in phases {
        if rows.iter().all(|(number, _)| **number != phase.number) {
            rows.push((&phase.number, open_row(phase)));
        }
    }
    rows.sort_by_key(|(number, _)| *number);
    rows.into_iter().map(|(_, row)| row).collect()
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

fn open_row(phase: &Phase) -> Value {
    json!({
        "number": phase.number.to_string(),
        "name": phase.name.as_deref().unwrap_or_default(),
        "complete": phase.count(PlanState::Complete),
        "total": phase.plans.len(),
        "first": null,
        "last": null,
        "deviations": null,
        "silent": 0,
        "duration": null,
        "untimed": 0,
    })
}

fn fill_decisions(page: &mut Page, project: &Project, warnings: &mut Vec<Warning>) -> Result<()> {
    let decisions = ledger::list_decisions(project)?.into_value(warnings);
    let row = |date, title: &str| json!({"date": date, "text": title, "rationale": null});
    extend(page, "decisions", decisions.iter().map(|one| row(one.date, &one.title)));
    if let Some(Value::Array(all)) = page.get_mut("decisions") {
        all.sort_by(|one, other| other["date"].as_str().cmp(&one["date"].as_str()));
    }
    Ok(())
}

fn fill_entries(page: &mut Page, project: &Project, warnings: &mut Vec<Warning>) -> Result<()> {
    let entries = knowledge::linked(project)?.into_value(warnings);
    let row = |linked: &knowledge::LinkedEntry| {
        let entry = &linked.entry;
        json!({
            "title": entry.title.as_deref().unwrap_or(&entry.key),
            "key": entry.key,
            "kind": entry.kind.map_or("", knowledge::EntryType::as_str),
            "status": entry.status.as_str(),
            "updated": entry.dated(),
            "links": linked.links,
        })
    };
    extend(page, "entries", entries.iter().map(row));
    Ok(())
}

/// Lists pending facts only if a user is set, since the page must not show the wrong user's facts.
fn fill_pending_facts(page: &mut Page, project: &Project, _: &mut Vec<Warning>) -> Result<()> {
    if project.settings.user.is_none() {
        return Ok(());
    }
    let user = facts::user(project, None)?;
    let pending_facts = facts::pending(&Facts::open(project, None, Purpose::Read)?, &user)?;
    let rows = pending_facts.iter().map(|pending| {
        json!({
            "id": pending.fact.fact_id,
            "text": pending.fact.to_string(),
            "confidence": format!("{:.2}", pending.fact.confidence),
            "question": pending.question,
        })
    });
    page.insert("facts".to_owned(), rows.collect());
    Ok(())
}

fn fill_costs(page: &mut Page, project: &Project, warnings: &mut Vec<Warning>) -> Result<()> {
    for target in &project.settings.targets {
        let name = target.file();
        if let Some(found) = read::text(&project.root.join(name))? {
            let tokens = estimate_tokens(&found.into_value(warnings));
            let what = format!("{name}, read by the harness");
            extend(page, "costs", [json!({ "what": what, "tokens": tokens })].into_iter());
        }
    }
    Ok(())
}
