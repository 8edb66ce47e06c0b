//! What the history of the project says about how to cut the plans of a phase.

use serde::Serialize;

use crate::lifecycle::plan::PlanBrief;
use crate::patterns::{
    ComparisonQuestion, FinishedPhase, Insights, PlanRecord, Rate, known_milestone,
};
use crate::plan::{PhaseNumber, PlanNumber, PlanState};
use crate::search::bm25;

/// Maximum number of similar phases.
const MAX_SIMILAR: usize = 3;

/// A significant difference between plans of the project, and the open plans of the phase that fall under it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InsightBrief {
    /// The difference in words: `Plans with 5 or more tasks deviated in 7 of 8, smaller ones in 3 of 15`.
    pub statement: String,
    /// The open plans that it is about.
    pub open_plans: Vec<PlanNumber>,
}

/// How an earlier phase was cut into plans, and how they went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseShape {
    /// Its milestone, unless it is the default one.
    pub milestone: Option<String>,
    /// Its number.
    pub phase: PhaseNumber,
    /// Its name.
    pub name: String,
    /// Number of plans with a summary.
    pub plans: usize,
    /// The number of tasks of the smallest and of the largest plan, as far as they are known.
    pub tasks: Option<[u32; 2]>,
    /// The number of files of the smallest and of the largest plan, as far as they are known.
    pub files: Option<[u32; 2]>,
    /// The plans that deviated, of those whose summaries mention deviations.
    pub deviated: Rate,
    /// The plans that were completed, of those whose summaries have a status.
    pub completed: Rate,
}

/// Returns the significant differences, with the open plans that they are about.
pub(super) fn insights(history: &[FinishedPhase], plans: &[PlanBrief]) -> Vec<InsightBrief> {
    let insights = Insights::from_phases(history);
    let open = || plans.iter().filter(|plan| plan.status != PlanState::Complete);
    let found = insights.lessons().map(|lesson| {
        let (tasks, files) = (insights.by_tasks.large_from, insights.by_files.large_from);
        let is_at_least =
            |size: usize, from: u32| u32::try_from(size).is_ok_and(|size| size >= from);
        let falls_under = |plan: &&PlanBrief| match lesson.question {
            ComparisonQuestion::DeviationsByTasks
            | ComparisonQuestion::CompletionByTasks
            | ComparisonQuestion::DurationByTasks => is_at_least(plan.tasks, tasks),
            ComparisonQuestion::DeviationsByFiles | ComparisonQuestion::CompletionByFiles => {
                is_at_least(plan.files.len(), files)
            }
            ComparisonQuestion::DeviationsByFile => {
                lesson.file.as_ref().is_some_and(|file| plan.files.contains(file))
            }
        };
        InsightBrief {
            statement: lesson.statement.clone(),
            open_plans: open().filter(falls_under).map(|plan| plan.plan.clone()).collect(),
        }
    });
    found.collect()
}

/// Returns the shapes of the finished phases most like one with this topic; of those alike, the latest first.
pub(super) fn similar_phases(
    history: &[FinishedPhase],
    own: &PhaseNumber,
    active: &str,
    topic: &str,
) -> Vec<PhaseShape> {
    let is_own =
        |phase: &&FinishedPhase| phase.milestone == active && phase.number.as_ref() == Some(own);
    let others: Vec<&FinishedPhase> =
        history.iter().rev().filter(|phase| !is_own(phase) && phase.number.is_some()).collect();
    let text = |phase: &&FinishedPhase| {
        let titles = phase.plans.iter().filter_map(|plan| plan.summary.title.as_deref());
        std::iter::once(phase.name.as_str()).chain(titles).collect::<Vec<_>>().join("\n")
    };
    let scores = bm25(others.iter().map(text), topic);
    let mut ranked: Vec<(f64, &FinishedPhase)> = scores.into_iter().zip(others).collect();
    ranked.retain(|(score, _)| *score > 0.0);
    // The sort is stable.
    ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    ranked.into_iter().take(MAX_SIMILAR).filter_map(|(_, phase)| PhaseShape::new(phase)).collect()
}

impl PhaseShape {
    fn new(phase: &FinishedPhase) -> Option<Self> {
        let range = |size: fn(&PlanRecord) -> Option<u32>| {
            let sizes = || phase.plans.iter().filter_map(size);
            Some([sizes().min()?, sizes().max()?])
        };
        Some(Self {
            milestone: known_milestone(&phase.milestone).map(str::to_owned),
            phase: phase.number.clone()?,
            name: phase.name.clone(),
            plans: phase.plans.len(),
            tasks: range(PlanRecord::tasks),
            files: range(PlanRecord::file_count),
            deviated: Rate::measure_known(phase.plans.iter().map(PlanRecord::deviated)),
            completed: Rate::measure_known(phase.plans.iter().map(PlanRecord::completed_as_stated)),
        })
    }
}
