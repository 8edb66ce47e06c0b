//! Determines the state of a phase from all evidence about it.

use crate::position::PhaseState;
use crate::position::weighing::phase_evidence::PhaseEvidence;
use crate::position::weighing::phase_evidence::RoadmapClaim;

/// Returns the state of a phase; the first matching rule applies.
pub(super) fn phase_state(seen: &PhaseEvidence<'_>) -> PhaseState {
    if seen.said == RoadmapClaim::Dropped && (seen.open > 0 || seen.summaries == 0) {
        return PhaseState::Dropped;
    }
    if seen.is_counted_complete && !seen.has_gaps {
        return PhaseState::Done;
    }
    // Plans that were added after the phase was called complete, or that close a gap, are work to do; any
    // other plan without a summary is a leftover.
    if seen.open > 0 && seen.said != RoadmapClaim::Done {
        return PhaseState::Open;
    }
    if seen.open > 0 && (seen.in_row.is_some_and(|row| seen.plans > row) || seen.has_gaps) {
        return PhaseState::Open;
    }
    if seen.said == RoadmapClaim::Done || seen.state_says_done {
        return PhaseState::Done;
    }
    if seen.summaries == 0 {
        return PhaseState::Unplanned;
    }
    // Plans are often committed together with their summaries, or not at all.
    match seen.declared {
        Some(declared) if seen.summaries < declared => PhaseState::Running,
        None if seen.summaries > seen.plans && !seen.has_passed => PhaseState::Running,
        _ => PhaseState::Done,
    }
}
