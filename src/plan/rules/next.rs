//! What comes next: which phase the work is seen from, what to do there, and whether a check comes first.
//! Then what else may be next: readings of about equal weight contest the answer, others are only named.

use std::path::Path;

use crate::plan::phase::{letters, may_be_same};
use crate::plan::read::vocabulary::has;
use crate::plan::rules::phases::{is_left_unticked, names_check};
use crate::plan::rules::{Case, Choice, Rule, Step};
use crate::plan::{
    Action, Archive, Check, CheckKind, CheckOutcome, Claim, Phase, PhaseDir, PhaseNumber,
    PhaseProgress, PhaseState, PlanState, ProgressRow, RoadmapPhase, Says, Survey,
    milestone_version, milestone_version_in,
};
use crate::project::vocabulary;
use crate::storage::read;
use crate::text::{slug_of, words_in};

const BLANK: &str = "blank";

impl<'a> Case<'a> {
    /// The cursor: the phase from which the next work is looked for.
    pub(super) const CURSOR: [Rule<'a, (), &'a Phase>; 3] = [
        Rule {
            name: "frontier",
            reason: "the last phase with a summary, if STATE.md names none or one behind it, in which no plan is without one: projects move forward",
            test: |case, ()| {
                let frontier = case.frontier?;
                let is_behind = |stated: &Phase| {
                    stated.number < frontier.number && stated.count(PlanState::Open) == 0
                };
                case.stated.is_none_or(is_behind).then_some(frontier)
            },
        },
        Rule {
            name: "pointer",
            reason: "STATE.md names it, and nothing later has a summary, or one of its plans has none",
            test: |case, ()| case.stated,
        },
        Rule {
            name: "first unfinished",
            reason: "nothing is done yet",
            test: |case, ()| prepared(case, None).or_else(|| case.first_unfinished()),
        },
    ];

