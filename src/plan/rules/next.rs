//! What comes next: from which phase the work is looked at, what to do there, and whether a check comes first.
//! Then what else may be next: readings of about equal weight contest the answer, others are only named.

use crate::plan::phase::letters;
use crate::plan::rules::phases::{is_left_unticked, progress_in_row, statuses};
use crate::plan::rules::{Case, Choice, Rule, Step};
use crate::plan::{
    Action, Check, CheckKind, CheckOutcome, Claim, PhaseNumber, PhaseNumbering, PhaseProgress,
    PhaseState, PlanState, milestone_version, milestone_version_in,
};
use crate::project::vocabulary;

/// The cursor: the phase from which the next work is looked for.
pub(super) const CURSOR: &[Rule<(), usize>] = &[
    Rule {
        name: "frontier",
        reason: "the last phase with a summary, if STATE.md names none or one behind it: projects move forward",
        test: |case, ()| {
            let frontier = case.frontier?;
            let is_behind =
                |stated: usize| case.phases[stated].number < case.phases[frontier].number;
            case.stated.is_none_or(is_behind).then_some(frontier)
        },
    },
    Rule {
        name: "pointer",
        reason: "STATE.md names it, and nothing later has a summary",
        test: |case, ()| case.stated,
    },
    Rule {
        name: "first unfinished",
        reason: "nothing is done yet",
        test: |case, ()| prepared(case, None).or_else(|| case.unfinished_after(None).next()),
    },
];

/// The next action, given the cursor.
pub(super) const ACTIONS: &[Rule<Option<usize>, Step>] = &[
    Rule {
        name: "over",
        reason: "the milestone is archived, or the documents call it shipped or say that none is active, and nothing of it is left",
        test: |case, _| is_over(case).then_some(Step::new(Action::None, None)),
    },
    Rule {
        name: "unfinished between",
        reason: "the cursor's phase has no files, but one between it and the last with a summary has",
        test: |case, cursor| {
            let cursor = &case.phases[cursor?];
            let below = case.members.iter().copied().rfind(|index| {
                case.phases[*index].number < cursor.number
                    && case.frontier.is_none_or(|frontier| *index >= frontier)
                    && case.phases[*index].has_files
            })?;
            let is_bare = cursor.state == PhaseState::Unplanned && !cursor.has_files;
            let below_state = case.phases[below].state;
            let is_left = matches!(below_state, PhaseState::Open | PhaseState::Unplanned);
            (is_bare && is_left).then(|| case.work(below))
        },
    },
    Rule {
        name: "at the cursor",
        reason: "the cursor's phase has open plans, or more may follow, or it has none yet",
        test: |case, cursor| {
            cursor.filter(|index| case.phases[*index].is_unfinished()).map(|index| case.work(index))
        },
    },
    Rule {
        name: "prepared later phase",
        reason: "the next unfinished phase has no files, but a later one has a CONTEXT file or plans",
        test: |case, cursor| prepared(case, Some(cursor?)).map(|later| case.work(later)),
    },
    Rule {
        name: "next unfinished",
        reason: "the first unfinished phase after the cursor",
        test: |case, cursor| {
            case.unfinished_after(Some(cursor?)).next().map(|next| case.work(next))
        },
    },
    Rule {
        name: "all done",
        reason: "no phase is left after the last one worked on",
        test: |case, cursor| {
            let last = cursor.or_else(|| case.last(|phase| phase.state == PhaseState::Done));
            last.map(|_| Step::new(Action::Ship, None))
        },
    },
    Rule {
        name: BLANK,
        reason: "no phase is planned yet",
        test: |case, _| is_blank(case).then_some(Step::new(Action::Plan, None)),
    },
];

const BLANK: &str = "blank";

/// What comes before the chosen action.
pub(super) const GATES: &[Rule<Choice, Step>] = &[
    Rule {
        name: "not understood",
        reason: "what could not be read may be what is missing",
        test: |case, choice| {
            let assumes_nothing =
                matches!(choice.action, Action::None | Action::Ship) || choice.rule == BLANK;
            let is_unread = !case.survey.not_understood.is_empty();
            // If the roadmap's ids are all of a kind that is not read, those of the folders are read wrongly, too.
            let roadmap = &case.survey.roadmap;
            let is_foreign = roadmap.phases.is_empty() && !roadmap.not_understood.is_empty();
            (assumes_nothing && is_unread || is_foreign).then_some(Step::new(Action::Unknown, None))
        },
    },
    Rule {
        name: "open check",
        reason: "a user test of the last finished phase found issues, or a check that VBW wants done; with GSD, people go on despite gaps",
        test: |case, choice| {
            let index = last_finished(case, choice)?;
            let check = open_check(case, index)?;
            let step = case.check(index, check);
            let asks_first =
                check.kind == CheckKind::Uat || !case.survey.layout.name.keeps_milestones();
            let is_first = match step.action {
                Action::Remediate => asks_first,
                _ => case.survey.workflow.requires_uat,
            };
            is_first.then_some(step)
        },
    },
    Rule {
        name: "untested",
        reason: "VBW's auto_uat asks for a user test of the last finished phase",
        test: |case, choice| {
            let index = last_finished(case, choice)?;
            is_untested(case, index, choice.action).then(|| untested(case, index))
        },
    },
    Rule {
        name: "undiscussed",
        reason: "config.json asks for a discussion before a phase is planned",
        test: |case, choice| {
            let index = choice.phase.filter(|_| choice.action == Action::Plan)?;
            let is_missing = !case.phases[index].has_context;
            (case.survey.workflow.requires_discussion && is_missing)
                .then_some(Step::new(Action::Discuss, Some(index)))
        },
    },
];

