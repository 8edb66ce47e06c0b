//! Which phases belong to the active milestone.
//!
//! A roadmap may describe all milestones or only one, numbering may continue across milestones or restart, and the
//! folders of earlier milestones often remain.

use std::collections::HashSet;

use crate::plan::names::may_be_same;
use crate::plan::rules::Rule;
use crate::plan::{Phase, PhaseNumber, RoadmapPhase, Survey, roadmap_phase};

/// Whether the phase at an index belongs to the milestone; if no rule applies, it does.
pub(super) const RULES: &[Rule<usize, bool>] = &[
    Rule {
        name: "one folder a number",
        reason: "of several folders with a number, the one whose name fits best is meant, then the one with open plans; where numbering restarted, the folders of the milestone before remain",
        test: |case, index| (!case.scope.best[index]).then_some(false),
    },
    Rule {
        name: "backlog",
        reason: "GSD keeps ideas as phases 999.x",
        test: |case, index| (case.phases[index].number.whole() == BACKLOG).then_some(false),
    },
    Rule {
        name: "listed",
        reason: "the roadmap lists it among what has not shipped",
        test: |case, index| case.scope.lists(&case.phases[index].number).then_some(true),
    },
    Rule {
        name: "outside of the roadmap",
        reason: "its number is below all that the roadmap lists, or above them where numbering restarted",
        test: |case, index| {
            let number = &case.phases[index].number;
            let (lowest, highest) = (case.scope.listed.first()?, case.scope.listed.last()?);
            let is_above = case.scope.has_restarted && *number >= highest.number;
            (*number < lowest.number || is_above).then_some(false)
        },
    },
    Rule {
        name: "shipped",
        reason: "the roadmap names it only in a milestone that shipped",
        test: |case, index| {
            case.scope.shipped.contains(&case.phases[index].number).then_some(false)
        },
    },
];

/// What the roadmap says about the active milestone.
pub(super) struct Scope<'a> {
    /// The roadmap's phases that have not shipped, in number order.
    pub(super) listed: Vec<&'a RoadmapPhase>,
    /// The numbers that are only in shipped milestones.
    shipped: HashSet<&'a PhaseNumber>,
    /// For each phase, whether it is the one that its number means.
    best: Vec<bool>,
    has_restarted: bool,
}

impl<'a> Scope<'a> {
    pub(super) fn new(survey: &'a Survey, phases: &[Phase]) -> Self {
        let all = || survey.roadmap.phases.iter();
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
            best: best_of_number(survey, phases),
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

/// Returns for each phase whether it is the one that its number means.
fn best_of_number(survey: &Survey, phases: &[Phase]) -> Vec<bool> {
    let rank = |phase: &Phase| {
        let planned = roadmap_phase(&survey.roadmap, &phase.number);
        let name = planned.and_then(|planned| planned.name.as_deref());
        let slug = phase.slug.as_deref().unwrap_or_default();
        let fits = name.is_some_and(|name| may_be_same(slug, name));
        (!phase.is_old, fits, phase.has_open_plan(), phase.plans.len())
    };
    let mut is_best = Vec::new();
    for same in phases.chunk_by(|one, next| one.number == next.number) {
        // The first one of the highest rank.
        let best = (0..same.len()).rev().max_by_key(|at| rank(&same[*at]));
        is_best.extend((0..same.len()).map(|at| best == Some(at) && !same[at].is_old));
    }
    is_best
}
