//! The values that a count of phases or plans stated in STATE.md may have, according to the files.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::plan::drift::has_unclear_counts;
use crate::plan::{Claim, Phase, PhaseNumber, PhaseState, Position};

/// Returns a stated number of phases or plans and its possible values; `None` if the files do not determine
/// it.
pub(super) fn count(
    claim: &Claim,
    here: Option<usize>,
    position: &Position,
) -> Option<(u32, RangeInclusive<usize>)> {
    let here = here.map(|index| &position.phases[index]).filter(|phase| !has_unclear_counts(phase));
    Some(match claim {
        Claim::Total(stated) if is_a_count(position, *stated) => return None,
        // `8 of 6` would make no sense: numbering continues across milestones, or folders are missing.
        Claim::Total(_)
            if position
                .phase()
                .is_some_and(|phase| phase.number.ordinal() as usize > position.total()) =>
        {
            return None;
        }
        Claim::Total(stated) => (*stated, position.total()..=position.total()),
        Claim::PhasesComplete(stated) => (*stated, phases_complete(position)),
        Claim::PlansComplete(stated) | Claim::PlansTotal(stated) | Claim::CurrentPlan(stated)
            if counts_all(position, here?, *stated) =>
        {
            return None;
        }
        Claim::PlansComplete(stated) => (*stated, here?.complete_range()),
        Claim::PlansTotal(stated) => (*stated, here?.plans_range()),
        Claim::CurrentPlan(stated) => (*stated, current_plan(here?, *stated as usize)),
        Claim::AllPlansComplete(stated) => {
            (*stated, in_milestone_or_all(position, Phase::complete_range)?)
        }
        Claim::AllPlansTotal(stated) => {
            (*stated, in_milestone_or_all(position, Phase::plans_range)?)
        }
        _ => return None,
    })
}

/// Returns whether a total is a plausible count of the phases.
fn is_a_count(position: &Position, stated: u32) -> bool {
    let stated = stated as usize;
    let last = position.phases.iter().map(|phase| phase.number.ordinal() as usize).max();
    let whole: BTreeSet<PhaseNumber> =
        position.phases.iter().map(|phase| phase.number.sibling(phase.number.ordinal())).collect();
    let folders = position.phases.iter();
    let folders = folders.filter(|phase| phase.dir.is_some()).count();
    stated == position.total()
        || stated == position.phases.len()
        || stated == folders
        || Some(stated) == last
        || stated == whole.len()
}

/// Returns the possible numbers of complete phases: those that wait for a check may be left out, and there is no
/// upper bound, since earlier milestones and phases with missing files may be included.
fn phases_complete(position: &Position) -> RangeInclusive<usize> {
    let awaiting = position.members().filter(|phase| phase.awaits_check);
    position.done().saturating_sub(awaiting.count())..=usize::MAX
}

/// Returns whether a number that is too high for its phase counts all plans, as `Plan: 21 of 21` may do.
fn counts_all(position: &Position, here: &Phase, stated: u32) -> bool {
    let all =
        [Phase::complete_range, Phase::plans_range].map(|count| over_all(&position.phases, count));
    let stated = stated as usize;
    stated > here.plans.len() && all.iter().any(|range| *range.start() == stated)
}

/// Returns the range of a count over the milestone's phases; `None` if it has no plans.
///
/// Plans of earlier milestones, and of complete phases of which only the number is known, may be included, so then there
/// is no upper bound.
fn in_milestone_or_all(
    position: &Position,
    count: fn(&Phase) -> RangeInclusive<usize>,
) -> Option<RangeInclusive<usize>> {
    let has_plans = position.members().any(|phase| !phase.plans.is_empty());
    let first = position.members().map(|phase| phase.number.whole()).min();
    let is_earlier = |phase: &Phase| !phase.is_in_milestone || false;
    let has_earlier = first > Some(1) || position.phases.iter().any(is_earlier);
    let counted = over_all(position.members(), count);
    let most = if has_earlier { usize::MAX } else { *counted.end() };
    has_plans.then(|| *counted.start()..=most)
}

/// Returns the possible numbers of the current plan: the last complete one, or the next.
fn current_plan(phase: &Phase, stated: usize) -> RangeInclusive<usize> {
    let complete = phase.complete_range();
    let may_be = *complete.start()..=*complete.end() + 1;
    if may_be.contains(&stated) {
        return may_be;
    }
    let next = phase.plans.len().min(complete.start() + 1);
    next..=next
}

/// Sums a count over phases; plans of completed phases that were declared but never committed may be
/// included.
pub(super) fn over_all<'a>(
    phases: impl IntoIterator<Item = &'a Phase>,
    count: fn(&Phase) -> RangeInclusive<usize>,
) -> RangeInclusive<usize> {
    let ranges: Vec<RangeInclusive<usize>> = phases
        .into_iter()
        .map(|phase| {
            let counted = count(phase);
            let most = if phase.state == PhaseState::Done {
                phase.plans.len().max(phase.declared.unwrap_or(0))
            } else {
                0
            };
            // The plans of a dropped phase need not be done, but STATE.md may count them.
            let least = match phase.state {
                PhaseState::Dropped => 0,
                _ => *counted.start(),
            };
            least..=most.max(*counted.end())
        })
        .collect();
    let least = ranges.iter().map(RangeInclusive::start).sum();
    least..=ranges.iter().map(RangeInclusive::end).sum()
}
