//! Collects what each document says about a phase.

use crate::plan::weighing::scope::RoadmapScope;
use crate::plan::weighing::wording;
use crate::plan::{
    Claim, Count, Evidence, Phase, PhaseNumber, PhaseProgress, PlanState, ProgressRow,
    RoadmapPhase, TextOf, roadmap_phase,
};

/// The evidence about a phase.
#[expect(clippy::struct_excessive_bools, reason = "the flags are independent of each other")]
pub(super) struct PhaseEvidence<'a> {
    /// The roadmap's phase of this number.
    pub(super) planned: Option<&'a RoadmapPhase>,
    /// Number of plan files.
    pub(super) plans: usize,
    /// Number of summaries.
    pub(super) summaries: usize,
    /// Number of plans without a summary, or with a failed one.
    pub(super) open: usize,
    /// The status in the roadmap or, if the phase is not in the roadmap, in STATE.md's list of phases.
    pub(super) claim: RoadmapClaim,
    /// Number of plans declared in the roadmap's progress row.
    pub(super) in_row: Option<usize>,
    /// Number of plans declared in any document, the maximum.
    pub(super) declared: Option<usize>,
    /// Whether STATE.md names it as the current phase and calls it complete.
    pub(super) state_says_done: bool,
    /// Whether STATE.md calls it complete and counts all of its plans as complete, although it has no summary.
    pub(super) is_counted_complete: bool,
    /// Whether a check of it found gaps that are still open.
    pub(super) has_gaps: bool,
    /// Whether it was verified or tested as a whole, and no issues are open.
    pub(super) has_passed: bool,
}

/// The status of a phase in a list of phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RoadmapClaim {
    /// Complete, or part of a shipped milestone.
    Done,
    /// Removed, superseded or deferred.
    Dropped,
    /// To do, or not stated.
    Unfinished,
}

impl<'a> PhaseEvidence<'a> {
    /// Collects the evidence about a phase from the files, the roadmap and STATE.md.
    pub(super) fn collect(
        evidence: &Evidence<'a>,
        scope: &RoadmapScope<'_>,
        phase: &Phase,
        text: TextOf<'_>,
    ) -> Self {
        let planned =
            roadmap_phase(evidence.roadmap, &phase.number).filter(|_| !phase.is_renumbered);
        let is_current = evidence.state.phase.number.as_ref() == Some(&phase.number);
        let summaries = phase.plans.iter().filter(|(slot, _)| slot.summary.is_some()).count();
        let in_row = planned.and_then(plans_in_row);
        let listed = planned.map(|planned| planned.plans.len());
        let counted = planned.and_then(plans_in_label);
        let of_state = stated_plans(evidence).filter(|_| is_current);
        // A list of plans is kept up to date; a sentence with their number is not.
        let counted = counted.filter(|_| listed == Some(0));
        let plans = phase.plans.iter();
        let plans = plans.filter(|(slot, _)| slot.plan.is_some()).count();
        let of_state_total = of_state.map(|(_, total)| total);
        // Where STATE.md counts the plans that there are, a longer list is from before they were made, unless it
        // is kept up to date.
        let is_ticked = planned.is_some_and(|planned| {
            let mut plans = planned.plans.iter();
            plans.any(|plan| plan.checked == Some(true))
        });
        let listed = listed.filter(|_| is_ticked || of_state_total != Some(plans));
        let declared = [in_row, listed, counted, of_state_total];
        let declared = declared.into_iter().flatten().max();
        let declared = declared.filter(|total| *total > 0);
        // A sentence does not finish a phase without files that the roadmap's table calls not started.
        let row = planned.and_then(|planned| planned.row.as_ref());
        let is_unstarted = row.and_then(ProgressRow::progress) == Some(PhaseProgress::NotStarted);
        let has_begun = summaries > 0 || !phase.has_files && !is_unstarted;
        let open = phase.plans.iter();
        let open = open.filter(|(_, state)| matches!(state, PlanState::Open | PlanState::Failed));
        let open = open.count();
        let claim = match planned {
            None if phase.is_counted_complete || state_lists_done(evidence, &phase.number) => {
                RoadmapClaim::Done
            }
            _ => roadmap_claim(planned, scope.is_shipped(&phase.number)),
        };
        Self {
            planned,
            plans,
            summaries,
            open,
            claim,
            in_row,
            declared,
            state_says_done: is_current
                && (has_begun || phase.has_plans())
                && state_says_done(evidence, &phase.number, summaries, of_state),
            is_counted_complete: false,
            // Checks are read only if they can change the phase's state.
            has_gaps: open > 0 && claim == RoadmapClaim::Done && phase.has_gaps(text),
            has_passed: summaries > plans && declared.is_none() && phase.has_passed(text),
        }
    }
}

/// Returns whether the roadmap leaves a phase unticked, or its row open.
pub(super) fn is_left_unticked(evidence: &Evidence<'_>, phase: &Phase) -> bool {
    let Some(planned) = roadmap_phase(evidence.roadmap, &phase.number) else {
        return false;
    };
    let in_row = planned.row.as_ref().and_then(ProgressRow::progress);
    let is_unticked = planned.checkbox.as_ref().is_some_and(|mark| !mark.value);
    is_unticked || in_row.is_some_and(|progress| progress != PhaseProgress::Complete)
}

