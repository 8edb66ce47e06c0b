//! Where each phase stands.

use std::fmt::Display;

use crate::plan::rules::{Case, Rule};
use crate::plan::{
    Claim, Count, Phase, PhaseNumber, PhaseProgress, PhaseState, PlanState, ProgressRow,
    RoadmapPhase, StateFile, roadmap_phase,
};
use crate::text::quantity;

/// The state of the phase at an index; if no rule applies, it is done: all of its plans have summaries.
pub(super) const RULES: &[Rule<usize, PhaseState>] = &[
    Rule {
        name: "dropped",
        reason: "the roadmap calls it deferred, superseded or removed",
        test: |case, index| {
            let facts = &case.facts[index];
            (facts.claim == RoadmapClaim::Dropped && (facts.open > 0 || facts.summaries == 0))
                .then_some(PhaseState::Dropped)
        },
    },
    Rule {
        name: "open plan",
        reason: "a plan has no summary, or one that calls it partial or failed, and nobody ticked the phase",
        test: |case, index| {
            let facts = &case.facts[index];
            (facts.open > 0 && facts.claim != RoadmapClaim::Done).then_some(PhaseState::Open)
        },
    },
    Rule {
        name: "plan added to a finished phase",
        reason: "there are more plans than the phase's row counts",
        test: |case, index| {
            let facts = &case.facts[index];
            (facts.open > 0 && facts.in_row.is_some_and(|row| facts.plans > row))
                .then_some(PhaseState::Open)
        },
    },
    Rule {
        name: "gaps in a finished phase",
        reason: "an open plan, and a verification whose gaps are open",
        test: |case, index| {
            let is_open = case.facts[index].open > 0;
            (is_open && case.phases[index].has_gaps(case.text)).then_some(PhaseState::Open)
        },
    },
    Rule {
        name: "ticked",
        reason: "the roadmap, or STATE.md's list of phases, calls it complete",
        test: |case, index| {
            (case.facts[index].claim == RoadmapClaim::Done).then_some(PhaseState::Done)
        },
    },
    Rule {
        name: "begun without plans",
        reason: "STATE.md's words do not finish a phase that has files, but neither plans nor summaries",
        test: |case, index| {
            let (phase, facts) = (&case.phases[index], &case.facts[index]);
            (phase.has_files && phase.plans.is_empty() && facts.summaries == 0)
                .then_some(PhaseState::Unplanned)
        },
    },
    Rule {
        name: "row not started",
        reason: "STATE.md's words do not finish a phase without files whose row is not started",
        test: |case, index| {
            let facts = &case.facts[index];
            let is_new = facts.progress_in_row() == Some(PhaseProgress::NotStarted);
            (is_new && !case.phases[index].has_files && facts.summaries == 0)
                .then_some(PhaseState::Unplanned)
        },
    },
    Rule {
        name: "called complete",
        reason: "STATE.md names it as the current phase and calls it complete",
        test: |case, index| is_called_complete(case, index).then_some(PhaseState::Done),
    },
    Rule {
        name: "nothing done",
        reason: "it has neither plans nor summaries",
        test: |case, index| {
            (case.facts[index].summaries == 0).then_some(PhaseState::Unplanned)
        },
    },
    Rule {
        name: "short of its row",
        reason: "the phase's row counts more plans than have summaries",
        test: |case, index| case.facts[index].is_short_of(|facts| facts.in_row),
    },
    Rule {
        name: "short of its list",
        reason: "the roadmap lists more plans than have summaries",
        test: |case, index| case.facts[index].is_short_of(|facts| facts.in_list),
    },
    Rule {
        name: "short of its label",
        reason: "the roadmap counts more plans than have summaries: `Plans: 3`",
        test: |case, index| case.facts[index].is_short_of(|facts| facts.in_label),
    },
    Rule {
        name: "short of STATE.md",
        reason: "STATE.md counts more plans than have summaries: `Plan: 2 of 3`",
        test: |case, index| case.facts[index].is_short_of(|facts| facts.in_state),
    },
    Rule {
        name: "summaries without plans",
        reason: "plans are often committed together with their summaries, so that more may be under way",
        test: |case, index| {
            let facts = &case.facts[index];
            let may_go_on = facts.summaries > facts.plans && facts.declared().is_none();
            (may_go_on && !case.phases[index].has_passed(case.text))
                .then_some(PhaseState::Running)
        },
    },
];

