//! What the whole history of a project shows, and what it is too short to show.
//!
//! Questions and boundaries are fixed before anything is counted, and a summary that does not say counts
//! on neither side. A difference is a lesson where both groups have at least five plans and it stays
//! significant among all comparisons of the run; every other one claims nothing.

mod comparison;
mod effort;
mod files;
mod member;
mod size;
mod trend;

use serde::Serialize;

use crate::patterns::FinishedPhase;
use crate::patterns::Rate;
use crate::patterns::insights::member::Member;
use crate::patterns::insights::member::members;

pub use comparison::Comparison;
pub use comparison::ComparisonQuestion;
pub use comparison::Group;
pub use effort::EffortHistory;
pub use files::DeviatingFile;
pub(crate) use files::KnownPaths;
pub(crate) use files::OwnPaths;
pub use member::PlanRef;
pub use size::Bucket;
pub use size::Sizes;
pub use trend::KindCount;
pub use trend::MilestoneHistory;

/// What a project's history shows. It is the document of `annals patterns insights --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Insights {
    /// How many phases have plans with a summary.
    pub phases: usize,
    /// How many plans have a summary.
    pub plans: usize,
    /// The plans that deviated, of those whose summary says.
    pub deviated: Rate,
    /// The plans that came to an end, of those whose summary says.
    pub completed: Rate,
    /// How many deviations those that say had.
    pub deviations: u32,
    /// The plans by their number of tasks.
    pub by_tasks: Sizes,
    /// The plans by the number of files they touched.
    pub by_files: Sizes,
    /// Every comparison that was made, lesson or not.
    pub comparisons: Vec<Comparison>,
    /// What was too little to compare at all, and why.
    pub not_compared: Vec<String>,
    /// The files that deviations of several plans name, the most often named first.
    pub deviating_files: Vec<DeviatingFile>,
    /// The milestones in time order.
    pub milestones: Vec<MilestoneHistory>,
    /// The effort profiles, where they are known.
    pub efforts: Vec<EffortHistory>,
}

impl Insights {
    /// Draws them from the phases of all milestones, in the order in which they were done.
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
        // That larger plans take longer surprises nobody.
        comparisons.push(size::durations(&all, &by_tasks));
        comparison::mark_significant(&mut comparisons);
        Self {
            phases: phases
                .iter()
                .filter(|phase| !phase.plans.is_empty())
                .count(),
            plans: all.len(),
            deviated: Rate::of_known(all.iter().map(Member::deviated)),
            completed: Rate::of_known(all.iter().map(Member::completed)),
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

    /// Returns the significant differences.
    pub fn lessons(&self) -> impl Iterator<Item = &Comparison> {
        self.comparisons.iter().filter(|one| one.is_lesson)
    }

    /// Returns how many summaries never speak of deviations.
    pub fn silent(&self) -> usize {
        self.plans.saturating_sub(self.deviated.of)
    }

    /// Returns the first comparison that asks this.
    pub fn comparison(&self, question: ComparisonQuestion) -> Option<&Comparison> {
        self.comparisons
            .iter()
            .find(|comparison| comparison.question == question)
    }
}

/// Comparisons of one kind, and why there are none.
struct Compared {
    comparisons: Vec<Comparison>,
    gap: Option<String>,
}

#[cfg(test)]
mod tests;
