//! Finds statements of STATE.md and ROADMAP.md that contradict the files, and plans that were left behind.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Display;
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;

use serde::Serialize;

use crate::plan::{
    Action, Claim, Located, Phase, PhaseNumber, PhaseNumbering, PhaseProgress, PhaseState,
    PlanState, Position, ProgressRow, RoadmapPhase, Survey,
};
use crate::project::vocabulary;
use crate::text::{clip, strip_prefix_ignore_case};

/// Maximum width of a displayed value; longer ones are truncated.
const MAX_VALUE_LENGTH: usize = 160;

/// The subject of a plan without a summary: a file rather than a statement.
const PLAN: &str = "the plan";

/// The subject of a status, which is displayed in quotes.
const STATUS: &str = "the status";

/// The kind of a contradicted statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DriftKind {
    /// The current phase.
    Phase,
    /// Number of phases.
    Total,
    /// Number of plans or of complete plans.
    Plans,
    /// The progress.
    Percent,
    /// The status of a phase.
    Status,
    /// A phase's checkbox in the roadmap.
    Checkbox,
    /// A phase's row in the roadmap's progress table.
    ProgressRow,
    /// A performance metric.
    Metric,
}

/// A statement that contradicts the files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Drift {
    /// The kind of statement.
    pub kind: DriftKind,
    /// The subject of the statement, in words: `the current phase`.
    #[serde(skip)]
    pub subject: &'static str,
    /// The stated value.
    pub stated: String,
    /// The value according to the files.
    pub actual: String,
    /// The file with the statement, relative to the project's root.
    pub file: PathBuf,
    /// Line number of the statement, from 1.
    pub line: usize,
}

impl Drift {
    /// Returns whether it is a plan that was left without a summary, not a statement.
    pub(crate) fn is_left_plan(&self) -> bool {
        self.subject == PLAN
    }

    /// Returns a sentence with the stated and the actual value; the caller prints file and line before it.
    pub fn sentence(&self) -> String {
        let (stated, actual) =
            (clip(&self.stated, MAX_VALUE_LENGTH), clip(&self.actual, MAX_VALUE_LENGTH));
        match self.subject {
            PLAN => format!("{stated} has {actual}"),
            STATUS => format!("{STATUS} is {stated:?}, but the files show {actual:?}"),
            subject => format!("{subject} is {stated}, but the files show {actual}"),
        }
    }
}

/// A contradicted statement, with its place and its correct value.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    /// The statement for reports.
    pub(super) drift: Drift,
    /// Byte range of the statement in the file.
    pub(super) range: Range<usize>,
    /// The correct value.
    pub(super) correct: Expected,
    /// The index of its phase in [`Position::phases`]; `None` if it is about all phases.
    pub(super) phase: Option<usize>,
}

/// The correct value of a statement, according to the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// The current phase.
    Phase(PhaseNumber),
    /// A number of phases or plans, or a percentage.
    Count(usize),
    /// A status.
    Status(PhaseProgress),
    /// Whether a checkbox is checked.
    Mark(bool),
    /// The number of complete plans, and of all plans.
    Counts(usize, usize),
}

/// Returns the statements of STATE.md, then of ROADMAP.md, that contradict the files, in file order, then the
/// plans that were left behind.
pub fn drift(survey: &Survey) -> Vec<Drift> {
    let position = &survey.position;
    let left = position.phases.iter().enumerate().filter(|(index, phase)| {
        let is_over = match phase.state {
            PhaseState::Done => true,
            // Its plans are not to be done.
            PhaseState::Dropped => false,
            _ => is_passed(position, *index),
        };
        phase.is_in_milestone && is_over
    });
    let left = left.flat_map(|(_, phase)| left_plans(survey, phase));
    statements(survey).into_iter().chain(left).collect()
}

/// Returns the statements of STATE.md, then of ROADMAP.md, that contradict the files, in file order.
pub(super) fn statements(survey: &Survey) -> Vec<Drift> {
    findings(survey).into_iter().flatten().map(|finding| finding.drift).collect()
}

