//! Determines the position of the work and the next action by weighing all evidence.
//!
//! docs/formats.md describes the rules in the same order: which phases belong to the milestone (`scope`),
//! what each document says about a phase (`phase_evidence`), its state (`progress`), whether the milestone is
//! over (`milestone_end`), the position and the next action (`choice`), whether checks of a finished phase come
//! first (`gate`), and whether another interpretation is almost as likely (`contest`).

use std::collections::HashMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::planning::PhaseDir;
use crate::planning::PhaseNumber;
use crate::planning::PhaseProgress;
use crate::planning::ProgressRow;
use crate::planning::TextOf;
use crate::planning::ratio;
use crate::position::Phase;
use crate::position::PhaseState;
use crate::position::PlanState;
use crate::position::folder_name;
use crate::position::roadmap_phase;
use crate::position::weighing::assessment::Assessment;
use crate::position::weighing::choice::Choice;
use crate::position::weighing::choice::ChoiceRule;

mod assessment;
mod choice;
mod contest;
mod evidence;
mod gate;
mod milestone_end;
mod phase_evidence;
mod progress;
mod reason;
mod scope;
mod wording;

pub use evidence::Evidence;
pub(crate) use wording::phases_in;

/// The next action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Discuss a phase before it is planned.
    Discuss,
    /// Plan a phase.
    Plan,
    /// Execute the open plans of a phase.
    Execute,
    /// Verify a finished phase, or test it with the user.
    Verify,
    /// Fix what a check of a phase found.
    Remediate,
    /// Ship the milestone.
    Ship,
    /// Nothing: no milestone is active.
    None,
}

/// The next action with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    /// The action.
    pub action: Action,
    /// The phase; `None` for [`Action::Ship`] and [`Action::None`].
    pub phase: Option<PhaseNumber>,
    /// The evidence for it, one sentence each.
    pub because: Vec<String>,
    /// The interpretation that contests it.
    pub alternative: Option<Alternative>,
}

/// Another interpretation that is almost as likely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Its next action.
    pub action: Action,
    /// The phase of that action.
    pub phase: Option<PhaseNumber>,
    /// Its evidence, one sentence each.
    pub because: Vec<String>,
}

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
            because: reason::of_choice(&assessment, &choice),
            alternative: contest::alternative(&assessment, &choice, cursor),
        };
        let current = choice
            .phase
            .or(cursor)
            .or(assessment.members.last().copied());
        // Without an active milestone, only finished work is left to name.
        let current = current.filter(|index| {
            choice.action != Action::None || assessment.state(*index) == PhaseState::Done
        });
        let behind = cursor.map(|cursor| assessment.phases[cursor].number.clone());
        // These phases precede the cursor: further declared plans are no longer expected.
        for phase in &mut phases {
            let is_behind = behind.as_ref().is_some_and(|number| phase.number < *number);
            if phase.state == PhaseState::Running && is_behind {
                phase.state = PhaseState::Done;
            }
        }
        for phase in &mut phases {
            phase.awaits_check = phase.state == PhaseState::Done
                && is_left_unticked(evidence, phase)
                && phase.check_left(text).is_some();
        }
        let over = phases
            .iter_mut()
            .filter(|phase| phase.state == PhaseState::Done || !phase.is_in_milestone);
        let dirs = evidence.folder.active.phases.iter();
        let dirs: HashMap<&PathBuf, &PhaseDir> = dirs.map(|dir| (&dir.dir, dir)).collect();
        for phase in over {
            if let Some(dir) = phase.dir.as_ref().and_then(|dir| dirs.get(dir)) {
                let name = folder_name::of_past_phase(dir, phase.name.as_deref());
                phase.name = Some(name.to_owned());
            }
        }
        Self {
            phases,
            current,
            next,
        }
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
        let done = self
            .kept()
            .map(|phase| phase.count(PlanState::Complete))
            .sum();
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

/// Returns whether the roadmap leaves a phase unticked, or its row open.
fn is_left_unticked(evidence: &Evidence<'_>, phase: &Phase) -> bool {
    let Some(planned) = roadmap_phase(evidence.roadmap, &phase.number) else {
        return false;
    };
    let in_row = planned.row.as_ref().and_then(ProgressRow::progress);
    let is_unticked = planned.checkbox.as_ref().is_some_and(|mark| !mark.value);
    is_unticked || in_row.is_some_and(|progress| progress != PhaseProgress::Complete)
}

fn chosen(assessment: &Assessment<'_>, cursor: Option<usize>) -> Choice {
    let without_phase = |action, rule| Choice {
        action,
        phase: None,
        rule,
    };
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
    (0..=100)
        .rev()
        .find(|whole| f64::from(*whole) <= hundredths + 1e-6)
        .unwrap_or(0)
}

#[cfg(test)]
mod tests;
