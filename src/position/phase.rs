//! How far each phase is, by its files first.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use crate::planning::Check;
use crate::planning::CheckKind;
use crate::planning::CheckOutcome;
use crate::planning::Checks;
use crate::planning::MilestoneFolder;
use crate::planning::PhaseDir;
use crate::planning::PhaseNumber;
use crate::planning::PlanSlot;
use crate::planning::Roadmap;
use crate::planning::RoadmapPhase;
use crate::planning::StateFile;
use crate::planning::Summary;
use crate::planning::SummaryStatus;
use crate::planning::TextOf;
use crate::planning::ratio;
use crate::position::folder_name;
use crate::position::weighing::phases_in;

/// How far a phase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseState {
    /// It has a summary and no open plan, or the roadmap calls it complete and it has no folder.
    Done,
    /// Some plan has no summary, or one that is partial or failed.
    Open,
    /// Every plan that is there has a summary, and more are declared or may follow.
    Running,
    /// It has neither plans nor summaries.
    Unplanned,
    /// The roadmap put it off, replaced it or took it out.
    Dropped,
}

/// A phase of the active milestone with all that its files say.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and any of them may go together"
)]
pub struct Phase {
    /// Its number.
    pub number: PhaseNumber,
    /// Its name: the roadmap's, else the folder's.
    pub name: Option<String>,
    /// What it is to achieve, as the roadmap says.
    pub goal: Option<String>,
    /// Its folder, where it has one.
    pub dir: Option<PathBuf>,
    /// Whether it has a folder with files in it.
    pub(crate) has_files: bool,
    /// Its plans and what became of each.
    pub plans: Vec<(PlanSlot, PlanState)>,
    /// Whether it was discussed: it has a CONTEXT file.
    pub has_context: bool,
    /// What checked it.
    pub checks: Checks,
    /// Whether it is of the milestone that is worked on; earlier ones often leave their folders behind.
    pub is_in_milestone: bool,
    /// How far it is.
    pub state: PhaseState,
    /// How many plans the roadmap or STATE.md declares, where one does.
    pub(crate) declared: Option<usize>,
    /// Whether the roadmap has another name under the folder's number, and the folder's name under another or the
    /// other name in another folder.
    pub(crate) is_renumbered: bool,
}

/// What became of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanState {
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
    pub fn count(&self, state: PlanState) -> usize {
        self.plans.iter().filter(|(_, own)| *own == state).count()
    }

    /// Returns how many plans may be complete: those that are, up to the number of the last of them.
    ///
    /// A plan or summary that was never committed leaves a number out.
    pub(crate) fn complete_range(&self) -> RangeInclusive<usize> {
        let complete = self
            .plans
            .iter()
            .filter(|(_, own)| *own == PlanState::Complete);
        self.up_to_number(self.count(PlanState::Complete), complete)
    }

    /// Returns how many plans there may be: those that are there, up to the number of the last one, or to as many
    /// as are declared while more may come.
    pub(crate) fn plans_range(&self) -> RangeInclusive<usize> {
        let numbered = self.up_to_number(self.plans.len(), self.plans.iter());
        let declared = self.declared.filter(|_| self.state != PhaseState::Done);
        *numbered.start()..=(*numbered.end()).max(declared.unwrap_or(0))
    }

    /// Returns how many plans there are, or are to be in a phase that is under way.
    pub(crate) fn plans_expected(&self) -> usize {
        let declared = self.declared.filter(|_| self.state == PhaseState::Running);
        self.plans.len().max(declared.unwrap_or(0))
    }

    fn up_to_number<'a>(
        &self,
        counted: usize,
        plans: impl Iterator<Item = &'a (PlanSlot, PlanState)>,
    ) -> RangeInclusive<usize> {
        let number = |(slot, _): &(PlanSlot, PlanState)| slot.number.number() as usize;
        // Numbers that go on from the phase before count nothing.
        let last_of_all = self.plans.iter().map(number).max();
        let begins_at_one = self.plans.iter().map(number).min() == Some(1)
            || self.declared.is_some() && self.declared == last_of_all;
        let last = plans.map(number).max().unwrap_or(0);
        counted..=counted.max(if begins_at_one { last } else { 0 })
    }

    /// Returns whether a plan has a summary.
    pub(crate) fn is_begun(&self) -> bool {
        self.plans.iter().any(|(slot, _)| slot.summary.is_some())
    }

    /// Returns the plans that are not complete.
    pub fn open_plans(&self) -> impl Iterator<Item = &PlanSlot> {
        self.plans
            .iter()
            .filter(|(_, own)| *own != PlanState::Complete)
            .map(|(slot, _)| slot)
    }

    /// Returns whether a plan or a summary of it is there.
    pub fn has_files_of_plans(&self) -> bool {
        !self.plans.is_empty()
    }

    /// Returns the checks that still ask for something; what the user passed needs no verification.
    pub fn open_checks(&self, text: TextOf<'_>) -> impl Iterator<Item = &Check> {
        let checks = self.checks.read(text).iter();
        let is_passed = checks
            .clone()
            .any(|check| check.kind == CheckKind::Uat && check.outcome == CheckOutcome::Passed);
        let open = checks.filter(|check| check.is_open());
        open.filter(move |check| check.kind == CheckKind::Uat || !is_passed)
    }

    /// Returns whether its verification found gaps that are still open.
    pub fn has_gaps(&self, text: TextOf<'_>) -> bool {
        self.checks.read(text).iter().any(|check| {
            check.kind == CheckKind::Verification && check.outcome == CheckOutcome::Issues
        })
    }

    /// Returns whether it was verified or tested by its user, and nothing that was found is still open.
    pub(crate) fn has_passed(&self, text: TextOf<'_>) -> bool {
        let is_whole = |kind| matches!(kind, CheckKind::Uat | CheckKind::Verification);
        let mut passed = self.checks.read(text).iter();
        passed.any(|check| is_whole(check.kind) && check.outcome == CheckOutcome::Passed)
            && self.open_checks(text).next().is_none()
    }

    /// Returns the share of the phase that is done, from 0 to 1.
    pub fn share_done(&self) -> f64 {
        match self.state {
            PhaseState::Done => 1.0,
            PhaseState::Unplanned | PhaseState::Dropped => 0.0,
            PhaseState::Open => ratio(self.count(PlanState::Complete), self.plans.len()),
            // At least one more plan is to come.
            PhaseState::Running => {
                let plans = (self.plans.len() + 1).max(*self.plans_range().end());
                ratio(self.count(PlanState::Complete), plans)
            }
        }
    }
}

