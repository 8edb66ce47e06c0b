//! A plan in the history of its project.

use std::fmt;

use serde::Serialize;

use crate::clock::{Minutes, TimeUnit};
use crate::patterns::lesson::short_milestone;
use crate::patterns::trace::plan_id;
use crate::patterns::{FinishedPhase, PlanRecord};
use crate::plan::{DEFAULT_MILESTONE, PhaseNumber, PlanNumber};

/// Identifies a plan by milestone, phase and number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanRef {
    /// The milestone's slug.
    pub milestone: String,
    /// The phase's number.
    pub phase: PhaseNumber,
    /// The plan's number within its phase.
    pub plan: PlanNumber,
}

impl PlanRef {
    /// Returns a copy with the milestone's name shortened to fit in a line.
    pub fn short(&self) -> String {
        let milestone = short_milestone(&self.milestone).to_owned();
        Self { milestone, ..self.clone() }.to_string()
    }
}

/// Prints `3-01`, after the milestone's name unless it is the default one: `first-shelf 3-01`.
impl fmt::Display for PlanRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.milestone != DEFAULT_MILESTONE {
            write!(f, "{} ", self.milestone)?;
        }
        write!(f, "{}-{}", self.phase, plan_id(&self.plan))
    }
}

/// A plan with its milestone and phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<'a> {
    pub(crate) milestone: &'a str,
    pub(crate) phase: &'a PhaseNumber,
    pub(crate) plan: &'a PlanRecord,
}

impl Member<'_> {
    /// Returns whether it deviated; `None` if its summary does not mention deviations.
    pub(crate) fn deviated(&self) -> Option<bool> {
        self.plan.deviation_count.map(|count| count > 0)
    }

    /// Returns whether it was completed; `None` if its summary has no status.
    pub(crate) fn completed(&self) -> Option<bool> {
        self.plan.completed_as_stated()
    }

    pub(crate) fn reference(&self) -> PlanRef {
        PlanRef {
            milestone: self.milestone.to_owned(),
            phase: self.phase.clone(),
            plan: self.plan.plan.clone(),
        }
    }

    /// Returns the number of its tasks; `None` if only the completed tasks of an unfinished plan are known.
    pub(crate) fn tasks(&self) -> Option<u32> {
        let tasks = self.plan.tasks;
        let done = || tasks.completed.filter(|_| !self.plan.is_unfinished());
        tasks.total.or_else(done).filter(|count| *count > 0)
    }

    /// Returns the number of files it touched.
    pub(crate) fn files(&self) -> Option<u32> {
        self.plan.file_count()
    }

    /// Returns its duration; `None` for an aborted plan, whose duration depends on when it was stopped.
    pub(crate) fn minutes(&self) -> Option<f64> {
        let duration = self.plan.duration.filter(|_| !self.plan.is_unfinished())?;
        Some(duration.as_f64())
    }
}

/// Returns the plans of all phases, in order.
pub(crate) fn members(phases: &[FinishedPhase]) -> Vec<Member<'_>> {
    phases
        .iter()
        .flat_map(|phase| {
            phase.plans.iter().map(move |plan| Member {
                milestone: &phase.milestone,
                phase: &phase.number,
                plan,
            })
        })
        .collect()
}

/// Returns the median of durations; `None` if there are none.
pub(crate) fn median(minutes: &[f64]) -> Option<Minutes> {
    let mut sorted = minutes.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = *sorted.get((sorted.len() - 1) / 2)?;
    Minutes::from_number(f64::midpoint(lower, upper), TimeUnit::Minutes)
}
