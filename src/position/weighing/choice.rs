//! Chooses the next action: finds the cursor, and what to do there.

use crate::planning::PhaseNumber;
use crate::position::Action;
use crate::position::PhaseState;
use crate::position::weighing::reading::Reading;
use crate::position::weighing::wording;

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

/// Returns the cursor: the phase that STATE.md names, unless a later phase has a summary.
pub(super) fn cursor(reading: &Reading<'_>) -> Option<usize> {
    let number = |index: usize| &reading.phases[index].number;
    match (reading.pointer(), reading.frontier()) {
        (Some(pointer), Some(frontier)) if number(pointer) < number(frontier) => Some(frontier),
        (Some(pointer), _) => Some(pointer),
        (None, Some(frontier)) => Some(frontier),
        (None, None) => next_step(reading).or_else(|| first_or_prepared(reading, None)),
    }
}

/// Returns what to do at the cursor, or after it.
pub(super) fn choose(reading: &Reading<'_>, cursor: usize) -> Choice {
    let at = |index, rule| Choice {
        action: action_at(reading, index),
        phase: Some(index),
        rule,
    };
    match reading.state(cursor) {
        PhaseState::Open | PhaseState::Running => at(cursor, ChoiceRule::Cursor),
        PhaseState::Unplanned => {
            let is_bare = !reading.phases[cursor].has_files;
            match between(reading, cursor).filter(|_| is_bare) {
                Some(index) => at(index, ChoiceRule::Between),
                None => at(cursor, ChoiceRule::Cursor),
            }
        }
        PhaseState::Done | PhaseState::Dropped => match advance(reading, cursor) {
            Some((index, rule)) => at(index, rule),
            None => Choice {
                action: Action::Ship,
                phase: None,
                rule: ChoiceRule::AllDone,
            },
        },
    }
}

fn action_at(reading: &Reading<'_>, index: usize) -> Action {
    match reading.state(index) {
        PhaseState::Open | PhaseState::Running => Action::Execute,
        _ => Action::Plan,
    }
}

/// Returns the closest phase with files before the cursor, not before the frontier, if it is unfinished.
fn between(reading: &Reading<'_>, cursor: usize) -> Option<usize> {
    let number = |index: usize| -> &PhaseNumber { &reading.phases[index].number };
    let frontier = reading.frontier();
    let below = reading.members.iter().copied().rfind(|index| {
        number(*index) < number(cursor)
            && frontier.is_none_or(|frontier| number(*index) >= number(frontier))
            && reading.phases[*index].has_files
    })?;
    matches!(
        reading.state(below),
        PhaseState::Open | PhaseState::Unplanned
    )
    .then_some(below)
}

/// Returns the next unfinished phase after a finished cursor.
fn advance(reading: &Reading<'_>, cursor: usize) -> Option<(usize, ChoiceRule)> {
    if let Some(named) = next_step(reading) {
        let is_behind = reading.phases[named].number < reading.phases[cursor].number;
        if is_behind && reading.is_unfinished(named) {
            return Some((named, ChoiceRule::NextStep));
        }
    }
    let first = reading.unfinished_after(Some(cursor)).next()?;
    match first_or_prepared(reading, Some(cursor)) {
        Some(later) if later != first => Some((later, ChoiceRule::Prepared)),
        _ => Some((first, ChoiceRule::Advance)),
    }
}

/// Returns the first unfinished phase after the cursor, or if that has no files, a later prepared one.
fn first_or_prepared(reading: &Reading<'_>, cursor: Option<usize>) -> Option<usize> {
    let first = reading.unfinished_after(cursor).next()?;
    let is_prepared = |index: &usize| {
        let phase = &reading.phases[*index];
        phase.has_context || phase.has_files_of_plans()
    };
    let prepared = reading.unfinished_after(Some(first)).find(is_prepared);
    let is_bare = !reading.phases[first].has_files;
    Some(prepared.filter(|_| is_bare).unwrap_or(first))
}

/// Returns the first phase named in STATE.md's next steps.
fn next_step(reading: &Reading<'_>) -> Option<usize> {
    let steps = &reading.evidence.state.next_steps;
    steps
        .iter()
        .flat_map(|step| wording::phases_in(&step.value))
        .find_map(|number| reading.member(&number))
}
