//! What the whole history of a project shows, and what it is too short to show.
//!
//! Questions and boundaries are fixed before anything is counted. A difference is a lesson where both
//! groups have at least five plans and chance is an unlikely reason; every other one is listed with its
//! figures, and claims nothing.

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
pub use comparison::Group;
pub use comparison::Question;
pub use effort::EffortHistory;
pub use files::DeviatingFile;
pub(crate) use files::KnownPaths;
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
    /// The plans that left their plan, of all.
    pub deviated: Rate,
    /// The plans that came to an end, of all.
    pub completed: Rate,
    /// How many deviations there were.
    pub deviations: u32,
    /// The plans by their number of tasks.
    pub by_tasks: Sizes,
    /// The plans by the number of files they touched.
    pub by_files: Sizes,
    /// Every comparison that was made, lesson or not.
    pub comparisons: Vec<Comparison>,
    /// What could not be compared at all, and why.
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
    pub fn of(phases: &[FinishedPhase]) -> Self {
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
        Self {
            phases: phases
                .iter()
                .filter(|phase| !phase.plans.is_empty())
                .count(),
            deviated: Rate::of(&all, Member::deviated),
            completed: Rate::of(&all, |member| member.plan.is_complete()),
            deviations: all
                .iter()
                .map(|member| member.plan.deviation_count)
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

    /// Returns what the history teaches, one line each with its figures.
    pub fn lessons(&self) -> Vec<&str> {
        let lessons = self.comparisons.iter().filter(|one| one.is_lesson);
        lessons.map(|lesson| lesson.text.as_str()).collect()
    }

    /// Returns the first comparison that asks this.
    pub fn comparison(&self, question: Question) -> Option<&Comparison> {
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
