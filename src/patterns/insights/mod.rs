//! Draws conclusions from the whole history of a project, and states where it is too short for any.
//!
//! Questions and boundaries are fixed before anything is counted, and a plan whose summary does not say
//! counts on neither side. A difference is a lesson if both groups have at least five plans and it is
//! significant after correction for all comparisons of the run; the others claim nothing.

mod comparison;
mod effort;
mod files;
mod member;
mod size;
mod trend;

pub use comparison::{Comparison, ComparisonQuestion, Group};
pub use effort::EffortHistory;
pub use files::DeviatingFile;
pub(crate) use files::{KnownPaths, OwnPaths};
pub use member::PlanRef;
use serde::Serialize;
pub use size::{Bucket, Sizes};
pub use trend::{KindCount, MilestoneHistory};

use crate::patterns::insights::member::{Member, members};
use crate::patterns::{FinishedPhase, Rate};

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
        let (by_tasks, by_files) = (Sizes::by_tasks(&all), Sizes::by_files(&all));
        let files = files::mentions(&all);
        let mut comparisons = size::comparisons(&all, &by_tasks, &by_files);
        let mut not_compared = Vec::new();
        for found in [files::compared(&all, &files), trend::compared(&all)] {
            comparisons.extend(found.comparisons);
            not_compared.extend(found.gap);
        }
        let efforts = effort::compared(&all);
        comparisons.extend(efforts.comparisons);
        not_compared.extend(efforts.gap);
        // Listed last: that larger plans take longer is no surprise.
        comparisons.push(size::durations(&all, &by_tasks));
        comparison::mark_significant(&mut comparisons);
        Self {
            phases: phases.iter().filter(|phase| !phase.plans.is_empty()).count(),
            plans: all.len(),
            deviated: Rate::measure_known(all.iter().map(Member::deviated)),
            completed: Rate::measure_known(all.iter().map(Member::completed)),
            deviations: all
                .iter()
                .filter_map(|member| member.plan.deviation_count)
                .fold(0, u32::saturating_add),
            by_tasks,
            by_files,
            comparisons,
            not_compared,
            deviating_files: files::named(&all, &files),
            milestones: trend::milestones(&all),
            efforts: effort::histories(&all),
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

#[cfg(test)]
mod tests;
