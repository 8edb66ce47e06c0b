//! A phase with everything known from its files, and the position of the work among them.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use serde::Serialize;

use crate::plan::{
    Check, CheckKind, CheckOutcome, Checks, FileName, PhaseDir, PhaseNumber, PlanSlot,
    RoadmapPhase, SummaryStatus, TextOf, is_dropped_plan, ratio,
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
    /// Number of plans that will not be done, which the documents may still count.
    pub(crate) withdrawn: usize,
    /// Whether the folder is of a milestone before, whose numbers were used again.
    pub(crate) is_old: bool,
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

impl Phase {
    /// Returns a phase with a folder; plans that will not be done are left out.
    pub(crate) fn with_folder(
        dir: &PhaseDir,
        planned: Option<&RoadmapPhase>,
        text: TextOf<'_>,
    ) -> Self {
        let is_struck_out = |slot: &PlanSlot| {
            let mut listed = planned.into_iter().flat_map(|planned| &planned.plans);
            listed.any(|plan| plan.plan.as_ref() == Some(&slot.number) && plan.is_dropped)
        };
        let is_withdrawn =
            |name: &String| text(&dir.dir.join(name)).is_some_and(|text| is_dropped_plan(&text));
        let state = |slot: &PlanSlot| match &slot.summary {
            None if is_struck_out(slot) || slot.plan.as_ref().is_some_and(is_withdrawn) => None,
            None => Some(PlanState::Open),
            Some(name) => Some(
                match text(&dir.dir.join(name)).and_then(|text| SummaryStatus::from_text(&text)) {
                    Some(SummaryStatus::Partial) => PlanState::Partial,
                    Some(SummaryStatus::Failed) => PlanState::Failed,
                    Some(SummaryStatus::Complete) | None => PlanState::Complete,
                },
            ),
        };
        let plans = dir.plans.iter();
        let plans: Vec<(PlanSlot, PlanState)> =
            plans.filter_map(|slot| Some((slot.clone(), state(slot)?))).collect();
        let of_checks = plans.iter().filter_map(|(slot, state)| {
            let plan = dir.dir.join(slot.plan.as_ref()?);
            Some((plan, *state == PlanState::Complete))
        });
        let checks = dir.checks.clone().with_plans(of_checks.collect());
        Self {
            name: planned.and_then(|phase| phase.name.clone()).or_else(|| Some(dir.name.clone())),
            goal: planned.and_then(|phase| phase.goal.clone()),
            dir: Some(dir.dir.clone()),
            has_files: dir.has_files,
            withdrawn: dir.plans.len() - plans.len(),
            plans,
            has_context: dir.has_context,
            checks,
            ..Self::empty(dir.number.clone())
        }
    }

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
            withdrawn: 0,
            is_old: false,
        }
    }
}

/// The next action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Discuss a phase before it is planned.
    Discuss,
    /// Plan a phase.
    Plan,
    /// Execute the open plans of a phase.
    Execute,
    /// Verify a finished phase, or test it with the user.
    Verify,
    /// Fix what a check of a phase found.
    Remediate,
    /// Ship the milestone.
    Ship,
    /// Nothing: no milestone is active.
    #[default]
    None,
    /// Unknown: the files could not be read well enough.
    Unknown,
}

/// The next action with its reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Next {
    /// The action.
    pub action: Action,
    /// The phase; `None` for [`Action::Ship`], [`Action::None`] and [`Action::Unknown`].
    pub phase: Option<PhaseNumber>,
    /// The places of the facts that speak for it; what was not understood, if it is unknown.
    pub because: Vec<String>,
    /// What else may be next.
    pub alternative: Option<Alternative>,
}

/// Another action that may be next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// The action.
    pub action: Action,
    /// The phase of that action.
    pub phase: Option<PhaseNumber>,
    /// The places of the facts that speak for it.
    pub because: Vec<String>,
    /// Whether it is almost as likely as the answer.
    pub contests: bool,
}

impl Next {
    /// Returns the alternative that is almost as likely.
    pub fn rival(&self) -> Option<&Alternative> {
        self.alternative.as_ref().filter(|other| other.contests)
    }
}

/// The position of the work.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Position {
    /// All known phases, in number order, including those of earlier milestones.
    pub phases: Vec<Phase>,
    /// The index of the current phase in `phases`: that of the next action, otherwise the cursor.
    pub current: Option<usize>,
    /// The next action.
    pub next: Next,
}

impl Position {
    /// Returns the current phase.
    pub fn phase(&self) -> Option<&Phase> {
        self.current.map(|index| &self.phases[index])
    }

    /// Returns the number of phases of the active milestone, without dropped ones.
    pub fn total(&self) -> usize {
        self.kept().count()
    }

    /// Returns the overall progress in percent, as the average of the phases' shares of complete plans.
    pub fn percent(&self) -> u32 {
        let shares: f64 = self.kept().map(Phase::share_done).sum();
        percent(shares * ratio(1, self.total()))
    }

    /// Returns the share of all plans that are complete, in percent.
    pub fn percent_of_plans(&self) -> u32 {
        let done = self.kept().map(|phase| phase.count(PlanState::Complete)).sum();
        let all = self.kept().map(|phase| phase.plans.len()).sum();
        percent(ratio(done, all))
    }

    /// Returns the phases of the active milestone.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Phase> {
        self.phases.iter().filter(|phase| phase.is_in_milestone)
    }

    /// Returns the phases of the active milestone, without dropped ones.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &Phase> {
        self.members().filter(|phase| phase.state != PhaseState::Dropped)
    }

    /// Returns the number of finished phases of the active milestone.
    pub(crate) fn done(&self) -> usize {
        self.members().filter(|phase| phase.state == PhaseState::Done).count()
    }
}

/// Converts a share from 0 to 1 to a whole percentage, rounded down; 100 only if nothing is left.
fn percent(share: f64) -> u32 {
    let hundredths = (share * 100.0).clamp(0.0, 100.0);
    (0..=100).rev().find(|whole| f64::from(*whole) <= hundredths + 1e-6).unwrap_or(0)
}
