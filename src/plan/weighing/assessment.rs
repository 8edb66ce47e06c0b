//! Combines the phases of the active milestone with the evidence about each.

use crate::plan::weighing::phase_evidence::{PhaseEvidence, counts_all_complete};
use crate::plan::weighing::progress;
use crate::plan::weighing::scope::RoadmapScope;
use crate::plan::{Check, Evidence, Phase, PhaseNumber, PhaseState, TextOf};

/// The input for choosing the next action. Phases are identified by their index in `phases`.
pub(super) struct Assessment<'a> {
    pub(super) evidence: &'a Evidence<'a>,
    pub(super) scope: RoadmapScope<'a>,
    pub(super) phases: &'a [Phase],
    pub(super) phase_evidence: Vec<PhaseEvidence<'a>>,
    /// The phases of the active milestone, in number order.
    pub(super) members: Vec<usize>,
    /// Returns the text of a file.
    pub(super) text: TextOf<'a>,
}

impl<'a> Assessment<'a> {
    /// Collects the evidence about all phases, and sets the state of each.
    pub(super) fn weigh(
        evidence: &'a Evidence<'a>,
        phases: &'a mut [Phase],
        text: TextOf<'a>,
    ) -> Self {
        let scope = RoadmapScope::from_evidence(evidence);
        let members = scope.members(evidence, phases);
        let mut phase_evidence: Vec<PhaseEvidence<'a>> = phases
            .iter()
            .map(|phase| PhaseEvidence::collect(evidence, &scope, phase, text))
            .collect();
        let in_milestone: Vec<&Phase> = phases
            .iter()
            .zip(&members)
            .filter_map(|(phase, is_member)| is_member.then_some(phase))
            .collect();
        if counts_all_complete(evidence, &in_milestone) {
            for one in &mut phase_evidence {
                one.is_counted_complete = one.state_says_done && one.open > 0 && one.summaries == 0;
            }
        }
        for ((phase, phase_evidence), is_member) in
            phases.iter_mut().zip(&phase_evidence).zip(&members)
        {
            phase.is_in_milestone = *is_member;
            phase.state = progress::phase_state(phase_evidence);
            phase.declared = phase_evidence.declared;
        }
        let members = (0..phases.len()).filter(|index| members[*index]).collect();
        Self { evidence, scope, phases, phase_evidence, members, text }
    }

    /// Returns the last phase that has a summary.
    pub(super) fn frontier(&self) -> Option<usize> {
        let is_begun = |index: &&usize| self.phase_evidence[**index].summaries > 0;
        self.members.iter().rfind(is_begun).copied()
    }

    /// Returns the last phase that is done.
    pub(super) fn last_done(&self) -> Option<usize> {
        let is_done = |index: &&usize| self.state(**index) == PhaseState::Done;
        self.members.iter().rfind(is_done).copied()
    }

    /// Returns the phase that STATE.md names as the current one, if it belongs to the milestone.
    pub(super) fn stated_phase(&self) -> Option<usize> {
        let number = self.evidence.state.phase.number.as_ref()?;
        self.member(number)
    }

    /// Returns the milestone's phase of a number.
    pub(super) fn member(&self, number: &PhaseNumber) -> Option<usize> {
        let is_it = |index: &&usize| self.phases[**index].number == *number;
        self.members.iter().find(is_it).copied()
    }

    pub(super) fn state(&self, index: usize) -> PhaseState {
        self.phases[index].state
    }

    /// Returns the checks of a phase with their outcomes.
    pub(super) fn checks(&self, index: usize) -> &[Check] {
        self.phases[index].checks.read(self.text)
    }

    /// Returns whether a phase has work left.
    pub(super) fn is_unfinished(&self, index: usize) -> bool {
        matches!(self.state(index), PhaseState::Open | PhaseState::Running | PhaseState::Unplanned)
    }

    /// Returns the unfinished phases after the given one, in number order; all if `None`.
    pub(super) fn unfinished_after(&self, index: Option<usize>) -> impl Iterator<Item = usize> {
        let number = index.map(|index| &self.phases[index].number);
        self.members
            .iter()
            .copied()
            .filter(move |other| number.is_none_or(|number| self.phases[*other].number > *number))
            .filter(|other| self.is_unfinished(*other))
    }
}
