//! Derives the progress of a phase from everything that the roadmap says about it.

use crate::plan::read::roadmap::assembly::PhaseDraft;
use crate::plan::read::{Count, Located, PhaseProgress, ProgressRow, RoadmapPhase, RoadmapPlan};

impl PhaseDraft {
    /// Returns the phase with its status. In order of precedence: a status that drops the phase, the progress
    /// table, its own status, its completion date, its checkbox, its plans' checkboxes, its plan count.
    pub(super) fn with_progress(self) -> RoadmapPhase {
        let mut phase = self.phase;
        let of = |stated: Option<&Located<String>>| {
            stated.and_then(|stated| PhaseProgress::parse(&stated.value))
        };
        let row = phase.row.as_ref().and_then(ProgressRow::progress);
        let own = of(phase.stated_status.as_ref());
        let out = [self.dropped_as, row, own]
            .into_iter()
            .flatten()
            .find(|progress| progress.is_dropped());
        let is_short = self.announces_plans || counts_more_plans(&phase);
        let listed = listed_progress(&phase.plans).map(|progress| match progress {
            PhaseProgress::Complete if is_short => PhaseProgress::InProgress,
            progress => progress,
        });
        let boxed = phase.checkbox.as_ref().map(|mark| match (mark.value, listed) {
            (true, _) => PhaseProgress::Complete,
            (false, None | Some(PhaseProgress::NotStarted)) => PhaseProgress::NotStarted,
            (false, Some(_)) => PhaseProgress::InProgress,
        });
        let completed = self.is_completed.then_some(PhaseProgress::Complete);
        let counted = || phase.plan_count.as_ref().and_then(|count| counted_progress(&count.value));
        phase.status = out.or(row).or(own).or(completed).or(boxed).or(listed).or_else(counted);
        phase
    }
}

/// Returns the progress of a plan checklist; `None` without checkboxes.
fn listed_progress(plans: &[RoadmapPlan]) -> Option<PhaseProgress> {
    let marks: Vec<bool> = plans.iter().filter_map(|plan| plan.checked).collect();
    let checked = marks.iter().filter(|mark| **mark).count();
    (!marks.is_empty()).then_some(match checked {
        0 => PhaseProgress::NotStarted,
        all if all == marks.len() => PhaseProgress::Complete,
        _ => PhaseProgress::InProgress,
    })
}

/// Returns whether the plan count says that plans are left which the checklist does not name: `1/3 plans complete`.
fn counts_more_plans(phase: &RoadmapPhase) -> bool {
    let count = phase.plan_count.as_ref();
    let count = count.and_then(|count| Count::parse(&count.value));
    count.is_some_and(|count| {
        let total = count.total.unwrap_or_default() as usize;
        count.is_open() && total > phase.plans.len()
    })
}

/// Parses `3/3 plans complete`; a lower count means that the phase has started.
fn counted_progress(count: &str) -> Option<PhaseProgress> {
    let count = Count::parse(count)?;
    let total = count.total.filter(|_| count.rest.contains("complete"))?;
    Some(match count.done {
        0 => PhaseProgress::NotStarted,
        done if done >= total => PhaseProgress::Complete,
        _ => PhaseProgress::InProgress,
    })
}
