//! Which phases belong to the active milestone, and where each stands.
//!
//! A roadmap may describe all milestones or only one, numbering may continue across milestones or restart, and the
//! folders of earlier milestones often remain.

use std::collections::HashSet;
use std::sync::Arc;

use crate::plan::phase::may_be_same;
use crate::plan::read::vocabulary::begins;
use crate::plan::rules::{Case, Rule};
use crate::plan::{
    Count, Phase, PhaseNumber, PhaseProgress, PhaseState, PlanState, ProgressRow, RoadmapPhase,
    Says, StateFile, Survey,
};
use crate::text::words_in;

impl<'a> Case<'a> {
    /// Whether a phase belongs to the milestone; if no rule applies, it does.
    pub(super) const MEMBERSHIP: [Rule<'a, &'a Phase, bool>; 5] = [
        Rule {
            name: "one folder a number",
            reason: "of several folders with a number, the one whose name fits best is meant, then the one with open plans; where numbering restarted, the folders of the milestone before remain",
            test: |_, phase| (!phase.is_in_milestone).then_some(false),
        },
        Rule {
            name: "backlog",
            reason: "GSD keeps ideas as phases 999.x",
            test: |_, phase| (phase.number.whole() == BACKLOG).then_some(false),
        },
        Rule {
            name: "listed",
            reason: "the roadmap lists it among what has not shipped",
            test: |case, phase| case.scope.lists(&phase.number).then_some(true),
        },
        Rule {
            name: "outside of the roadmap",
            reason: "its number is below all that the roadmap lists, or above them where numbering restarted",
            test: |case, phase| {
                let (lowest, highest) = (case.scope.listed.first()?, case.scope.listed.last()?);
                let is_above = case.scope.has_restarted && phase.number >= highest.number;
                (phase.number < lowest.number || is_above).then_some(false)
            },
        },
        Rule {
            name: "shipped",
            reason: "the roadmap names it only in a milestone that shipped",
            test: |case, phase| case.scope.shipped.contains(&phase.number).then_some(false),
        },
    ];
}

/// What the roadmap says about the active milestone.
pub(super) struct Scope<'a> {
    /// The roadmap's phases that have not shipped, in number order.
    pub(super) listed: Vec<&'a RoadmapPhase>,
    /// The numbers that are only in shipped milestones.
    shipped: HashSet<&'a PhaseNumber>,
    has_restarted: bool,
}

impl<'a> Scope<'a> {
    pub(super) fn new(survey: &'a Survey, phases: &[Phase]) -> Self {
        let all = || survey.roadmap.phases.iter().map(Arc::as_ref);
        // Phases that are only in tables are ignored if any has a heading or a list entry.
        let has_entries = all().any(|phase| phase.is_listed && !phase.is_shipped);
        let is_kept = |phase: &&RoadmapPhase| {
            !phase.is_shipped
                && (phase.is_listed || !has_entries)
                && phase.number.whole() != BACKLOG
        };
        let mut listed: Vec<&RoadmapPhase> = all().filter(is_kept).collect();
        listed.sort_by(|a, b| a.number.cmp(&b.number));
        let live: HashSet<&PhaseNumber> = listed.iter().map(|phase| &phase.number).collect();
        let dead = || all().filter(|phase| phase.is_shipped).map(|phase| &phase.number);
        let lowest = listed.first().map(|phase| &phase.number);
        let restarts = lowest.zip(dead().min()).is_some_and(|(live, dead)| live <= dead);
        Self {
            shipped: dead().filter(|number| !live.contains(number)).collect(),
            has_restarted: restarts || phases.iter().any(|phase| phase.is_old),
            listed,
        }
    }

    /// Returns whether the roadmap lists a number among the phases that have not shipped.
    pub(super) fn lists(&self, number: &PhaseNumber) -> bool {
        self.listed.binary_search_by(|phase| phase.number.cmp(number)).is_ok()
    }
}

/// The number of the backlog, whose ideas are phases 999.1, 999.2 and so on.
const BACKLOG: u32 = 999;