    /// The next action, given the cursor.
    pub(super) const ACTIONS: [Rule<'a, Option<&'a Phase>, Step<'a>>; 9] = [
        Rule {
            name: "over",
            reason: "the milestone is archived, or the documents call it shipped or say that none is active, and nothing of it is left",
            test: |case, _| {
                over(case).map(|place| Step { place: Some(place), ..Step::new(Action::None, None) })
            },
        },
        Rule {
            name: "unfinished between",
            reason: "the cursor's phase has no files, but one between it and the last with a summary has",
            test: |case, cursor| {
                let cursor = cursor?;
                let below = case.members.iter().copied().rfind(|phase| {
                    phase.number < cursor.number
                        && case.frontier.is_none_or(|frontier| phase.number >= frontier.number)
                        && phase.has_files()
                })?;
                let is_bare = cursor.state == PhaseState::Unplanned && !cursor.has_files();
                let is_left = matches!(below.state, PhaseState::Open | PhaseState::Unplanned);
                (is_bare && is_left).then(|| Case::work(below))
            },
        },
        Rule {
            name: "at the cursor",
            reason: "the cursor's phase has open plans, or more may follow, or it has none yet",
            test: |_, cursor| cursor.filter(|phase| phase.is_unfinished()).map(Case::work),
        },
        Rule {
            name: "prepared later phase",
            reason: "the next unfinished phase has no files, but a later one has a CONTEXT file or plans",
            test: |case, cursor| prepared(case, Some(cursor?)).map(Case::work),
        },
        Rule {
            name: "end of the milestone",
            reason: "the phases of the milestone that STATE.md names, or else the open one, are done, and the next one is in a later milestone",
            test: |case, cursor| {
                let survey = case.survey;
                let home = |phase: &Phase| phase.planned.as_ref()?.milestone;
                let last = cursor.filter(|phase| phase.state == PhaseState::Done)?;
                let next = case.unfinished_after(cursor).next().filter(|next| !next.has_files())?;
                let milestone = |at: usize| Some(&*survey.roadmap.milestones.get(at)?.name);
                let (last, next) = (milestone(home(last)?)?, milestone(home(next)?)?);
                let stated =
                    survey.state.milestone.as_deref().or_else(|| unnamed_milestone(survey))?;
                let is_end = is_same_milestone(last, stated) && !is_same_milestone(next, stated);
                let is_over = || survey.shipped.is_some() || survey.has_shipped(last);
                (is_end && !is_over()).then(|| Step::new(Action::Ship, None))
            },
        },
        Rule {
            name: "next unfinished",
            reason: "the first unfinished phase after the cursor",
            test: |case, cursor| case.unfinished_after(Some(cursor?)).next().map(Case::work),
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
        Rule {
            name: "ended",
            reason: "no phase is planned since the last milestone",
            test: |case, _| {
                let last = case.survey.folder.archived.last();
                let place = last.map(|archive| case.survey.archive_line(archive));
                has_ended(case.survey).then_some(Step { place, ..Step::new(Action::None, None) })
            },
        },
    ];

    /// What comes before the chosen action.
    pub(super) const GATES: [Rule<'a, Choice<'a>, Step<'a>>; 4] = [
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
                let mut phases = [choice.phase, case.frontier].into_iter().flatten();
                let is_nothing_read = case.last(Phase::has_files).is_none()
                    && !has_ended(case.survey)
                    && case.survey.folder.not_understood.iter().any(|path| !is_of_work(path));
                let is_hidden = choice.action == Action::Plan
                    && (is_nothing_read || phases.any(|phase| has_unread_work(case, phase)));
                (assumes_nothing && is_unread || is_foreign || is_hidden)
                    .then_some(Step::new(Action::Unknown, None))
            },
        },
        Rule {
            name: "open check",
            reason: "a user test found issues, of the last finished phase or the one to which VBW sets STATE.md back, or a check that VBW wants done, or repeated by its stage file; with GSD, people go on despite gaps",
            test: |case, choice| {
                let survey = case.survey;
                // The finished phase that VBW's STATE.md names with a check that follows: `needs_remediation`.
                let is_named = |phase: &&Phase| {
                    phase.state == PhaseState::Done
                        && survey.is_vbw()
                        && survey.state.statuses().any(names_check)
                };
                let named = case.stated.filter(is_named);
                let phases = [named, last_finished(case, choice)];
                phases.into_iter().flatten().find_map(|phase| {
                    let check = open_check(case, phase)?;
                    let step = case.check(phase, check);
                    let is_uat = check.kind == CheckKind::Uat;
                    // The stage file of VBW's remediation wants the user test repeated (`verify`, or `done`, which VBW takes
                    // for the same), and STATE.md has not moved on to a later phase.
                    let is_to_repeat = check.outcome == CheckOutcome::Repeat
                        && case.stated.is_none_or(|stated| stated.number <= phase.number);
                    let is_first = match step.action {
                        Action::Remediate => is_uat || survey.is_vbw(),
                        _ => {
                            let is_wanted = named == Some(phase) || is_to_repeat;
                            survey.workflow.requires_uat || is_uat && is_wanted
                        }
                    };
                    is_first.then_some(step)
                })
            },
        },
        Rule {
            name: "untested",
            reason: "VBW's auto_uat asks for a user test of the last finished phase",
            test: |case, choice| {
                let phase = last_finished(case, choice)?;
                is_untested(case, phase, choice.action).then(|| untested(case, phase))
            },
        },
        Rule {
            name: "undiscussed",
            reason: "config.json asks for a discussion before a phase is planned",
            test: |case, choice| {
                let phase = choice.phase.filter(|_| choice.action == Action::Plan)?;
                (case.survey.workflow.requires_discussion && !phase.has_context())
                    .then_some(Step::new(Action::Discuss, Some(phase)))
            },
        },
    ];
}

/// Returns the open milestone of a roadmap where STATE.md names none, nor says that one is over or what follows it.
fn unnamed_milestone(survey: &Survey) -> Option<&str> {
    let says_more = |text: &str| {
        milestone_version_in(text).is_some()
            || words_in(&text.to_lowercase()).any(|word| has("shipped", word))
            || !survey.numbering.phases_in(text).is_empty()
    };
    let mut said = survey.state.statuses().chain(survey.roadmap.title.as_deref());
    let is_open = !survey.is_vbw() && !said.any(says_more);
    survey.milestone().filter(|_| is_open)
}

