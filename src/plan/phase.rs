//! A phase with everything known from its files and the documents, and the position of the work among them.

use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use serde::Serialize;

use crate::plan::{
    Check, CheckKind, CheckOutcome, FileName, PhaseDir, PhaseNumber, PhaseProgress, PlanSlot,
    PlanState, ProgressRow, RoadmapPhase, checks, document,
};
use crate::warning::{Parsed, Warning};

/// The state of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PhaseState {
    /// It has a summary and no open plan, or the roadmap calls it complete and it has no folder.
    Done,
    /// At least one plan has no summary, or a partial or failed one.
    Open,
    /// Every existing plan has a summary, but more are declared.
    Running,
    /// It has neither plans nor summaries.
    #[default]
    Unplanned,
    /// The roadmap calls it deferred, superseded or removed.
    Dropped,
}

/// A phase of the active milestone, with everything known from its files and the documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phase {
    /// The phase number.
    pub number: PhaseNumber,
    /// The name in the roadmap, otherwise the folder's.
    pub name: Option<String>,
    /// What the roadmap says of it.
    pub planned: Option<Arc<RoadmapPhase>>,
    /// The folder, if any.
    pub dir: Option<Arc<PhaseDir>>,
    /// The plans, without those that will not be done.
    pub plans: Vec<PlanSlot>,
    /// Its checks, once they were asked for: most belong to phases that were completed long ago, and decide nothing.
    pub(super) checks: OnceLock<Parsed<Vec<Check>>>,
    /// What the roadmap, else STATE.md's list of phases, says of it: complete, or that it will not be done.
    pub(crate) claim: Option<PhaseProgress>,
    /// Number of plans declared by the roadmap or STATE.md, if any.
    pub(crate) declared: Option<usize>,
    /// Whether the folder is of a milestone before, whose numbers were used again.
    pub(crate) is_old: bool,
    /// Whether it belongs to the active milestone; folders of earlier ones often remain.
    pub is_in_milestone: bool,
    /// The state.
    pub state: PhaseState,
    /// Whether a check of the finished phase is open or waits for a person, and the roadmap leaves the phase open.
    pub(crate) awaits_check: bool,
}

/// The possible numbers of plans. A plan or summary that was never committed leaves a gap in the numbers, and the documents
/// may declare more than there are.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    /// Of complete plans.
    pub(crate) done: RangeInclusive<usize>,
    /// Of all plans.
    pub(crate) all: RangeInclusive<usize>,
}

impl Counts {
    /// Returns the sums over phases.
    pub(crate) fn sum<'a>(phases: impl IntoIterator<Item = &'a Phase>) -> Self {
        phases.into_iter().fold(Self { done: 0..=0, all: 0..=0 }, |sum, phase| {
            let counts = phase.counts();
            // The plans of a dropped phase need not be done, but STATE.md may count them.
            let kept = usize::from(phase.state != PhaseState::Dropped);
            let add = |sum: RangeInclusive<usize>, one: RangeInclusive<usize>| {
                sum.start() + kept * one.start()..=sum.end() + one.end()
            };
            Self { done: add(sum.done, counts.done), all: add(sum.all, counts.all) }
        })
    }
}

impl Phase {
    /// Returns a phase of the active milestone without a folder.
    pub(crate) fn new(number: PhaseNumber, planned: Option<Arc<RoadmapPhase>>) -> Self {
        Self { number, planned, is_in_milestone: true, ..Self::default() }
    }

    /// Returns a phase with a folder.
    pub(crate) fn with_folder(dir: &Arc<PhaseDir>, planned: Option<Arc<RoadmapPhase>>) -> Self {
        let is_dropped = |slot: &PlanSlot| {
            let mut listed = planned.iter().flat_map(|planned| &planned.plans);
            listed.any(|plan| plan.plan.as_ref() == Some(&slot.number) && plan.is_dropped)
                || slot.plan().is_some_and(|plan| plan.value.is_dropped)
        };
        let known = |slot: &PlanSlot| {
            let stated = slot.summary.as_ref().map(|file| file.text().and_then(PlanState::stated));
            let state =
                stated.map_or(PlanState::Open, |state| state.unwrap_or(PlanState::Complete));
            (state == PlanState::Complete || !is_dropped(slot))
                .then(|| PlanSlot { state, ..slot.clone() })
        };
        Self {
            name: Some(dir.name.clone()),
            plans: dir.plans.iter().filter_map(known).collect(),
            dir: Some(dir.clone()),
            ..Self::new(dir.number.clone(), planned)
        }
    }

