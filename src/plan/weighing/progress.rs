//! Determines the state of a phase from all evidence about it.

use crate::plan::PhaseState;
use crate::plan::weighing::phase_evidence::{PhaseEvidence, RoadmapClaim};

/// Returns the state of a phase; the first matching rule applies.
pub(super) fn phase_state(phase_evidence: &PhaseEvidence<'_>) -> PhaseState {
    if phase_evidence.claim == RoadmapClaim::Dropped
        && (phase_evidence.open > 0 || phase_evidence.summaries == 0)
    {
        return PhaseState::Dropped;
    }
    if phase_evidence.is_counted_complete && !phase_evidence.has_gaps {
        return PhaseState::Done;
    }
    // Plans that were added after the phase was called complete, or that close a gap, are work to do; any
    // other plan without a summary is a leftover.
    if phase_evidence.open > 0 && phase_evidence.claim != RoadmapClaim::Done {
        return PhaseState::Open;
    }
    if phase_evidence.open > 0
        && (phase_evidence.in_row.is_some_and(|row| phase_evidence.plans > row)
            || phase_evidence.has_gaps)
    {
        return PhaseState::Open;
    }
    if phase_evidence.claim == RoadmapClaim::Done || phase_evidence.state_says_done {
        return PhaseState::Done;
    }
    if phase_evidence.summaries == 0 {
        return PhaseState::Unplanned;
    }
    // Plans are often committed together with their summaries, or not at all.
    match phase_evidence.declared {
        Some(declared) if phase_evidence.summaries < declared => PhaseState::Running,
        None if phase_evidence.summaries > phase_evidence.plans && !phase_evidence.has_passed => {
            PhaseState::Running
        }
        _ => PhaseState::Done,
    }
}
