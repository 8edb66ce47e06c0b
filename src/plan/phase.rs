//! Determines the state of each phase, primarily from its files.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use serde::Serialize;

use crate::plan::{
    Check, CheckKind, CheckOutcome, Checks, Claim, FileName, MilestoneFolder, PhaseDir,
    PhaseNumber, PlanSlot, Roadmap, RoadmapPhase, StateFile, SummaryStatus, TextOf, folder_name,
    is_dropped_plan, ratio,
};
use crate::text::word_enum;

/// The state of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseState {
    /// It has a summary and no open plan, or the roadmap calls it complete and it has no folder.
    Done,
    /// At least one plan has no summary, or a partial or failed one.
    Open,
    /// Every existing plan has a summary, but more are declared or may follow.
    Running,
    /// It has neither plans nor summaries.
    Unplanned,
    /// The roadmap calls it deferred, superseded or removed.
    Dropped,
}

/// A phase of the active milestone, with everything known from its files.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "the flags are independent of each other")]
pub struct Phase {
    /// The phase number.
    pub number: PhaseNumber,
    /// The name in the roadmap, otherwise the folder's.
    pub name: Option<String>,
    /// The goal according to the roadmap.
    pub goal: Option<String>,
    /// The folder, if any.
    pub dir: Option<PathBuf>,
    /// Whether it has a folder that contains files.
    pub(crate) has_files: bool,
    /// The plans with their states.
    pub plans: Vec<(PlanSlot, PlanState)>,
    /// Whether the phase was discussed, that is, has a CONTEXT file.
    pub has_context: bool,
    /// Its user tests, verifications and reviews.
    pub checks: Checks,
    /// Whether it belongs to the active milestone; folders of earlier ones often remain.
    pub is_in_milestone: bool,
    /// The state.
    pub state: PhaseState,
    /// Whether a check of the finished phase is open or waits for a person, and the roadmap leaves the phase open.
    pub(crate) awaits_check: bool,
    /// Number of plans declared by the roadmap or STATE.md, if any.
    pub(crate) declared: Option<usize>,
    /// Whether the folder belongs to another phase than the roadmap's of this number: its name is listed
    /// under another number, or the listed name is that of another folder.
    pub(crate) is_renumbered: bool,
    /// Whether it has no folder and only STATE.md's number of complete phases says that it is one of them.
    pub(crate) is_counted_complete: bool,
}

word_enum! {
    /// The state of a plan.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub enum PlanState {
        /// It has a summary that calls it neither partial nor failed.
        Complete = "complete",
        /// Its summary calls it partial.
        Partial = "partial",
        /// Its summary calls it failed.
        Failed = "failed",
        /// It has no summary.
        Open = "open",
    }
}

impl Phase {
    /// Returns the number of plans in a state.
    pub fn count(&self, state: PlanState) -> usize {
        self.plans.iter().filter(|(_, own)| *own == state).count()
    }

    /// Returns whether it has no plan, only a summary of the whole phase, as one that was done without the tool and
    /// written up later: `02-SUMMARY.md` in the folder of phase 2.
    pub(crate) fn is_only_summarised(&self) -> bool {
        let [(slot, _)] = self.plans.as_slice() else {
            return false;
        };
        let dir = self.dir.as_ref().and_then(|dir| dir.file_name());
        let name = slot.summary.as_deref().filter(|_| slot.plan.is_none());
        let parsed =
            dir.zip(name).and_then(|(dir, name)| FileName::parse(name, &dir.to_string_lossy()));
        parsed.is_some_and(|file| match (file.phase, file.plan) {
            (_, None) => file.slug.is_none(),
            (None, Some(plan)) => {
                file.slug.is_none() && plan.to_string() == self.number.to_string()
            }
            (Some(_), Some(_)) => false,
        })
    }