    /// Returns whether it has a folder that contains files.
    pub(crate) fn has_files(&self) -> bool {
        self.dir.as_ref().is_some_and(|dir| dir.has_files)
    }

    /// Returns whether it was discussed, that is, has a CONTEXT file.
    pub fn has_context(&self) -> bool {
        self.dir.as_ref().is_some_and(|dir| dir.has_context)
    }

    /// Returns its user tests and verifications.
    pub fn checks(&self) -> &[Check] {
        let Some(dir) = &self.dir else { return &[] };
        &self.checks.get_or_init(|| checks(dir, &self.plans)).value
    }

    /// Returns warnings about its files that could not be read, of those that were needed.
    pub(crate) fn unread(&self) -> impl Iterator<Item = &Warning> {
        let plans = self.dir.iter().flat_map(|dir| &dir.plans).flat_map(PlanSlot::unread);
        plans.chain(self.checks.get().into_iter().flat_map(|checks| &checks.warnings))
    }

    /// Returns the goal according to the roadmap.
    pub fn goal(&self) -> Option<&str> {
        self.planned.as_ref()?.goal.as_deref()
    }

    /// Returns whether the roadmap's box of the phase is ticked, if it has one.
    pub(crate) fn mark(&self) -> Option<bool> {
        Some(self.planned.as_ref()?.checkbox.as_ref()?.value)
    }

    /// Returns the phase's row in the roadmap's progress table.
    pub(crate) fn row(&self) -> Option<&ProgressRow> {
        self.planned.as_ref()?.row.as_ref()
    }

    /// Returns the number of plans in a state.
    pub fn count(&self, state: PlanState) -> usize {
        self.plans.iter().filter(|slot| slot.state == state).count()
    }

    /// Returns the plans that are not complete.
    pub fn open_plans(&self) -> impl Iterator<Item = &PlanSlot> {
        self.plans.iter().filter(|slot| slot.state != PlanState::Complete)
    }

    /// Returns whether a plan is not complete.
    pub(crate) fn has_open_plan(&self) -> bool {
        self.open_plans().next().is_some()
    }

    /// Returns whether the phase has plans or summaries.
    pub fn has_plans(&self) -> bool {
        !self.plans.is_empty()
    }

    /// Returns the number of plan files.
    pub(crate) fn plan_files(&self) -> usize {
        self.plans.iter().filter(|slot| slot.plan.is_some()).count()
    }

    /// Returns the number of summaries.
    pub(crate) fn summaries(&self) -> usize {
        self.plans.iter().filter(|slot| slot.summary.is_some()).count()
    }

    /// Returns whether any plan has a summary.
    pub(crate) fn is_begun(&self) -> bool {
        self.summaries() > 0
    }

    /// Returns whether work remains.
    pub(crate) fn is_unfinished(&self) -> bool {
        matches!(self.state, PhaseState::Open | PhaseState::Running | PhaseState::Unplanned)
    }

    /// Returns whether the documents call it complete.
    pub(crate) fn is_ticked(&self) -> bool {
        self.claim == Some(PhaseProgress::Complete)
    }

    /// Returns whether it has no plan, only a summary of the whole phase, as one that was done without the tool and
    /// written up later: `02-SUMMARY.md` in the folder of phase 2.
    pub(crate) fn is_only_summarised(&self) -> bool {
        let [slot] = self.plans.as_slice() else { return false };
        let summary = slot.summary.as_ref().filter(|_| slot.plan.is_none());
        let name = summary.and_then(|file| file.path.file_name()?.to_str());
        let file = self.dir.as_ref().zip(name);
        let file = file.and_then(|(dir, name)| FileName::parse(name, &dir.dir_name()));
        file.is_some_and(|file| {
            let of_phase =
                |plan: &_| file.phase.is_none() && format!("{plan}") == self.number.to_string();
            file.slug.is_none() && file.plan.as_ref().is_none_or(of_phase)
        })
    }

