//! Gathers the phases of all milestones, their lessons, and statistics over their plans.

use chrono::NaiveDate;
use serde::Serialize;
use serde_json::{Value, json};

use crate::clock::Minutes;
use crate::error::Result;
use crate::patterns;
use crate::patterns::{DeviatingFile, FinishedPhase, PatternEntry, Patterns, PlanRef};
use crate::plan::{Phase, PlanState, Survey};
use crate::project::Project;
use crate::report::Page;
use crate::report::inline::{all_html, clean, plain};
use crate::warning::Warning;

/// Maximum number of files from deviations that are listed.
const MAX_FILES: usize = 10;

/// A phase, finished or not.
#[derive(Clone, Debug, Default, Serialize)]
struct PhaseRow {
    number: String,
    name: String,
    complete: usize,
    total: usize,
    /// Share of its plans that are complete, in percent.
    percent: usize,
    /// Dates on which its first and its last plan were completed.
    first: Option<NaiveDate>,
    last: Option<NaiveDate>,
    /// Number of deviations stated in its summaries; none if no summary mentions any.
    deviations: Option<u32>,
    /// Number of its summaries that do not mention deviations.
    silent: usize,
    /// Time that its plans took, formatted; none if no plan states it.
    duration: Option<String>,
    /// Number of its summaries without a duration.
    untimed: usize,
}

/// Fills in the milestones, the lessons and the insights; `title` is the active milestone's.
pub(crate) fn fill(
    page: &mut Page,
    project: &Project,
    survey: &Survey,
    title: &str,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    let recorded = patterns::stored(project)?.into_value(warnings);
    let finished = patterns::history(survey, &recorded)?.into_value(warnings);
    let active = survey.folder.active.slug.as_str();
    let milestones = milestones(&finished, survey).into_iter().map(|(slug, phases)| {
        let is_active = slug == active;
        json!({
            "name": if is_active { title.to_owned() } else { clean(slug) },
            "is_active": is_active,
            "complete": phases.iter().map(|row| row.complete).sum::<usize>(),
            "total": phases.iter().map(|row| row.total).sum::<usize>(),
            "phases": phases,
        })
    });
    page.milestones = milestones.collect();
    page.lessons = lessons(&recorded);
    page.insights = Some(insights(&patterns::Insights::from_phases(&finished)));
    Ok(())
}

/// Returns the milestones, the active one first, then from newest to oldest.
fn milestones<'a>(
    finished: &'a [FinishedPhase],
    survey: &'a Survey,
) -> Vec<(&'a str, Vec<PhaseRow>)> {
    let active = &survey.folder.active.slug;
    let mut groups: Vec<(&str, Vec<PhaseRow>)> = Vec::new();
    for phase in finished.iter().filter(|phase| phase.milestone != *active) {
        match groups.last_mut() {
            Some((slug, rows)) if *slug == phase.milestone => rows.push(finished_row(phase)),
            _ => groups.push((&phase.milestone, vec![finished_row(phase)])),
        }
    }
    groups.push((active, active_rows(finished, survey)));
    groups.retain(|(_, rows)| !rows.is_empty());
    groups.reverse();
    groups
}

/// Returns the phases of the active milestone in numerical order, whether they are started or not.
fn active_rows(finished: &[FinishedPhase], survey: &Survey) -> Vec<PhaseRow> {
    let of_active = |phase: &&FinishedPhase| phase.milestone == survey.folder.active.slug;
    let mut numbered: Vec<_> = finished
        .iter()
        .filter(of_active)
        .filter_map(|phase| Some((phase.number.as_ref()?, finished_row(phase))))
        .collect();
    for phase in &survey.position.phases {
        match numbered.iter_mut().find(|(number, _)| **number == phase.number) {
            Some((_, row)) => row.total = phase.plans.len().max(row.complete),
            None => numbered.push((&phase.number, open_row(phase))),
        }
    }
    numbered.sort_by_key(|(number, _)| *number);
    numbered.into_iter().map(|(_, row)| with_percent(row)).collect()
}

fn finished_row(phase: &FinishedPhase) -> PhaseRow {
    let completion_dates = || phase.plans.iter().filter_map(|plan| plan.summary.completed);
    let durations: Vec<Minutes> =
        phase.plans.iter().filter_map(|plan| plan.summary.duration_minutes).collect();
    let sum: Minutes = durations.iter().copied().sum();
    let is_derived = phase.plans.iter().any(|plan| plan.summary.duration_derived);
    let prefix = if is_derived { "~" } else { "" };
    with_percent(PhaseRow {
        number: phase.number.as_ref().map(ToString::to_string).unwrap_or_default(),
        name: plain(&phase.name),
        complete: phase.plans.iter().filter(|plan| !plan.is_unfinished()).count(),
        total: phase.plans.len(),
        first: completion_dates().min(),
        last: completion_dates().max(),
        deviations: patterns::stated_deviations(&phase.plans),
        silent: patterns::plans_without_deviation_count(&phase.plans),
        untimed: phase.plans.len() - durations.len(),
        duration: (!durations.is_empty()).then(|| format!("{prefix}{sum}")),
        ..PhaseRow::default()
    })
}

fn open_row(phase: &Phase) -> PhaseRow {
    PhaseRow {
        number: phase.number.to_string(),
        name: plain(phase.name.as_deref().unwrap_or_default()),
        complete: phase.count(PlanState::Complete),
        total: phase.plans.len(),
        ..PhaseRow::default()
    }
}

/// Returns the row with its percentage of complete plans.
fn with_percent(row: PhaseRow) -> PhaseRow {
    let percent = (row.complete * 100).checked_div(row.total).unwrap_or(0).min(100);
    PhaseRow { percent, ..row }
}

fn lessons(recorded: &Patterns) -> Vec<Value> {
    let lesson = |entry: &PatternEntry| {
        let (name, number) = (plain(&entry.name), entry.phase.as_ref());
        json!({
            "phase": number.map_or_else(|| name.clone(), |number| format!("{number} {name}")),
            "date": entry.date,
            "worked": all_html(&entry.worked),
            "failed": all_html(&entry.failed),
        })
    };
    let said = |entry: &&PatternEntry| !entry.worked.is_empty() || !entry.failed.is_empty();
    recorded.entries.iter().rev().filter(said).map(lesson).collect()
}

fn insights(stats: &patterns::Insights) -> Value {
    let file = |file: &DeviatingFile| {
        let plans: Vec<String> = file.named_in.iter().map(PlanRef::to_string).collect();
        json!({
            "file": clean(&file.file),
            "plans": clean(&plans.join(", ")),
            "deviated": file.deviated.count,
            "touched": file.deviated.of,
        })
    };
    json!({
        "plans": stats.deviated.of,
        "deviated": stats.deviated.count,
        "differences": all_html(stats.lessons().map(|one| &one.statement)),
        "files": stats.deviating_files.iter().take(MAX_FILES).map(file).collect::<Value>(),
    })
}