    /// Returns the possible numbers of complete plans: from those found to the number of the last of them.
    ///
    /// A plan or summary that was never committed leaves a gap in the numbers.
    pub(crate) fn complete_range(&self) -> RangeInclusive<usize> {
        let complete = self.plans.iter().filter(|(_, own)| *own == PlanState::Complete);
        if self.is_only_summarised() {
            return 0..=complete.count();
        }
        self.up_to_number(self.count(PlanState::Complete), complete)
    }

    /// Returns the possible numbers of plans: from those found to the number of the last one, or to the
    /// declared number while more may follow.
    pub(crate) fn plans_range(&self) -> RangeInclusive<usize> {
        if self.is_only_summarised() {
            return 0..=1;
        }
        let numbered = self.up_to_number(self.plans.len(), self.plans.iter());
        let declared = self.declared.filter(|_| self.state != PhaseState::Done);
        *numbered.start()..=(*numbered.end()).max(declared.unwrap_or(0))
    }

    /// Returns the number of plans, or of declared plans if the phase is in progress and that is higher.
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
        // Numbers that continue from the previous phase do not count its plans.
        let last_of_all = self.plans.iter().map(number).max();
        let begins_at_one = self.plans.iter().map(number).min() == Some(1)
            || self.declared.is_some() && self.declared == last_of_all;
        let last = plans.map(number).max().unwrap_or(0);
        counted..=counted.max(if begins_at_one { last } else { 0 })
    }

    /// Returns whether any plan has a summary.
    pub(crate) fn is_begun(&self) -> bool {
        self.plans.iter().any(|(slot, _)| slot.summary.is_some())
    }

    /// Returns the plans that are not complete.
    pub fn open_plans(&self) -> impl Iterator<Item = &PlanSlot> {
        self.plans.iter().filter(|(_, own)| *own != PlanState::Complete).map(|(slot, _)| slot)
    }

    /// Returns whether the phase has plans or summaries.
    pub fn has_plans(&self) -> bool {
        !self.plans.is_empty()
    }

    /// Returns the checks that still require work; passed user tests make a verification unnecessary.
    pub fn open_checks(&self, text: TextOf<'_>) -> impl Iterator<Item = &Check> {
        let checks = self.checks.read(text).iter();
        let is_passed = checks
            .clone()
            .any(|check| check.kind == CheckKind::Uat && check.outcome == CheckOutcome::Passed);
        let open = checks.filter(|check| check.is_open());
        open.filter(move |check| check.kind == CheckKind::Uat || !is_passed)
    }

    /// Returns whether the verification found gaps that are still open.
    pub fn has_gaps(&self, text: TextOf<'_>) -> bool {
        self.checks.read(text).iter().any(|check| {
            check.kind == CheckKind::Verification && check.outcome == CheckOutcome::Issues
        })
    }

    /// Returns the check that is left: an open one, or a verification that waits for a person if no user test passed.
    pub(crate) fn check_left(&self, text: TextOf<'_>) -> Option<&Check> {
        self.open_checks(text).next().or_else(|| {
            let checks = self.checks.read(text);
            let of = |kind, outcome| {
                let mut checks = checks.iter();
                checks.find(|check| check.kind == kind && check.outcome == outcome)
            };
            of(CheckKind::Verification, CheckOutcome::Pending)
                .filter(|_| of(CheckKind::Uat, CheckOutcome::Passed).is_none())
        })
    }

    /// Returns whether a verification or user test passed and no check requires work.
    pub(crate) fn has_passed(&self, text: TextOf<'_>) -> bool {
        let is_whole = |kind| matches!(kind, CheckKind::Uat | CheckKind::Verification);
        let mut passed = self.checks.read(text).iter();
        passed.any(|check| is_whole(check.kind) && check.outcome == CheckOutcome::Passed)
            && self.open_checks(text).next().is_none()
    }

    /// Returns the completed share of the phase, from 0 to 1.
    pub fn share_done(&self) -> f64 {
        let is_unfinished = self.count(PlanState::Partial) + self.count(PlanState::Failed) > 0;
        match self.state {
            PhaseState::Done if is_unfinished => {
                ratio(self.count(PlanState::Complete), self.plans.len())
            }
            PhaseState::Done => 1.0,
            PhaseState::Unplanned | PhaseState::Dropped => 0.0,
            PhaseState::Open => ratio(self.count(PlanState::Complete), self.plans.len()),
            // At least one more plan is expected.
            PhaseState::Running => {
                let plans = (self.plans.len() + 1).max(*self.plans_range().end());
                ratio(self.count(PlanState::Complete), plans)
            }
        }
    }
}

