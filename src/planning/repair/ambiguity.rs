//! Contradictions that no file settles: a person has to decide, and nothing is written before.
//!
//! Where STATE.md or the roadmap alone says otherwise than the plans and summaries, the files decide.
//! They do not where work stands behind an open or unplanned phase, where both documents vouch for a
//! phase that one plan file contradicts, or where it is open which milestone or folder is meant.

use crate::error::Error;
use crate::error::Result;
use crate::planning::Action;
use crate::planning::DEFAULT_MILESTONE;
use crate::planning::Evidence;
use crate::planning::Phase;
use crate::planning::PhaseProgress;
use crate::planning::PlanStanding;
use crate::planning::Position;
use crate::planning::Standing;
use crate::planning::conflict;
use crate::planning::drift::only;
use crate::planning::repair::evidence::of_phase;
use crate::planning::repair::evidence::open_plan;
use crate::planning::standing::planned;

/// Refuses where the files leave open what is true, and says what to decide.
pub(super) fn check(evidence: &Evidence<'_>, position: &Position) -> Result<()> {
    let checks = [
        of_milestone(evidence),
        of_current(evidence, position),
        of_leftovers(evidence, position),
        of_later_plans(evidence, position),
    ];
    match checks.into_iter().flatten().next() {
        Some((what, hint)) => Err(
            Error::refused(format!("the files do not decide it: {what}"))
                .hint(format!("{hint}; then run it again")),
        ),
        None => Ok(()),
    }
}

/// What is undecided, and the ways to decide it.
type Undecided = (String, &'static str);

/// It is open which milestone is worked on, or whether it has shipped already.
fn of_milestone(evidence: &Evidence<'_>) -> Option<Undecided> {
    let active = evidence.folder.dir.join("ACTIVE");
    if evidence.folder.active.slug == DEFAULT_MILESTONE && active.exists() {
        let what = format!("{} names no milestone here", evidence.show(&active));
        return Some((what, "correct ACTIVE or remove it"));
    }
    if let Some(what) = conflict::leftover_of_archive(evidence) {
        return Some((
            what,
            "remove the phases that were left behind, or the archive",
        ));
    }
    let what = conflict::other_milestone(evidence)?;
    Some((what, "correct STATE.md, or name the milestone in ACTIVE"))
}

/// It is open which phase is current.
fn of_current(evidence: &Evidence<'_>, position: &Position) -> Option<Undecided> {
    let current = position.phase()?;
    if only(position, &current.number).is_none() {
        let what = format!("two folders carry the number {}", current.number);
        return Some((what, "rename one of them"));
    }
    if !matches!(position.next.action, Action::Plan | Action::Execute) {
        return None;
    }
    let begun = position.phases.iter().find(|later| {
        later.number > current.number
            && later.dir.is_some()
            && later.count(PlanStanding::Complete) > 0
    });
    if let Some(later) = begun {
        let what = format!(
            "{}, but {}",
            of_phase(evidence, current),
            of_phase(evidence, later)
        );
        return Some((what, "finish, defer or remove what was passed over"));
    }
    if current.standing == Standing::Unplanned && current.has_only_summaries() {
        let what = format!(
            "{}, and the roadmap says not started",
            of_phase(evidence, current)
        );
        return Some((
            what,
            "tick the phase in the roadmap, or remove the summaries",
        ));
    }
    vouched_for(evidence, current).map(|what| (what, "write the summary, or remove the plan"))
}

/// STATE.md and the roadmap both call a phase complete, and a plan of it is open.
fn vouched_for(evidence: &Evidence<'_>, phase: &Phase) -> Option<String> {
    let by_roadmap = planned(evidence.roadmap, &phase.number)
        .filter(|planned| planned.status == Some(PhaseProgress::Complete))?;
    let by_state = evidence.state.phase_statuses.iter().find(|listed| {
        listed.number == phase.number && PhaseProgress::calls_complete(&listed.status.value)
    })?;
    Some(format!(
        "{}, but {} and {} call phase {} complete",
        open_plan(evidence, phase)?,
        evidence.state(by_state.status.line),
        evidence.roadmap(by_roadmap.line),
        phase.number
    ))
}

/// Plans are open in a phase that everything else calls complete: a leftover, or work that was forgotten.
fn of_leftovers(evidence: &Evidence<'_>, position: &Position) -> Option<Undecided> {
    let (index, phase) = position
        .phases
        .iter()
        .enumerate()
        .find(|(index, phase)| phase.standing == Standing::Open && Some(*index) != position.current)
        .filter(|(index, _)| position.current.is_none_or(|current| *index < current))?;
    let what =
        vouched_for(evidence, &position.phases[index]).or_else(|| open_plan(evidence, phase));
    Some((what?, "write the summary, or remove the plan"))
}

/// The roadmap lists more plans of a phase than there are files, and all of these are done.
fn of_later_plans(evidence: &Evidence<'_>, position: &Position) -> Option<Undecided> {
    position.phases.iter().find_map(|phase| {
        let planned = planned(evidence.roadmap, &phase.number)?;
        let is_done = phase.standing == Standing::Done && phase.dir.is_some();
        let is_open = planned.status != Some(PhaseProgress::Complete);
        let listed = planned.plans.iter().filter(|plan| plan.checked.is_some());
        let (all, ticked) = listed.fold((0, 0), |(all, ticked), plan| {
            (all + 1, ticked + usize::from(plan.checked == Some(true)))
        });
        let in_row = planned
            .row
            .as_ref()
            .and_then(|row| row.plans_total)
            .unwrap_or(0) as usize;
        let wanted = if ticked < all {
            all.max(in_row)
        } else {
            in_row
        };
        (is_done && is_open && wanted > phase.plans.len()).then(|| {
            let what = format!(
                "{}, but {} wants {wanted} plans of phase {}",
                of_phase(evidence, phase),
                evidence.roadmap(planned.line),
                phase.number
            );
            (what, "plan the rest, or take it out of the roadmap")
        })
    })
}