/// Returns the contradicted statements of STATE.md, and those of ROADMAP.md, in file order.
pub(super) fn findings(survey: &Survey) -> [Vec<Finding>; 2] {
    if survey.position.next.action == Action::Unknown {
        // What was not understood may be what the statements are about.
        return [Vec::new(), Vec::new()];
    }
    [vocabulary::STATE, vocabulary::ROADMAP].map(|name| {
        let mut comparison = Comparison::new(survey, name);
        if name == vocabulary::STATE {
            comparison.state();
        } else {
            comparison.roadmap();
        }
        comparison.found.sort_by_key(|finding| finding.drift.line);
        comparison.found
    })
}

/// Returns whether a phase precedes the current one.
fn is_passed(position: &Position, index: usize) -> bool {
    let number = &position.phases[index].number;
    let current = position.current.filter(|current| *current != index);
    current.is_some_and(|current| *number < position.phases[current].number)
}

fn left_plans(survey: &Survey, phase: &Phase) -> Vec<Drift> {
    let Some(dir) = &phase.dir else {
        return Vec::new();
    };
    let reason = if phase.state == PhaseState::Done {
        format!("phase {} is called complete", phase.number)
    } else {
        format!("the work has moved on from phase {}", phase.number)
    };
    let open = phase.plans.iter().filter(|(_, state)| *state == PlanState::Open);
    let left = open.filter_map(|(slot, _)| {
        let file = dir.join(slot.plan.as_ref()?);
        Some(Drift {
            kind: DriftKind::Plans,
            subject: PLAN,
            stated: format!("plan {}", slot.number),
            actual: format!("no summary, but {reason}"),
            file: file.strip_prefix(&survey.root).unwrap_or(&file).to_owned(),
            line: 1,
        })
    });
    left.collect()
}

/// Returns whether the files do not determine the number of plans of a phase: some were left behind, or more may follow.
fn has_unclear_counts(phase: &Phase) -> bool {
    phase.state == PhaseState::Running
        || phase.state == PhaseState::Done && phase.open_plans().next().is_some()
}

/// Compares the statements of a file with the files of the phases.
struct Comparison<'a> {
    survey: &'a Survey,
    position: &'a Position,
    file: PathBuf,
    /// The index of each number's phase; `None` if two have it.
    unique: HashMap<&'a PhaseNumber, Option<usize>>,
    found: Vec<Finding>,
}

/// A statement to compare: its kind, its place, and its phase.
struct Statement<'a> {
    kind: DriftKind,
    subject: &'static str,
    line: usize,
    range: &'a Range<usize>,
    phase: Option<usize>,
}

impl<'a> Comparison<'a> {
    fn new(survey: &'a Survey, name: &str) -> Self {
        let file = survey.folder.active.dir.join(name);
        let mut unique: HashMap<&PhaseNumber, Option<usize>> = HashMap::new();
        for (index, phase) in survey.position.phases.iter().enumerate() {
            let same = unique.entry(&phase.number).or_insert(Some(index));
            *same = same.filter(|other| *other == index);
        }
        let file = file.strip_prefix(&survey.root).unwrap_or(&file).to_owned();
        Self { survey, position: &survey.position, file, unique, found: Vec::new() }
    }

    fn phase_of(&self, number: &PhaseNumber) -> Option<usize> {
        self.unique.get(number).copied().flatten()
    }

    fn compare(
        &mut self,
        place: &Statement<'_>,
        stated: &dyn Display,
        actual: &dyn Display,
        correct: Expected,
    ) {
        let (stated, actual) = (stated.to_string(), actual.to_string());
        if stated != actual {
            let (kind, subject, file, line) =
                (place.kind, place.subject, self.file.clone(), place.line);
            let drift = Drift { kind, subject, stated, actual, file, line };
            let (range, phase) = (place.range.clone(), place.phase);
            self.found.push(Finding { drift, range, correct, phase });
        }
    }

    fn count(&mut self, place: &Statement<'_>, stated: u32, actual: usize) {
        self.compare(place, &stated, &actual, Expected::Count(actual));
    }

    /// Compares the statements of STATE.md.
    fn state(&mut self) {
        let state = &self.survey.state;
        if self.position.phases.iter().all(|phase| phase.dir.is_none()) {
            // Without any phase folder, there is nothing to compare with.
            return;
        }
        for claim in &state.claims {
            self.claim(claim);
        }
        for listed in &state.phase_statuses {
            if let Some(index) = self.phase_of(&listed.number) {
                self.status(&listed.status, index);
            }
        }
    }