/// Returns the phases of a milestone in number order: those with a folder, then those that only the
/// roadmap names, or STATE.md's total where there is no roadmap. How far they are is yet to be weighed.
///
/// `text` returns a file's text.
pub fn phases(
    milestone: &MilestoneFolder,
    roadmap: &Roadmap,
    state: &StateFile,
    text: TextOf<'_>,
) -> Vec<Phase> {
    let are_renumbered = folder_name::are_renumbered(roadmap, &milestone.phases);
    let folders = milestone.phases.iter().zip(are_renumbered);
    let mut phases: Vec<Phase> = folders
        .map(|(dir, is_renumbered)| {
            let planned = roadmap_phase(roadmap, &dir.number).filter(|_| !is_renumbered);
            Phase {
                is_renumbered,
                ..with_folder(dir, planned, text)
            }
        })
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
    phases.extend(only_stated(&phases, roadmap, state));
    // Stable: two folders of one number keep the order of their names.
    phases.sort_by(|a, b| a.number.cmp(&b.number));
    phases
}

/// Returns what the roadmap says of a phase; of the active milestone's before a shipped one's.
pub(crate) fn roadmap_phase<'a>(
    roadmap: &'a Roadmap,
    number: &PhaseNumber,
) -> Option<&'a RoadmapPhase> {
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

fn with_folder(dir: &PhaseDir, planned: Option<&RoadmapPhase>, text: TextOf<'_>) -> Phase {
    let plans: Vec<(PlanSlot, PlanState)> = dir
        .plans
        .iter()
        .map(|slot| {
            let status = |name| Summary::status_of(&text(&dir.dir.join(name))?);
            let state = match &slot.summary {
                None => PlanState::Open,
                Some(name) => match status(name) {
                    Some(SummaryStatus::Partial) => PlanState::Partial,
                    Some(SummaryStatus::Failed) => PlanState::Failed,
                    Some(SummaryStatus::Complete) | None => PlanState::Complete,
                },
            };
            (slot.clone(), state)
        })
        .collect();
    let of_checks = plans.iter().filter_map(|(slot, state)| {
        let plan = dir.dir.join(slot.plan.as_ref()?);
        Some((plan, *state == PlanState::Complete))
    });
    let checks = Checks::new(dir.checks.clone(), of_checks.collect());
    Phase {
        name: planned
            .and_then(|phase| phase.name.clone())
            .or_else(|| Some(dir.name.clone())),
        goal: planned.and_then(|phase| phase.goal.clone()),
        dir: Some(dir.dir.clone()),
        has_files: dir.has_files,
        plans,
        has_context: dir.has_context,
        checks,
        ..Phase::empty(dir.number.clone())
    }
}

fn without_folder(planned: &RoadmapPhase) -> Phase {
    Phase {
        name: planned.name.clone(),
        goal: planned.goal.clone(),
        ..Phase::empty(planned.number.clone())
    }
}

impl Phase {
    /// Returns a phase of which nothing but its number is known.
    pub(crate) fn empty(number: PhaseNumber) -> Self {
        Self {
            number,
            name: None,
            goal: None,
            dir: None,
            has_files: false,
            plans: Vec::new(),
            has_context: false,
            checks: Checks::default(),
            is_in_milestone: true,
            state: PhaseState::Unplanned,
            declared: None,
            is_renumbered: false,
        }
    }
}

/// Returns the phase that STATE.md names, where no folder and no roadmap knows it.
fn only_stated(known: &[Phase], roadmap: &Roadmap, state: &StateFile) -> Option<Phase> {
    let next = || {
        let steps = state.next_steps.iter();
        steps.flat_map(|step| phases_in(&step.value)).next()
    };
    let number = match known {
        [] if state.is_between_milestones => None,
        [] => next(),
        _ => state.phase.number.clone(),
    }?;
    let is_known = known.iter().any(|phase| phase.number == number)
        || roadmap_phase(roadmap, &number).is_some();
    (!is_known).then(|| Phase {
        name: state.phase.name.clone(),
        ..Phase::empty(number)
    })
}

/// Returns the phases behind the last known one that STATE.md's total says there are.
fn counted(known: &BTreeSet<PhaseNumber>, state: &StateFile) -> Vec<Phase> {
    let total = state.phase.total.unwrap_or(0).min(MAX_COUNTED) as usize;
    let first = known.last().map_or(1, |last| last.whole() + 1);
    (first..)
        .take(total.saturating_sub(known.len()))
        .map(|number| Phase::empty(PhaseNumber::from(number)))
        .collect()
}

/// No milestone has more phases than this; a larger total is a slip of the pen.
const MAX_COUNTED: u32 = 200;