/// What the documents say about a phase.
pub(super) struct Facts<'a> {
    /// The roadmap's phase of this number.
    pub(super) planned: Option<&'a RoadmapPhase>,
    /// Number of plan files.
    pub(super) plans: usize,
    /// Number of summaries.
    pub(super) summaries: usize,
    /// Number of plans without a summary, or with one that calls them partial or failed.
    pub(super) open: usize,
    /// The status in the roadmap or, if the phase is not in the roadmap, in STATE.md's list of phases.
    pub(super) claim: RoadmapClaim,
    /// Number of plans in the roadmap's table.
    in_row: Option<usize>,
    /// Number of plans in the phase's list.
    in_list: Option<usize>,
    /// Number of plans in the label `Plans:`.
    in_label: Option<usize>,
    /// Number of plans in STATE.md's `Plan: 2 of 3`, if it is about this phase.
    in_state: Option<usize>,
}

/// The status of a phase in a list of phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RoadmapClaim {
    /// Complete, or part of a shipped milestone.
    Done,
    /// Removed, superseded or deferred.
    Dropped,
    /// To do, or not stated.
    Unfinished,
}

impl<'a> Facts<'a> {
    /// Collects the facts about a phase from the files, the roadmap and STATE.md.
    pub(super) fn collect(case: &Case<'a>, phase: &Phase) -> Self {
        let state = &case.survey.state;
        let planned = roadmap_phase(&case.survey.roadmap, &phase.number);
        let is_current = state.phase.number.as_ref() == Some(&phase.number);
        let plans = phase.plans.iter();
        let more = |count: Option<usize>| count.filter(|count| *count > 0);
        let in_list = more(planned.map(|planned| planned.plans.len()));
        Self {
            planned,
            plans: plans.clone().filter(|(slot, _)| slot.plan.is_some()).count(),
            summaries: plans.filter(|(slot, _)| slot.summary.is_some()).count(),
            open: phase.plans.len() - phase.count(PlanState::Complete),
            claim: claim(case, &phase.number, planned),
            in_row: more(planned.and_then(plans_in_row)),
            // A list of plans is kept up to date; a sentence with their number is not.
            in_label: more(planned.filter(|_| in_list.is_none()).and_then(plans_in_label)),
            in_state: more(stated_plans(state).filter(|_| is_current).map(|(_, total)| total)),
            in_list,
        }
    }

    /// Returns the number of plans declared in any document, the maximum.
    pub(super) fn declared(&self) -> Option<usize> {
        [self.in_row, self.in_list, self.in_label, self.in_state].into_iter().flatten().max()
    }

    pub(super) fn is_ticked(&self) -> bool {
        self.claim == RoadmapClaim::Done
    }

    pub(super) fn progress_in_row(&self) -> Option<PhaseProgress> {
        self.planned?.row.as_ref().and_then(ProgressRow::progress)
    }

    /// Returns whether the roadmap leaves the phase unticked, or its row open.
    pub(super) fn is_left_unticked(&self) -> bool {
        let mark = self.planned.and_then(|planned| planned.checkbox.as_ref());
        mark.is_some_and(|mark| !mark.value)
            || self.progress_in_row().is_some_and(|progress| progress != PhaseProgress::Complete)
    }

    fn is_short_of(&self, declared: fn(&Self) -> Option<usize>) -> Option<PhaseState> {
        declared(self).is_some_and(|all| self.summaries < all).then_some(PhaseState::Running)
    }

    /// Returns what its folder contains.
    pub(super) fn of_folder(&self, dir: &dyn Display) -> String {
        let (plans, summaries) =
            (quantity(self.plans, "plan"), quantity(self.summaries, "summary"));
        match self.declared() {
            Some(declared) => format!("{dir}: {plans}, {summaries}, {declared} declared"),
            None => format!("{dir}: {plans}, {summaries}"),
        }
    }
}

fn claim(
    case: &Case<'_>,
    number: &PhaseNumber,
    planned: Option<&RoadmapPhase>,
) -> RoadmapClaim {
    let is_done = match planned {
        Some(planned) if planned.status.is_some_and(PhaseProgress::is_dropped) => {
            return RoadmapClaim::Dropped;
        }
        Some(planned) => planned.is_shipped || says_done(planned),
        None => {
            let mut listed = case.survey.state.phase_statuses.iter();
            listed.find(|listed| listed.number == *number).is_some_and(|listed| {
                PhaseProgress::is_complete_status(&listed.status.value)
            })
        }
    };
    if is_done { RoadmapClaim::Done } else { RoadmapClaim::Unfinished }
}