/// Returns whether a milestone has ended: one is archived, or called shipped, or STATE.md says that none is active or that
/// its work is complete.
fn has_ended(survey: &Survey) -> bool {
    let state = &survey.state;
    !survey.folder.archived.is_empty()
        || state.no_milestone.is_some()
        || survey.shipped.is_some()
        || survey.roadmap.has_shipped()
        || state.statuses().any(PhaseProgress::is_complete_status)
        || state.claims.iter().any(|claim| claim.value.count(Says::Percent) == Some(100))
}

/// Returns the place of what shows that the milestone is over: its phases are in an archive, or the documents call it
/// shipped or name none, and nothing of it is left.
fn over(case: &Case<'_>) -> Option<String> {
    let survey = case.survey;
    let no_milestone = survey.state.no_milestone.map(|line| survey.line(vocabulary::STATE, line));
    let shipped = survey.shipped_line();
    if case.last(Phase::has_files).is_none() {
        let shipped = shipped.filter(|_| !case.scope.listed.is_empty());
        let named = || survey.folder.archive(survey.milestone()?);
        // VBW's own record, which its roadmap need not follow.
        let is_recorded = |archive: &&Archive| {
            let record = archive.dir.as_ref().map(|dir| dir.join(vocabulary::SHIPPED));
            record.is_some_and(|record| read::exists(&record))
        };
        if let Some(archive) = named().filter(is_recorded) {
            return Some(survey.archive_line(archive));
        }
        let archive = || Some(survey.archive_line(named().or_else(|| archive_of_listed(case))?));
        return no_milestone.or_else(|| shipped.or_else(archive).filter(|_| is_listed_done(case)));
    }
    if let Some(archive) = survey.folder.archive_of_active() {
        return Some(survey.archive_line(archive));
    }
    // MILESTONES.md may be ahead of a partial plan in the phase that STATE.md still names.
    let is_partial = case.stated.is_some_and(|phase| phase.count(PlanState::Partial) > 0);
    let is_open = |phase: &Phase| !case.scope.lists(&phase.number);
    let in_roadmap =
        || survey.last_of_shipped().map(|one| survey.line(vocabulary::ROADMAP, one.line));
    // GSD archives the roadmap, and may leave the phases where they are.
    let archived = || {
        let archive = survey.folder.archive(survey.state.milestone.as_deref()?)?;
        archive.has_roadmap_beside().then(|| survey.archive_line(archive))
    };
    let shipped = shipped.or_else(in_roadmap).or_else(archived);
    let place = no_milestone.or_else(|| shipped.filter(|_| !is_partial));
    place.filter(|_| is_listed_done(case) && !case.unfinished_after(None).any(is_open))
}

/// Returns the archive that has a folder for each phase that the roadmap lists.
fn archive_of_listed<'a>(case: &Case<'a>) -> Option<&'a Archive> {
    let listed = &case.scope.listed;
    case.survey.folder.archived.iter().filter(|_| !listed.is_empty()).find(|archive| {
        let phases = archive.milestone().map(|read| read.value.phases).unwrap_or_default();
        let is_same = |planned: &RoadmapPhase, dir: &PhaseDir| {
            let name = planned.name.as_deref();
            planned.number == dir.number && name.is_some_and(|name| may_be_same(&dir.name, name))
        };
        listed.iter().all(|planned| phases.iter().any(|dir| is_same(planned, dir)))
    })
}

/// Returns whether the phases that the roadmap lists are complete, by its own words or by their folders.
fn is_listed_done(case: &Case<'_>) -> bool {
    case.scope.listed.iter().all(|planned| {
        let is_finished = |phase: &Phase| phase.dir.is_some() && !phase.is_unfinished();
        planned.status == Some(PhaseProgress::Complete)
            || case.member(&planned.number).is_some_and(is_finished)
    })
}

/// Returns a later prepared phase, if the first unfinished one after `cursor` has no files.
fn prepared<'a>(case: &Case<'a>, cursor: Option<&Phase>) -> Option<&'a Phase> {
    let first = case.unfinished_after(cursor).next().filter(|first| !first.has_files())?;
    case.unfinished_after(Some(first)).find(|phase| phase.has_context() || phase.has_plans())
}