/// Returns whether STATE.md counts all plans of the milestone's phases as complete, and as many phases as have plans, and no status says that they are open.
///
/// GSD counts the summaries on disk: those that are missing here were written, but not committed.
pub(super) fn counts_all_complete(evidence: &Evidence<'_>, members: &[&Phase]) -> bool {
    let stated = |count: fn(&Claim) -> Option<u32>| {
        let mut claims = evidence.state.claims.iter();
        let count = claims.find_map(|claim| count(&claim.value))?;
        usize::try_from(count).ok()
    };
    let complete = stated(|claim| match claim {
        Claim::AllPlansComplete(count) => Some(*count),
        _ => None,
    });
    let total = stated(|claim| match claim {
        Claim::AllPlansTotal(count) => Some(*count),
        _ => None,
    });
    let phases = stated(|claim| match claim {
        Claim::PhasesComplete(count) => Some(*count),
        _ => None,
    });
    let is_open = evidence.state.claims.iter().any(|claim| match &claim.value {
        Claim::Status(text) | Claim::PhaseStatus(text) => PhaseProgress::is_open_status(text),
        _ => false,
    });
    if is_open {
        return false;
    }
    let plans = members.iter().map(|phase| phase.plans.len()).sum();
    let planned = members.iter().filter(|phase| !phase.plans.is_empty());
    complete == Some(plans) && total == Some(plans) && phases == Some(planned.count())
}

fn roadmap_claim(planned: Option<&RoadmapPhase>, is_shipped: bool) -> RoadmapClaim {
    let status = planned.and_then(|planned| planned.status);
    match planned {
        _ if status.is_some_and(PhaseProgress::is_dropped) => RoadmapClaim::Dropped,
        _ if is_shipped => RoadmapClaim::Done,
        Some(planned) if says_done(planned) => RoadmapClaim::Done,
        _ => RoadmapClaim::Unfinished,
    }
}

/// Returns whether STATE.md's list of phases calls the phase complete.
pub(super) fn state_lists_done(evidence: &Evidence<'_>, number: &PhaseNumber) -> bool {
    let mut listed = evidence.state.phase_statuses.iter();
    let status = listed.find(|listed| listed.number == *number);
    status.is_some_and(|listed| PhaseProgress::is_complete_status(&listed.status.value))
}

/// Returns whether the roadmap calls a phase complete: by its checkbox, its row, its heading or a completion
/// date.
fn says_done(planned: &RoadmapPhase) -> bool {
    let calls = |text: &str| PhaseProgress::is_complete_status(text);
    let row = planned.row.as_ref();
    let row_status = row.and_then(|row| row.status.as_ref()).map(|status| calls(&status.value));
    let is_short = row.is_some_and(|row| {
        matches!((row.plans_complete, row.plans_total), (Some(done), Some(all)) if done < all)
    });
    let says = row_status == Some(true)
        || planned.checkbox.as_ref().is_some_and(|mark| mark.value)
        || planned.stated_status.as_ref().is_some_and(|status| calls(&status.value))
        || planned.status == Some(PhaseProgress::Complete);
    says && (!is_short || row_status == Some(true))
}

fn plans_in_row(planned: &RoadmapPhase) -> Option<usize> {
    planned.row.as_ref()?.plans_total.map(|total| total as usize)
}

/// Returns the number in `Plans: 3 plans`, or the total in `Plans: 1/3 plans complete`.
fn plans_in_label(planned: &RoadmapPhase) -> Option<usize> {
    let count = Count::parse(&planned.plan_count.as_ref()?.value)?;
    let is_alone = !count.rest.starts_with('/');
    let plans = count.total.or(Some(count.done).filter(|_| is_alone));
    plans.map(|plans| plans as usize)
}

/// Returns the current phase's progress according to STATE.md: plan `k` of `n`.
pub(super) fn stated_plans(evidence: &Evidence<'_>) -> Option<(usize, usize)> {
    let find = |of: fn(&Claim) -> Option<u32>| {
        evidence.state.claims.iter().find_map(|claim| of(&claim.value))
    };
    let total = find(|claim| match claim {
        Claim::PlansTotal(total) => Some(*total),
        _ => None,
    })?;
    let done = find(|claim| match claim {
        Claim::PlansComplete(done) | Claim::CurrentPlan(done) => Some(*done),
        _ => None,
    });
    Some((done.unwrap_or(0) as usize, total as usize))
}

/// Returns whether STATE.md calls its own phase complete, or names a step that follows the last plan.
fn state_says_done(
    evidence: &Evidence<'_>,
    number: &PhaseNumber,
    summaries: usize,
    plans: Option<(usize, usize)>,
) -> bool {
    let is_short = plans.is_some_and(|(done, total)| done < total) && summaries == 0;
    let says = evidence.state.claims.iter().any(|claim| match &claim.value {
        Claim::Status(text) | Claim::PhaseStatus(text) => {
            wording::calls_phase_complete(text, number)
        }
        _ => false,
    });
    says && !is_short
}