/// Returns the phases of a milestone in number order: those with a folder, and those that only the roadmap
/// names, or that follow from STATE.md's total if there is no roadmap. Their states are not determined yet.
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
            Phase { is_renumbered, ..with_folder(dir, planned, text) }
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
        phases.extend(counted(&phases, state));
    }
    phases.extend(only_stated(&phases, roadmap, state));
    // The sort is stable, so that two folders with the same number remain sorted by name.
    phases.sort_by(|a, b| a.number.cmp(&b.number));
    phases
}

/// Returns the roadmap's phase of a number, preferring one that has not shipped.
pub(crate) fn roadmap_phase<'a>(
    roadmap: &'a Roadmap,
    number: &PhaseNumber,
) -> Option<&'a RoadmapPhase> {
    let shipped = roadmap.phases.partition_point(|phase| phase.is_shipped);
    let (shipped, to_do) = roadmap.phases.split_at(shipped);
    let find = |phases: &'a [RoadmapPhase]| {
        let at = phases.partition_point(|phase| phase.number < *number);
        phases.get(at).filter(|phase| phase.number == *number)
    };
    find(to_do).or_else(|| find(shipped))
}

fn with_folder(dir: &PhaseDir, planned: Option<&RoadmapPhase>, text: TextOf<'_>) -> Phase {
    let plans: Vec<(PlanSlot, PlanState)> = dir
        .plans
        .iter()
        .filter(|slot| {
            // A plan that will not be done needs no summary.
            let plan = slot.plan.as_ref().filter(|_| slot.summary.is_none());
            !plan.is_some_and(|name| {
                text(&dir.dir.join(name)).is_some_and(|text| is_dropped_plan(&text))
            })
        })
        .map(|slot| {
            let status = |name| SummaryStatus::from_text(&text(&dir.dir.join(name))?);
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
        name: planned.and_then(|phase| phase.name.clone()).or_else(|| Some(dir.name.clone())),
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
    /// Returns a phase of which only the number is known.
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
            awaits_check: false,
            declared: None,
            is_renumbered: false,
            is_counted_complete: false,
        }
    }
}

/// Returns the phase that STATE.md names, if there is no folder and no roadmap entry for it.
fn only_stated(known: &[Phase], roadmap: &Roadmap, state: &StateFile) -> Option<Phase> {
    let next = || {
        let steps = state.next_steps.iter();
        steps.flat_map(|step| state.numbering.phases_in(&step.value)).next()
    };
    let number = match known {
        [] if state.is_between_milestones => None,
        [] => next(),
        _ => state.phase.number.clone(),
    }?;
    let is_known = known.iter().any(|phase| phase.number == number)
        || roadmap_phase(roadmap, &number).is_some();
    (!is_known).then(|| Phase { name: state.phase.name.clone(), ..Phase::empty(number) })
}