/// Keeps in the milestone only one of the phases with the same number: the one that the number means.
pub(super) fn mark_best(phases: &mut [Phase]) {
    let rank = |phase: &Phase| {
        let name = phase.planned.as_ref().and_then(|planned| planned.name.as_deref());
        let own = phase.dir.as_ref().map_or("", |dir| &dir.name);
        let fits = name.is_some_and(|name| may_be_same(own, name));
        (!phase.is_old, fits, phase.has_open_plan(), phase.plans.len())
    };
    for same in phases.chunk_by_mut(|one, next| one.number == next.number) {
        // The first one of the highest rank.
        let best = (0..same.len()).rev().max_by_key(|at| rank(&same[*at]));
        for (at, phase) in same.iter_mut().enumerate() {
            phase.is_in_milestone = best == Some(at) && !phase.is_old;
        }
    }
}

impl<'a> Case<'a> {
    /// The state of a phase; if no rule applies, it is done: all of its plans have summaries.
    pub(super) const STATES: [Rule<'a, &'a Phase, PhaseState>; 7] = [
        Rule {
            name: "dropped",
            reason: "the roadmap calls it deferred, superseded or removed",
            test: |_, phase| {
                (phase.claim.is_some_and(PhaseProgress::is_dropped)
                    && (phase.has_open_plan() || !phase.is_begun()))
                .then_some(PhaseState::Dropped)
            },
        },
        Rule {
            name: "open plan",
            reason: "a plan has no summary, or one that calls it partial or failed, and nobody ticked the phase; if one is partial or failed, an open box counts for more than a row, unless a check passed or STATE.md has moved on",
            test: |case, phase| {
                let mut open = phase.open_plans();
                let is_left = case.stated.is_none_or(|stated| stated.number <= phase.number)
                    && phase.mark() == Some(false)
                    && open.any(|slot| slot.state != PlanState::Open)
                    && !phase.has_passed();
                (phase.has_open_plan() && !phase.is_ticked() || is_left).then_some(PhaseState::Open)
            },
        },
        Rule {
            name: "plan added to a finished phase",
            reason: "an open plan, and there are more plans than the ticked phase's row counts",
            test: |_, phase| {
                let is_added = |row| phase.plan_files() > row;
                (phase.has_open_plan() && plans_in_row(phase).is_some_and(is_added))
                    .then_some(PhaseState::Open)
            },
        },
        Rule {
            name: "ticked",
            reason: "the roadmap, or STATE.md's list of phases, calls it complete",
            test: |_, phase| phase.is_ticked().then_some(PhaseState::Done),
        },
        Rule {
            name: "no plan left",
            reason: "it has plans, but none will be done, no more are declared, and STATE.md does not call it ready to plan",
            test: |case, phase| {
                let all = phase.dir.as_ref().map_or(0, |dir| dir.plans.len());
                let is_declared = phase.declared.is_some_and(|declared| declared > all);
                let is_to_plan =
                    case.stated.is_some_and(|stated| stated.number == phase.number)
                        && case.survey.state.statuses().any(|status| {
                            begins("status before the plans", &status.to_lowercase())
                        });
                let is_left = phase.plans.is_empty() && all > 0;
                (is_left && !is_declared && !is_to_plan).then_some(PhaseState::Done)
            },
        },
        Rule {
            name: "nothing done",
            reason: "it has neither plans nor summaries",
            test: |_, phase| (!phase.is_begun()).then_some(PhaseState::Unplanned),
        },
        Rule {
            name: "short of what is declared",
            reason: "the phase's row, its list of plans, `Plans: 3` or STATE.md's `Plan: 2 of 3` counts more plans than have summaries",
            test: |_, phase| {
                // The documents may count plans that will not be done.
                let all = phase.dir.as_ref().map_or(0, |dir| dir.plans.len());
                let over = phase.summaries() + all - phase.plans.len();
                let is_short = phase.declared.is_some_and(|all| over < all);
                is_short.then_some(PhaseState::Running)
            },
        },
    ];
}