/// Returns whether nothing was ever planned here. A milestone with its own folder was started on purpose, and so was one
/// that STATE.md names, unless the tool numbers phases on across milestones.
fn is_blank(case: &Case<'_>) -> bool {
    let survey = case.survey;
    let (folder, state) = (&survey.folder, &survey.state);
    let is_named = || {
        let named = state.milestone.as_deref().filter(|name| !survey.has_shipped(name));
        named.is_some() && survey.is_vbw()
    };
    let has_open_milestone = survey.milestone().is_some_and(|name| !survey.has_shipped(name));
    (folder.archived.is_empty() || folder.active.dir != folder.dir || is_named())
        && state.no_milestone.is_none()
        && survey.shipped.is_none()
        && (has_open_milestone || !survey.roadmap.has_shipped())
        && !state.statuses().any(PhaseProgress::is_complete_status)
        && !state.claims.iter().any(|claim| matches!(claim.value, Claim::Count(_, 1..)))
}

/// Returns whether a folder is named for work of any kind, which need not be a plan: `issues/`.
fn is_of_work(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    has("folder of work", &name.to_lowercase())
}

/// Returns whether plans that were not read lie in the folder of a phase, or in one that may be its own, `phase2-api`, or
/// nothing says more about it than a status that is not understood.
fn has_unread_work(case: &Case<'_>, phase: &Phase) -> bool {
    let is_unclear = phase.row().is_some_and(|row| row.unread_status().is_some());
    is_unclear && phase.mark().is_none() && !phase.has_files()
        || case.survey.folder.not_understood.iter().any(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let number = name.trim_start_matches(|c: char| !c.is_ascii_digit());
            phase.dir.as_ref().is_some_and(|dir| path.starts_with(&dir.path))
                || PhaseNumber::split(number).is_some_and(|(number, _)| number == phase.number)
        })
}

/// Returns the last phase worked on, or a later one that is called done, if it is finished and not itself chosen.
fn last_finished<'a>(case: &Case<'a>, choice: Choice<'a>) -> Option<&'a Phase> {
    let is_done = |phase: &Phase| phase.state == PhaseState::Done;
    let last = case.last(is_done).filter(|_| case.frontier.is_none_or(is_done));
    last.filter(|_| choice.phase != last)
}

/// Returns the open check of a phase.
///
/// User tests block until STATE.md has moved on to a phase with plans; a verification blocks only until
/// STATE.md moves on, since many workflows continue despite its gaps, but a round that works on them is to be
/// finished. A review never blocks.
fn open_check<'a>(case: &Case<'a>, phase: &'a Phase) -> Option<&'a Check> {
    let is_pointed = case.stated.is_none_or(|stated| stated == phase);
    let has_moved_on =
        case.stated.is_some_and(|stated| stated.number > phase.number && stated.has_plans());
    let holds = |check: &&Check| match (check.kind, check.outcome) {
        (_, CheckOutcome::Outdated) => false,
        (CheckKind::Uat, CheckOutcome::Issues | CheckOutcome::Repeat) => !has_moved_on,
        (CheckKind::Verification, _) if check.is_under_way() => true,
        _ => is_pointed,
    };
    phase.open_checks().find(holds)
}

/// Returns whether config.json requires a user test that a finished phase has not had, although all phases before it
/// have. A setting that is not followed is ignored, except at the end of the milestone.
fn is_untested(case: &Case<'_>, phase: &Phase, action: Action) -> bool {
    let is_tested = |phase: &Phase| {
        let mut checks = phase.checks().iter();
        checks.any(|check| check.kind == CheckKind::Uat && check.outcome != CheckOutcome::Unknown)
    };
    let mut before = case.members.iter().take_while(|other| other.number < phase.number);
    case.survey.workflow.requires_uat
        && !is_tested(phase)
        && (action == Action::Ship || before.all(|other| !other.is_begun() || is_tested(other)))
}

/// Returns the check of the last finished phase that STATE.md names in such a status: `verifying`, `Phase complete — ready for
/// verification`.
fn stated_check<'a>(case: &Case<'a>, is_meant: impl Fn(&str) -> bool) -> Option<Step<'a>> {
    let (survey, phase) = (case.survey, case.to_check()?);
    let mut claims = survey.state.claims.iter();
    let names_it = |status: &str| names_check(status) && is_meant(status);
    let claim = claims.find(|claim| claim.value.status().is_some_and(names_it))?;
    let place = Some(survey.line(vocabulary::STATE, claim.line));
    Some(Step { place, ..Step::new(Action::Verify, Some(phase)) })
}

