//! What the bullets of an entry say: facts of one phase, each with the plans it is drawn from.
//!
//! Every rule here looks for one kind of fact and offers candidates with a weight; the strongest are
//! taken. A handful of plans proves nothing in general, so bullets state what happened and how often,
//! and leave conclusions over many phases to the insights.

mod acceptance;
mod candidate;
mod collision;
mod deviating_file;
mod kinds;
mod lesson;
mod likeness;
mod reuse;
mod sizes;
mod smooth;
mod trouble;
mod unfinished;

use crate::patterns::PlanRecord;
use crate::patterns::bullets::trouble::Troubles;
use crate::planning::PhaseNumber;
use crate::text::Line;

pub(crate) use kinds::counted as counted_kinds;
pub(crate) use kinds::is_same as is_same_kind;
pub(crate) use kinds::kinds;
pub(crate) use kinds::plain as plain_kind;

/// Returns what worked, the strongest first; nothing where nothing shows it.
pub(crate) fn worked(plans: &[PlanRecord]) -> Vec<Line> {
    let mut found = smooth::candidates(plans);
    found.extend(reuse::candidates(plans));
    found.extend(sizes::pace(plans));
    found.extend(acceptance::passed(plans));
    if found.is_empty() {
        found.extend(smooth::all_tasks(plans));
    }
    candidate::strongest(found)
}

/// Returns what failed, the strongest first; nothing where nothing shows it.
pub(crate) fn failed(phase: &PhaseNumber, plans: &[PlanRecord]) -> Vec<Line> {
    let troubles = Troubles::of(plans);
    let mut found = unfinished::candidates(plans, &troubles);
    found.extend(acceptance::missed(plans));
    found.extend(collision::candidates(phase, plans, &troubles));
    found.extend(troubles.recurring());
    found.extend(deviating_file::candidates(plans));
    found.extend(sizes::concentration(plans));
    found.extend(sizes::slowest(plans));
    found.extend(troubles.dominant_kind(plans));
    found.extend(troubles.single());
    candidate::strongest(found)
}

#[cfg(test)]
mod tests;