/// Returns whether the milestone is over: its phases are in an archive, or the documents call it shipped or name none, and
/// nothing of it is left.
fn is_over(case: &Case<'_>) -> bool {
    let survey = case.survey;
    let says_none = survey.state.is_between_milestones;
    if case.last(|phase| phase.has_files).is_none() {
        let is_shipped = survey.has_shipped && !case.scope.listed.is_empty();
        return says_none || (is_shipped || survey.is_archived()) && is_listed_done(case);
    }
    // MILESTONES.md may be ahead of a partial plan in the phase that STATE.md still names.
    let is_partial = |index: usize| case.phases[index].count(PlanState::Partial) > 0;
    let says_shipped = survey.has_shipped || survey.has_only_shipped();
    let is_shipped = says_none || says_shipped && !case.stated.is_some_and(is_partial);
    let is_open = |index: usize| !case.scope.lists(&case.phases[index].number);
    survey.folder.archive_of_active().is_some()
        || is_shipped && is_listed_done(case) && !case.unfinished_after(None).any(is_open)
}

/// Returns whether the phases that the roadmap lists are complete, by its own words or by their folders.
fn is_listed_done(case: &Case<'_>) -> bool {
    case.scope.listed.iter().all(|planned| {
        let phase = case.member(&planned.number).map(|index| &case.phases[index]);
        planned.status == Some(PhaseProgress::Complete)
            || phase.is_some_and(|phase| phase.dir.is_some() && !phase.is_unfinished())
    })
}

/// Returns a later prepared phase, if the first unfinished one after `cursor` has no files.
fn prepared(case: &Case<'_>, cursor: Option<usize>) -> Option<usize> {
    let first = case.unfinished_after(cursor).next()?;
    let is_prepared = |index: &usize| {
        let phase = &case.phases[*index];
        phase.has_context || phase.has_plans()
    };
    let is_bare = !case.phases[first].has_files;
    case.unfinished_after(Some(first)).find(is_prepared).filter(|_| is_bare)
}

/// Returns whether nothing was ever planned here; a milestone with its own folder was started on purpose.
fn is_blank(case: &Case<'_>) -> bool {
    let (folder, state) = (&case.survey.folder, &case.survey.state);
    let says_more = |claim: &Claim| {
        matches!(claim, Claim::Count(_, 1..))
            || claim.status().is_some_and(PhaseProgress::is_complete_status)
    };
    (folder.archived.is_empty() || folder.active.dir != folder.dir)
        && !state.is_between_milestones
        && !state.claims.iter().any(|claim| says_more(&claim.value))
}

/// Returns the last phase worked on, or a later one that is called done, if it is finished and not itself chosen.
fn last_finished(case: &Case<'_>, choice: Choice) -> Option<usize> {
    let last = match case.frontier {
        Some(index) if !case.is_done(index) => None,
        frontier => frontier.max(case.last(|phase| phase.state == PhaseState::Done)),
    };
    last.filter(|index| choice.phase != Some(*index))
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
fn open_check<'a>(case: &'a Case<'_>, index: usize) -> Option<&'a Check> {
    let is_pointed = case.stated.is_none_or(|stated| stated == index);
    let has_moved_on =
        case.stated.is_some_and(|stated| stated > index && case.phases[stated].has_plans());
    let holds = |check: &&Check| match (check.kind, check.outcome) {
        (_, CheckOutcome::Outdated) => false,
        (CheckKind::Uat, CheckOutcome::Issues | CheckOutcome::Repeat) => !has_moved_on,
        _ => is_pointed,
    };
    case.phases[index].open_checks(case.text).find(holds)
}

/// Returns whether config.json requires a user test that a finished phase has not had, although all phases before it
/// have. A setting that is not followed is ignored, except at the end of the milestone.
fn is_untested(case: &Case<'_>, index: usize, action: Action) -> bool {
    let is_tested = |index: usize| {
        let mut checks = case.checks(index).iter();
        checks.any(|check| check.kind == CheckKind::Uat && check.outcome != CheckOutcome::Unknown)
    };
    let before = case.members.iter().copied().take_while(|other| *other < index);
    let mut earlier = before.filter(|other| case.phases[*other].is_begun());
    case.survey.workflow.requires_uat
        && !is_tested(index)
        && (action == Action::Ship || earlier.all(is_tested))
}

/// Returns the user test that a phase has not had, or whose result was not understood.
fn untested(case: &Case<'_>, index: usize) -> Step {
    let survey = case.survey;
    let unread = case.checks(index).iter().find(|one| one.outcome == CheckOutcome::Unknown);
    let (config, number) = (survey.folder.dir.join(vocabulary::CONFIG), &case.phases[index].number);
    let missing =
        || format!("{}: auto_uat, and phase {number} has no user test", survey.show(&config));
    let place = unread.map_or_else(missing, |check| survey.check_line(check));
    Step { action: Action::Verify, phase: Some(index), place: Some(place) }
}

/// Returns whether two names of milestones have the same version, or without one the same letters.
pub(in crate::plan) fn is_same_milestone(one: &str, other: &str) -> bool {
    let version = |name| milestone_version(name).or_else(|| milestone_version_in(name));
    match (version(one), version(other)) {
        (Some(one), Some(other)) => one == other,
        (None, None) => letters(one) == letters(other),
        _ => false,
    }
}

/// Another step, and whether it is almost as likely as the choice.
type Rival = (Step, bool);

/// What contests a choice, then what is only named as the alternative.
pub(super) const RIVALS: &[Rule<Choice, Rival>] = &[
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
