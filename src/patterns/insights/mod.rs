//! Draws conclusions from the whole history of a project, and states where it is too short for any.
//!
//! Questions and boundaries are fixed before anything is counted, and a plan whose summary does not say
//! counts on neither side. A difference is a lesson if both groups have at least five plans and it is
//! significant after correction for all comparisons of the run; the others claim nothing.

mod comparison;
mod files;
mod groups;

use std::fmt;

pub use comparison::{Comparison, ComparisonQuestion, Group};
pub use files::DeviatingFile;
pub(crate) use files::{KnownPaths, OwnPaths};
pub use groups::{Bucket, EffortHistory, KindCount, MilestoneHistory, Sizes};
use serde::Serialize;

use crate::clock::{Minutes, TimeUnit};
use crate::patterns::citation::{known_milestone, short_milestone};
use crate::patterns::trace::plan_id;
use crate::patterns::{FinishedPhase, PlanRecord, Rate};
use crate::plan::{PhaseNumber, PlanNumber};

/// The statistics of a project's history. It is the document of `annals patterns insights --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Insights {
    /// Number of phases that have plans with a summary.
    pub phases: usize,
    /// Number of plans that have a summary.
    pub plans: usize,
    /// The share of plans that deviated, among those whose summaries say.
    pub deviated: Rate,
    /// The share of plans that were completed, among those whose summaries say.
    pub completed: Rate,
    /// Total number of deviations stated in the summaries.
    pub deviations: u32,
    /// The plans by their number of tasks.
    pub by_tasks: Sizes,
    /// The plans by the number of files they touched.
    pub by_files: Sizes,
    /// All comparisons made, significant or not.
    pub comparisons: Vec<Comparison>,
    /// Comparisons that were not made for lack of data, with the reason.
    pub not_compared: Vec<String>,
    /// The files named in the deviations of several plans, most frequent first.
    pub deviating_files: Vec<DeviatingFile>,
    /// The milestones, in chronological order.
    pub milestones: Vec<MilestoneHistory>,
    /// The effort profiles, as far as they are known.
    pub efforts: Vec<EffortHistory>,
}

impl Insights {
    /// Computes the statistics of the phases of all milestones, in chronological order.
    pub fn from_phases(phases: &[FinishedPhase]) -> Self {
        let all = members(phases);
        let plans: Vec<&PlanRecord> = all.iter().map(|member| member.plan).collect();
        let (by_tasks, by_files) = (Sizes::by_tasks(&plans), Sizes::by_files(&plans));
        let files = files::mentions(&all);
        let mut comparisons = groups::sizes_compared(&plans, &by_tasks, &by_files);
        let mut not_compared = Vec::new();
        for found in [
            files::compared(&all, &files),
            groups::halves_compared(&plans),
            groups::efforts_compared(&plans),
        ] {
            comparisons.extend(found.comparisons);
            not_compared.extend(found.gap);
        }
        // Listed last: that larger plans take longer is no surprise.
        comparisons.push(groups::durations_compared(&plans, &by_tasks));
        comparison::mark_significant(&mut comparisons);
        Self {
            phases: phases.iter().filter(|phase| !phase.plans.is_empty()).count(),
            plans: all.len(),
            deviated: rate(&plans, PlanRecord::deviated),
            completed: rate(&plans, PlanRecord::completed_as_stated),
            deviations: plans
                .iter()
                .filter_map(|plan| plan.summary.deviation_count)
                .fold(0, u32::saturating_add),
            by_tasks,
            by_files,
            comparisons,
            not_compared,
            deviating_files: files::named(&all, &files),
            milestones: groups::milestones(&all),
            efforts: groups::efforts(&plans),
        }
    }

    /// Returns the significant comparisons.
    pub fn lessons(&self) -> impl Iterator<Item = &Comparison> {
        self.comparisons.iter().filter(|one| one.is_lesson)
    }
}

/// Comparisons of one kind, and the reason if there are none.
struct Compared {
    comparisons: Vec<Comparison>,
    gap: Option<String>,
}

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
        if let Some(milestone) = known_milestone(&self.milestone) {
            write!(f, "{milestone} ")?;
        }
        write!(f, "{}-{}", self.phase, plan_id(&self.plan))
    }
}

/// A plan with its milestone and phase.
#[derive(Clone, Copy, Debug)]
struct Member<'a> {
    milestone: &'a str,
    phase: &'a PhaseNumber,
    plan: &'a PlanRecord,
}

impl Member<'_> {
    fn reference(&self) -> PlanRef {
        PlanRef {
            milestone: self.milestone.to_owned(),
            phase: self.phase.clone(),
            plan: self.plan.plan.clone(),
        }
    }
}

/// Returns the plans of all phases, in order.
fn members(phases: &[FinishedPhase]) -> Vec<Member<'_>> {
    let numbered = phases.iter().filter_map(|phase| Some((phase, phase.number.as_ref()?)));
    let members = numbered.flat_map(|(phase, number)| {
        let member = move |plan| Member { milestone: &phase.milestone, phase: number, plan };
        phase.plans.iter().map(member)
    });
    members.collect()
}

/// A property of a plan; `None` if its summary does not say.
type Answer = fn(&PlanRecord) -> Option<bool>;

/// Returns how many of the plans that say have a property.
fn rate(plans: &[&PlanRecord], answer: Answer) -> Rate {
    Rate::measure_known(plans.iter().map(|plan| answer(plan)))
}

fn minutes(plans: &[&PlanRecord]) -> Vec<f64> {
    plans.iter().filter_map(|plan| plan.minutes()).collect()
}

/// Returns the median of durations; `None` if there are none.
fn median(minutes: &[f64]) -> Option<Minutes> {
    let mut sorted = minutes.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = *sorted.get((sorted.len() - 1) / 2)?;
    Minutes::from_number(f64::midpoint(lower, upper), TimeUnit::Minutes)
}

#[cfg(test)]
mod tests;
