//! The position of the work, determined from all evidence.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::plan::weighing::assessment::Assessment;
use crate::plan::weighing::choice::{Choice, ChoiceRule};
use crate::plan::weighing::phase_evidence::is_left_unticked;
use crate::plan::weighing::{choice, contest, gate, milestone_end, reason};
use crate::plan::{
    Action, Evidence, Next, Phase, PhaseDir, PhaseNumber, PhaseState, PlanState, TextOf,
    folder_name, ratio,
};

/// The position of the work.
#[derive(Clone, Debug, PartialEq)]
pub struct Position {
    /// All known phases, in number order, including those of earlier milestones.
    pub phases: Vec<Phase>,
    /// The index of the current phase in `phases`: that of the next action, otherwise the cursor.
    pub current: Option<usize>,
    /// The next action.
    pub next: Next,
}

impl Position {
    /// Determines the position from `phases` (in number order) and from the documents.
    ///
    /// `text` reads the checks; only those that can affect the result are read.
    pub fn determine(evidence: &Evidence<'_>, mut phases: Vec<Phase>, text: TextOf<'_>) -> Self {
        let assessment = Assessment::weigh(evidence, &mut phases, text);
        let cursor = choice::cursor(&assessment);
        let choice = chosen(&assessment, cursor);
        let choice = gate::blocking_choice(&assessment, &choice).unwrap_or(choice);
        let next = Next {
            action: choice.action,
            phase: match (choice.action, choice.phase) {
                (Action::Ship | Action::None, _) => None,
                (_, Some(index)) => Some(assessment.phases[index].number.clone()),
                (_, None) => Some(PhaseNumber::from(1)),
            },
            because: reason::for_choice(&assessment, &choice),
            alternative: contest::alternative(&assessment, &choice, cursor),
        };
        let current = choice.phase.or(cursor).or(assessment.members.last().copied());
        // Without an active milestone, only finished work is left to name.
        let current = current.filter(|index| {
            choice.action != Action::None || assessment.state(*index) == PhaseState::Done
        });
        let cursor = cursor.map(|cursor| assessment.phases[cursor].number.clone());
        if let Some(cursor) = cursor {
            finish_passed_phases(&mut phases, &cursor);
        }
        for phase in &mut phases {
            phase.awaits_check = phase.state == PhaseState::Done
                && is_left_unticked(evidence, phase)
                && phase.check_left(text).is_some();
        }
        name_past_phases(evidence, &mut phases);
        Self { phases, current, next }
    }

    /// Returns the current phase.
    pub fn phase(&self) -> Option<&Phase> {
        self.current.map(|index| &self.phases[index])
    }

    /// Returns the number of phases of the active milestone, without dropped ones.
    pub fn total(&self) -> usize {
        self.kept().count()
    }

    /// Returns the overall progress in percent, as the average of the phases' shares of complete plans.
    pub fn percent(&self) -> u32 {
        let shares: f64 = self.kept().map(Phase::share_done).sum();
        percent(shares * ratio(1, self.total()))
    }

    /// Returns the share of all plans that are complete, in percent.
    pub fn percent_of_plans(&self) -> u32 {
        let done = self.kept().map(|phase| phase.count(PlanState::Complete)).sum();
        let all = self.kept().map(|phase| phase.plans.len()).sum();
        percent(ratio(done, all))
    }

    /// Returns the phases of the active milestone.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Phase> {
        self.phases.iter().filter(|phase| phase.is_in_milestone)
    }

    /// Returns the phases of the active milestone, without dropped ones.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &Phase> {
        let is_kept = |phase: &&Phase| phase.state != PhaseState::Dropped;
        self.members().filter(is_kept)
    }

    /// Returns the number of finished phases of the active milestone.
    pub(crate) fn done(&self) -> usize {
        let is_done = |phase: &&Phase| phase.state == PhaseState::Done;
        self.members().filter(is_done).count()
    }
}

/// Marks the phases in progress before the cursor as done: further declared plans are no longer expected.
fn finish_passed_phases(phases: &mut [Phase], cursor: &PhaseNumber) {
    for phase in phases {
        if phase.state == PhaseState::Running && phase.number < *cursor {
            phase.state = PhaseState::Done;
        }
    }
}

/// Sets the names of the phases that are over, which a roadmap may give to other work.
fn name_past_phases(evidence: &Evidence<'_>, phases: &mut [Phase]) {
    let dirs = evidence.folder.active.phases.iter();
    let dirs: HashMap<&PathBuf, &PhaseDir> = dirs.map(|dir| (&dir.dir, dir)).collect();
    let is_over = |phase: &&mut Phase| phase.state == PhaseState::Done || !phase.is_in_milestone;
    for phase in phases.iter_mut().filter(is_over) {
        if let Some(dir) = phase.dir.as_ref().and_then(|dir| dirs.get(dir)) {
            let name = folder_name::name_of_past_phase(dir, phase.name.as_deref());
            phase.name = Some(name.to_owned());
        }
    }
}

/// Returns the next action before checks are considered.
fn chosen(assessment: &Assessment<'_>, cursor: Option<usize>) -> Choice {
    let without_phase = |action, rule| Choice { action, phase: None, rule };
    if milestone_end::is_over(assessment) {
        return without_phase(Action::None, ChoiceRule::Over);
    }
    match cursor {
        Some(cursor) => choice::choose(assessment, cursor),
        None if assessment
            .members
            .iter()
            .any(|index| assessment.state(*index) == PhaseState::Done) =>
        {
            without_phase(Action::Ship, ChoiceRule::AllDone)
        }
        None if milestone_end::is_blank(assessment) => {
            without_phase(Action::Plan, ChoiceRule::Blank)
        }
        None => without_phase(Action::None, ChoiceRule::Over),
    }
}

/// Converts a share from 0 to 1 to a whole percentage, rounded down; 100 only if nothing is left.
fn percent(share: f64) -> u32 {
    let hundredths = (share * 100.0).clamp(0.0, 100.0);
    (0..=100).rev().find(|whole| f64::from(*whole) <= hundredths + 1e-6).unwrap_or(0)
}
