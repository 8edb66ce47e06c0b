//! Determines whether checks of a finished phase must be completed before work continues.

use crate::plan::weighing::assessment::Assessment;
use crate::plan::weighing::choice::{Choice, ChoiceRule};
use crate::plan::{Action, Check, CheckKind, CheckOutcome, PhaseState};

/// Returns the choice that replaces `choice` if a check of the last phase worked on, or a discussion, comes
/// first.
pub(super) fn blocking_choice(assessment: &Assessment<'_>, choice: &Choice) -> Option<Choice> {
    let finished = last_finished(assessment).filter(|index| choice.phase != Some(*index));
    let check = finished.and_then(|frontier| {
        Some(Choice {
            action: asked_for(assessment, frontier, choice)?,
            phase: Some(frontier),
            rule: ChoiceRule::Check,
        })
    });
    check.or_else(|| discuss(assessment, choice))
}

/// Returns the last phase worked on, or a later one that is called done, unless the last one worked on is unfinished.
fn last_finished(assessment: &Assessment<'_>) -> Option<usize> {
    let is_done = |index: &usize| assessment.state(*index) == PhaseState::Done;
    let frontier = assessment.frontier();
    if frontier.is_some_and(|index| !is_done(&index)) {
        return None;
    }
    frontier.max(assessment.last_done())
}

/// Returns the action required by the checks of a finished phase.
fn asked_for(assessment: &Assessment<'_>, index: usize, choice: &Choice) -> Option<Action> {
    match open_check(assessment, index) {
        Some(check) => Some(action_for(check)),
        None => is_untested(assessment, index, choice).then_some(Action::Verify),
    }
}

/// Returns the action that an open check requires.
pub(super) fn action_for(check: &Check) -> Action {
    match check.outcome {
        CheckOutcome::Issues | CheckOutcome::Diagnosed => Action::Remediate,
        _ => Action::Verify,
    }
}

/// Returns the open check of a phase.
///
/// User tests block until STATE.md has moved on to a phase with plans; a verification blocks only until
/// STATE.md moves on, since many workflows continue despite its gaps. A review never blocks.
pub(super) fn open_check<'a>(assessment: &'a Assessment<'_>, index: usize) -> Option<&'a Check> {
    let is_pointed = assessment.stated_phase().is_none_or(|stated_phase| stated_phase == index);
    let has_moved_on = assessment.stated_phase().is_some_and(|stated_phase| {
        stated_phase > index && assessment.phases[stated_phase].has_plans()
    });
    let holds = |check: &&Check| match (check.kind, check.outcome) {
        (_, CheckOutcome::Outdated) => false,
        (CheckKind::Uat, CheckOutcome::Issues | CheckOutcome::Repeat) => !has_moved_on,
        _ => is_pointed,
    };
    assessment.phases[index].open_checks(assessment.text).find(holds)
}

/// Returns whether config.json requires user tests that a finished phase has not had, although all phases
/// before it have. A setting that is not followed in practice is ignored, except at the end of the milestone.
fn is_untested(assessment: &Assessment<'_>, index: usize, choice: &Choice) -> bool {
    let is_tested = |index: usize| {
        let mut checks = assessment.checks(index).iter();
        checks.any(|check| check.kind == CheckKind::Uat)
    };
    let earlier = || {
        let before = assessment.members.iter().take_while(|other| **other < index);
        before.copied().filter(|other| assessment.phase_evidence[*other].summaries > 0)
    };
    assessment.evidence.workflow.requires_uat
        && !is_tested(index)
        && (choice.action == Action::Ship || earlier().all(is_tested))
}

/// Returns the discussion that config.json requires before a phase is planned.
fn discuss(assessment: &Assessment<'_>, choice: &Choice) -> Option<Choice> {
    let index = choice.phase.filter(|_| choice.action == Action::Plan)?;
    let is_wanted = assessment.evidence.workflow.requires_discussion;
    (is_wanted && !assessment.phases[index].has_context)
        .then_some(Choice { action: Action::Discuss, ..*choice })
}