/// Returns the user test that a phase has not had, or whose result was not understood.
fn untested<'a>(case: &Case<'a>, phase: &'a Phase) -> Step<'a> {
    let survey = case.survey;
    let mut checks = phase.checks().iter();
    let unread = checks.find(|one| one.outcome == CheckOutcome::Unknown);
    let (config, number) = (survey.folder.dir.join(vocabulary::CONFIG), &phase.number);
    let missing = || {
        format!(
            "{}: auto_uat, and no user test of phase {number} has a result",
            survey.show(&config)
        )
    };
    let place = unread.map_or_else(missing, |check| survey.check_line(check));
    Step { place: Some(place), ..Step::new(Action::Verify, Some(phase)) }
}

/// Returns whether two names of milestones have the same version, or without one the same letters.
pub(in crate::plan) fn is_same_milestone(one: &str, other: &str) -> bool {
    let version = |name| milestone_version(name).or_else(|| milestone_version_in(name));
    match (version(one), version(other)) {
        // `v1.0 Alpha` and the folder `v1.0-alpha`
        (Some(own), Some(version)) => own == version || slug_of(one) == slug_of(other),
        (None, None) => letters(one) == letters(other),
        _ => false,
    }
}

/// Another step, and whether it is almost as likely as the choice.
type Rival<'a> = (Step<'a>, bool);

