//! Where each phase stands.

use std::fmt::Display;

use crate::plan::rules::{Case, Rule};
use crate::plan::{
    Count, Phase, PhaseNumber, PhaseProgress, PhaseState, PlanState, ProgressRow, RoadmapPhase,
    Says, StateFile, roadmap_phase,
};
use crate::text::quantity;

/// The state of the phase at an index; if no rule applies, it is done: all of its plans have summaries.
pub(super) const RULES: &[Rule<usize, PhaseState>] = &[
    Rule {
        name: "dropped",
        reason: "the roadmap calls it deferred, superseded or removed",
        test: |case, index| {
            let facts = &case.facts[index];
            (facts.claim.is_some_and(PhaseProgress::is_dropped)
                && (facts.open > 0 || facts.summaries == 0))
                .then_some(PhaseState::Dropped)
        },
    },
    Rule {
        name: "open plan",
        reason: "a plan has no summary, or one that calls it partial or failed, and nobody ticked the phase",
        test: |case, index| {
            let facts = &case.facts[index];
            (facts.open > 0 && !facts.is_ticked()).then_some(PhaseState::Open)
        },
    },
    Rule {
        name: "plan added to a finished phase",
        reason: "an open plan, and there are more plans than the ticked phase's row counts",
        test: |case, index| {
            let facts = &case.facts[index];
            let in_row = facts.planned.and_then(plans_in_row);
            (facts.open > 0 && in_row.is_some_and(|row| facts.plans > row))
                .then_some(PhaseState::Open)
        },
    },
    Rule {
        name: "ticked",
        reason: "the roadmap, or STATE.md's list of phases, calls it complete",
        test: |case, index| case.facts[index].is_ticked().then_some(PhaseState::Done),
    },
    Rule {
        name: "nothing done",
        reason: "it has neither plans nor summaries",
        test: |case, index| (case.facts[index].summaries == 0).then_some(PhaseState::Unplanned),
    },
    Rule {
        name: "short of what is declared",
        reason: "the phase's row, its list of plans, `Plans: 3` or STATE.md's `Plan: 2 of 3` counts more plans than have summaries",
        test: |case, index| {
            let facts = &case.facts[index];
            let over = facts.summaries + case.phases[index].withdrawn;
            let is_short = facts.declared.is_some_and(|all| over < all);
            is_short.then_some(PhaseState::Running)
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
    /// The status in the roadmap or, if the phase is not in the roadmap, in STATE.md's list of phases: complete, or one that
    /// drops the phase.
    pub(super) claim: Option<PhaseProgress>,
    /// Number of plans declared in any document, the maximum.
    pub(super) declared: Option<usize>,
}

impl<'a> Facts<'a> {
    /// Collects the facts about a phase from the files, the roadmap and STATE.md.
    pub(super) fn collect(case: &Case<'a>, phase: &Phase) -> Self {
        let state = &case.survey.state;
        let planned = roadmap_phase(&case.survey.roadmap, &phase.number);
        let is_current = state.phase.number.as_ref() == Some(&phase.number);
        let plans = phase.plans.iter();
        // A list of plans is kept up to date; a sentence with their number is not.
        let in_list = planned.map(|planned| planned.plans.len()).filter(|listed| *listed > 0);
        let in_label = planned.filter(|_| in_list.is_none()).and_then(plans_in_label);
        let in_state = stated_plans(state).filter(|_| is_current);
        let declared = [planned.and_then(plans_in_row), in_list, in_label, in_state];
        Self {
            planned,
            plans: plans.clone().filter(|(slot, _)| slot.plan.is_some()).count(),
            summaries: plans.filter(|(slot, _)| slot.summary.is_some()).count(),
            open: phase.plans.len() - phase.count(PlanState::Complete),
            claim: claim(case, &phase.number, planned),
            declared: declared.into_iter().flatten().max().filter(|declared| *declared > 0),
        }
    }

    pub(super) fn is_ticked(&self) -> bool {
        self.claim == Some(PhaseProgress::Complete)
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

    /// Returns what its folder contains.
    pub(super) fn of_folder(&self, dir: &dyn Display) -> String {
        let (plans, summaries) =
            (quantity(self.plans, "plan"), quantity(self.summaries, "summary"));
        match self.declared {
            Some(declared) => format!("{dir}: {plans}, {summaries}, {declared} declared"),
            None => format!("{dir}: {plans}, {summaries}"),
        }
    }
}

fn claim(
    case: &Case<'_>,
    number: &PhaseNumber,
    planned: Option<&RoadmapPhase>,
) -> Option<PhaseProgress> {
    let is_done = match planned {
        Some(planned) => match planned.status.filter(|status| status.is_dropped()) {
            None => planned.is_shipped || says_done(planned),
            dropped => return dropped,
        },
        None => {
            let mut listed = case.survey.state.phase_statuses.iter();
            listed
                .find(|listed| listed.number == *number)
                .is_some_and(|listed| PhaseProgress::is_complete_status(&listed.status.value))
        }
    };
    is_done.then_some(PhaseProgress::Complete)
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

/// Returns the number of the current phase's plans according to STATE.md: `n` in plan `k` of `n`.
fn stated_plans(state: &StateFile) -> Option<usize> {
    let total = state.claims.iter().find_map(|claim| claim.value.count(Says::PlansTotal));
    total.map(|total| total as usize)
}

/// Returns the statuses of STATE.md.
pub(super) fn statuses(state: &StateFile) -> impl Iterator<Item = &str> {
    state.claims.iter().filter_map(|claim| claim.value.status())
}

/// Returns whether a status says that a check of the finished phase follows.
pub(super) fn names_check(status: &str) -> bool {
    let lower = status.to_lowercase();
    ["verif", "remediation", "review", "uat", "audit"].iter().any(|word| lower.contains(word))
}

/// Returns whether a status names a step that follows the last plan, which no file can contradict.
pub(in crate::plan) fn names_step(status: &str) -> bool {
    let lower = status.to_lowercase();
    names_check(status) || ["ship", "milestone", "archiv"].iter().any(|word| lower.contains(word))
}
