//! Gathers the phases of all milestones, their lessons, and statistics over their plans.

use crate::clock::Minutes;
use crate::error::Result;
use crate::patterns;
use crate::patterns::{DeviatingFile, FinishedPhase, PatternEntry, Patterns, PlanRef};
use crate::plan::{Phase, PlanState, Survey};
use crate::project::Project;
use crate::report::inline::{Inline, clean, plain};
use crate::report::page::{FileRow, Insights, MilestoneRow, Page, PhaseLessons};
use crate::report::phase_row::PhaseRow;
use crate::report::timeline::Timeline;
use crate::warning::Warning;

/// Maximum number of files from deviations that are listed.
const MAX_FILES: usize = 10;

/// Fills in the milestones, the timeline, the lessons and the insights.
pub(crate) fn fill(
    page: &mut Page,
    project: &Project,
    survey: &Survey,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    let recorded = patterns::stored(project)?.into_value(warnings);
    let finished = patterns::history(survey, &recorded)?.into_value(warnings);
    page.milestones = milestones(&finished, survey);
    if let (Some(standing), [active, ..]) = (&page.standing, &mut page.milestones[..])
        && active.is_active
    {
        active.name.clone_from(&standing.milestone);
    }
    let in_order: Vec<PhaseRow> = page
        .milestones
        .iter()
        .rev()
        .flat_map(|milestone| milestone.phases.iter().cloned())
        .collect();
    page.timeline = Timeline::from_phases(&in_order);
    page.lessons = lessons(&recorded);
    page.insights = insights(&patterns::Insights::from_phases(&finished));
    Ok(())
}

/// Returns the milestones, the active one first, then from newest to oldest.
fn milestones(finished: &[FinishedPhase], survey: &Survey) -> Vec<MilestoneRow> {
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
    let milestones = groups.into_iter().rev().map(|(slug, phases)| MilestoneRow {
        name: clean(slug),
        is_active: slug == active,
        complete: phases.iter().map(|row| row.complete).sum(),
        total: phases.iter().map(|row| row.total).sum(),
        phases,
    });
    milestones.collect()
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

fn lessons(recorded: &Patterns) -> Vec<PhaseLessons> {
    let bullets_of = |bullets: &[String]| Inline::all(bullets.iter());
    let lesson = |entry: &PatternEntry| PhaseLessons {
        phase: entry.phase.as_ref().map_or_else(
            || plain(&entry.name),
            |number| format!("{number} {}", plain(&entry.name)),
        ),
        date: entry.date,
        worked: bullets_of(&entry.worked),
        failed: bullets_of(&entry.failed),
    };
    let mut lessons: Vec<PhaseLessons> = recorded.entries.iter().rev().map(lesson).collect();
    lessons.retain(|phase| !phase.worked.is_empty() || !phase.failed.is_empty());
    lessons
}

fn insights(stats: &patterns::Insights) -> Insights {
    Insights {
        plans: stats.deviated.of,
        deviated: stats.deviated.count,
        differences: Inline::all(stats.lessons().map(|one| &one.statement)),
        files: stats.deviating_files.iter().take(MAX_FILES).map(file).collect(),
    }
}

fn file(file: &DeviatingFile) -> FileRow {
    let plans: Vec<String> = file.named_in.iter().map(PlanRef::to_string).collect();
    FileRow {
        file: clean(&file.file),
        plans: clean(&plans.join(", ")),
        deviated: file.deviated.count,
        touched: file.deviated.of,
    }
}
