//! Chooses the next action: finds the cursor, and what to do there.

use crate::plan::weighing::assessment::Assessment;
use crate::plan::weighing::phase_evidence::RoadmapClaim;
use crate::plan::{Action, PhaseNumber, PhaseProgress, PhaseState, ProgressRow};

/// The next action, and the rule that chose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) action: Action,
    /// The index of its phase.
    pub(super) phase: Option<usize>,
    pub(super) rule: ChoiceRule,
}

/// The rule that chose the next action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChoiceRule {
    /// The cursor's phase is unfinished.
    Cursor,
    /// The cursor's phase has no files; a phase between it and the frontier has, and is unfinished.
    Between,
    /// STATE.md's next step names the phase.
    NextStep,
    /// The first unfinished phase after the cursor.
    Advance,
    /// The first unfinished phase after the cursor has no files, and this later one is prepared.
    Prepared,
    /// A check of the last phase worked on is open, or missing.
    Check,
    /// Nothing is left after the cursor.
    AllDone,
    /// Nothing is planned yet.
    Blank,
    /// No milestone is active.
    Over,
}

/// Returns the cursor: the phase that STATE.md names, unless a later one has a summary and it is not under way itself,
/// else the last with a summary, else that of the next step, else the last that is done.
pub(super) fn cursor(assessment: &Assessment<'_>) -> Option<usize> {
    let number = |index: usize| &assessment.phases[index].number;
    match (assessment.stated_phase(), assessment.frontier()) {
        (Some(stated_phase), Some(frontier))
            if number(stated_phase) < number(frontier)
                && !is_at_work(assessment, stated_phase, frontier) =>
        {
            Some(frontier)
        }
        (Some(stated_phase), _) => Some(stated_phase),
        (None, Some(frontier)) => Some(frontier),
        (None, None) => next_step(assessment)
            .or_else(|| assessment.last_done())
            .or_else(|| first_or_prepared(assessment, None)),
    }
}

/// Returns whether a phase is under way although a later one has summaries: it has both summaries and open plans, and
/// the roadmap calls it in progress or does not call the later one complete.
fn is_at_work(assessment: &Assessment<'_>, index: usize, later: usize) -> bool {
    let phase_evidence = &assessment.phase_evidence[index];
    let row = phase_evidence.planned.and_then(|planned| planned.row.as_ref());
    let is_listed_so = row.and_then(ProgressRow::progress) == Some(PhaseProgress::InProgress);
    assessment.state(index) == PhaseState::Open
        && phase_evidence.summaries > 0
        && (is_listed_so || assessment.phase_evidence[later].claim != RoadmapClaim::Done)
}

/// Returns what to do at the cursor, or after it.
pub(super) fn choose(assessment: &Assessment<'_>, cursor: usize) -> Choice {
    let at =
        |index, rule| Choice { action: action_at(assessment, index), phase: Some(index), rule };
    match assessment.state(cursor) {
        PhaseState::Open | PhaseState::Running => at(cursor, ChoiceRule::Cursor),
        PhaseState::Unplanned => {
            let is_bare = !assessment.phases[cursor].has_files;
            match between(assessment, cursor).filter(|_| is_bare) {
                Some(index) => at(index, ChoiceRule::Between),
                None => at(cursor, ChoiceRule::Cursor),
            }
        }
        PhaseState::Done | PhaseState::Dropped => match advance(assessment, cursor) {
            Some((index, rule)) => at(index, rule),
            None => Choice { action: Action::Ship, phase: None, rule: ChoiceRule::AllDone },
        },
    }
}

/// Returns what to do in an unfinished phase.
pub(super) fn action_at(assessment: &Assessment<'_>, index: usize) -> Action {
    match assessment.state(index) {
        PhaseState::Open | PhaseState::Running => Action::Execute,
        _ => Action::Plan,
    }
}

/// Returns the closest phase with files before the cursor, not before the frontier, if it is unfinished.
fn between(assessment: &Assessment<'_>, cursor: usize) -> Option<usize> {
    let number = |index: usize| -> &PhaseNumber { &assessment.phases[index].number };
    let frontier = assessment.frontier();
    let below = assessment.members.iter().copied().rfind(|index| {
        number(*index) < number(cursor)
            && frontier.is_none_or(|frontier| number(*index) >= number(frontier))
            && assessment.phases[*index].has_files
    })?;
    matches!(assessment.state(below), PhaseState::Open | PhaseState::Unplanned).then_some(below)
}

/// Returns the next unfinished phase after a finished cursor.
fn advance(assessment: &Assessment<'_>, cursor: usize) -> Option<(usize, ChoiceRule)> {
    if let Some(named) = next_step(assessment) {
        let is_behind = assessment.phases[named].number < assessment.phases[cursor].number;
        if is_behind && assessment.is_unfinished(named) {
            return Some((named, ChoiceRule::NextStep));
        }
    }
    let first = assessment.unfinished_after(Some(cursor)).next()?;
    match first_or_prepared(assessment, Some(cursor)) {
        Some(later) if later != first => Some((later, ChoiceRule::Prepared)),
        _ => Some((first, ChoiceRule::Advance)),
    }
}

/// Returns the first unfinished phase after the cursor, or if that has no files, a later prepared one.
fn first_or_prepared(assessment: &Assessment<'_>, cursor: Option<usize>) -> Option<usize> {
    let first = assessment.unfinished_after(cursor).next()?;
    let is_prepared = |index: &usize| {
        let phase = &assessment.phases[*index];
        phase.has_context || phase.has_plans()
    };
    let prepared = assessment.unfinished_after(Some(first)).find(is_prepared);
    let is_bare = !assessment.phases[first].has_files;
    Some(prepared.filter(|_| is_bare).unwrap_or(first))
}

/// Returns the first phase named in STATE.md's next steps.
fn next_step(assessment: &Assessment<'_>) -> Option<usize> {
    let numbering = assessment.evidence.state.numbering;
    let steps = &assessment.evidence.state.next_steps;
    steps
        .iter()
        .flat_map(|step| numbering.phases_in(&step.value))
        .find_map(|number| assessment.member(&number))
}
