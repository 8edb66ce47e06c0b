//! Determines whether checks of a finished phase must be completed before work continues.

use crate::planning::Check;
use crate::planning::CheckKind;
use crate::planning::CheckOutcome;
use crate::position::Action;
use crate::position::PhaseState;
use crate::position::weighing::choice::Choice;
use crate::position::weighing::choice::ChoiceRule;
use crate::position::weighing::reading::Reading;

/// Returns the choice that replaces `choice` if a check of the last phase worked on, or a discussion, comes
/// first.
pub(super) fn hold(reading: &Reading<'_>, choice: &Choice) -> Option<Choice> {
    let finished = reading
        .frontier()
        .filter(|index| choice.phase != Some(*index))
        .filter(|index| reading.state(*index) == PhaseState::Done);
    let check = finished.and_then(|frontier| {
        Some(Choice {
            action: asked_for(reading, frontier, choice)?,
            phase: Some(frontier),
            rule: ChoiceRule::Check,
        })
    });
    check.or_else(|| discuss(reading, choice))
}

/// Returns the action required by the checks of a finished phase.
fn asked_for(reading: &Reading<'_>, index: usize, choice: &Choice) -> Option<Action> {
    match open_check(reading, index).map(|check| check.outcome) {
        Some(CheckOutcome::Issues | CheckOutcome::Diagnosed) => Some(Action::Remediate),
        Some(_) => Some(Action::Verify),
        None => is_untested(reading, index, choice).then_some(Action::Verify),
    }
}

/// Returns the open check of a phase.
///
/// User tests block until STATE.md has moved on to a phase with plans; a verification blocks only until
/// STATE.md moves on, since many workflows continue despite its gaps. A review never blocks.
pub(super) fn open_check<'a>(reading: &'a Reading<'_>, index: usize) -> Option<&'a Check> {
    let is_pointed = reading.pointer().is_none_or(|pointer| pointer == index);
    let has_moved_on = reading
        .pointer()
        .is_some_and(|pointer| pointer > index && reading.phases[pointer].has_files_of_plans());
    let holds = |check: &&Check| match (check.kind, check.outcome) {
        (_, CheckOutcome::Outdated) => false,
        (CheckKind::Uat, CheckOutcome::Issues | CheckOutcome::Repeat) => !has_moved_on,
        _ => is_pointed,
    };
    reading.phases[index].open_checks(reading.text).find(holds)
}

/// Returns whether config.json requires user tests that a finished phase has not had, although all phases
/// before it have. A setting that is not followed in practice is ignored, except at the end of the milestone.
fn is_untested(reading: &Reading<'_>, index: usize, choice: &Choice) -> bool {
    let is_tested = |index: usize| {
        let mut checks = reading.checks(index).iter();
        checks.any(|check| check.kind == CheckKind::Uat)
    };
    let earlier = || {
        let before = reading.members.iter().take_while(|other| **other < index);
        before
            .copied()
            .filter(|other| reading.seen[*other].summaries > 0)
    };
    reading.evidence.workflow.requires_uat
        && !is_tested(index)
        && (choice.action == Action::Ship || earlier().all(is_tested))
}

/// Returns the discussion that config.json requires before a phase is planned.
fn discuss(reading: &Reading<'_>, choice: &Choice) -> Option<Choice> {
    let index = choice.phase.filter(|_| choice.action == Action::Plan)?;
    let is_wanted = reading.evidence.workflow.requires_discussion;
    (is_wanted && !reading.phases[index].has_context).then_some(Choice {
        action: Action::Discuss,
        ..*choice
    })
}
