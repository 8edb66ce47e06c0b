//! What else may be next: readings of about equal weight contest the answer, others are only named.

use crate::plan::rules::next::action_for;
use crate::plan::rules::state::{is_left_unticked, progress_in_row, statuses};
use crate::plan::rules::{Case, Choice, Rule};
use crate::plan::{Action, CheckOutcome, PhaseNumber, PhaseNumbering, PhaseProgress, PhaseState};

/// Another action that may be next.
pub(super) struct Rival {
    pub(super) action: Action,
    pub(super) phase: usize,
    /// The place of the fact that speaks for it; if `None`, those of the facts about the phase.
    pub(super) place: Option<String>,
    /// Whether it is almost as likely as the answer.
    pub(super) contests: bool,
}

impl Rival {
    fn new(action: Action, phase: usize) -> Self {
        Self { action, phase, place: None, contests: true }
    }

    /// Work on an unfinished phase.
    fn work(case: &Case<'_>, index: usize) -> Self {
        Self::new(case.action_at(index), index)
    }

    fn at(self, place: String) -> Self {
        Self { place: Some(place), ..self }
    }

    fn uncontested(self) -> Self {
        Self { contests: false, ..self }
    }
}

/// What contests a choice, then what is only named beside it.
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
                .then(|| Rival::new(Action::Execute, frontier))
        },
    },
    Rule {
        name: "later work",
        reason: "a later unfinished phase has files, and the chosen one was not inserted before it",
        test: |case, choice| {
            let chosen = choice.phase?;
            let number = &case.phases[chosen].number;
            let later = case.unfinished_after(Some(chosen));
            let later = later.into_iter().find(|index| case.phases[*index].has_files)?;
            let is_part = *number != PhaseNumber::from(number.whole());
            let is_inserted = is_part
                && number.numbering() == PhaseNumbering::Plain
                && case.phases[later].number.whole() > number.whole();
            let is_begun = case.phases[later].is_begun();
            (is_begun || !is_inserted).then(|| Rival::work(case, later))
        },
    },
    Rule {
        name: "refused by `ship`",
        reason: "nothing is left after the cursor, but `ship` would refuse: a phase before it is unfinished, or a plan that no check passed since, or a check is open",
        test: |case, choice| {
            if choice.action != Action::Ship {
                return None;
            }
            let open = case.unfinished_after(None).next().map(|open| Rival::work(case, open));
            let has_passed = |index: usize| {
                let mut checks = case.checks(index).iter();
                checks.any(|check| check.outcome == CheckOutcome::Passed)
            };
            let is_left = |index: &&usize| {
                case.state(**index) == PhaseState::Done
                    && case.phases[**index].has_open_plan()
                    && !has_passed(**index)
            };
            let left = || case.members.iter().find(is_left);
            let open = open.or_else(|| Some(Rival::new(Action::Execute, *left()?)));
            open.or_else(|| {
                case.members.iter().find_map(|index| {
                    let phase = &case.phases[*index];
                    let is_unticked = case.planned(*index).is_some_and(is_left_unticked);
                    let left = || phase.check_left(case.text).filter(|_| is_unticked);
                    let check = phase.open_checks(case.text).next().or_else(left)?;
                    let place = case.survey.check_line(check);
                    Some(Rival::new(action_for(check), *index).at(place))
                })
            })
        },
    },
    Rule {
        name: "jump of the pointer",
        reason: "STATE.md names a phase without files, and more than one before it was never begun",
        test: |case, choice| {
            let is_jump =
                |index: &usize| case.stated == Some(*index) && !case.phases[*index].has_files;
            let chosen = choice.phase.filter(is_jump)?;
            let start = case.frontier.or_else(|| last_done_before(case, chosen));
            let before = case.unfinished_after(start).take_while(|index| *index < chosen);
            let skipped: Vec<usize> = before.collect();
            let first = skipped.first().filter(|_| skipped.len() >= JUMP)?;
            Some(Rival::work(case, *first))
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
            let is_in_row = in_row == Some(PhaseProgress::NotStarted);
            let is_bare = phase.is_ticked() && phase.plans.is_empty();
            (is_bare && (says_new || is_in_row)).then(|| Rival::new(Action::Plan, stated))
        },
    },
    Rule {
        name: "open plan behind",
        reason: "a plan of a phase behind has no summary, or one that calls it partial or failed; it contests the answer if that phase is the last one worked on",
        test: |case, choice| {
            let end = choice.phase.unwrap_or(case.phases.len());
            let is_left = |index: &&usize| {
                **index < end
                    && case.phases[**index].has_open_plan()
                    && case.state(**index) != PhaseState::Dropped
            };
            let left = case.members.iter().rfind(is_left)?;
            let is_over = choice.action == Action::None;
            let contests = case.frontier == Some(*left);
            (!is_over).then(|| Rival { contests, ..Rival::new(Action::Execute, *left) })
        },
    },
    Rule {
        name: "check left",
        reason: "a check of the last finished phase is to be done or repeated",
        test: |case, choice| {
            let index = case.frontier.filter(|index| Some(*index) != choice.phase)?;
            let check = case.phases[index].check_left(case.text)?;
            let is_done = case.state(index) == PhaseState::Done;
            let place = case.survey.check_line(check);
            is_done.then(|| Rival::new(action_for(check), index).at(place).uncontested())
        },
    },
];

/// Number of phases that a pointer may jump over only with a contest.
const JUMP: usize = 2;

fn last_done_before(case: &Case<'_>, index: usize) -> Option<usize> {
    let is_done = |other: &&usize| **other < index && case.state(**other) == PhaseState::Done;
    case.members.iter().rfind(is_done).copied()
}