    fn claim(&mut self, claim: &Located<Claim>) {
        let position = self.position;
        let is_over = position.next.action == Action::None || position.total() == 0;
        let place = |kind, phase| Statement {
            kind,
            subject: subject(&claim.value),
            line: claim.line,
            range: &claim.range,
            phase,
        };
        match &claim.value {
            Claim::Phase(stated) => {
                let just_done = self.just_done().map(|index| &position.phases[index].number);
                let is_left = just_done == Some(stated) || may_be_checked(position, stated);
                if let Some(current) = position.phase().filter(|_| !is_left) {
                    let place = place(DriftKind::Phase, position.current);
                    let correct = Expected::Phase(current.number.clone());
                    self.compare(&place, stated, &current.number, correct);
                }
            }
            Claim::Status(stated) | Claim::PhaseStatus(stated) => {
                // It is of the phase that it names, else of the one just completed, else of the current one.
                let index = match unprefixed(stated, self.survey.state.numbering).0 {
                    Some(number) => self.phase_of(&number),
                    None => self.just_done().or(position.current),
                };
                if let Some(index) = index {
                    self.status(&claim.clone().map(|_| stated.clone()), index);
                }
            }
            // A milestone without phases has nothing to count; where none is active, folders may be of several.
            Claim::Total(_)
            | Claim::Percent(_)
            | Claim::PhasesComplete(_)
            | Claim::AllPlansComplete(_)
            | Claim::AllPlansTotal(_)
                if is_over => {}
            Claim::Percent(stated) => {
                if let Some(correct) = self.corrected_percent(*stated, claim.line) {
                    self.count(&place(DriftKind::Percent, None), *stated, correct);
                }
            }
            value => {
                let here = self.stated_phase();
                let Some((stated, actual)) = self.possible(value, here) else { return };
                let (kind, phase) = match value {
                    Claim::Total(_) | Claim::PhasesComplete(_) => (DriftKind::Total, None),
                    Claim::AllPlansComplete(_) | Claim::AllPlansTotal(_) => {
                        (DriftKind::Plans, None)
                    }
                    _ => (DriftKind::Plans, here),
                };
                if !actual.contains(&(stated as usize)) {
                    self.count(&place(kind, phase), stated, *actual.start());
                }
            }
        }
    }

    /// Returns the phase that STATE.md names, if it has a folder and a unique number.
    fn stated_phase(&self) -> Option<usize> {
        let index = self.phase_of(self.survey.state.phase.number.as_ref()?)?;
        self.position.phases[index].dir.is_some().then_some(index)
    }

    /// Returns the phase before the current one, if STATE.md rightly calls it complete and has not moved on yet.
    fn just_done(&self) -> Option<usize> {
        let before = self.position.current?.checked_sub(1)?;
        let state = &self.survey.state;
        let mut statuses = state.claims.iter().filter_map(|claim| claim.value.status());
        let says_complete = statuses
            .any(|one| PhaseProgress::is_complete_status(unprefixed(one, state.numbering).1));
        let is_next = self.position.next.action == Action::Plan && says_complete;
        let is_done = self.position.phases[before].state == PhaseState::Done;
        (is_next && is_done && self.stated_phase() == Some(before)).then_some(before)
    }

    /// Compares a status with the state of a phase; unclear wordings are accepted.
    fn status(&mut self, stated: &Located<String>, index: usize) {
        let phase = &self.position.phases[index];
        let waits = phase.awaits_check || may_be_checked(self.position, &phase.number);
        let words = unprefixed(&stated.value, phase.number.numbering()).1;
        let says_complete = PhaseProgress::is_complete_status(words);
        let says_open = PhaseProgress::is_open_status(words) && !names_check(words);
        let (actual, correct) = match phase.state {
            _ if phase.dir.is_none() => return,
            PhaseState::Done if says_open && !waits => ("complete", PhaseProgress::Complete),
            PhaseState::Open | PhaseState::Running
                if says_complete && !is_passed(self.position, index) =>
            {
                ("in progress", PhaseProgress::InProgress)
            }
            PhaseState::Unplanned if says_complete => ("not planned", PhaseProgress::NotStarted),
            _ => return,
        };
        let place = Statement {
            kind: DriftKind::Status,
            subject: STATUS,
            line: stated.line,
            range: &stated.range,
            phase: Some(index),
        };
        self.compare(&place, &stated.value, &actual, Expected::Status(correct));
    }

