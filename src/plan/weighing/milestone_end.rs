//! Determines whether the milestone is over: shipped, archived, or called complete with nothing left to do.

use crate::plan::weighing::assessment::Assessment;
use crate::plan::{Claim, PhaseNumber, PhaseProgress, PlanState, RoadmapPhase, conflict};

/// Returns whether no milestone is active.
pub(super) fn is_over(assessment: &Assessment<'_>) -> bool {
    let state = &assessment.evidence.state;
    let has_folder = |index: &&usize| assessment.phases[**index].has_files;
    let is_between =
        state.is_between_milestones || assessment.evidence.roadmap.is_between_milestones;
    if !assessment.members.iter().any(|index| has_folder(&index)) {
        let listed = &assessment.scope.listed;
        let is_complete = |phase: &&RoadmapPhase| phase.status == Some(PhaseProgress::Complete);
        let is_listed_done = !listed.is_empty() && listed.iter().all(is_complete);
        return is_between || assessment.evidence.has_shipped && is_listed_done;
    }
    if conflict::leftover_of_archive(assessment.evidence).is_some() {
        return true;
    }
    let listed = &assessment.scope.listed;
    let unlisted_is_open = assessment.members.iter().any(|index| {
        let number = &assessment.phases[*index].number;
        assessment.is_unfinished(*index) && !assessment.scope.lists(number)
    });
    let listed_is_done = listed.iter().all(|phase| {
        phase.status == Some(PhaseProgress::Complete) || is_done(assessment, &phase.number)
    });
    // MILESTONES.md may be ahead of a partial plan in the phase that STATE.md still names.
    let is_partial = |index: usize| assessment.phases[index].count(PlanState::Partial) > 0;
    let is_at_work = assessment.stated_phase().is_some_and(is_partial);
    let is_called_over = is_between || assessment.evidence.has_shipped && !is_at_work;
    is_called_over && listed_is_done && !unlisted_is_open
}

fn is_done(assessment: &Assessment<'_>, number: &PhaseNumber) -> bool {
    assessment.member(number).is_none_or(|index| !assessment.is_unfinished(index))
}

/// Returns whether nothing was ever planned here; a milestone with its own folder was started on purpose.
pub(super) fn is_blank(assessment: &Assessment<'_>) -> bool {
    let evidence = assessment.evidence;
    let has_own_folder = evidence.folder.active.dir != evidence.folder.dir;
    (evidence.folder.archived.is_empty() || has_own_folder)
        && !evidence.state.is_between_milestones
        && evidence.state.claims.iter().all(|claim| is_beginning(&claim.value))
}

/// Returns whether a claim may be in the STATE.md of a new planning folder.
fn is_beginning(claim: &Claim) -> bool {
    match claim {
        Claim::Phase(number) => *number == PhaseNumber::from(1),
        Claim::Status(text) | Claim::PhaseStatus(text) => {
            matches!(PhaseProgress::parse(text), None | Some(PhaseProgress::NotStarted))
        }
        Claim::Total(count)
        | Claim::PhasesComplete(count)
        | Claim::Percent(count)
        | Claim::PlansComplete(count)
        | Claim::PlansTotal(count)
        | Claim::AllPlansComplete(count)
        | Claim::AllPlansTotal(count)
        | Claim::Share(count, _) => *count == 0,
        Claim::Bar(_) => true,
        Claim::Name(_) | Claim::Index(_) | Claim::CurrentPlan(_) => false,
    }
}
