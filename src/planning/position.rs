//! Where the work stands and what comes next, from all the evidence; STATE.md is believed last.

use std::path::Path;

use serde::Serialize;

use crate::planning::Claim;
use crate::planning::Folder;
use crate::planning::Phase;
use crate::planning::PhaseNumber;
use crate::planning::PhaseProgress;
use crate::planning::PlanStanding;
use crate::planning::Roadmap;
use crate::planning::Standing;
use crate::planning::State;
use crate::planning::conflict;
use crate::planning::standing::planned;
use crate::planning::standing::ratio;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Plan a phase.
    Plan,
    /// Execute the open plans of a phase.
    Execute,
    /// Ship the milestone.
    Ship,
    /// Nothing: no milestone is active.
    None,
}

/// The next action with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    /// What to do.
    pub action: Action,
    /// Of which phase; none for shipping.
    pub phase: Option<PhaseNumber>,
    /// The evidence that led to it, one sentence each.
    pub because: Vec<String>,
    /// The evidence against it, one sentence each with file and line; empty where all agree.
    pub against: Vec<String>,
}

/// Where the work stands, by the files.
#[derive(Clone, Debug, PartialEq)]
pub struct Position {
    /// The phases of the active milestone, in number order.
    pub phases: Vec<Phase>,
    /// The index of the current phase in `phases`: the next action's, else the last done.
    pub current: Option<usize>,
    /// What comes next.
    pub next: Next,
}

/// The documents that a position is worked out from.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The names in the planning folder.
    pub folder: &'a Folder,
    /// ROADMAP.md; empty where there is none.
    pub roadmap: &'a Roadmap,
    /// STATE.md; empty where there is none.
    pub state: &'a State,
    /// Whether there is a STATE.md.
    pub has_state: bool,
    /// The project's root: evidence names files relative to it.
    pub root: &'a Path,
}

impl Evidence<'_> {
    pub(crate) fn show<'p>(&self, path: &'p Path) -> std::path::Display<'p> {
        path.strip_prefix(self.root).unwrap_or(path).display()
    }

    pub(crate) fn state(&self, line: usize) -> String {
        let file = self.folder.active.dir.join("STATE.md");
        format!("{}:{line}", self.show(&file))
    }

    pub(crate) fn roadmap(&self, line: usize) -> String {
        let file = self.folder.active.dir.join("ROADMAP.md");
        format!("{}:{line}", self.show(&file))
    }
}

impl Position {
    /// Works out the position from `phases` (in number order) and what the documents say of them.
    pub fn of(evidence: &Evidence<'_>, phases: Vec<Phase>) -> Self {
        let held: Vec<bool> = phases
            .iter()
            .map(|phase| holds_back(evidence, phase, &phases))
            .collect();
        let first = |standing: Standing| {
            phases
                .iter()
                .enumerate()
                .position(|(index, phase)| phase.standing == standing && held[index])
        };
        let last_done = phases
            .iter()
            .rposition(|phase| phase.standing == Standing::Done);
        let over = is_over(evidence, &phases);
        let to_plan = first(Standing::Unplanned).filter(|_| !over);
        let to_execute = first(Standing::Open)
            .filter(|open| to_plan.is_none_or(|plan| !comes_first(&phases[plan], &phases[*open])));
        let (action, current, because) = if let Some(index) = to_execute {
            (Action::Execute, Some(index), open(evidence, &phases[index]))
        } else if let Some(index) = to_plan {
            (
                Action::Plan,
                Some(index),
                unplanned(evidence, &phases[index]),
            )
        } else if last_done.is_some() && !over {
            (Action::Ship, last_done, vec![all_done(&phases)])
        } else if last_done.is_none() && is_blank(evidence) {
            let because = vec!["no phase is planned yet".to_owned()];
            (Action::Plan, None, because)
        } else {
            (Action::None, last_done, vec![why_none(evidence)])
        };
        let phase = match action {
            Action::Plan => {
                Some(current.map_or(PhaseNumber::from(1), |index| phases[index].number.clone()))
            }
            Action::Execute => current.map(|index| phases[index].number.clone()),
            Action::Ship | Action::None => None,
        };
        let mut next = Next {
            action,
            phase,
            because,
            against: Vec::new(),
        };
        next.against = conflict::against(evidence, &phases, current, &next);
        Self {
            phases,
            current,
            next,
        }
    }

    /// Returns the current phase.
    pub fn phase(&self) -> Option<&Phase> {
        self.current.map(|index| &self.phases[index])
    }

    /// Returns how many phases there are, without those that were dropped.
    pub fn total(&self) -> usize {
        self.kept().count()
    }

    /// Returns the progress over all phases in percent, each phase counted by its plans done.
    pub fn percent(&self) -> u32 {
        let shares: f64 = self.kept().map(Phase::share_done).sum();
        percent(if self.total() == 0 {
            0.0
        } else {
            shares * ratio(1, self.total())
        })
    }

    /// Returns the share of all plans that are done in percent.
    pub fn percent_of_plans(&self) -> u32 {
        let done = self
            .kept()
            .map(|phase| phase.count(PlanStanding::Complete))
            .sum();
        let all = self.kept().map(|phase| phase.plans.len()).sum();
        percent(ratio(done, all))
    }