    /// Returns a stated number of phases or plans and its possible values; `None` if the files do not determine it.
    fn possible(&self, claim: &Claim, here: Option<usize>) -> Option<(u32, RangeInclusive<usize>)> {
        let position = self.position;
        let here = here.map(|index| &position.phases[index]);
        let here = here.filter(|phase| !has_unclear_counts(phase));
        let of_all = |stated: u32| {
            let all = [Phase::complete_range, Phase::plans_range];
            let mut all = all.map(|count| *over_all(&position.phases, count).start()).into_iter();
            // `Plan: 21 of 21` may count the plans of all phases.
            let stated = stated as usize;
            here.is_some_and(|here| stated > here.plans.len()) && all.any(|count| count == stated)
        };
        Some(match claim {
            Claim::Total(stated) if is_a_count(position, *stated as usize) => return None,
            Claim::Total(stated) => (*stated, position.total()..=position.total()),
            Claim::PhasesComplete(stated) => {
                // Those that wait for a check may be left out, and those of earlier milestones included.
                let awaiting = position.members().filter(|phase| phase.awaits_check).count();
                (*stated, position.done().saturating_sub(awaiting)..=usize::MAX)
            }
            Claim::PlansComplete(stated)
            | Claim::PlansTotal(stated)
            | Claim::CurrentPlan(stated)
                if of_all(*stated) =>
            {
                return None;
            }
            Claim::PlansComplete(stated) => (*stated, here?.complete_range()),
            Claim::PlansTotal(stated) => (*stated, here?.plans_range()),
            Claim::CurrentPlan(stated) => {
                // The last complete one, or the next.
                let complete = here?.complete_range();
                let next = here?.plans.len().min(complete.start() + 1);
                let may_be = *complete.start()..=*complete.end() + 1;
                let is_right = may_be.contains(&(*stated as usize));
                (*stated, if is_right { may_be } else { next..=next })
            }
            Claim::AllPlansComplete(stated) => (*stated, self.of_milestone(Phase::complete_range)?),
            Claim::AllPlansTotal(stated) => (*stated, self.of_milestone(Phase::plans_range)?),
            _ => return None,
        })
    }

    /// Returns the range of a count over the milestone's phases; `None` if it has no plans. Plans of earlier milestones
    /// may be included, so then there is no upper bound.
    fn of_milestone(
        &self,
        count: fn(&Phase) -> RangeInclusive<usize>,
    ) -> Option<RangeInclusive<usize>> {
        let position = self.position;
        let has_plans = position.members().any(|phase| !phase.plans.is_empty());
        let first = position.members().map(|phase| phase.number.whole()).min();
        let has_earlier =
            first > Some(1) || position.phases.iter().any(|phase| !phase.is_in_milestone);
        let counted = over_all(position.members(), count);
        let most = if has_earlier { usize::MAX } else { *counted.end() };
        has_plans.then(|| *counted.start()..=most)
    }