/// Returns the phases without a folder, up to STATE.md's total; only phases of the milestone of the last folder count.
/// Where folders have higher numbers than the total, those after them follow.
fn counted(folders: &[Phase], state: &StateFile) -> Vec<Phase> {
    let total = state.phase.total.unwrap_or(0).min(MAX_COUNTED);
    let last = folders.iter().map(|phase| &phase.number).max();
    let last = last.map(PhaseNumber::in_milestone);
    let last = last.unwrap_or_else(|| PhaseNumber::from(0));
    let siblings = folders.iter();
    let siblings = siblings.filter(|phase| phase.number.is_sibling(&last));
    let known: BTreeSet<&PhaseNumber> = siblings.clone().map(|phase| &phase.number).collect();
    let left = (total as usize).saturating_sub(known.len());
    let phase = |ordinal| Phase::empty(last.sibling(ordinal));
    if last.ordinal() > total {
        return (last.ordinal() + 1..).take(left).map(phase).collect();
    }
    let ordinals = known.iter().map(|number| number.ordinal());
    let ordinals: BTreeSet<u32> = ordinals.chain([last.ordinal()]).collect();
    let missing = (1..=total).filter(|ordinal| !ordinals.contains(ordinal));
    let before = |end: u32| missing.clone().filter(|ordinal| *ordinal < end).count();
    let (removed, complete) = match complete_phases(state) {
        Some(complete) => {
            let stated = state.phase.number.iter();
            let stated = stated.filter(|number| number.is_sibling(&last));
            let end = stated.fold(last.ordinal(), |end, number| end.max(number.ordinal()));
            let is_complete =
                |phase: &&Phase| phase.has_plans() && phase.open_plans().next().is_none();
            let with_folder = siblings.filter(is_complete).count();
            (0, before(end).min(complete.saturating_sub(with_folder)))
        }
        // A phase before the last folder may have been dropped.
        None => (before(last.ordinal()), 0),
    };
    let missing = missing.skip(removed).take(left).enumerate();
    missing
        .map(|(index, ordinal)| Phase { is_counted_complete: index < complete, ..phase(ordinal) })
        .collect()
}

/// Returns STATE.md's number of complete phases.
fn complete_phases(state: &StateFile) -> Option<usize> {
    state.claims.iter().find_map(|claim| match claim.value {
        Claim::PhasesComplete(complete) => Some(complete as usize),
        _ => None,
    })
}

/// Maximum number of phases taken from STATE.md's total; a larger total is a typo.
const MAX_COUNTED: u32 = 200;

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_total_includes_phases_with_a_folder_and_complete_ones() {
        let counted = |folders: &[&str], front: &str| {
            let front = format!("---\n{front}---\n# State\n");
            let state = StateFile::parse(&front, Path::new("STATE.md")).value;
            let folder = |id: &&str| Phase::empty(PhaseNumber::parse_id(id).unwrap());
            let folders: Vec<Phase> = folders.iter().map(folder).collect();
            let phases = counted(&folders, &state).into_iter();
            phases
                .map(|phase| {
                    let mark = if phase.is_counted_complete { " done" } else { "" };
                    format!("{}{mark}", phase.number)
                })
                .collect::<Vec<_>>()
        };
        let four = "progress:\n  total_phases: 4\n";
        let one_complete = "progress:\n  total_phases: 4\n  completed_phases: 1\n";
        assert_eq!(counted(&["2"], one_complete), ["1 done", "3", "4"]);
        assert_eq!(counted(&["1", "2"], one_complete), ["3", "4"]);
        assert_eq!(counted(&["3"], one_complete), ["1 done", "2", "4"]);
        assert_eq!(counted(&[], one_complete), ["1", "2", "3", "4"]);
        let second = format!("current_phase: 2\n{one_complete}");
        assert_eq!(counted(&[], &second), ["1 done", "2", "3", "4"]);
        assert_eq!(counted(&["2"], four), ["3", "4"]);
        assert_eq!(counted(&["1", "3"], four), ["4"]);
        assert_eq!(counted(&[], four), ["1", "2", "3", "4"]);
        // An inserted phase may be among those counted.
        assert_eq!(counted(&["1", "2", "2.1"], "progress:\n  total_phases: 3\n"), [""; 0]);
        // Numbers may continue from an earlier milestone.
        assert_eq!(counted(&["6", "7"], one_complete), ["8", "9"]);
        assert_eq!(counted(&["2-01", "2-02"], four), ["2-03", "2-04"]);
        assert_eq!(counted(&[], ""), [""; 0]);
    }
}