impl<'a> Case<'a> {
    /// What contests a choice, then what is only named as the alternative.
    pub(super) const RIVALS: [Rule<'a, Choice<'a>, Rival<'a>>; 9] = [
        Rule {
            name: "summaries without plans at the frontier",
            reason: "the last phase worked on has more summaries than plans, so that more may follow",
            test: |case, choice| {
                let phase = case.frontier.filter(|phase| Some(*phase) != choice.phase)?;
                let is_settled =
                    phase.is_ticked() && (phase.planned.is_none() || phase.has_passed());
                let is_over = choice.action == Action::None;
                (phase.summaries() > phase.plan_files() && !is_settled && !is_over)
                    .then_some((Step::new(Action::Execute, Some(phase)), true))
            },
        },
        Rule {
            name: "later work",
            reason: "a later unfinished phase has files, and the chosen one was not inserted before it",
            test: |case, choice| {
                let chosen = choice.phase?;
                let number = &chosen.number;
                let later = case.unfinished_after(Some(chosen)).find(|later| later.has_files())?;
                let is_inserted = number.is_inserted() && later.number.whole() > number.whole();
                (later.is_begun() || !is_inserted).then(|| (Case::work(later), true))
            },
        },
        Rule {
            name: "refused by `ship`",
            reason: "nothing is left after the cursor, but `ship` would refuse: a phase before it is unfinished, or a plan that no check passed since, or a check is open, or goes on according to STATE.md",
            test: |case, choice| {
                if choice.action != Action::Ship {
                    return None;
                }
                let open = case.first_unfinished().map(Case::work);
                let is_left = |phase: &&Phase| {
                    let mut checks = phase.checks().iter();
                    phase.has_unclear_counts()
                        && !checks.any(|check| check.outcome == CheckOutcome::Passed)
                };
                let left = || case.members.iter().copied().find(is_left);
                let open = open.or_else(|| Some(Step::new(Action::Execute, Some(left()?))));
                let unchecked = || {
                    case.members.iter().find_map(|phase| {
                        let left = || phase.check_left().filter(|_| is_left_unticked(phase));
                        let check = phase.open_checks().next().or_else(left)?;
                        Some(case.check(phase, check))
                    })
                };
                let goes_on =
                    |status: &str| PhaseProgress::parse(status) == Some(PhaseProgress::InProgress);
                let open = open.or_else(unchecked).or_else(|| stated_check(case, goes_on));
                open.map(|step| (step, true))
            },
        },
        Rule {
            name: "jump of the pointer",
            reason: "STATE.md names a phase without files, and more than one before it was never begun, or one that was inserted",
            test: |case, choice| {
                let is_jump = |phase: &&Phase| case.stated == Some(*phase) && !phase.has_files();
                let chosen = choice.phase.filter(is_jump)?;
                let is_before = |phase: &Phase| phase.number < chosen.number;
                let done_before =
                    || case.last(|phase| is_before(phase) && phase.state == PhaseState::Done);
                let start = case.frontier.or_else(done_before);
                let mut skipped = case.unfinished_after(start).take_while(|phase| is_before(phase));
                let first = skipped.next()?;
                let is_jump = skipped.next().is_some() || first.number.is_inserted();
                is_jump.then(|| (Case::work(first), true))
            },
        },
        Rule {
            name: "called complete without files",
            reason: "STATE.md, beside its number or in a list, or the box in the roadmap calls the phase complete that is to be planned",
            test: |case, choice| {
                let phase = choice.phase.filter(|phase| !phase.has_files())?;
                let state = &case.survey.state;
                let beside = state.claims.iter().filter(|_| case.stated == Some(phase));
                let beside = beside.filter_map(|claim| claim.value.text(Says::PhaseStatus));
                let listed = state.phase_statuses.iter().filter(|(one, _)| *one == phase.number);
                let mut statuses = beside.chain(listed.map(|(_, status)| &*status.value));
                let is_called =
                    phase.mark() == Some(true) || statuses.any(PhaseProgress::is_complete_status);
                let next = case.unfinished_after(Some(phase)).next().filter(|_| is_called)?;
                Some((Case::work(next), true))
            },
        },
        Rule {
            name: "ticked without any plan",
            reason: "the current phase is ticked, but has no plans, and STATE.md or its row calls it not started",
            test: |case, choice| {
                let phase = case.stated.filter(|phase| Some(*phase) != choice.phase)?;
                let is_new =
                    |status: &str| PhaseProgress::parse(status) == Some(PhaseProgress::NotStarted);
                let says_new = case.survey.state.statuses().any(|status| {
                    is_new(status) || status.to_lowercase().contains("ready to plan")
                });
                let in_row = phase.row().and_then(ProgressRow::progress);
                let is_new = says_new || in_row == Some(PhaseProgress::NotStarted);
                (phase.is_ticked() && phase.plans.is_empty() && is_new)
                    .then_some((Step::new(Action::Plan, Some(phase)), true))
            },
        },
        Rule {
            name: "open plan behind",
            reason: "a plan of a phase behind has no summary, or one that calls it partial or failed; it contests the answer if that phase is the last one worked on, or STATE.md names it",
            test: |case, choice| {
                let left = case.last(|phase| {
                    choice.phase.is_none_or(|chosen| phase.number < chosen.number)
                        && phase.has_open_plan()
                        && phase.state != PhaseState::Dropped
                })?;
                let step = Step::new(Action::Execute, Some(left));
                let contests = [case.frontier, case.stated].contains(&Some(left));
                (choice.action != Action::None).then_some((step, contests))
            },
        },
        Rule {
            name: "check left",
            reason: "a check of the last finished phase is to be done or repeated, or of the last one that is left unticked for it, or STATE.md says that one follows",
            test: |case, choice| {
                let is_left = |phase: &&Phase| {
                    phase.state == PhaseState::Done
                        && Some(*phase) != choice.phase
                        && (case.frontier == Some(*phase) || is_left_unticked(phase))
                };
                let mut left = case.members.iter().copied().rev().filter(is_left);
                let left = left.find_map(|phase| Some(case.check(phase, phase.check_left()?)));
                let stated =
                    || stated_check(case, |_| true).filter(|step| step.phase != choice.phase);
                left.or_else(stated).map(|step| (step, false))
            },
        },
        Rule {
            name: "passed over",
            reason: "a phase before it was never begun",
            test: |case, choice| {
                let first = case.first_unfinished().filter(|_| case.frontier.is_some())?;
                let chosen = choice.phase?;
                (first.number < chosen.number).then(|| (Case::work(first), false))
            },
        },
    ];

    /// What settles a choice, so that nothing contests it.
    pub(super) const SETTLED: [Rule<'a, Choice<'a>, ()>; 1] = [Rule {
        name: "discussed",
        reason: "the phase to plan has a CONTEXT file",
        test: |_, choice| {
            let phase = choice.phase.filter(|_| choice.action == Action::Plan)?;
            phase.has_context().then_some(())
        },
    }];
}
