//! What else may be next: readings of about equal weight contest the answer, others are only named.

use crate::plan::rules::state::{is_left_unticked, progress_in_row, statuses};
use crate::plan::rules::{Choice, Rule, Step};
use crate::plan::{Action, CheckOutcome, PhaseNumber, PhaseNumbering, PhaseProgress, PhaseState};

/// Another step, and whether it is almost as likely as the choice.
type Rival = (Step, bool);

/// What contests a choice, then what is only named as the alternative.
pub(super) const RULES: &[Rule<Choice, Rival>] = &[
    Rule {
        name: "summaries without plans at the frontier",
        reason: "the last phase worked on has more summaries than plans, so that more may follow",
        test: |case, choice| {
            let frontier = case.frontier.filter(|index| Some(*index) != choice.phase)?;
            let phase = &case.phases[frontier];
            let is_settled = phase.is_ticked()
                && (case.planned(frontier).is_none() || phase.has_passed(case.text));
            (phase.summaries() > phase.plan_files() && !is_settled)
                .then_some((Step::new(Action::Execute, Some(frontier)), true))
        },
    },
    Rule {
        name: "later work",
        reason: "a later unfinished phase has files, and the chosen one was not inserted before it",
        test: |case, choice| {
            let chosen = choice.phase?;
            let number = &case.phases[chosen].number;
            let mut later = case.unfinished_after(Some(chosen));
            let later = later.find(|index| case.phases[*index].has_files)?;
            let is_part = *number != PhaseNumber::from(number.whole());
            let is_inserted = is_part
                && number.numbering() == PhaseNumbering::Plain
                && case.phases[later].number.whole() > number.whole();
            let is_begun = case.phases[later].is_begun();
            (is_begun || !is_inserted).then(|| (case.work(later), true))
        },
    },
    Rule {
        name: "refused by `ship`",
        reason: "nothing is left after the cursor, but `ship` would refuse: a phase before it is unfinished, or a plan that no check passed since, or a check is open",
        test: |case, choice| {
            if choice.action != Action::Ship {
                return None;
            }
            let open = case.unfinished_after(None).next().map(|open| case.work(open));
            let is_left = |index: &&usize| {
                let mut checks = case.checks(**index).iter();
                case.phases[**index].has_unclear_counts()
                    && !checks.any(|check| check.outcome == CheckOutcome::Passed)
            };
            let left = || case.members.iter().find(is_left);
            let open = open.or_else(|| Some(Step::new(Action::Execute, Some(*left()?))));
            let unchecked = || {
                case.members.iter().find_map(|index| {
                    let phase = &case.phases[*index];
                    let is_unticked = case.planned(*index).is_some_and(is_left_unticked);
                    let left = || phase.check_left(case.text).filter(|_| is_unticked);
                    let check = phase.open_checks(case.text).next().or_else(left)?;
                    Some(case.check(*index, check))
                })
            };
            Some((open.or_else(unchecked)?, true))
        },
    },
    Rule {
        name: "jump of the pointer",
        reason: "STATE.md names a phase without files, and more than one before it was never begun",
        test: |case, choice| {
            let is_jump =
                |index: &usize| case.stated == Some(*index) && !case.phases[*index].has_files;
            let chosen = choice.phase.filter(is_jump)?;
            let is_before = |index: &&usize| **index < chosen && case.is_done(**index);
            let start = case.frontier.or_else(|| case.members.iter().rfind(is_before).copied());
            let mut skipped = case.unfinished_after(start).take_while(|index| *index < chosen);
            let first = skipped.next()?;
            skipped.next().map(|_| (case.work(first), true))
        },
    },
    Rule {
        name: "ticked without any plan",
        reason: "the current phase is ticked, but has no plans, and STATE.md or its row calls it not started",
        test: |case, choice| {
            let stated = case.stated.filter(|index| Some(*index) != choice.phase)?;
            let phase = &case.phases[stated];
            let is_new =
                |status: &str| PhaseProgress::parse(status) == Some(PhaseProgress::NotStarted);
            let says_new = statuses(&case.survey.state)
                .any(|status| is_new(status) || status.to_lowercase().contains("ready to plan"));
            let in_row = case.planned(stated).and_then(progress_in_row);
            let is_new = says_new || in_row == Some(PhaseProgress::NotStarted);
            (phase.is_ticked() && phase.plans.is_empty() && is_new)
                .then_some((Step::new(Action::Plan, Some(stated)), true))
        },
    },
    Rule {
        name: "open plan behind",
        reason: "a plan of a phase behind has no summary, or one that calls it partial or failed; it contests the answer if that phase is the last one worked on",
        test: |case, choice| {
            let end = choice.phase.unwrap_or(case.phases.len());
            let left = case.members.iter().copied().rfind(|index| {
                let phase = &case.phases[*index];
                *index < end && phase.has_open_plan() && phase.state != PhaseState::Dropped
            })?;
            let is_over = choice.action == Action::None;
            let step = Step::new(Action::Execute, Some(left));
            (!is_over).then_some((step, case.frontier == Some(left)))
        },
    },
    Rule {
        name: "check left",
        reason: "a check of the last finished phase is to be done or repeated",
        test: |case, choice| {
            let index = case.frontier.filter(|index| Some(*index) != choice.phase)?;
            let check = case.phases[index].check_left(case.text)?;
            case.is_done(index).then(|| (case.check(index, check), false))
        },
    },
];

/// What settles a choice, so that nothing contests it.
pub(super) const SETTLED: &[Rule<Choice, ()>] = &[Rule {
    name: "discussed",
    reason: "the phase to plan has a CONTEXT file",
    test: |case, choice| {
        let index = choice.phase.filter(|_| choice.action == Action::Plan)?;
        case.phases[index].has_context.then_some(())
    },
}];
