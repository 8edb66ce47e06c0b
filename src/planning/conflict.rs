//! What speaks against the next action: sources that contradict each other about it.

use crate::planning::Action;
use crate::planning::Claim;
use crate::planning::Evidence;
use crate::planning::Next;
use crate::planning::Phase;
use crate::planning::PhaseDir;
use crate::planning::PhaseProgress;
use crate::planning::Standing;
use crate::planning::standing::planned;

/// Collects what speaks against the next action, file and line each.
pub(crate) fn against(
    evidence: &Evidence<'_>,
    phases: &[Phase],
    current: Option<usize>,
    next: &Next,
) -> Vec<String> {
    let mut found = Vec::new();
    match (next.action, current) {
        (Action::Execute | Action::Plan, Some(index)) => {
            let phase = &phases[index];
            found.extend(called_complete(evidence, phase));
            found.extend(later_work(evidence, phases, phase));
            found.extend(state_is_elsewhere(evidence, phase));
        }
        (Action::Ship, _) => {
            for phase in phases
                .iter()
                .filter(|phase| phase.standing == Standing::Done && phase.dir.is_some())
            {
                found.extend(called_open(evidence, phase));
            }
            found.extend(leftover_of_archive(evidence));
            found.extend(state_is_unfinished(evidence));
        }
        (Action::None, _) if evidence.has_state && !evidence.state.is_between_milestones => {
            found.extend(state_is_unfinished(evidence));
        }
        _ => {}
    }
    found.extend(other_milestone(evidence));
    found
}

/// STATE.md or the roadmap calls a phase complete that is to be worked on.
fn called_complete(evidence: &Evidence<'_>, phase: &Phase) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(planned) = planned(evidence.roadmap, &phase.number)
        && planned.status == Some(PhaseProgress::Complete)
    {
        found.push(format!(
            "{}: calls phase {} complete",
            evidence.roadmap(planned.line),
            phase.number
        ));
    }
    for listed in &evidence.state.phase_statuses {
        if listed.number == phase.number && PhaseProgress::calls_complete(&listed.status.value) {
            let place = evidence.state(listed.status.line);
            found.push(format!("{place}: calls phase {} complete", phase.number));
        }
    }
    for claim in &evidence.state.claims {
        if let Claim::Status(status) = &claim.value
            && PhaseProgress::calls_complete(status)
        {
            found.push(format!("{}: says {status:?}", evidence.state(claim.line)));
        }
    }
    found
}

/// A later phase is further than the one to be worked on.
fn later_work(evidence: &Evidence<'_>, phases: &[Phase], phase: &Phase) -> Option<String> {
    let later = phases.iter().find(|later| {
        later.number > phase.number && later.standing == Standing::Done && later.dir.is_some()
    })?;
    let dir = later.dir.clone().unwrap_or_default();
    Some(format!(
        "{}: phase {} behind it is complete",
        evidence.show(&dir),
        later.number
    ))
}

/// STATE.md stands at another phase.
fn state_is_elsewhere(evidence: &Evidence<'_>, phase: &Phase) -> Option<String> {
    evidence
        .state
        .claims
        .iter()
        .find_map(|claim| match &claim.value {
            Claim::Phase(number) if *number != phase.number => Some(format!(
                "{}: says phase {number}",
                evidence.state(claim.line)
            )),
            _ => None,
        })
}

/// The roadmap or STATE.md calls a phase open whose files are done.
fn called_open(evidence: &Evidence<'_>, phase: &Phase) -> Option<String> {
    let planned = planned(evidence.roadmap, &phase.number)?;
    let word = match planned.status? {
        PhaseProgress::NotStarted => "not started",
        PhaseProgress::InProgress => "in progress",
        PhaseProgress::Blocked => "blocked",
        _ => return None,
    };
    let place = evidence.roadmap(planned.line);
    Some(format!("{place}: calls phase {} {word}", phase.number))
}

/// STATE.md speaks of work that the files do not show.
fn state_is_unfinished(evidence: &Evidence<'_>) -> Option<String> {
    let total = claimed(evidence, |claim| match claim {
        Claim::PlansTotal(total) => Some(*total),
        _ => None,
    });
    evidence.state.claims.iter().find_map(|claim| {
        let place = || evidence.state(claim.line);
        match &claim.value {
            Claim::Status(status) if PhaseProgress::calls_open(status) => {
                Some(format!("{}: says {status:?}", place()))
            }
            Claim::PlansComplete(done) | Claim::CurrentPlan(done)
                if total.is_some_and(|total| *done < total) =>
            {
                Some(format!(
                    "{}: says plan {done} of {}",
                    place(),
                    total.unwrap_or_default()
                ))
            }
            _ => None,
        }
    })
}

fn claimed<T>(evidence: &Evidence<'_>, pick: impl Fn(&Claim) -> Option<T>) -> Option<T> {
    evidence
        .state
        .claims
        .iter()
        .find_map(|claim| pick(&claim.value))
}

/// The live phases stand in an archive too: shipped, and left behind.
pub(crate) fn leftover_of_archive(evidence: &Evidence<'_>) -> Option<String> {
    let live: Vec<String> = evidence
        .folder
        .active
        .phases
        .iter()
        .map(PhaseDir::dir_name)
        .collect();
    evidence.folder.archived.iter().find_map(|archive| {
        let milestone = archive.milestone().ok()?.value;
        let kept = milestone
            .phases
            .iter()
            .filter(|phase| live.contains(&phase.dir_name()))
            .count();
        (kept > 0 && kept == live.len()).then(|| {
            format!(
                "{}: holds the same phases, already archived",
                evidence.show(&milestone.dir)
            )
        })
    })
}

/// STATE.md names another active milestone than the one worked in.
pub(crate) fn other_milestone(evidence: &Evidence<'_>) -> Option<String> {
    let slug = evidence.state.active_milestone.as_ref()?;
    let dir = [
        evidence.folder.dir.join("milestones").join(slug),
        evidence.folder.dir.join(slug),
    ]
    .into_iter()
    .find(|dir| dir.is_dir())?;
    (dir != evidence.folder.active.dir).then(|| {
        format!(
            "{}: STATE.md calls this milestone active, and no ACTIVE file names it",
            evidence.show(&dir)
        )
    })
}
