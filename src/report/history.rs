//! The phases of all milestones, and what their plans show together.

use std::collections::BTreeSet;

use crate::clock::Minutes;
use crate::error::Result;
use crate::patterns;
use crate::patterns::Bucket;
use crate::patterns::DeviatingFile;
use crate::patterns::FinishedPhase;
use crate::patterns::PlanRef;
use crate::planning::Phase;
use crate::planning::PlanStanding;
use crate::planning::Survey;
use crate::project::Project;
use crate::report::page::FileRow;
use crate::report::page::Insights;
use crate::report::page::Page;
use crate::report::page::PhaseRow;
use crate::report::page::SizeRow;
use crate::report::page::clean;
use crate::report::page::cleaned;
use crate::warning::Warning;

/// How many files are listed.
const FILES: usize = 10;

/// Fills in the phases and the insights.
pub(crate) fn fill(
    page: &mut Page,
    project: &Project,
    survey: &Survey,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    let recorded = patterns::stored(project)?.into_value(warnings);
    let finished = patterns::history(survey, &recorded)?.into_value(warnings);
    page.phases = phases(&finished, survey);
    page.insights = insights(&patterns::Insights::of(&finished));
    Ok(())
}

fn phases(finished: &[FinishedPhase], survey: &Survey) -> Vec<PhaseRow> {
    let active = &survey.folder.active.slug;
    let mut rows: Vec<PhaseRow> = finished.iter().map(row).collect();
    let mut begun = BTreeSet::new();
    for (row, phase) in rows.iter_mut().zip(finished) {
        if phase.milestone == *active {
            let standing = survey.position.phases.iter();
            let mut standing = standing.filter(|one| one.number == phase.number);
            if let Some(standing) = standing.next() {
                row.total = standing.plans.len().max(row.complete);
                begun.insert(&standing.number);
            }
        }
    }
    let open = survey.position.phases.iter();
    let open = open.filter(|phase| !begun.contains(&phase.number));
    rows.extend(open.map(|phase| open_row(phase, active)));
    rows
}

fn row(phase: &FinishedPhase) -> PhaseRow {
    let days = || phase.plans.iter().filter_map(|plan| plan.completed);
    let times: Vec<Minutes> = phase
        .plans
        .iter()
        .filter_map(|plan| plan.duration)
        .collect();
    let sum: Minutes = times.iter().copied().sum();
    let known = (!times.is_empty()).then_some(sum);
    PhaseRow {
        milestone: clean(&phase.milestone),
        number: phase.number.to_string(),
        name: clean(&phase.name),
        complete: phase
            .plans
            .iter()
            .filter(|plan| !plan.is_broken_off())
            .count(),
        total: phase.plans.len(),
        first: days().min(),
        last: days().max(),
        deviations: phase
            .plans
            .iter()
            .filter_map(|plan| plan.deviation_count)
            .reduce(u32::saturating_add),
        minutes: known.map(Minutes::as_f64),
        duration: known.map_or_else(|| "unknown".to_owned(), |sum| sum.to_string()),
        timed: times.len(),
    }
}

fn open_row(phase: &Phase, milestone: &str) -> PhaseRow {
    PhaseRow {
        milestone: clean(milestone),
        number: phase.number.to_string(),
        name: clean(phase.name.as_deref().unwrap_or_default()),
        complete: phase.count(PlanStanding::Complete),
        total: phase.plans.len(),
        duration: "not begun".to_owned(),
        ..PhaseRow::default()
    }
}

fn insights(found: &patterns::Insights) -> Insights {
    let by_tasks = found.by_tasks.buckets.iter().map(|one| size(one, "tasks"));
    let by_files = found.by_files.buckets.iter().map(|one| size(one, "files"));
    Insights {
        plans: found.plans,
        speaking: found.deviated.of,
        silent: found.silent(),
        deviated: found.deviated.count,
        deviations: found.deviations,
        lessons: cleaned(found.lessons().map(|one| &one.statement)),
        sizes: by_tasks
            .chain(by_files)
            .filter(|row| row.plans > 0)
            .collect(),
        files: found.deviating_files.iter().take(FILES).map(file).collect(),
    }
}

fn size(bucket: &Bucket, unit: &str) -> SizeRow {
    let size = match bucket.to {
        Some(last) if last == bucket.from => format!("{last} {unit}"),
        Some(last) => format!("{} to {last} {unit}", bucket.from),
        None => format!("{} {unit} or more", bucket.from),
    };
    SizeRow {
        size,
        deviated: bucket.deviated.count,
        speaking: bucket.deviated.of,
        plans: bucket.plans,
        median: bucket
            .median_minutes
            .map_or_else(|| "unknown".to_owned(), |median| median.to_string()),
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
