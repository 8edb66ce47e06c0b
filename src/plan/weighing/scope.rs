//! Determines which phases belong to the active milestone.
//!
//! A roadmap may describe all milestones or only one, numbering may continue across milestones or restart,
//! and the folders of earlier milestones often remain.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;

use crate::plan::folder_name::{NameIndex, shared, words};
use crate::plan::{
    Evidence, Phase, PhaseNumber, PlanSlot, PlanState, RoadmapMilestone, RoadmapPhase,
    milestone_version, milestone_version_in, roadmap_phase,
};

/// Returns the numbers of the backlog: GSD stores ideas as phases 999.1, 999.2 …, outside any milestone.
///
/// By hand they are stored from 900 on, too, unless the numbers of phases have three digits anyway.
pub(super) fn backlog(evidence: &Evidence<'_>) -> RangeInclusive<u32> {
    let listed = evidence.roadmap.phases.iter().map(|phase| &phase.number);
    let folders = evidence.folder.active.phases.iter();
    let mut numbers = listed.chain(folders.map(|phase| &phase.number));
    let is_large = |number: &PhaseNumber| {
        let whole = number.whole();
        (100..900).contains(&whole) || whole >= 1000
    };
    let first = if numbers.any(is_large) { 999 } else { 900 };
    first..=999
}

/// The phases of the active milestone according to the roadmap.
pub(super) struct RoadmapScope<'a> {
    /// The roadmap's phases that have not shipped, in number order.
    pub(super) listed: Vec<&'a RoadmapPhase>,
    /// The names of these phases, if they were looked for.
    index: OnceCell<NameIndex>,
    shipped: BTreeSet<&'a PhaseNumber>,
    /// The numbers of other open milestones, if STATE.md names one of several.
    others: BTreeSet<&'a PhaseNumber>,
    milestones: &'a [RoadmapMilestone],
}

/// Returns the index of the milestone that STATE.md names by its version, if the roadmap has several open ones.
fn stated_milestone(evidence: &Evidence<'_>) -> Option<usize> {
    let version = milestone_version_in(evidence.state.milestone.as_deref()?)?;
    let milestones = evidence.roadmap.milestones.iter().enumerate();
    let open: Vec<(usize, &RoadmapMilestone)> =
        milestones.filter(|(_, one)| !one.is_shipped).collect();
    let mut named = open.iter().filter(|(_, one)| milestone_version(&one.name) == Some(version));
    let found = named.next()?;
    (open.len() > 1 && named.next().is_none()).then_some(found.0)
}

impl<'a> RoadmapScope<'a> {
    /// Reads the roadmap; phases that are only in tables are ignored if any has a heading or a list entry.
    pub(super) fn from_evidence(evidence: &Evidence<'a>) -> Self {
        let all = || evidence.roadmap.phases.iter();
        let backlog = backlog(evidence);
        let is_kept = |phase: &&RoadmapPhase| !backlog.contains(&phase.number.whole());
        let has_entries = all().any(|phase| phase.is_listed && !phase.is_shipped);
        let mut listed: Vec<&RoadmapPhase> = all()
            .filter(|phase| !phase.is_shipped && (phase.is_listed || !has_entries))
            .filter(is_kept)
            .collect();
        let mut others = BTreeSet::new();
        if let Some(active) = stated_milestone(evidence) {
            let is_active = |phase: &&RoadmapPhase| phase.milestone == Some(active);
            let stated = evidence.state.phase.number.as_ref();
            // A phase of another milestone contradicts it.
            let fits = |phase: &&RoadmapPhase| stated.is_none_or(|number| phase.number == *number);
            if listed.iter().any(|phase| is_active(phase) && fits(phase)) {
                let foreign = listed.iter().filter(|phase| !is_active(phase));
                others = foreign.map(|phase| &phase.number).collect();
                listed.retain(is_active);
            }
        }
        listed.sort_by(|a, b| a.number.cmp(&b.number));
        let shipped = all()
            .filter(|phase| phase.is_shipped)
            .map(|phase| &phase.number)
            .filter(|number| listed.iter().all(|phase| phase.number != **number))
            .collect();
        Self {
            index: OnceCell::new(),
            listed,
            shipped,
            others,
            milestones: &evidence.roadmap.milestones,
        }
    }

    /// Returns whether a number is known only from a shipped milestone.
    pub(super) fn is_shipped(&self, number: &PhaseNumber) -> bool {
        self.shipped.contains(number)
    }

