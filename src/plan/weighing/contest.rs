//! Finds another interpretation that is almost as likely, and its next action.

use crate::plan::weighing::assessment::Assessment;
use crate::plan::weighing::choice::{Choice, ChoiceRule, action_at};
use crate::plan::weighing::phase_evidence::{is_left_unticked, state_lists_done};
use crate::plan::weighing::scope::backlog;
use crate::plan::weighing::{gate, reason, wording};
use crate::plan::{
    Action, Alternative, Check, CheckKind, CheckOutcome, Claim, PhaseNumber, PhaseNumbering,
    PhaseState, PlanSlot, PlanState,
};

/// Returns the interpretation that contests a choice.
pub(super) fn alternative(
    assessment: &Assessment<'_>,
    choice: &Choice,
    cursor: Option<usize>,
) -> Option<Alternative> {
    unchecked(assessment, choice)
        .or_else(|| without_summaries(assessment, choice))
        .or_else(|| unplanned_frontier(assessment, choice))
        .or_else(|| later_work(assessment, choice))
        .or_else(|| passed_over(assessment, choice))
        .or_else(|| unfinished_plan(assessment, choice))
        .or_else(|| left_check(assessment, choice))
        .or_else(|| skipped(assessment, choice, cursor))
        .or_else(|| passed_short(assessment, choice))
        .or_else(|| ticked(assessment, choice))
        .or_else(|| unlisted_next_step(assessment, choice))
}

/// Returns an alternative action for the phase at an index.
fn in_phase(
    assessment: &Assessment<'_>,
    action: Action,
    index: usize,
    because: Vec<String>,
) -> Alternative {
    Alternative { action, phase: Some(assessment.phases[index].number.clone()), because }
}

/// Returns the alternative of working on an unfinished phase.
fn work_on(assessment: &Assessment<'_>, index: usize) -> Alternative {
    let action = action_at(assessment, index);
    in_phase(assessment, action, index, reason::for_phase(assessment, index))
}

/// Returns the alternative that the phase at an index is finished: working on the next unfinished phase, or shipping.
fn work_after(assessment: &Assessment<'_>, index: usize, because: Vec<String>) -> Alternative {
    match assessment.unfinished_after(Some(index)).next() {
        Some(next) => in_phase(assessment, action_at(assessment, next), next, because),
        None => Alternative { action: Action::Ship, phase: None, because },
    }
}

/// Applies if STATE.md waits for a check of the last phase worked on, and no file contains one, or the check itself
/// waits for a person.
fn unchecked(assessment: &Assessment<'_>, choice: &Choice) -> Option<Alternative> {
    let frontier = assessment.frontier().filter(|index| Some(*index) != choice.phase)?;
    if assessment.stated_phase() != Some(frontier) {
        return None;
    }
    let checks = assessment.checks(frontier);
    let outdated = |check: &&Check| check.outcome == CheckOutcome::Outdated;
    let waiting = |check: &&Check| check.outcome == CheckOutcome::Pending;
    let mut of_goal = checks.iter().filter(|check| check.kind != CheckKind::Review);
    let is_checked = of_goal.any(|check| !outdated(&check) && !waiting(&check));
    if is_checked {
        return None;
    }
    let line = assessment.evidence.state.claims.iter().find_map(|claim| {
        let waits = match &claim.value {
            Claim::Status(text) | Claim::PhaseStatus(text) => wording::waits_for_check(text),
            _ => false,
        };
        waits.then_some(claim.line)
    })?;
    let number = &assessment.phases[frontier].number;
    let show = |check: &Check| assessment.evidence.show(&check.file).to_string();
    let why = if let Some(check) = checks.iter().find(waiting) {
        format!("and {} says {:?}", show(check), check.status_word)
    } else if let Some(check) = checks.iter().find(outdated) {
        format!("but {} is from before its gaps were closed", show(check))
    } else {
        "but there is none".to_owned()
    };
    let because = vec![format!(
        "{}: waits for a check of phase {number}, {why}",
        assessment.evidence.state(line),
    )];
    Some(in_phase(assessment, Action::Verify, frontier, because))
}