    fn kept(&self) -> impl Iterator<Item = &Phase> {
        self.phases
            .iter()
            .filter(|phase| phase.standing != Standing::Dropped)
    }
}

/// Returns a share from 0 to 1 in whole percent; 100 only where nothing is left.
fn percent(share: f64) -> u32 {
    let hundredths = (share * 100.0).clamp(0.0, 100.0);
    (0..=100)
        .rev()
        .find(|whole| f64::from(*whole) <= hundredths + 1e-6)
        .unwrap_or(0)
}

/// Tells whether an unfinished phase is work to do: not where STATE.md, the roadmap and a later phase
/// that is done all call it complete, so that only a leftover plan file says otherwise.
fn holds_back(evidence: &Evidence<'_>, phase: &Phase, phases: &[Phase]) -> bool {
    let roadmap_says = planned(evidence.roadmap, &phase.number)
        .is_some_and(|planned| planned.status == Some(PhaseProgress::Complete));
    let state_says = evidence.state.phase_statuses.iter().any(|listed| {
        listed.number == phase.number && PhaseProgress::calls_complete(&listed.status.value)
    });
    let later_done = phases
        .iter()
        .any(|later| later.number > phase.number && later.standing == Standing::Done);
    !(roadmap_says && state_says && later_done)
}

/// Tells whether the milestone is over: everything archived, or STATE.md says that none is active.
fn is_over(evidence: &Evidence<'_>, phases: &[Phase]) -> bool {
    evidence.state.is_between_milestones && phases.iter().all(|phase| phase.dir.is_none())
}

/// Tells whether a phase without plans is to be planned before one that has them: it stands in front,
/// has been prepared in a folder of its own, and the other is not begun.
fn comes_first(unplanned: &Phase, open: &Phase) -> bool {
    let is_begun = open.plans.iter().any(|(slot, _)| slot.summary.is_some());
    unplanned.number < open.number && unplanned.dir.is_some() && !is_begun
}

/// Tells whether nothing was ever planned here; a milestone in a folder of its own was started on purpose.
fn is_blank(evidence: &Evidence<'_>) -> bool {
    let has_own_folder = evidence.folder.active.dir != evidence.folder.dir;
    (evidence.folder.archived.is_empty() || has_own_folder)
        && !evidence.state.is_between_milestones
        && evidence
            .state
            .claims
            .iter()
            .all(|claim| is_beginning(&claim.value))
}

/// Tells whether STATE.md says no more with this than a planning folder does on its first day.
fn is_beginning(claim: &Claim) -> bool {
    match claim {
        Claim::Phase(number) => *number == PhaseNumber::from(1),
        Claim::Status(text) | Claim::PhaseStatus(text) => matches!(
            PhaseProgress::of(text),
            None | Some(PhaseProgress::NotStarted)
        ),
        Claim::Total(count)
        | Claim::PhasesComplete(count)
        | Claim::Percent(count)
        | Claim::PlansComplete(count)
        | Claim::PlansTotal(count)
        | Claim::AllPlansComplete(count)
        | Claim::AllPlansTotal(count) => *count == 0,
        Claim::Bar(_) => true,
        Claim::Name(_) | Claim::Index(_) | Claim::CurrentPlan(_) => false,
    }
}

fn open(evidence: &Evidence<'_>, phase: &Phase) -> Vec<String> {
    let dir = phase.dir.clone().unwrap_or_default();
    phase
        .plans
        .iter()
        .filter_map(|(slot, standing)| {
            let why = match standing {
                PlanStanding::Complete => return None,
                PlanStanding::Open => "has no summary",
                PlanStanding::Partial => "is partial",
                PlanStanding::Failed => "failed",
            };
            let file = slot.summary.as_ref().or(slot.plan.as_ref())?;
            Some(format!(
                "{}: plan {} {why}",
                evidence.show(&dir.join(file)),
                slot.number
            ))
        })
        .collect()
}

fn unplanned(evidence: &Evidence<'_>, phase: &Phase) -> Vec<String> {
    vec![match &phase.dir {
        Some(dir) if phase.has_only_summaries() => {
            format!(
                "{}: summaries without plans, and the roadmap says that phase {} is not started",
                evidence.show(dir),
                phase.number
            )
        }
        Some(dir) => format!(
            "{}: phase {} has no plans",
            evidence.show(dir),
            phase.number
        ),
        None => format!("phase {} is on the roadmap and has no folder", phase.number),
    }]
}

fn all_done(phases: &[Phase]) -> String {
    let count = |standing| {
        phases
            .iter()
            .filter(|phase| phase.standing == standing)
            .count()
    };
    let mut said = match count(Standing::Done) {
        1 => "1 phase is complete".to_owned(),
        done => format!("{done} phases are complete"),
    };
    for (standing, words) in [
        (Standing::Dropped, "dropped"),
        (Standing::Open, "called complete with plans left over"),
    ] {
        let others = count(standing);
        if others > 0 {
            said = format!("{said}, {others} {words}");
        }
    }
    said
}

fn why_none(evidence: &Evidence<'_>) -> String {
    if evidence.state.is_between_milestones {
        "STATE.md says that no milestone is active".to_owned()
    } else if evidence.folder.archived.is_empty() {
        "no phase is planned, and only STATE.md speaks of one".to_owned()
    } else {
        "every milestone is archived".to_owned()
    }
}
