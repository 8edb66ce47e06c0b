//! What comes next: from which phase the work is looked at, what to do there, and whether a check comes first.

use crate::plan::names::letters;
use crate::plan::rules::{Case, Choice, Rule};
use crate::plan::{
    Action, Check, CheckKind, CheckOutcome, Claim, PhaseProgress, PhaseState, PlanState,
    milestone_version, milestone_version_in,
};
use crate::project::vocabulary;

/// An action, and its phase.
type Step = (Action, Option<usize>);

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
pub(super) const RULES: &[Rule<Option<usize>, Step>] = &[
    Rule {
        name: "over",
        reason: "the milestone is archived, or the documents call it shipped or say that none is active, and nothing of it is left",
        test: |case, _| is_over(case).then_some((Action::None, None)),
    },
    Rule {
        name: "unfinished between",
        reason: "the cursor's phase has no files, but one between it and the last with a summary has",
        test: |case, cursor| {
            let cursor = cursor.filter(|index| case.state(*index) == PhaseState::Unplanned)?;
            let below = case.members.iter().copied().rfind(|index| {
                case.phases[*index].number < case.phases[cursor].number
                    && case.frontier.is_none_or(|frontier| *index >= frontier)
                    && case.phases[*index].has_files
            })?;
            let is_left = matches!(case.state(below), PhaseState::Open | PhaseState::Unplanned);
            let is_bare = !case.phases[cursor].has_files;
            (is_bare && is_left).then(|| (case.action_at(below), Some(below)))
        },
    },
    Rule {
        name: "at the cursor",
        reason: "the cursor's phase has open plans, or more may follow, or it has none yet",
        test: |case, cursor| {
            let cursor = cursor.filter(|index| case.is_unfinished(*index))?;
            Some((case.action_at(cursor), Some(cursor)))
        },
    },
    Rule {
        name: "prepared later phase",
        reason: "the next unfinished phase has no files, but a later one has a CONTEXT file or plans",
        test: |case, cursor| {
            let later = prepared(case, Some(cursor?))?;
            Some((case.action_at(later), Some(later)))
        },
    },
    Rule {
        name: "next unfinished",
        reason: "the first unfinished phase after the cursor",
        test: |case, cursor| {
            let next = case.unfinished_after(Some(cursor?)).next()?;
            Some((case.action_at(next), Some(next)))
        },
    },
    Rule {
        name: "all done",
        reason: "no phase is left after the last one worked on",
        test: |case, cursor| cursor.or_else(|| case.last_done()).map(|_| (Action::Ship, None)),
    },
    Rule {
        name: BLANK,
        reason: "no phase is planned yet",
        test: |case, _| is_blank(case).then_some((Action::Plan, None)),
    },
];

const BLANK: &str = "blank";
const OPEN_CHECK: &str = "open check";
const UNTESTED: &str = "untested";

/// What comes before the chosen action.
pub(super) const GATES: &[Rule<Choice, Step>] = &[
    Rule {
        name: "not understood",
        reason: "what could not be read may be what is missing",
        test: |case, choice| {
            let survey = case.survey;
            let assumes_nothing =
                matches!(choice.action, Action::None | Action::Ship) || choice.rule == BLANK;
            let is_unread = !survey.not_understood.is_empty();
            // If the roadmap's ids are all of a kind that is not read, those of the folders are read wrongly, too.
            let roadmap = &survey.roadmap;
            let is_foreign = roadmap.phases.is_empty() && !roadmap.not_understood.is_empty();
            (assumes_nothing && is_unread || is_foreign).then_some((Action::Unknown, None))
        },
    },
    Rule {
        name: OPEN_CHECK,
        reason: "a user test of the last finished phase found issues, or a check that VBW wants done; with GSD, people go on despite gaps",
        test: |case, choice| {
            let index = last_finished(case, &choice)?;
            let check = open_check(case, index)?;
            let action = action_for(check);
            let asks_first =
                check.kind == CheckKind::Uat || !case.survey.layout.name.keeps_milestones();
            let is_first = match action {
                Action::Remediate => asks_first,
                _ => case.survey.workflow.requires_uat,
            };
            is_first.then_some((action, Some(index)))
        },
    },
    Rule {
        name: UNTESTED,
        reason: "VBW's auto_uat asks for a user test of the last finished phase",
        test: |case, choice| {
            let index = last_finished(case, &choice)?;
            is_untested(case, index, choice.action).then_some((Action::Verify, Some(index)))
        },
    },
    Rule {
        name: "undiscussed",
        reason: "config.json asks for a discussion before a phase is planned",
        test: |case, choice| {
            let index = choice.phase.filter(|_| choice.action == Action::Plan)?;
            let is_missing = !case.phases[index].has_context;
            (case.survey.workflow.requires_discussion && is_missing)
                .then_some((Action::Discuss, Some(index)))
        },
    },
];