/// Applies if only the counts of STATE.md say that the plans of a phase are complete.
fn without_summaries(assessment: &Assessment<'_>, choice: &Choice) -> Option<Alternative> {
    let is_counted = |index: &usize| assessment.phase_evidence[*index].is_counted_complete;
    let index = assessment.members.iter().copied().rfind(is_counted)?;
    let because = reason::open_plans(assessment, &assessment.phases[index]);
    (Some(index) != choice.phase).then(|| in_phase(assessment, Action::Execute, index, because))
}

/// Applies if the last phase worked on has more summaries than plans, so that more may follow.
fn unplanned_frontier(assessment: &Assessment<'_>, choice: &Choice) -> Option<Alternative> {
    let frontier = assessment.frontier().filter(|index| Some(*index) != choice.phase)?;
    let phase_evidence = &assessment.phase_evidence[frontier];
    let is_listed = state_lists_done(assessment.evidence, &assessment.phases[frontier].number);
    (phase_evidence.summaries > phase_evidence.plans && !is_listed).then(|| {
        let because = vec![reason::summaries_alone(assessment, frontier)];
        in_phase(assessment, Action::Execute, frontier, because)
    })
}

/// Applies if a phase after the chosen one has open plans, or a folder with files but no plans, unless the chosen one
/// was inserted before it.
fn later_work(assessment: &Assessment<'_>, choice: &Choice) -> Option<Alternative> {
    let chosen = choice.phase?;
    let number = &assessment.phases[chosen].number;
    let is_inserted = |before: &PhaseNumber| {
        let is_part = *number != PhaseNumber::from(number.whole());
        is_part && number.numbering() == PhaseNumbering::Plain && before.whole() > number.whole()
    };
    let mut later = assessment.unfinished_after(Some(chosen));
    let later = later.find(|index| assessment.phases[*index].has_files)?;
    let is_untouched = assessment.phase_evidence[later].summaries == 0;
    (!is_untouched || !is_inserted(&assessment.phases[later].number))
        .then(|| work_on(assessment, later))
}

/// Applies if nothing is left after the cursor, but phases before it are unfinished.
fn passed_over(assessment: &Assessment<'_>, choice: &Choice) -> Option<Alternative> {
    if choice.action != Action::Ship {
        return None;
    }
    let open = assessment.unfinished_after(None).next()?;
    Some(work_on(assessment, open))
}

/// Applies if nothing is left to do, but a plan has no summary, or one that calls it partial or failed, and no
/// check passed since: `annals ship` refuses that, too.
fn unfinished_plan(assessment: &Assessment<'_>, choice: &Choice) -> Option<Alternative> {
    if choice.action != Action::Ship {
        return None;
    }
    let has_passed = |index: usize| {
        let mut checks = assessment.checks(index).iter();
        checks.any(|check| check.outcome == CheckOutcome::Passed)
    };
    let is_unfinished = |index: &usize| {
        let phase = &assessment.phases[*index];
        let is_whole = phase.count(PlanState::Complete) == phase.plans.len();
        phase.state == PhaseState::Done && !is_whole && !has_passed(*index)
    };
    let index = assessment.members.iter().copied().find(is_unfinished)?;
    let because = reason::open_plans(assessment, &assessment.phases[index]);
    Some(in_phase(assessment, Action::Execute, index, because))
}

/// Applies if nothing is left to do, but a check of a phase is open: `annals ship` refuses that, too.
fn left_check(assessment: &Assessment<'_>, choice: &Choice) -> Option<Alternative> {
    if choice.action != Action::Ship {
        return None;
    }
    assessment.members.iter().find_map(|index| {
        let phase = &assessment.phases[*index];
        let check = phase.open_checks(assessment.text).next();
        let is_unticked = is_left_unticked(assessment.evidence, phase);
        let check = check.or_else(|| {
            let left = is_unticked.then(|| phase.check_left(assessment.text));
            left.flatten()
        })?;
        let because = vec![reason::for_check(assessment, check)];
        let action = gate::action_for(check);
        Some(in_phase(assessment, action, *index, because))
    })
}

/// Applies if nothing is left to do, but STATE.md's next step names a phase beyond all that are known.
fn unlisted_next_step(assessment: &Assessment<'_>, choice: &Choice) -> Option<Alternative> {
    if choice.action != Action::Ship {
        return None;
    }
    let state = assessment.evidence.state;
    let last = assessment.phases.iter().map(|phase| phase.number.whole()).max()?;
    let backlog = backlog(assessment.evidence);
    let (number, line) = state.next_steps.iter().find_map(|step| {
        let number = state.numbering.phases_in(&step.value).into_iter().next()?;
        let is_new = number.whole() > last && !backlog.contains(&number.whole());
        // `Ship v1.0, then plan phase 3 of v1.1` ships first.
        (is_new && !wording::mentions_shipping(&step.value)).then_some((number, step.line))
    })?;
    let because = vec![format!(
        "{}: names phase {number} next, which the roadmap does not list",
        assessment.evidence.state(line)
    )];
    Some(Alternative { action: Action::Plan, phase: Some(number), because })
}

