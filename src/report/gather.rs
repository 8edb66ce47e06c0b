//! Fills the page from the stores. A store that cannot be read yields a warning and an empty section.

use serde_json::{Value, json};

use crate::error::Result;
use crate::facts::{Facts, Purpose};
use crate::plan::{StatusReport, Survey};
use crate::project::Project;
use crate::report::inline::{all_html, clean, html, plain};
use crate::report::{Page, SessionCost, phases};
use crate::storage::read;
use crate::warning::{Parsed, Warning};
use crate::{facts, knowledge, ledger, text};

/// Title of a milestone without a name.
const DEFAULT_MILESTONE_TITLE: &str = "Phases";

/// A function that fills one part of the page.
type Fill = fn(&mut Page, &Project, &mut Vec<Warning>) -> Result<()>;

/// Gathers the content of a project's page.
pub(crate) fn page(project: &Project, more_costs: &[SessionCost]) -> Parsed<Page> {
    let mut warnings = Vec::new();
    let name = project.root.file_name().unwrap_or_default();
    let mut page = Page {
        project: clean(&name.to_string_lossy()),
        made: project.clock.timestamp(),
        ..Page::default()
    };
    let sections: [(&str, Fill); 5] = [
        ("the planning folder", fill_planning),
        ("the ledger", fill_decisions),
        ("the knowledge entries", fill_entries),
        ("the facts", fill_pending_facts),
        ("the cost of a session", fill_costs),
    ];
    for (what, fill) in sections {
        if let Err(error) = fill(&mut page, project, &mut warnings) {
            let message = format!("cannot load {what}: {error}");
            warnings.push(Warning::file(&project.root, message));
        }
    }
    page.costs.extend(more_costs.iter().cloned());
    page.decisions.sort_by(|one, other| other["date"].as_str().cmp(&one["date"].as_str()));
    Parsed::new(page, warnings)
}

fn fill_planning(page: &mut Page, project: &Project, warnings: &mut Vec<Warning>) -> Result<()> {
    if project.planning().is_err() {
        return Ok(());
    }
    let survey = Survey::read(project)?;
    warnings.extend(survey.warnings.iter().cloned());
    let mut status = StatusReport::from_survey(project, &survey);
    status.add_metric_drift(project, &survey);
    let title = status.milestone.display_name();
    let title = plain(title.as_deref().unwrap_or(DEFAULT_MILESTONE_TITLE));
    page.project = plain(&status.project);
    page.core_value = status.core_value.as_deref().map(html);
    page.standing = Some(standing(&status, &title));
    // New decisions are appended to lists without dates.
    page.decisions.extend(status.decisions.iter().rev().map(|decision| {
        json!({
            "date": decision.date,
            "text": html(&decision.text),
            "why": decision.rationale.as_deref().map(html),
        })
    }));
    phases::fill(page, project, &survey, &title, warnings)
}

fn standing(status: &StatusReport, title: &str) -> Value {
    let derived = &status.derived;
    let phase = derived.number.as_ref().map(|number| {
        json!({
            "number": number.to_string(),
            "total": derived.total,
            "name": plain(derived.name.as_deref().unwrap_or_default()),
            "status": clean(derived.status.as_deref().unwrap_or_default()),
        })
    });
    let drift = status
        .drift
        .iter()
        .map(|drift| format!("`{}:{}`: {}", drift.file.display(), drift.line, drift.sentence()));
    json!({
        "milestone": title,
        "phase": phase,
        "complete": status.plans.complete,
        "total": status.plans.total,
        "next": clean(&status.next.command),
        "contested": status.next.contest().map(|contest| clean(&contest)),
        "because": all_html(&status.next.because),
        "blockers": all_html(&status.blockers),
        "todos": all_html(&status.todos),
        "drift": all_html(drift),
    })
}

fn fill_decisions(page: &mut Page, project: &Project, warnings: &mut Vec<Warning>) -> Result<()> {
    let decisions = ledger::list_decisions(project)?.into_value(warnings);
    let row = |date, title: &str| json!({"date": date, "text": html(title), "why": null});
    let rows = decisions.iter().map(|decision| row(decision.date, &decision.title));
    page.decisions.extend(rows);
    Ok(())
}

fn fill_entries(page: &mut Page, project: &Project, warnings: &mut Vec<Warning>) -> Result<()> {
    let entries = knowledge::linked(project)?.into_value(warnings);
    page.entries.extend(entries.iter().map(|linked| {
        let entry = &linked.entry;
        json!({
            "title": html(entry.title.as_deref().unwrap_or(&entry.key)),
            "key": clean(&entry.key),
            "kind": entry.kind.map_or("", knowledge::EntryType::as_str),
            "status": entry.status.as_str(),
            "updated": entry.dated(),
            "links": linked.links.iter().map(|key| clean(key)).collect::<Vec<_>>(),
        })
    }));
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
            "id": clean(&pending.fact.fact_id),
            "text": html(&pending.fact.to_string()),
            "confidence": format!("{:.2}", pending.fact.confidence),
            "question": pending.question.as_deref().map(html),
        })
    });
    page.facts = Some(rows.collect());
    Ok(())
}

fn fill_costs(page: &mut Page, project: &Project, warnings: &mut Vec<Warning>) -> Result<()> {
    for target in &project.settings.targets {
        let name = target.file();
        if let Some(found) = read::text(&project.root.join(name))? {
            let tokens = text::estimate_tokens(&found.into_value(warnings));
            let what = format!("{name}, read by the harness");
            page.costs.push(SessionCost { what, tokens });
        }
    }
    Ok(())
}