    /// Returns the possible numbers of its plans.
    pub(crate) fn counts(&self) -> Counts {
        let number = |slot: &PlanSlot| slot.number.number() as usize;
        let complete = self.plans.iter().filter(|slot| slot.state == PlanState::Complete);
        let last_done = complete.map(number).max().unwrap_or(0);
        let last = self.plans.iter().map(number).max().unwrap_or(0);
        // A summary of the whole phase may be counted as a plan or not.
        let least = usize::from(!self.is_only_summarised());
        let (done, all) = (self.count(PlanState::Complete), self.plans.len());
        let declared = self.declared.unwrap_or(0);
        let done_elsewhere = if self.state == PhaseState::Done { declared } else { 0 };
        Counts {
            done: least * done..=done.max(last_done).max(done_elsewhere),
            all: least * all..=all.max(last).max(declared),
        }
    }

    /// Returns the number of plans, or of declared plans if the phase is in progress and that is higher.
    pub(crate) fn plans_expected(&self) -> usize {
        let declared = self.declared.filter(|_| self.state == PhaseState::Running);
        self.plans.len().max(declared.unwrap_or(0))
    }

    /// Returns whether the files do not determine the number of its plans: some were left behind.
    pub(crate) fn has_unclear_counts(&self) -> bool {
        self.state == PhaseState::Done && self.has_open_plan()
    }

    /// Returns the completed share of the phase, of [`WHOLE`].
    fn share_done(&self) -> usize {
        let unfinished = self.count(PlanState::Partial) + self.count(PlanState::Failed);
        match self.state {
            PhaseState::Unplanned | PhaseState::Dropped => 0,
            PhaseState::Done if unfinished == 0 => WHOLE,
            _ => WHOLE * self.count(PlanState::Complete) / self.plans_expected().max(1),
        }
    }

    /// Returns the checks that still require work; passed user tests make a verification unnecessary, unless a round of
    /// remediation is under way.
    pub fn open_checks(&self) -> impl Iterator<Item = &Check> {
        let is_passed = self.is_tested();
        let open = self.checks().iter().filter(|check| check.is_open());
        open.filter(move |check| check.kind == CheckKind::Uat || check.is_under_way() || !is_passed)
    }

    /// Returns the check that is left: an open one, or a verification that waits for a person if no user test passed.
    pub(crate) fn check_left(&self) -> Option<&Check> {
        let is_waiting = |check: &&Check| {
            check.kind == CheckKind::Verification && check.outcome == CheckOutcome::Pending
        };
        let waiting = || self.checks().iter().find(is_waiting).filter(|_| !self.is_tested());
        self.open_checks().next().or_else(waiting)
    }

    /// Returns whether a verification or user test passed and no check requires work.
    pub(crate) fn has_passed(&self) -> bool {
        self.checks().iter().any(|check| check.outcome == CheckOutcome::Passed)
            && self.open_checks().next().is_none()
    }

    /// Returns whether a user test passed.
    fn is_tested(&self) -> bool {
        let mut tests = self.checks().iter().filter(|check| check.kind == CheckKind::Uat);
        tests.any(|check| check.outcome == CheckOutcome::Passed)
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Next {
    /// The action.
    pub action: Action,
    /// The phase; null for `ship`, `none` and `unknown`.
    pub phase: Option<PhaseNumber>,
    /// The workflow command for the action.
    pub command: String,
    /// Whether the alternative is almost as likely.
    pub conflict: bool,
    /// What else may be next; null if there is nothing.
    pub alternative: Option<Alternative>,
    /// The places of the facts that speak for it, in a conflict followed by those for the alternative; what was not
    /// understood, if it is unknown.
    pub because: Vec<String>,
    /// What says that another tool's planning folder exists, too, so that this one may not be meant.
    #[serde(skip)]
    pub(crate) unchosen: Option<String>,
}

/// Another action that may be next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Alternative {
    /// The action.
    pub action: Action,
    /// The phase of that action.
    pub phase: Option<PhaseNumber>,
    /// The workflow command for the action.
    pub command: String,
    /// The places of the facts that speak for it.
    pub because: Vec<String>,
    /// Whether the file of a check asks for it, not only STATE.md.
    #[serde(skip)]
    pub(crate) is_from_check: bool,
}

impl Next {
    /// Returns the alternative that is almost as likely.
    pub fn rival(&self) -> Option<&Alternative> {
        self.alternative.as_ref().filter(|_| self.conflict)
    }