/// Applies if a prepared phase was preferred to an earlier one without files.
fn skipped(
    assessment: &Assessment<'_>,
    choice: &Choice,
    cursor: Option<usize>,
) -> Option<Alternative> {
    if choice.rule != ChoiceRule::Prepared {
        return None;
    }
    let first = assessment.unfinished_after(cursor).next()?;
    let because = reason::for_phase(assessment, first);
    Some(in_phase(assessment, Action::Plan, first, because))
}

/// Applies if only the number of declared plans says that more will follow, and an earlier phase was
/// completed with fewer plans than declared.
fn passed_short(assessment: &Assessment<'_>, choice: &Choice) -> Option<Alternative> {
    let chosen = choice.phase.filter(|index| assessment.state(*index) == PhaseState::Running)?;
    assessment.phase_evidence[chosen].declared?;
    let number = &assessment.phases[chosen].number;
    let earlier = assessment.members.iter().copied();
    let mut earlier = earlier.filter(|index| assessment.phases[*index].number < *number);
    let passed = earlier.rfind(|index| {
        let phase_evidence = &assessment.phase_evidence[*index];
        let is_short = phase_evidence.declared.is_some_and(|all| phase_evidence.summaries < all);
        phase_evidence.summaries > 0 && phase_evidence.open == 0 && is_short
    })?;
    let because = vec![reason::passed(assessment, passed, chosen)];
    Some(work_after(assessment, chosen, because))
}

/// Applies if the roadmap ticks all plans of the chosen phase, some of which have no summary.
fn ticked(assessment: &Assessment<'_>, choice: &Choice) -> Option<Alternative> {
    let chosen = choice.phase.filter(|index| assessment.state(*index) == PhaseState::Open)?;
    let phase_evidence = &assessment.phase_evidence[chosen];
    let listed = &phase_evidence.planned?.plans;
    let is_ticked = |slot: &PlanSlot| {
        let mut listed = listed.iter();
        listed.any(|plan| plan.plan.as_ref() == Some(&slot.number) && plan.checked == Some(true))
    };
    // A summary that calls its plan partial or failed says more than a box.
    let mut plans = assessment.phases[chosen].plans.iter();
    let may_be_complete = plans.all(|(slot, state)| match state {
        PlanState::Complete => true,
        PlanState::Open => is_ticked(slot),
        PlanState::Partial | PlanState::Failed => false,
    });
    if phase_evidence.summaries == 0 || !may_be_complete {
        return None;
    }
    let because = vec![format!(
        "{}: all plans of phase {} are ticked",
        assessment.evidence.roadmap(phase_evidence.planned?.line),
        assessment.phases[chosen].number
    )];
    Some(work_after(assessment, chosen, because))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::plan::Survey;
    use crate::project::fixture::Tree;
    use crate::project::{OpenRequest, Project};

    #[test]
    fn empty_folders_of_later_phases_contest_nothing() {
        let tree = Tree::new(&[]);
        let roadmap =
            "# Roadmap\n\n- [ ] **Phase 1: A**\n- [ ] **Phase 2: B**\n- [ ] **Phase 3: C**\n";
        tree.write(".vbw-planning/ROADMAP.md", roadmap);
        tree.write(".vbw-planning/phases/01-a/01-01-PLAN.md", "");
        tree.write(".vbw-planning/phases/02-b/.gitkeep", "");
        fs::create_dir_all(tree.at(".vbw-planning/phases/03-c")).unwrap();
        let alternative = || {
            let request = OpenRequest { directory: tree.at(""), ..OpenRequest::default() };
            let survey = Survey::read(&Project::open(request).unwrap()).unwrap();
            survey.position.next.alternative
        };
        assert_eq!(alternative(), None);
        tree.write(".vbw-planning/phases/02-b/02-RESEARCH.md", "");
        assert!(alternative().is_some());
    }
}