/// Adds what the documents say about each phase.
pub(in crate::plan) fn add_documents(state: &StateFile, phases: &mut [Phase]) {
    let listed = state.phase_statuses.iter();
    let listed = listed.filter(|(_, status)| PhaseProgress::is_complete_status(&status.value));
    let listed_done: HashSet<&PhaseNumber> = listed.map(|(number, _)| number).collect();
    for phase in phases {
        let planned = phase.planned.as_deref();
        let is_current = state.phase.number.as_ref() == Some(&phase.number);
        let dropped = planned.and_then(|one| one.status).filter(|status| status.is_dropped());
        let is_done = planned.map_or_else(
            || listed_done.contains(&phase.number),
            |planned| planned.is_shipped || says_done(planned),
        );
        phase.claim = dropped.or(is_done.then_some(PhaseProgress::Complete));
        // A list of plans is kept up to date; a sentence with their number is not.
        let in_list = planned.map(|planned| planned.plans.len()).filter(|listed| *listed > 0);
        let in_label = planned.filter(|_| in_list.is_none()).and_then(plans_in_label);
        // Plans that are counted as done in a phase without a summary are left over from the phase before.
        let done = state.count(Says::PlansDone).filter(|done| *done > 0);
        // `n` in plan `k` of `n`
        let all = state.count(Says::PlansTotal);
        let is_left_over = !phase.is_begun() && done.is_some() && done == all;
        let in_state = all.filter(|_| is_current && !is_left_over);
        let declared = [plans_in_row(phase), in_list, in_label, in_state];
        phase.declared = declared.into_iter().flatten().max().filter(|declared| *declared > 0);
        if let Some(name) = planned.and_then(|planned| planned.name.clone()) {
            phase.name = Some(name);
        }
    }
}

/// Returns whether the roadmap leaves a phase unticked, or its row open.
pub(super) fn is_left_unticked(phase: &Phase) -> bool {
    let row = phase.row().and_then(ProgressRow::progress);
    phase.mark() == Some(false) || row.is_some_and(|progress| progress != PhaseProgress::Complete)
}

/// Returns whether the roadmap calls a phase complete: by its checkbox, its row, its heading or a completion date.
fn says_done(planned: &RoadmapPhase) -> bool {
    let row = planned.row.as_ref();
    let in_row = row.and_then(ProgressRow::progress);
    let counts = row.and_then(|row| row.plans_complete.zip(row.plans_total));
    let is_short = counts.is_some_and(|(done, all)| done < all);
    let says = planned.checkbox.as_ref().is_some_and(|mark| mark.value)
        || planned.own_progress() == Some(PhaseProgress::Complete)
        || planned.status == Some(PhaseProgress::Complete);
    in_row == Some(PhaseProgress::Complete) || says && !is_short
}

fn plans_in_row(phase: &Phase) -> Option<usize> {
    phase.row()?.plans_total.map(|total| total as usize)
}

/// Returns the number in `Plans: 3 plans`, or the total in `Plans: 1/3 plans complete`.
fn plans_in_label(planned: &RoadmapPhase) -> Option<usize> {
    let count = Count::parse(&planned.plan_count.as_ref()?.value)?;
    let is_alone = !count.rest.starts_with('/');
    let plans = count.total.or(Some(count.done).filter(|_| is_alone));
    plans.map(|plans| plans as usize)
}

/// Returns whether a status says that a check of the finished phase follows.
pub(in crate::plan) fn names_check(status: &str) -> bool {
    let lower = status.to_lowercase();
    names_any_check(status)
        && !words_in(&lower).any(|word| ["verified", "passed", "approved"].contains(&word))
}

fn names_any_check(status: &str) -> bool {
    let lower = status.to_lowercase();
    ["verif", "remediation", "review", "uat", "audit"].iter().any(|word| lower.contains(word))
}

/// Returns whether a row says that a check of its finished phase follows: `Needs Verification`, `UAT Issues`.
pub(in crate::plan) fn row_names_check(row: &ProgressRow) -> bool {
    let status = row.status.as_ref();
    status.is_some_and(|one| PhaseProgress::is_open_status(&one.value) && names_check(&one.value))
}

/// Returns whether a status names a step that follows the last plan, which no file can contradict.
pub(in crate::plan) fn names_step(status: &str) -> bool {
    let lower = status.to_lowercase();
    names_any_check(status)
        || ["ship", "milestone", "archiv"].iter().any(|word| lower.contains(word))
}