    /// Returns the command that a check asks for by its own file, and that place, unless it contests the action.
    pub fn also_open(&self) -> Option<String> {
        let check = self.alternative.as_ref().filter(|one| one.is_from_check && !self.conflict)?;
        Some(format!("{} ({})", check.command, first_place(&check.because)))
    }

    /// Returns a sentence about what contests the action, or why it is unknown; `None` if nothing does.
    pub fn contest(&self) -> Option<String> {
        let own = first_place(&self.because);
        if self.action == Action::Unknown {
            return Some(format!(
                "the files were not understood, so what comes next is unknown: {own}"
            ));
        }
        let Some(rival) = self.rival() else { return self.unchosen.clone() };
        let reason = first_place(&rival.because);
        // The command comes first, so that truncation does not remove it.
        Some(format!(
            "perhaps {} comes next, since {reason}, but {own}; check before you act",
            rival.command
        ))
    }
}

/// Returns the place of the fact that speaks most for an action.
pub(super) fn first_place(because: &[String]) -> &str {
    because.first().map_or("", String::as_str)
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

    /// Returns the phases with a number, which several folders may have.
    pub(crate) fn with_number(&self, number: &PhaseNumber) -> impl Iterator<Item = &Phase> {
        let start = self.phases.partition_point(|phase| phase.number < *number);
        self.phases[start..].iter().take_while(move |phase| phase.number == *number)
    }

    /// Returns the only phase with a number.
    pub(super) fn only(&self, number: &PhaseNumber) -> Option<&Phase> {
        let mut found = self.with_number(number);
        found.next().filter(|_| found.next().is_none())
    }

    /// Returns whether a phase precedes the current one.
    pub(super) fn is_passed(&self, phase: &Phase) -> bool {
        self.phase().is_some_and(|current| phase.number < current.number)
    }

    /// Returns the number of phases of the active milestone, without dropped ones.
    pub fn total(&self) -> usize {
        self.kept().count()
    }

    /// Returns the overall progress in percent, rounded down, as the average of the phases' shares of complete plans.
    pub fn percent(&self) -> usize {
        let total = self.total().max(1);
        // Each share was rounded down by less than 1.
        (self.kept().map(Phase::share_done).sum::<usize>() + total - 1) * 100 / (total * WHOLE)
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

/// A phase that is complete, as a number that most numbers of plans divide.
const WHOLE: usize = 10_000_000;

/// Returns the letters and digits of a name in lower case, to compare names despite other punctuation.
pub(crate) fn letters(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Returns whether a folder's name and the roadmap's may be of the same phase: they have a word or its stem in common, or
/// cannot be compared.
pub(crate) fn may_be_same(folder: &str, planned: &str) -> bool {
    let [own, planned] = [folder, planned].map(document::title_words);
    let is_similar = |one: &str, other: &str| {
        let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b);
        one == other || same.count() >= SAME_STEM
    };
    // Folders have ASCII names, so that a word of another script cannot be compared.
    let is_foreign = planned.iter().any(|word| !word.contains(|c: char| c.is_ascii()));
    let letters = own.concat();
    // `pruefung`, `prufung` and `prfung` have the ASCII parts of `prüfung` in their order.
    let has_ascii_parts = |word: &str| {
        let mut parts = word.split(|c: char| !c.is_ascii());
        parts.try_fold(&*letters, |rest, part| Some(rest.split_once(part)?.1)).is_some()
    };
    let is_same = |word: &String| {
        own.iter().any(|own| is_similar(own, word)) || !word.is_ascii() && has_ascii_parts(word)
    };
    own.is_empty() || planned.is_empty() || is_foreign || planned.iter().any(is_same)
}

/// Returns the name of a phase that is over: the roadmap's, or the folder's if the two have no word in common.
///
/// Roadmaps that retell shipped milestones may give a number's name to other work than its folder contains.
pub(crate) fn name_of_past_phase<'a>(folder: &'a str, planned: Option<&'a str>) -> &'a str {
    planned.filter(|name| may_be_same(folder, name)).unwrap_or(folder)
}

/// Number of equal characters at the start of two forms of a word: `config`, `configuration`.
const SAME_STEM: usize = 4;