impl Case<'_> {
    /// Returns whether a phase of the milestone has files.
    fn has_folders(&self) -> bool {
        self.members.iter().any(|index| self.phases[*index].has_files)
    }
}

/// Returns whether the milestone is over: its phases are in an archive, or the documents call it shipped or name none, and
/// nothing of it is left.
fn is_over(case: &Case<'_>) -> bool {
    let survey = case.survey;
    let says_none = survey.state.is_between_milestones;
    // MILESTONES.md may be ahead of a partial plan in the phase that STATE.md still names.
    let is_partial = |index: usize| case.phases[index].count(PlanState::Partial) > 0;
    if case.has_folders() {
        let says_shipped = survey.has_shipped || survey.has_only_shipped();
        let is_shipped = says_none || says_shipped && !case.stated.is_some_and(is_partial);
        survey.folder.archive_of_active().is_some() || is_shipped && is_all_done(case)
    } else {
        let is_shipped = survey.has_shipped && !case.scope.listed.is_empty();
        says_none || (is_shipped || survey.is_archived()) && is_listed_done(case)
    }
}

/// Returns the place of the check that a choice is about.
pub(super) fn check_of(case: &Case<'_>, index: usize, choice: &Choice) -> Option<String> {
    let survey = case.survey;
    match choice.rule {
        OPEN_CHECK => open_check(case, index).map(|check| survey.check_line(check)),
        UNTESTED => {
            let config = survey.folder.dir.join(vocabulary::CONFIG);
            let unread = case.checks(index).iter().find(|one| one.outcome == CheckOutcome::Unknown);
            if let Some(check) = unread {
                return Some(survey.check_line(check));
            }
            let number = &case.phases[index].number;
            Some(format!("{}: auto_uat, and phase {number} has no user test", survey.show(&config)))
        }
        _ => None,
    }
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

/// Returns whether nothing is open: the roadmap's phases are complete, and so are the others.
fn is_all_done(case: &Case<'_>) -> bool {
    let is_open = |index: &usize| {
        case.is_unfinished(*index) && !case.scope.lists(&case.phases[*index].number)
    };
    is_listed_done(case) && !case.members.iter().any(is_open)
}

fn is_listed_done(case: &Case<'_>) -> bool {
    case.scope.listed.iter().all(|planned| {
        let index = case.member(&planned.number);
        planned.status == Some(PhaseProgress::Complete)
            || index.is_some_and(|index| case.phases[index].dir.is_some())
                && index.is_none_or(|index| !case.is_unfinished(index))
    })
}

/// Returns whether nothing was ever planned here; a milestone with its own folder was started on purpose.
fn is_blank(case: &Case<'_>) -> bool {
    let survey = case.survey;
    let has_own_folder = survey.folder.active.dir != survey.folder.dir;
    let mut claims = survey.state.claims.iter().map(|claim| &claim.value);
    (survey.folder.archived.is_empty() || has_own_folder)
        && !survey.state.is_between_milestones
        && !claims.any(|claim| {
            matches!(claim, Claim::Count(_, 1..))
                || claim.status().is_some_and(PhaseProgress::is_complete_status)
        })
}

/// Returns the last phase worked on, or a later one that is called done, if it is finished and not itself chosen.
fn last_finished(case: &Case<'_>, choice: &Choice) -> Option<usize> {
    let is_done = |index: &usize| case.state(*index) == PhaseState::Done;
    let last = match case.frontier {
        Some(index) if !is_done(&index) => None,
        frontier => frontier.max(case.last_done()),
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
pub(super) fn open_check<'a>(case: &'a Case<'_>, index: usize) -> Option<&'a Check> {
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

/// Returns whether two names of milestones have the same version, or without one the same letters.
pub(in crate::plan) fn is_same_milestone(one: &str, other: &str) -> bool {
    let version = |name| milestone_version(name).or_else(|| milestone_version_in(name));
    match (version(one), version(other)) {
        (Some(one), Some(other)) => one == other,
        (None, None) => letters(one) == letters(other),
        _ => false,
    }
}