    /// Returns the correct value of a percentage; `None` if it may be right by one of the measures that templates use.
    fn corrected_percent(&self, stated: u32, line: usize) -> Option<usize> {
        let (position, claims) = (self.position, &self.survey.state.claims);
        let on_line = claims.iter().filter(|claim| claim.line == line);
        // In `78% (7 of 8 phases)`, the percentage cannot be corrected without the counts.
        if on_line.into_iter().any(|claim| matches!(claim.value, Claim::Share(..))) {
            return None;
        }
        let of_phases = share(position.done(), position.total()).unwrap_or(0);
        let mut shares =
            vec![of_phases, position.percent() as usize, position.percent_of_plans() as usize];
        let all = |count| *over_all(&position.phases, count).start();
        shares.extend(share(all(Phase::complete_range), all(Phase::plans_range)));
        shares.extend(self.stated_shares());
        let here = self.stated_phase().map(|index| &position.phases[index]);
        if let Some(here) = here {
            let (done, plans) = (here.complete_range(), here.plans_range());
            let of_plans = |plans: usize| share(*done.start(), plans).unwrap_or(0);
            shares.extend([of_plans(*plans.start()), of_plans(*plans.end())]);
        }
        let stated = stated as usize;
        // VBW counts the plans of the phase alone, which has none yet when it has just moved on.
        let mut values = claims.iter().map(|claim| &claim.value);
        let has_none = stated == 0
            && here.is_none()
            && values.any(|value| matches!(value, Claim::PlansTotal(0)));
        if has_none || shares.iter().any(|share| share.abs_diff(stated) <= 1) {
            return None;
        }
        // The stated counts are the measure, once corrected.
        let mut measures = self.stated_shares();
        if measures.is_empty() {
            measures = vec![of_phases, position.percent_of_plans() as usize];
        }
        // If all plans so far are complete, that is 100 % only if no phases remain.
        measures.retain(|share| *share < 100 || of_phases == 100);
        let least = measures.iter().min().copied().unwrap_or(of_phases);
        if stated < least {
            return Some(least);
        }
        // One above may follow a measure that is not known here, unless work is left at 100 %.
        let is_over = stated >= 100 && of_phases < 100;
        is_over.then(|| measures.iter().max().copied().unwrap_or(of_phases))
    }

    /// Returns the ratios of the counts stated in STATE.md as percentages, each corrected according to the files.
    fn stated_shares(&self) -> Vec<usize> {
        type Pick = fn(&Claim) -> Option<u32>;
        macro_rules! count_of {
            ($claim:path) => {
                |claim| match claim {
                    $claim(count) => Some(*count),
                    _ => None,
                }
            };
        }
        const PAIRS: [(Pick, Pick); 3] = [
            (count_of!(Claim::PhasesComplete), count_of!(Claim::Total)),
            (count_of!(Claim::AllPlansComplete), count_of!(Claim::AllPlansTotal)),
            (count_of!(Claim::PlansComplete), count_of!(Claim::PlansTotal)),
        ];
        let here = self.stated_phase();
        let corrected = |pick: Pick| {
            let claims = self.survey.state.claims.iter();
            let (claim, stated) =
                claims.map(|one| &one.value).find_map(|one| Some((one, pick(one)? as usize)))?;
            let wrong = self.possible(claim, here).filter(|(_, range)| !range.contains(&stated));
            Some(wrong.map_or(stated, |(_, range)| *range.start()))
        };
        let shares = PAIRS.into_iter().map(|(done, all)| share(corrected(done)?, corrected(all)?));
        shares.flatten().collect()
    }

    /// Compares the checkboxes and the rows of ROADMAP.md.
    fn roadmap(&mut self) {
        let mut folders: HashMap<&PhaseNumber, Vec<usize>> = HashMap::new();
        for (index, phase) in self.position.phases.iter().enumerate() {
            if phase.dir.is_some() && !phase.plans.is_empty() && !phase.is_old {
                folders.entry(&phase.number).or_default().push(index);
            }
        }
        // Shipped phases are history, and of two folders with a number it is unclear which one is meant.
        let to_do = self.survey.roadmap.phases.iter();
        for planned in to_do.filter(|planned| !planned.is_shipped) {
            if let Some([index]) = folders.get(&planned.number).map(Vec::as_slice) {
                self.checkbox(planned, *index);
                if let Some(row) = &planned.row {
                    self.row(planned, row, *index);
                }
            }
        }
    }

