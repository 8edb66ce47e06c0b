//! Whether another reading has about the same weight, and what it would have done.

use crate::planning::Action;
use crate::planning::Alternative;
use crate::planning::Claim;
use crate::planning::Standing;
use crate::planning::position::choice::Choice;
use crate::planning::position::choice::Rule;
use crate::planning::position::reading::Reading;
use crate::planning::position::reason;
use crate::planning::position::wording;

/// Returns the reading that contests a choice.
pub(super) fn alternative(
    reading: &Reading<'_>,
    choice: &Choice,
    cursor: Option<usize>,
) -> Option<Alternative> {
    let contested = unchecked(reading, choice)
        .or_else(|| unplanned_frontier(reading, choice))
        .or_else(|| later_work(reading, choice))
        .or_else(|| passed_over(reading, choice, cursor))
        .or_else(|| skipped(reading, choice, cursor));
    let (action, index, because) = contested?;
    Some(Alternative {
        action,
        phase: Some(reading.phases[index].number.clone()),
        because,
    })
}

/// What could be done instead, of which phase, and the evidence.
type Rival = (Action, usize, Vec<String>);

/// STATE.md waits for a check of the last phase worked on, and no file says that there was one.
fn unchecked(reading: &Reading<'_>, choice: &Choice) -> Option<Rival> {
    let frontier = reading
        .frontier()
        .filter(|index| Some(*index) != choice.phase)?;
    let is_checked = !reading.phases[frontier].checks.is_empty();
    if reading.pointer() != Some(frontier) || is_checked {
        return None;
    }
    let line = reading.evidence.state.claims.iter().find_map(|claim| {
        let waits = match &claim.value {
            Claim::Status(text) | Claim::PhaseStatus(text) => wording::waits_for_check(text),
            _ => false,
        };
        waits.then_some(claim.line)
    })?;
    let because = vec![format!(
        "{}: waits for a check of phase {}, and there is none",
        reading.evidence.state(line),
        reading.phases[frontier].number
    )];
    Some((Action::Verify, frontier, because))
}

/// The last phase worked on has more summaries than plans: more may be to come.
fn unplanned_frontier(reading: &Reading<'_>, choice: &Choice) -> Option<Rival> {
    let frontier = reading
        .frontier()
        .filter(|index| Some(*index) != choice.phase)?;
    let seen = &reading.seen[frontier];
    (seen.summaries > seen.plans).then(|| {
        let because = vec![reason::summaries_alone(reading, frontier)];
        (Action::Execute, frontier, because)
    })
}

/// A phase after the chosen one has open plans, or a folder that waits for plans.
fn later_work(reading: &Reading<'_>, choice: &Choice) -> Option<Rival> {
    let chosen = choice.phase?;
    let later = reading
        .unfinished_after(Some(chosen))
        .find(|index| reading.phases[*index].dir.is_some())?;
    let action = match reading.standing(later) {
        Standing::Unplanned => Action::Plan,
        _ => Action::Execute,
    };
    Some((action, later, reason::of_phase(reading, later)))
}

/// Nothing is left after the cursor, and the roadmap has phases before it that are not done.
fn passed_over(reading: &Reading<'_>, choice: &Choice, _cursor: Option<usize>) -> Option<Rival> {
    if choice.action != Action::Ship {
        return None;
    }
    let open = reading.unfinished_after(None).next()?;
    let action = match reading.standing(open) {
        Standing::Unplanned => Action::Plan,
        _ => Action::Execute,
    };
    Some((action, open, reason::of_phase(reading, open)))
}

/// A prepared phase was preferred to one before it that has no folder.
fn skipped(reading: &Reading<'_>, choice: &Choice, cursor: Option<usize>) -> Option<Rival> {
    if choice.rule != Rule::Prepared {
        return None;
    }
    let first = reading.unfinished_after(cursor).next()?;
    Some((Action::Plan, first, reason::of_phase(reading, first)))
}
