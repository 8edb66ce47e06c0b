//! Finds statements of ROADMAP.md that contradict the files: checkboxes, and rows of the progress table.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use crate::clock::parse_date;
use crate::plan::drift::{
    DriftKind, Expected, Finding, STATUS, Statement, Statements, has_unclear_counts, is_check,
    is_passed,
};
use crate::plan::{
    Survey, Phase, PhaseNumber, PhaseProgress, PhaseState, PlanState, Position, ProgressRow,
    RoadmapPhase,
};
use crate::project::vocabulary;

/// Returns the statements of ROADMAP.md that contradict the files, in file order.
pub(super) fn statements(survey: &Survey, position: &Position) -> Vec<Finding> {
    let mut statements = Statements::new(survey, position, vocabulary::ROADMAP);
    let mut folders: HashMap<&PhaseNumber, Vec<usize>> = HashMap::new();
    for (index, phase) in position.phases.iter().enumerate() {
        if phase.dir.is_some() && !phase.plans.is_empty() {
            folders.entry(&phase.number).or_default().push(index);
        }
    }
    // Shipped phases are history: they are not compared with folders that still exist.
    let to_do = survey.roadmap.phases.iter();
    for planned in to_do.filter(|planned| !planned.is_shipped) {
        // If two folders have the same number, it is unclear which of them the roadmap refers to.
        if let Some([index]) = folders.get(&planned.number).map(Vec::as_slice)
            && !position.phases[*index].is_old
        {
            statements.planned(planned, *index);
        }
    }
    statements.sorted()
}

/// Returns the counts of a row's cell in the format used for comparison, complete plans first.
fn stated_counts(row: &ProgressRow, cell: &str) -> String {
    match (row.plans_complete, row.plans_total) {
        (Some(done), Some(all)) => format!("{done}/{all}"),
        _ => cell.to_owned(),
    }
}

impl Statements<'_> {
    fn planned(&mut self, planned: &RoadmapPhase, index: usize) {
        let phase = &self.position.phases[index];
        // A phase that waits for a person is rightly left open.
        if let Some(checkbox) = &planned.checkbox
            && !phase.awaits_check
        {
            // For a phase before the current one, a checked box is more reliable than a missing summary,
            // which may never have been committed.
            let is_done = phase.state == PhaseState::Done
                || checkbox.value && is_passed(self.position, index);
            let mark = |checked| if checked { "[x]" } else { "[ ]" };
            let place = Statement {
                kind: DriftKind::Checkbox,
                subject: "the checkbox",
                line: checkbox.line,
                range: &checkbox.range,
                phase: Some(index),
            };
            // A phase that was passed over with an unfinished plan is not ticked off by a program.
            let is_unfinished =
                phase.count(PlanState::Partial) + phase.count(PlanState::Failed) > 0;
            if !(is_done && is_unfinished) {
                let (stated, actual) = (mark(checkbox.value), mark(is_done));
                self.compare(&place, &stated, &actual, Expected::Mark(is_done));
            }
        }
        if let Some(row) = &planned.row {
            self.row(planned, row, index);
        }
    }

    fn row(&mut self, planned: &RoadmapPhase, row: &ProgressRow, index: usize) {
        let phase = &self.position.phases[index];
        let is_running = phase.state == PhaseState::Running && phase.declared.is_some();
        if has_unclear_counts(phase) && !is_running {
            return;
        }
        let place = |subject, range| Statement {
            kind: DriftKind::ProgressRow,
            subject,
            line: row.line,
            range,
            phase: Some(index),
        };
        if let Some(cell) = &row.plans
            && !(phase.plans.len() < planned.plans.len() && agrees_with_list(row, planned))
        {
            let place = place("the number of plans", &cell.range);
            self.row_counts(&place, row, &cell.value, phase);
        }
        // A finished row was written by someone who knew more than a missing summary or an old check says.
        let is_settled = row.completed.as_ref().is_some_and(|day| is_day(&day.value))
            && row.plans_complete == row.plans_total
            && row.plans_total.is_some_and(|total| total as usize == phase.plans.len());
        if let Some(status) = &row.status
            && !(is_settled && PhaseProgress::is_complete_status(&status.value))
            && let Some((actual, correct)) =
                row_status(&status.value, phase, is_passed(self.position, index))
        {
            let place = place(STATUS, &status.range);
            self.compare(&place, &status.value, &actual, Expected::Status(correct));
        }
    }

    /// Compares the counts of a row's cell; possible values are kept.
    fn row_counts(&mut self, place: &Statement<'_>, row: &ProgressRow, cell: &str, phase: &Phase) {
        let may_be = |range: RangeInclusive<usize>, stated: Option<u32>| {
            let stated = stated.map(|stated| stated as usize);
            stated.filter(|stated| range.contains(stated))
        };
        let complete = phase.complete_range();
        // More plans may be complete than were committed, but not fewer.
        let most = if phase.state == PhaseState::Running {
            phase.plans_expected()
        } else {
            *complete.end()
        };
        let stated_complete = may_be(*complete.start()..=most, row.plans_complete);
        let stated_total = may_be(phase.plans_range(), row.plans_total);
        if stated_complete.is_some() && stated_total.is_some() {
            return;
        }
        let complete = stated_complete.unwrap_or_else(|| phase.count(PlanState::Complete));
        let total = stated_total.unwrap_or(phase.plans_expected());
        match (row.plans_complete, row.plans_total) {
            (Some(done), None) if !cell.contains('/') => self.count(place, done, complete),
            // Before the first plan is complete, `0/TBD` states nothing.
            (Some(done), None) if complete == done as usize => {}
            (None, Some(all)) => self.count(place, all, total),
            _ => {
                let actual = format!("{complete}/{total}");
                let stated = stated_counts(row, cell);
                self.compare(place, &stated, &actual, Expected::Counts(complete, total));
            }
        }
    }
}

/// Returns whether a row calls all plans of the phase's own list complete, and the list has them all checked: one
/// summary may stand for several plans.
fn agrees_with_list(row: &ProgressRow, planned: &RoadmapPhase) -> bool {
    let listed = &planned.plans;
    let is_whole = |count: Option<u32>| count.is_some_and(|count| count as usize == listed.len());
    !listed.is_empty()
        && listed.iter().all(|plan| plan.checked == Some(true))
        && is_whole(row.plans_complete)
        && is_whole(row.plans_total)
}

fn is_day(text: &str) -> bool {
    parse_date(text).is_some()
}

/// Returns the correct status for a row, or `None` if the stated one may stay.
fn row_status(
    stated: &str,
    phase: &Phase,
    is_passed: bool,
) -> Option<(&'static str, PhaseProgress)> {
    let is_complete_status = PhaseProgress::is_complete_status(stated);
    let is_new = PhaseProgress::parse(stated) == Some(PhaseProgress::NotStarted);
    match phase.state {
        PhaseState::Done if phase.awaits_check => {
            is_new.then_some(("In progress", PhaseProgress::InProgress))
        }
        PhaseState::Done if PhaseProgress::is_open_status(stated) && !is_check(stated) => {
            Some(("Complete", PhaseProgress::Complete))
        }
        PhaseState::Open | PhaseState::Running
            if is_complete_status && !is_passed || phase.is_begun() && is_new =>
        {
            Some(("In progress", PhaseProgress::InProgress))
        }
        PhaseState::Unplanned if is_complete_status => {
            Some(("Not started", PhaseProgress::NotStarted))
        }
        _ => None,
    }
}