    fn checkbox(&mut self, planned: &RoadmapPhase, index: usize) {
        let phase = &self.position.phases[index];
        // A phase that waits for a person is rightly left open.
        let Some(mark) = planned.checkbox.as_ref().filter(|_| !phase.awaits_check) else { return };
        // For a phase before the current one, a checked box is more reliable than a missing summary,
        // which may never have been committed.
        let is_done =
            phase.state == PhaseState::Done || mark.value && is_passed(self.position, index);
        // A phase that was passed over with an unfinished plan is not ticked off by a program.
        let is_unfinished = phase.count(PlanState::Partial) + phase.count(PlanState::Failed) > 0;
        if is_done && is_unfinished {
            return;
        }
        let place = Statement {
            kind: DriftKind::Checkbox,
            subject: "the checkbox",
            line: mark.line,
            range: &mark.range,
            phase: Some(index),
        };
        let show = |checked| if checked { "[x]" } else { "[ ]" };
        self.compare(&place, &show(mark.value), &show(is_done), Expected::Mark(is_done));
    }

    fn row(&mut self, planned: &RoadmapPhase, row: &ProgressRow, index: usize) {
        let phase = &self.position.phases[index];
        let is_running = phase.state == PhaseState::Running && phase.declared.is_some();
        if has_unclear_counts(phase) && !is_running {
            return;
        }
        let place = |subject, range| Statement {
            kind: DriftKind::ProgressRow,
            subject,
            line: row.line,
            range,
            phase: Some(index),
        };
        if let Some(cell) = &row.plans {
            let place = place("the number of plans", &cell.range);
            self.row_counts(&place, planned, row, &cell.value, phase);
        }
        let is_passed = is_passed(self.position, index);
        if let Some(status) = &row.status
            && let Some((actual, correct)) = row_status(&status.value, phase, is_passed)
        {
            let place = place(STATUS, &status.range);
            self.compare(&place, &status.value, &actual, Expected::Status(correct));
        }
    }

    /// Compares the counts of a row's cell; possible values are kept.
    fn row_counts(
        &mut self,
        place: &Statement<'_>,
        planned: &RoadmapPhase,
        row: &ProgressRow,
        cell: &str,
        phase: &Phase,
    ) {
        let [done, all] =
            [row.plans_complete, row.plans_total].map(|count| count.map(|count| count as usize));
        // One summary may stand for several plans of the phase's own list.
        let ticked = planned.plans.iter().filter(|plan| plan.checked == Some(true)).count();
        let listed = planned.plans.len();
        if listed > phase.plans.len() && done == Some(ticked) && all == Some(listed) {
            return;
        }
        let complete = phase.complete_range();
        // More plans may be complete than were committed, but not fewer.
        let most = match phase.state {
            PhaseState::Running => phase.plans_expected(),
            _ => *complete.end(),
        };
        let kept_done = done.filter(|done| (*complete.start()..=most).contains(done));
        let kept_all = all.filter(|all| phase.plans_range().contains(all));
        if kept_done.is_some() && kept_all.is_some() {
            return;
        }
        let complete = kept_done.unwrap_or_else(|| phase.count(PlanState::Complete));
        let total = kept_all.unwrap_or(phase.plans_expected());
        match (row.plans_complete, row.plans_total) {
            (Some(done), None) if !cell.contains('/') => self.count(place, done, complete),
            // Before the first plan is complete, `0/TBD` states nothing.
            (Some(done), None) if complete == done as usize => {}
            (None, Some(all)) => self.count(place, all, total),
            (stated_done, stated_all) => {
                let stated = match (stated_done, stated_all) {
                    (Some(done), Some(all)) => format!("{done}/{all}"),
                    _ => cell.to_owned(),
                };
                let actual = format!("{complete}/{total}");
                self.compare(place, &stated, &actual, Expected::Counts(complete, total));
            }
        }
    }
}

/// Returns the subject of a claim, in words.
fn subject(claim: &Claim) -> &'static str {
    match claim {
        Claim::Total(_) => "the number of phases",
        Claim::PhasesComplete(_) => "the number of complete phases",
        Claim::Percent(_) => "the progress in percent",
        Claim::Status(_) | Claim::PhaseStatus(_) => STATUS,
        Claim::PlansComplete(_) => "the number of complete plans in the phase",
        Claim::PlansTotal(_) => "the number of plans in the phase",
        Claim::CurrentPlan(_) => "the current plan",
        Claim::AllPlansComplete(_) => "the number of complete plans",
        Claim::AllPlansTotal(_) => "the total number of plans",
        _ => "the current phase",
    }
}

