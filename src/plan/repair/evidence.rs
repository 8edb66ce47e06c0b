//! Names the file that proves a correction.

use crate::plan::{Survey, Phase, PhaseState, PlanState, Position, roadmap_phase};
use crate::project::vocabulary;

/// Returns the evidence for a phase's state: its first open plan, otherwise its folder, otherwise the
/// roadmap.
pub(super) fn for_phase(survey: &Survey, phase: &Phase) -> String {
    let Some(dir) = &phase.dir else {
        let line = roadmap_phase(&survey.roadmap, &phase.number).map_or(1, |planned| planned.line);
        return format!("{}: names it, but it has no folder", survey.roadmap_line(line));
    };
    if phase.state == PhaseState::Open
        && let Some(open) = survey.open_plans(phase).next()
    {
        return open;
    }
    let (done, all) = (phase.count(PlanState::Complete), phase.plans.len());
    let shown = survey.show(dir);
    match all {
        0 => format!("{shown}: has no plans"),
        1 if done == 1 => format!("{shown}: its plan has a finished summary"),
        _ if done == all => format!("{shown}: all {all} plans have finished summaries"),
        _ => format!("{shown}: {done} of {all} plans have finished summaries"),
    }
}

/// Returns the evidence for the numbers of phases and plans.
pub(super) fn for_all(survey: &Survey, position: &Position) -> String {
    let dir = survey.folder.active.dir.join(vocabulary::PHASES);
    let with_folder = || position.members().filter(|phase| phase.dir.is_some());
    let done: usize = with_folder().map(|phase| phase.count(PlanState::Complete)).sum();
    let plans: usize = with_folder().map(|phase| phase.plans.len()).sum();
    format!(
        "{}: {} of {} phases done, {done} of {plans} plans",
        survey.show(&dir),
        position.done(),
        position.total()
    )
}