    /// Returns whether a phase is complete, and its number is only in the ranges of shipped milestones.
    fn is_history(&self, phase: &Phase) -> bool {
        let is_complete = |(slot, state): &(PlanSlot, PlanState)| {
            slot.plan.is_some() && *state == PlanState::Complete
        };
        let number = &phase.number;
        let of_range = self.milestones.iter().filter(|milestone| {
            let range = milestone.phases.as_ref();
            range.is_some_and(|range| range.contains(number))
        });
        let mut of_range = of_range.peekable();
        of_range.peek().is_some()
            && of_range.all(|milestone| milestone.is_shipped)
            && phase.plans.iter().all(is_complete)
    }

    /// Returns whether the roadmap lists a number among the phases that have not shipped.
    pub(super) fn lists(&self, number: &PhaseNumber) -> bool {
        let by_number = |phase: &&RoadmapPhase| phase.number.cmp(number);
        self.listed.binary_search_by(by_number).is_ok()
    }

    /// Returns whether the roadmap lists the phase's name under the same or a lower number: folder numbers
    /// may continue across milestones.
    fn names(&self, phase: &Phase) -> bool {
        if phase.dir.is_none() {
            return false;
        }
        let index = self.index.get_or_init(|| {
            let names = self.listed.iter().map(|phase| phase.name.as_deref());
            NameIndex::new(names.map(Option::unwrap_or_default))
        });
        let mut matches = index.matching(&folder_words(phase)).into_iter();
        matches.any(|place| self.listed[place].number <= phase.number)
    }

    /// Returns whether numbering restarted with this milestone: its lowest number is not above the lowest
    /// shipped one.
    fn has_restarted(&self, evidence: &Evidence<'_>) -> bool {
        let lowest = self.listed.first().map(|phase| &phase.number);
        let shipped = evidence.roadmap.phases.iter().filter(|phase| phase.is_shipped);
        let lowest_shipped = shipped.map(|phase| &phase.number).min();
        matches!((lowest, lowest_shipped), (Some(lowest), Some(shipped)) if lowest <= shipped)
    }

    /// Returns whether a listed number has a second folder with an entirely different name: numbering
    /// restarted, and the folders of the previous milestone still exist.
    fn has_namesake(&self, phases: &[Phase], best: &[bool]) -> bool {
        let is_strange = |phase: &Phase| {
            let planned = self.listed.iter().find(|planned| planned.number == phase.number);
            let name = planned.and_then(|planned| planned.name.as_deref());
            name.is_some_and(|name| phase.dir.is_some() && shared(&folder_words(phase), name) == 0)
        };
        phases.iter().zip(best).any(|(phase, is_best)| !is_best && is_strange(phase))
    }

    /// Returns for each phase whether it belongs to the active milestone.
    pub(super) fn members(&self, evidence: &Evidence<'_>, phases: &[Phase]) -> Vec<bool> {
        let lowest = self.listed.first().map(|phase| &phase.number);
        let highest = self.listed.last().map(|phase| &phase.number);
        let best = best_of_number(evidence, phases);
        let backlog = backlog(evidence);
        let has_restarted = self.has_restarted(evidence) || self.has_namesake(phases, &best);
        phases
            .iter()
            .enumerate()
            .map(|(index, phase)| {
                let number = &phase.number;
                let is_listed = self.lists(number) || self.names(phase);
                let is_left_behind = lowest.is_some_and(|lowest| number < lowest)
                    || self.is_shipped(number)
                    || self.others.contains(number)
                    || self.is_history(phase)
                    || has_restarted && highest.is_some_and(|highest| number >= highest);
                let is_stated = evidence.state.phase.number.as_ref() == Some(number);
                let is_unlisted_row =
                    phase.dir.is_none() && !is_listed && !is_stated && !self.listed.is_empty();
                best[index]
                    && !backlog.contains(&number.whole())
                    && !is_unlisted_row
                    && (is_listed || !is_left_behind)
            })
            .collect()
    }
}

/// Returns for each phase whether it is the one that its number refers to: of several folders, the one that
/// matches the name in the roadmap or STATE.md, otherwise one with open plans, otherwise the one with the
/// most plans.
fn best_of_number(evidence: &Evidence<'_>, phases: &[Phase]) -> Vec<bool> {
    let rank = |phase: &Phase| {
        let words = folder_words(phase);
        let planned = roadmap_phase(evidence.roadmap, &phase.number);
        let state = &evidence.state.phase;
        let stated = state.name.as_deref().filter(|_| state.number.as_ref() == Some(&phase.number));
        let names = [planned.and_then(|planned| planned.name.as_deref()), stated];
        let fit = names.into_iter().flatten().map(|name| shared(&words, name)).max();
        let open = phase.plans.len() - phase.count(PlanState::Complete);
        (fit.unwrap_or(0), open > 0, phase.plans.len())
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

fn folder_words(phase: &Phase) -> BTreeSet<String> {
    let dir = phase.dir.as_ref().and_then(|dir| dir.file_name());
    words(&dir.unwrap_or_default().to_string_lossy())
}
