//! Where the work stands and what comes next, by the weight of all witnesses.
//!
//! The rules stand in docs/formats.md in the same order as here: which phases are of the milestone
//! (`scope`), what each document says of a phase (`witness`), how far it is (`progress`), whether the
//! milestone is over (`over`), where the work stands and what is to be done there (`choice`), what a
//! check of a finished phase asks for (`gate`), and whether another reading is as good (`contest`).

use serde::Serialize;

use crate::planning::PhaseNumber;
use crate::planning::TextOf;
use crate::planning::ratio;
use crate::position::Phase;
use crate::position::PhaseState;
use crate::position::PlanState;
use crate::position::weighing::choice::Choice;
use crate::position::weighing::choice::ChoiceRule;
use crate::position::weighing::reading::Reading;

mod choice;
mod contest;
mod evidence;
mod gate;
mod over;
mod progress;
mod reading;
mod reason;
mod scope;
mod witness;
mod wording;

pub use evidence::Evidence;
pub(crate) use wording::phases_in;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Discuss a phase before it is planned.
    Discuss,
    /// Plan a phase.
    Plan,
    /// Execute the open plans of a phase.
    Execute,
    /// Verify a finished phase, or test it with its user.
    Verify,
    /// Work on what a check of a phase found.
    Remediate,
    /// Ship the milestone.
    Ship,
    /// Nothing: no milestone is active.
    None,
}

/// The next action with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    /// What to do.
    pub action: Action,
    /// Of which phase; none for shipping.
    pub phase: Option<PhaseNumber>,
    /// The evidence that led to it, one sentence each.
    pub because: Vec<String>,
    /// The reading that contests it.
    pub alternative: Option<Alternative>,
}

/// Another reading of about the same weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// What it would have done next.
    pub action: Action,
    /// Of which phase.
    pub phase: Option<PhaseNumber>,
    /// Its evidence, one sentence each.
    pub because: Vec<String>,
}

/// Where the work stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Position {
    /// All phases that are known, in number order; those of earlier milestones too.
    pub phases: Vec<Phase>,
    /// The index of the current phase in `phases`: the next action's, else where the work stands.
    pub current: Option<usize>,
    /// What comes next.
    pub next: Next,
}

impl Position {
    /// Works out the position from `phases` (in number order) and what the documents say of them.
    ///
    /// Of the checks, whose text is `text`, only those are read that can decide something.
    pub fn determine(evidence: &Evidence<'_>, mut phases: Vec<Phase>, text: TextOf<'_>) -> Self {
        let reading = Reading::weigh(evidence, &mut phases, text);
        let cursor = choice::cursor(&reading);
        let choice = chosen(&reading, cursor);
        let choice = gate::hold(&reading, &choice).unwrap_or(choice);
        let next = Next {
            action: choice.action,
            phase: match (choice.action, choice.phase) {
                (Action::Ship | Action::None, _) => None,
                (_, Some(index)) => Some(reading.phases[index].number.clone()),
                (_, None) => Some(PhaseNumber::from(1)),
            },
            because: reason::of_choice(&reading, &choice),
            alternative: contest::alternative(&reading, &choice, cursor),
        };
        let current = choice.phase.or(cursor).or(reading.members.last().copied());
        let behind = cursor.map(|cursor| reading.phases[cursor].number.clone());
        // Work has gone on past these: whatever else was declared of them did not come.
        for phase in &mut phases {
            let is_behind = behind.as_ref().is_some_and(|number| phase.number < *number);
            if phase.state == PhaseState::Running && is_behind {
                phase.state = PhaseState::Done;
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

    /// Returns how many phases the active milestone has, without those that were dropped.
    pub fn total(&self) -> usize {
        self.kept().count()
    }

    /// Returns the progress over all phases in percent, each phase counted by its plans done.
    pub fn percent(&self) -> u32 {
        let shares: f64 = self.kept().map(Phase::share_done).sum();
        percent(if self.total() == 0 {
            0.0
        } else {
            shares * ratio(1, self.total())
        })
    }

    /// Returns the share of all plans that are done in percent.
    pub fn percent_of_plans(&self) -> u32 {
        let done = self
            .kept()
            .map(|phase| phase.count(PlanState::Complete))
            .sum();
        let all = self.kept().map(|phase| phase.plans.len()).sum();
        percent(ratio(done, all))
    }

    fn kept(&self) -> impl Iterator<Item = &Phase> {
        self.phases
            .iter()
            .filter(|phase| phase.is_in_milestone && phase.state != PhaseState::Dropped)
    }
}

fn chosen(reading: &Reading<'_>, cursor: Option<usize>) -> Choice {
    let without_phase = |action, rule| Choice {
        action,
        phase: None,
        rule,
    };
    if over::is_over(reading) {
        return without_phase(Action::None, ChoiceRule::Over);
    }
    match cursor {
        Some(cursor) => choice::choose(reading, cursor),
        None if reading
            .members
            .iter()
            .any(|index| reading.state(*index) == PhaseState::Done) =>
        {
            without_phase(Action::Ship, ChoiceRule::AllDone)
        }
        None if over::is_blank(reading) => without_phase(Action::Plan, ChoiceRule::Blank),
        None => without_phase(Action::None, ChoiceRule::Over),
    }
}

/// Returns a share from 0 to 1 in whole percent; 100 only where nothing is left.
fn percent(share: f64) -> u32 {
    let hundredths = (share * 100.0).clamp(0.0, 100.0);
    (0..=100)
        .rev()
        .find(|whole| f64::from(*whole) <= hundredths + 1e-6)
        .unwrap_or(0)
}
