//! Which phases belong to the active milestone.
//!
//! A roadmap may describe all milestones or only one, numbering may continue across milestones or restart, and the
//! folders of earlier milestones often remain.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use crate::plan::names::{shared, words};
use crate::plan::rules::Rule;
use crate::plan::{Phase, PhaseNumber, PlanState, RoadmapPhase, Survey, roadmap_phase};

/// Whether the phase at an index belongs to the milestone; if no rule applies, it does.
pub(super) const RULES: &[Rule<usize, bool>] = &[
    Rule {
        name: "old folder",
        reason: "where numbering restarted, the folders of the milestone before remain",
        test: |case, index| case.phases[index].is_old.then_some(false),
    },
    Rule {
        name: "one folder a number",
        reason: "of several folders with a number, the one whose name fits best is meant, then the one with open plans",
        test: |case, index| (!case.scope.best[index]).then_some(false),
    },
    Rule {
        name: "backlog",
        reason: "GSD keeps ideas as phases 999.x, and people from 900 on",
        test: |case, index| {
            case.scope.backlog.contains(&case.phases[index].number.whole()).then_some(false)
        },
    },
    Rule {
        name: "listed",
        reason: "the roadmap lists it among what has not shipped",
        test: |case, index| case.scope.lists(&case.phases[index].number).then_some(true),
    },
    Rule {
        name: "below the roadmap",
        reason: "its number is below all that the roadmap lists",
        test: |case, index| {
            let lowest = case.scope.listed.first()?;
            (case.phases[index].number < lowest.number).then_some(false)
        },
    },
    Rule {
        name: "shipped",
        reason: "the roadmap names it only in a milestone that shipped",
        test: |case, index| {
            case.scope.shipped.contains(&case.phases[index].number).then_some(false)
        },
    },
    Rule {
        name: "above a restarted roadmap",
        reason: "where numbering restarted, higher numbers are of the milestone before",
        test: |case, index| {
            let highest = case.scope.listed.last()?;
            let is_above = case.phases[index].number >= highest.number;
            (case.scope.has_restarted && is_above).then_some(false)
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
    /// The numbers of the backlog.
    pub(super) backlog: RangeInclusive<u32>,
    has_restarted: bool,
}

impl<'a> Scope<'a> {
    pub(super) fn new(survey: &'a Survey, phases: &[Phase]) -> Self {
        let all = || survey.roadmap.phases.iter();
        let backlog = backlog(survey);
        // Phases that are only in tables are ignored if any has a heading or a list entry.
        let has_entries = all().any(|phase| phase.is_listed && !phase.is_shipped);
        let is_kept = |phase: &&RoadmapPhase| {
            !phase.is_shipped
                && (phase.is_listed || !has_entries)
                && !backlog.contains(&phase.number.whole())
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
            backlog,
        }
    }

    /// Returns whether the roadmap lists a number among the phases that have not shipped.
    pub(super) fn lists(&self, number: &PhaseNumber) -> bool {
        self.listed.binary_search_by(|phase| phase.number.cmp(number)).is_ok()
    }
}

/// Returns the numbers of the backlog; from 900 on, unless the numbers of phases have three digits anyway.
fn backlog(survey: &Survey) -> RangeInclusive<u32> {
    let listed = survey.roadmap.phases.iter().map(|phase| &phase.number);
    let folders = survey.folder.active.phases.iter();
    let mut numbers = listed.chain(folders.map(|phase| &phase.number)).map(PhaseNumber::whole);
    let has_large = numbers.any(|whole| (100..900).contains(&whole) || whole >= 1000);
    (if has_large { 999 } else { 900 })..=999
}

/// Returns for each phase whether it is the one that its number means.
fn best_of_number(survey: &Survey, phases: &[Phase]) -> Vec<bool> {
    let rank = |phase: &Phase| {
        let dir = phase.dir.as_ref().and_then(|dir| dir.file_name());
        let words = words(&dir.unwrap_or_default().to_string_lossy());
        let planned = roadmap_phase(&survey.roadmap, &phase.number);
        let state = &survey.state.phase;
        let stated = state.name.as_deref().filter(|_| state.number.as_ref() == Some(&phase.number));
        let names = [planned.and_then(|planned| planned.name.as_deref()), stated];
        let fit = names.into_iter().flatten().map(|name| shared(&words, name)).max();
        let open = phase.plans.len() - phase.count(PlanState::Complete);
        (!phase.is_old, fit.unwrap_or(0), open > 0, phase.plans.len())
    };
    let mut of_number: HashMap<&PhaseNumber, Vec<usize>> = HashMap::new();
    for (index, phase) in phases.iter().enumerate() {
        of_number.entry(&phase.number).or_default().push(index);
    }
    let mut is_best = vec![false; phases.len()];
    for indices in of_number.values() {
        let best = match indices.as_slice() {
            [only] => Some(only),
            // The first one of the highest rank.
            several => several.iter().rev().max_by_key(|index| rank(&phases[**index])),
        };
        if let Some(best) = best {
            is_best[*best] = true;
        }
    }
    is_best
}
