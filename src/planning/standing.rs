//! How far each phase is, by its files first.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::planning::Milestone;
use crate::planning::PhaseDir;
use crate::planning::PhaseNumber;
use crate::planning::PhaseProgress;
use crate::planning::PlanSlot;
use crate::planning::Roadmap;
use crate::planning::RoadmapPhase;
use crate::planning::State;
use crate::planning::SummaryStatus;

/// How far a phase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has a summary and no open plan, or the roadmap calls it complete and it has no folder.
    Done,
    /// Some plan has no summary, or one that is partial or failed.
    Open,
    /// It has neither plans nor summaries.
    Unplanned,
    /// The roadmap put it off, replaced it or took it out.
    Dropped,
}

/// A phase of the active milestone with all that its files say.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Its number.
    pub number: PhaseNumber,
    /// Its name: the roadmap's, else the folder's.
    pub name: Option<String>,
    /// What it is to achieve, as the roadmap says.
    pub goal: Option<String>,
    /// Its folder, where it has one.
    pub dir: Option<PathBuf>,
    /// Its plans and what became of each.
    pub plans: Vec<(PlanSlot, PlanStanding)>,
    /// How far it is.
    pub standing: Standing,
}

/// What became of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanStanding {
    /// It has a summary that calls it neither partial nor failed.
    Complete,
    /// Its summary calls it partial.
    Partial,
    /// Its summary calls it failed.
    Failed,
    /// It has no summary.
    Open,
}

impl Phase {
    /// Counts the plans that stand so.
    pub fn count(&self, standing: PlanStanding) -> usize {
        self.plans
            .iter()
            .filter(|(_, own)| *own == standing)
            .count()
    }

    /// Returns the plans that are not complete.
    pub fn open_plans(&self) -> impl Iterator<Item = &PlanSlot> {
        self.plans
            .iter()
            .filter(|(_, own)| *own != PlanStanding::Complete)
            .map(|(slot, _)| slot)
    }

    /// Tells whether all its summaries stand alone: its plans were never committed, or are gone.
    pub fn has_only_summaries(&self) -> bool {
        !self.plans.is_empty() && self.plans.iter().all(|(slot, _)| slot.plan.is_none())
    }

    /// Returns the share of the phase that is done, from 0 to 1.
    pub fn share_done(&self) -> f64 {
        match self.standing {
            Standing::Done => 1.0,
            Standing::Unplanned | Standing::Dropped => 0.0,
            Standing::Open => ratio(self.count(PlanStanding::Complete), self.plans.len()),
        }
    }
}

/// Returns `part / whole`, and 0 of nothing.
pub(crate) fn ratio(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if whole == 0 {
        0.0
    } else {
        number(part) / number(whole)
    }
}

/// Returns the phases of a milestone in number order: those with a folder, then those that only the
/// roadmap names, or STATE.md's total where there is no roadmap.
///
/// `status_of` tells what the summary file at a path says of itself.
pub fn phases(
    milestone: &Milestone,
    roadmap: &Roadmap,
    state: &State,
    status_of: &mut dyn FnMut(PathBuf) -> Option<SummaryStatus>,
) -> Vec<Phase> {
    let mut phases: Vec<Phase> = milestone
        .phases
        .iter()
        .map(|dir| with_folder(dir, planned(roadmap, &dir.number), status_of))
        .collect();
    let known: BTreeSet<PhaseNumber> = phases.iter().map(|phase| phase.number.clone()).collect();
    phases.extend(
        roadmap
            .phases
            .iter()
            .filter(|phase| !phase.is_shipped && !known.contains(&phase.number))
            .map(without_folder),
    );
    if roadmap.phases.is_empty() {
        phases.extend(counted(&known, state));
    }
    // Stable: two folders of one number keep the order of their names.
    phases.sort_by(|a, b| a.number.cmp(&b.number));
    phases
}

/// Returns what the roadmap says of a phase; of the active milestone's before a shipped one's.
pub(crate) fn planned<'a>(roadmap: &'a Roadmap, number: &PhaseNumber) -> Option<&'a RoadmapPhase> {
    let mut same = roadmap
        .phases
        .iter()
        .filter(|phase| phase.number == *number);
    let first = same.next()?;
    Some(if first.is_shipped {
        same.find(|phase| !phase.is_shipped).unwrap_or(first)
    } else {
        first
    })
}

fn with_folder(
    dir: &PhaseDir,
    planned: Option<&RoadmapPhase>,
    status_of: &mut dyn FnMut(PathBuf) -> Option<SummaryStatus>,
) -> Phase {
    let plans = dir
        .plans
        .iter()
        .map(|slot| {
            let standing = match &slot.summary {
                None => PlanStanding::Open,
                Some(name) => match status_of(dir.dir.join(name)) {
                    Some(SummaryStatus::Partial) => PlanStanding::Partial,
                    Some(SummaryStatus::Failed) => PlanStanding::Failed,
                    Some(SummaryStatus::Complete) | None => PlanStanding::Complete,
                },
            };
            (slot.clone(), standing)
        })
        .collect();
    let mut phase = Phase {
        number: dir.number.clone(),
        name: planned
            .and_then(|phase| phase.name.clone())
            .or_else(|| Some(dir.name.clone())),
        goal: planned.and_then(|phase| phase.goal.clone()),
        dir: Some(dir.dir.clone()),
        plans,
        standing: Standing::Unplanned,
    };
    phase.standing = by_files(&phase, planned);
    phase
}

fn by_files(phase: &Phase, planned: Option<&RoadmapPhase>) -> Standing {
    let said = planned.and_then(|phase| phase.status);
    let is_done = !phase.plans.is_empty() && phase.open_plans().next().is_none();
    if is_done {
        // Summaries without plans that the roadmap knows nothing of are left over from a reset.
        let is_leftover = phase.has_only_summaries() && said == Some(PhaseProgress::NotStarted);
        return if is_leftover {
            Standing::Unplanned
        } else {
            Standing::Done
        };
    }
    if is_dropped(said) {
        return Standing::Dropped;
    }
    if phase.plans.is_empty() {
        Standing::Unplanned
    } else {
        Standing::Open
    }
}

fn is_dropped(said: Option<PhaseProgress>) -> bool {
    matches!(
        said,
        Some(PhaseProgress::Deferred | PhaseProgress::Superseded | PhaseProgress::Removed)
    )
}

fn without_folder(planned: &RoadmapPhase) -> Phase {
    let standing = match planned.status {
        Some(PhaseProgress::Complete) => Standing::Done,
        said if is_dropped(said) => Standing::Dropped,
        _ => Standing::Unplanned,
    };
    Phase {
        number: planned.number.clone(),
        name: planned.name.clone(),
        goal: planned.goal.clone(),
        dir: None,
        plans: Vec::new(),
        standing,
    }
}

/// Returns the phases behind the last known one that STATE.md's total says there are.
fn counted(known: &BTreeSet<PhaseNumber>, state: &State) -> Vec<Phase> {
    let total = state.phase.total.unwrap_or(0).min(MAX_COUNTED) as usize;
    let first = known.last().map_or(1, |last| last.whole() + 1);
    (first..)
        .take(total.saturating_sub(known.len()))
        .map(|number| Phase {
            number: PhaseNumber::from(number),
            name: None,
            goal: None,
            dir: None,
            plans: Vec::new(),
            standing: Standing::Unplanned,
        })
        .collect()
}

/// No milestone has more phases than this; a larger total is a slip of the pen.
const MAX_COUNTED: u32 = 200;