/// Returns whether the roadmap calls a phase complete: by its checkbox, its row, its heading or a completion date.
fn says_done(planned: &RoadmapPhase) -> bool {
    let row = planned.row.as_ref();
    let in_row = row.and_then(|row| row.status.as_ref());
    let is_done_row = in_row.is_some_and(|one| PhaseProgress::is_complete_status(&one.value));
    let counts = row.and_then(|row| row.plans_complete.zip(row.plans_total));
    let is_short = counts.is_some_and(|(done, all)| done < all);
    let stated = planned.stated_status.as_ref();
    let says = planned.checkbox.as_ref().is_some_and(|mark| mark.value)
        || stated.is_some_and(|status| PhaseProgress::is_complete_status(&status.value))
        || planned.status == Some(PhaseProgress::Complete);
    is_done_row || says && !is_short
}

fn plans_in_row(planned: &RoadmapPhase) -> Option<usize> {
    planned.row.as_ref()?.plans_total.map(|total| total as usize)
}

/// Returns the number in `Plans: 3 plans`, or the total in `Plans: 1/3 plans complete`.
fn plans_in_label(planned: &RoadmapPhase) -> Option<usize> {
    let count = Count::parse(&planned.plan_count.as_ref()?.value)?;
    let is_alone = !count.rest.starts_with('/');
    let plans = count.total.or(Some(count.done).filter(|_| is_alone));
    plans.map(|plans| plans as usize)
}

/// Returns the current phase's progress according to STATE.md: plan `k` of `n`.
pub(super) fn stated_plans(state: &StateFile) -> Option<(usize, usize)> {
    let find = |of: fn(&Claim) -> Option<u32>| {
        state.claims.iter().find_map(|claim| of(&claim.value)).map(|count| count as usize)
    };
    let total = find(|claim| match claim {
        Claim::PlansTotal(total) => Some(*total),
        _ => None,
    })?;
    let done = find(|claim| match claim {
        Claim::PlansComplete(done) | Claim::CurrentPlan(done) => Some(*done),
        _ => None,
    });
    Some((done.unwrap_or(0), total))
}

fn is_called_complete(case: &Case<'_>, index: usize) -> bool {
    let state = &case.survey.state;
    let number = &case.phases[index].number;
    let is_current = state.phase.number.as_ref() == Some(number);
    let is_short = stated_plans(state).is_some_and(|(done, total)| done < total);
    is_current
        && !(is_short && case.facts[index].summaries == 0)
        && statuses(state).any(|status| calls_complete(status, number))
}

/// Returns the statuses of STATE.md.
pub(super) fn statuses(state: &StateFile) -> impl Iterator<Item = &str> {
    state.claims.iter().filter_map(|claim| match &claim.value {
        Claim::Status(text) | Claim::PhaseStatus(text) => Some(text.as_str()),
        _ => None,
    })
}

/// Words that mean that the plans of a phase are complete.
const COMPLETE: &[&str] = &[
    "complete", "shipped", "verif", "finished", "done", "archived", "all plans executed",
    "completa", "completo", "concluíd", "concluid", "terminad", "finalizad", "abgeschlossen",
    "завершен", "завершён", "完成", "完了",
];

/// Beginnings that mean that something other than the phase is complete, or that it is not.
const NOT_THE_PHASE: &[&str] = &[
    "planning", "planned", "plans ", "context", "research", "discuss", "spec", "ui-spec",
    "incomplete", "not ", "ready to ", "ready for planning", "ready for execution", "não ", "nao ",
    "no complet", "no terminad", "no finalizad", "nicht ", "не ", "未",
];

/// Returns whether a status calls the plans of phase `number` complete.
fn calls_complete(status: &str, number: &PhaseNumber) -> bool {
    let lower = status.to_lowercase();
    let words = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let names_another = number.numbering().phases_in(words).iter().any(|named| named != number);
    let has_open_count = Count::find(words).is_some_and(|count| count.is_open());
    !names_another
        && !names_plan(words)
        && !has_open_count
        && !NOT_THE_PHASE.iter().any(|beginning| words.starts_with(beginning))
        && !words.contains("incomplete")
        && COMPLETE.iter().any(|word| words.contains(word))
}

/// Returns whether a status in lower case is about single plans: `plan 2 complete`, `phase 2 plan 2 complete`, `02-01 done`.
fn names_plan(words: &str) -> bool {
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let mut pairs = words.split_whitespace().zip(words.split_whitespace().skip(1));
    is_number(words) || pairs.any(|(word, next)| word == "plan" && is_number(next))
}