/// Returns the correct status for a row, or `None` if the stated one may stay.
fn row_status(
    stated: &str,
    phase: &Phase,
    is_passed: bool,
) -> Option<(&'static str, PhaseProgress)> {
    let says_complete = PhaseProgress::is_complete_status(stated);
    let says_open = PhaseProgress::is_open_status(stated) && !names_check(stated);
    let is_new = PhaseProgress::parse(stated) == Some(PhaseProgress::NotStarted);
    let is_complete = phase.state == PhaseState::Done && !phase.awaits_check;
    Some(match phase.state {
        PhaseState::Done if is_complete && says_open => ("Complete", PhaseProgress::Complete),
        PhaseState::Done if !is_complete && is_new => ("In progress", PhaseProgress::InProgress),
        PhaseState::Open | PhaseState::Running
            if says_complete && !is_passed || phase.is_begun() && is_new =>
        {
            ("In progress", PhaseProgress::InProgress)
        }
        PhaseState::Unplanned if says_complete => ("Not started", PhaseProgress::NotStarted),
        _ => return None,
    })
}

/// Returns whether a total is a plausible count of the phases, or would be below the current one: numbering continues
/// across milestones, or folders are missing.
fn is_a_count(position: &Position, stated: usize) -> bool {
    let ordinals = position.phases.iter().map(|phase| phase.number.ordinal() as usize);
    let whole: BTreeSet<PhaseNumber> =
        position.phases.iter().map(|phase| phase.number.sibling(phase.number.ordinal())).collect();
    let folders = position.phases.iter().filter(|phase| phase.dir.is_some()).count();
    let current = position.phase().map_or(0, |phase| phase.number.ordinal() as usize);
    [position.total(), position.phases.len(), folders, whole.len()].contains(&stated)
        || Some(stated) == ordinals.max()
        || current > position.total()
}

/// Sums a count over phases; plans of completed phases that were declared but never committed may be included.
fn over_all<'a>(
    phases: impl IntoIterator<Item = &'a Phase>,
    count: fn(&Phase) -> RangeInclusive<usize>,
) -> RangeInclusive<usize> {
    let (mut least, mut most) = (0, 0);
    for phase in phases {
        let counted = count(phase);
        let declared = match phase.state {
            PhaseState::Done => phase.plans.len().max(phase.declared.unwrap_or(0)),
            _ => 0,
        };
        // The plans of a dropped phase need not be done, but STATE.md may count them.
        least += if phase.state == PhaseState::Dropped { 0 } else { *counted.start() };
        most += declared.max(*counted.end());
    }
    least..=most
}

/// Returns a ratio in percent, at most 100; `None` if `all` is 0.
fn share(done: usize, all: usize) -> Option<usize> {
    (done * 100).checked_div(all).map(|share| share.min(100))
}

/// Returns whether a check of a phase is next, or may be.
fn may_be_checked(position: &Position, number: &PhaseNumber) -> bool {
    let next = &position.next;
    let other = next.alternative.as_ref().map(|other| (other.action, other.phase.as_ref()));
    let mut actions = [Some((next.action, next.phase.as_ref())), other].into_iter().flatten();
    actions.any(|(action, of)| {
        matches!(action, Action::Verify | Action::Remediate) && of == Some(number)
    })
}

/// Splits a status such as `Phase 3 complete` into the named phase and the rest.
pub(super) fn unprefixed(status: &str, numbering: PhaseNumbering) -> (Option<PhaseNumber>, &str) {
    let named = strip_prefix_ignore_case(status, "phase ")
        .and_then(|rest| numbering.split(rest.trim_start()));
    match named {
        Some((number, rest)) => {
            let is_between = |c: char| {
                c.is_whitespace() || matches!(c, ':' | '-' | '\u{2013}' | '\u{2014}' | '(')
            };
            (Some(number), rest.trim_start_matches(is_between))
        }
        None => (None, status),
    }
}

/// Returns whether a status names a step that follows the last plan, which no file can contradict.
fn names_check(status: &str) -> bool {
    const CHECKS: &[&str] =
        &["verif", "remediation", "ship", "milestone", "archiv", "review", "uat", "audit"];
    let lower = status.to_lowercase();
    CHECKS.iter().any(|word| lower.contains(word))
}
