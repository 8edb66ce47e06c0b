//! Fills the page from the stores. A store that cannot be read yields a warning and an empty section.

use std::cmp::Reverse;

use crate::error::Result;
use crate::facts::{Facts, Purpose};
use crate::plan::{StatusReport, Survey};
use crate::project::{Project, vocabulary};
use crate::report::inline::{Inline, clean, plain};
use crate::report::page::{CurrentPhase, DecisionRow, EntryRow, FactRow, Page, WorkStatus};
use crate::report::{SessionCost, phases};
use crate::storage::read;
use crate::warning::{Parsed, Warning};
use crate::{facts, knowledge, ledger, text};

/// Title of a milestone without a name.
const DEFAULT_MILESTONE_TITLE: &str = "Phases";

/// A function that fills one part of the page.
type Fill = fn(&mut Page, &Project, &mut Vec<Warning>) -> Result<()>;

impl Page {
    /// Gathers the content of a project's page.
    pub(crate) fn gather(project: &Project, more_costs: &[SessionCost]) -> Parsed<Self> {
        let mut warnings = Vec::new();
        let mut page = Self { made: project.clock.timestamp(), ..Self::default() };
        let name = project.root.file_name().unwrap_or_default();
        page.project = clean(&name.to_string_lossy());
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
        page.decisions.sort_by_key(|decision| Reverse(decision.date));
        Parsed::new(page, warnings)
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
    page.project = plain(&status.project);
    page.core_value = status.core_value.as_deref().map(Inline::render);
    page.standing = Some(work_status(&status));
    let state = survey.folder.active.dir.join(vocabulary::STATE);
    let file = clean(&project.relative(&state).to_string_lossy());
    // New decisions are appended to lists without dates.
    let decisions = status.decisions.iter().rev().map(|decision| DecisionRow {
        date: decision.date,
        text: Inline::render(&decision.text),
        why: decision.rationale.as_deref().map(Inline::render),
        file: file.clone(),
    });
    page.decisions.extend(decisions);
    phases::fill(page, project, &survey, warnings)
}

fn work_status(status: &StatusReport) -> WorkStatus {
    let derived = &status.derived;
    let phase = derived.number.as_ref().map(|number| CurrentPhase {
        number: number.to_string(),
        total: derived.total,
        name: plain(derived.name.as_deref().unwrap_or_default()),
        status: clean(derived.status.as_deref().unwrap_or_default()),
    });
    let drift = status
        .drift
        .iter()
        .map(|drift| format!("`{}:{}`: {}", drift.file.display(), drift.line, drift.sentence()));
    WorkStatus {
        milestone: plain(
            &status.milestone.display_name().unwrap_or_else(|| DEFAULT_MILESTONE_TITLE.to_owned()),
        ),
        phase,
        complete: status.plans.complete,
        total: status.plans.total,
        next: clean(&status.next.command),
        contested: status.next.contest().map(|contest| clean(&contest)),
        because: Inline::all(&status.next.because),
        blockers: Inline::all(&status.blockers),
        todos: Inline::all(&status.todos),
        drift: Inline::all(drift),
    }
}

fn fill_decisions(page: &mut Page, project: &Project, warnings: &mut Vec<Warning>) -> Result<()> {
    let decisions = ledger::list_decisions(project)?.into_value(warnings);
    let folder = project.settings.ledger_dir.display();
    let file = clean(&format!("{folder}/{}", ledger::DECISIONS));
    page.decisions.extend(decisions.into_iter().map(|decision| DecisionRow {
        date: decision.date,
        text: Inline::render(&decision.title),
        why: None,
        file: file.clone(),
    }));
    Ok(())
}

fn fill_entries(page: &mut Page, project: &Project, warnings: &mut Vec<Warning>) -> Result<()> {
    let entries = knowledge::linked(project)?.into_value(warnings);
    page.entries.extend(entries.into_iter().map(|linked| EntryRow {
        title: Inline::render(linked.entry.title.as_deref().unwrap_or(&linked.entry.key)),
        key: clean(&linked.entry.key),
        kind: linked.entry.kind.map_or("", knowledge::EntryType::as_str).to_owned(),
        status: linked.entry.status.as_str().to_owned(),
        updated: linked.entry.dated(),
        links: linked.links.iter().map(|key| clean(key)).collect(),
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
    let rows = pending_facts.into_iter().map(|pending| FactRow {
        id: clean(&pending.fact.fact_id),
        text: Inline::render(&pending.fact.to_string()),
        confidence: format!("{:.2}", pending.fact.confidence),
        question: pending.question.as_deref().map(Inline::render),
    });
    page.facts = Some(rows.collect());
    Ok(())
}

fn fill_costs(page: &mut Page, project: &Project, warnings: &mut Vec<Warning>) -> Result<()> {
    for target in &project.settings.targets {
        let name = target.file();
        if let Some(found) = read::text(&project.root.join(name))? {
            page.costs.push(SessionCost {
                what: format!("{name}, read by the harness"),
                tokens: text::estimate_tokens(&found.into_value(warnings)),
            });
        }
    }
    Ok(())
}
