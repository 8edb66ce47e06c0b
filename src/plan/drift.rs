//! Finds statements of STATE.md and ROADMAP.md that contradict the files, with what is to be written over them, and plans
//! that were left behind.

use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;

use serde::Serialize;

use crate::plan::phase::Counts;
use crate::plan::repair::{Move, is_plain, template_status};
use crate::plan::rules::names_step;
use crate::plan::{
    Action, Claim, Located, Phase, PhaseNumber, PhaseProgress, PhaseState, PlanState, Position,
    ProgressRow, RoadmapPhase, Says, Survey, phase_in_status,
};
use crate::project::vocabulary;
use crate::text::clip;

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

/// A contradicted statement, with its place and what is to be written over it.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    /// The statement for reports.
    pub(super) drift: Drift,
    /// Byte range of the statement in the file.
    pub(super) range: Range<usize>,
    /// The correct text; `None` if only a person can say what belongs there.
    pub(super) written: Option<String>,
    /// The index of its phase in [`Position::phases`]; `None` if it is about all phases.
    pub(super) phase: Option<usize>,
    /// Whether it is only wrong because another statement is, so that it is not reported by itself.
    pub(super) is_dependent: bool,
}

/// Returns the statements of STATE.md, then of ROADMAP.md, that contradict the files, in file order, then the
/// plans that were left behind.
pub fn drift(survey: &Survey) -> Vec<Drift> {
    let position = &survey.position;
    let is_over = |index: usize, phase: &Phase| match phase.state {
        PhaseState::Done => true,
        // Its plans are not to be done.
        PhaseState::Dropped => false,
        _ => is_passed(position, index),
    };
    let phases = position.phases.iter().enumerate();
    let left = phases.filter(|(index, phase)| phase.is_in_milestone && is_over(*index, phase));
    statements(survey).chain(left.flat_map(|(_, phase)| left_plans(survey, phase))).collect()
}

/// Returns the statements of STATE.md, then of ROADMAP.md, that contradict the files, in file order.
pub(super) fn statements(survey: &Survey) -> impl Iterator<Item = Drift> {
    let found = findings(survey).into_iter().flatten();
    found.filter(|finding| !finding.is_dependent).map(|finding| finding.drift)
}

/// Returns the contradicted statements of STATE.md, and those of ROADMAP.md, in file order.
pub(super) fn findings(survey: &Survey) -> [Vec<Finding>; 2] {
    if survey.position.next.action == Action::Unknown {
        // What was not understood may be what the statements are about.
        return [Vec::new(), Vec::new()];
    }
    let mut state = Comparison::new(survey, vocabulary::STATE);
    state.state();
    let mut roadmap = Comparison::new(survey, vocabulary::ROADMAP);
    roadmap.roadmap();
    [state, roadmap].map(|mut comparison| {
        comparison.found.sort_by_key(|finding| finding.drift.line);
        comparison.found
    })
}

/// Returns whether a phase precedes the current one.
fn is_passed(position: &Position, index: usize) -> bool {
    position.phase().is_some_and(|current| position.phases[index].number < current.number)
}

fn left_plans(survey: &Survey, phase: &Phase) -> Vec<Drift> {
    let number = &phase.number;
    let reason = match phase.state {
        PhaseState::Done => format!("phase {number} is called complete"),
        _ => format!("the work has moved on from phase {number}"),
    };
    let open = phase.plans.iter().filter(|(_, state)| *state == PlanState::Open);
    let left = open.filter_map(|(slot, _)| {
        let file = phase.dir.as_ref()?.join(slot.plan.as_ref()?);
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

/// Returns whether the files do not determine the number of plans of a phase: some were left behind.
fn has_unclear_counts(phase: &Phase) -> bool {
    phase.state == PhaseState::Done && phase.has_open_plan()
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

/// A statement to compare: its kind, its subject, its line and bytes, and its phase.
type Place<'p> = (DriftKind, &'static str, usize, &'p Range<usize>, Option<usize>);

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

    /// Adds a statement unless it says what the files show.
    fn report(
        &mut self,
        place: Place<'_>,
        stated: String,
        actual: String,
        written: Option<String>,
    ) {
        let (kind, subject, line, range, phase) = place;
        if stated != actual {
            let drift = Drift { kind, subject, stated, actual, file: self.file.clone(), line };
            let range = range.clone();
            self.found.push(Finding { drift, range, written, phase, is_dependent: false });
        }
    }

    /// Compares the statements of STATE.md; without any phase folder, there is nothing to compare with.
    fn state(&mut self) {
        let (survey, position) = (self.survey, self.position);
        let state = &survey.state;
        if position.phases.iter().all(|phase| phase.dir.is_none()) {
            return;
        }
        let just_done = self.just_done();
        let is_accepted = |number: &PhaseNumber| {
            just_done.is_some_and(|index| position.phases[index].number == *number)
                || position.phase().is_none_or(|current| current.number == *number)
                || may_be_checked(position, number)
        };
        let is_wrong = |claim: &&Located<Claim>| matches!(&claim.value, Claim::Phase(number) if !is_accepted(number));
        let wrong: Vec<&Located<Claim>> = state.claims.iter().filter(is_wrong).collect();
        let moved = position.phase().filter(|_| !wrong.is_empty());
        let moved = moved.map(|phase| Move::new(survey, phase, &wrong));
        let here = self.stated_phase().filter(|_| moved.is_none());
        for claim in &state.claims {
            if let Some(finding) = moved.as_ref().and_then(|moved| self.moved(moved, claim)) {
                self.found.push(finding);
                continue;
            }
            match &claim.value {
                Claim::Text(Says::Status | Says::PhaseStatus, status) => {
                    let index = self.subject(status);
                    let status = claim.clone().map(|_| status.clone());
                    if let Some(index) = index {
                        self.status(&status, index);
                    }
                }
                Claim::Count(says, count) => self.number(*says, *count as usize, claim, here),
                Claim::Phase(_) | Claim::Text(..) => {}
            }
        }
        for listed in &state.phase_statuses {
            if let Some(index) = self.phase_of(&listed.number) {
                self.status(&listed.status, index);
            }
        }
        // Where the phase stays for a person, so does what is said beside it.
        if moved.is_some_and(|moved| !moved.is_clear) {
            self.found.iter_mut().for_each(|finding| finding.written = None);
        }
    }

    /// Returns what becomes of a statement about the phase that STATE.md wrongly calls the current one; `None` if it
    /// stays.
    fn moved(&self, moved: &Move<'_>, claim: &Located<Claim>) -> Option<Finding> {
        let new = moved.value(claim)?;
        let (kind, subject, stated, is_dependent) = match &claim.value {
            Claim::Phase(number) => {
                (DriftKind::Phase, "the current phase", number.to_string(), false)
            }
            Claim::Text(Says::Status | Says::PhaseStatus, status) => {
                let expected = self.subject(status).and_then(|index| self.expected(status, index));
                (DriftKind::Status, STATUS, status.clone(), expected.is_none())
            }
            Claim::Text(_, text) => (DriftKind::Phase, "the name", text.clone(), true),
            Claim::Count(_, count) => (DriftKind::Plans, "the plan", count.to_string(), true),
        };
        let actual = match &claim.value {
            Claim::Phase(_) => moved.phase.number.to_string(),
            _ => new.clone(),
        };
        let (file, line) = (self.file.clone(), claim.line);
        Some(Finding {
            drift: Drift { kind, subject, stated, actual, file, line },
            range: claim.range.clone(),
            written: moved.is_clear.then_some(new),
            phase: self.position.current,
            is_dependent,
        })
    }

    /// Returns the phase that a status of STATE.md is about: the one that it names, else the one just completed, else the
    /// current one.
    fn subject(&self, status: &str) -> Option<usize> {
        match phase_in_status(status, self.survey.state.numbering).0 {
            Some(number) => self.phase_of(&number),
            None => self.just_done().or(self.position.current),
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
            .any(|one| PhaseProgress::is_complete_status(phase_in_status(one, state.numbering).1));
        let is_next = self.position.next.action == Action::Plan && says_complete;
        let is_done = self.position.phases[before].state == PhaseState::Done;
        (is_next && is_done && self.stated_phase() == Some(before)).then_some(before)
    }

    /// Compares a number with the files; `here` is the phase whose plans STATE.md counts.
    fn number(&mut self, says: Says, stated: usize, claim: &Located<Claim>, here: Option<usize>) {
        let position = self.position;
        let (kind, subject) = match says {
            Says::Total => (DriftKind::Total, "the number of phases"),
            Says::PhasesDone => (DriftKind::Total, "the number of complete phases"),
            Says::Percent => (DriftKind::Percent, "the progress in percent"),
            Says::PlansDone => (DriftKind::Plans, "the number of complete plans in the phase"),
            Says::PlansTotal => (DriftKind::Plans, "the number of plans in the phase"),
            Says::CurrentPlan => (DriftKind::Plans, "the current plan"),
            Says::AllPlansDone => (DriftKind::Plans, "the number of complete plans"),
            Says::AllPlansTotal => (DriftKind::Plans, "the total number of plans"),
            _ => return,
        };
        let is_of_phase = matches!(says, Says::PlansDone | Says::PlansTotal | Says::CurrentPlan);
        // A milestone without phases has nothing to count; where none is active, folders may be of several.
        if !is_of_phase && (position.next.action == Action::None || position.total() == 0) {
            return;
        }
        let actual = if says == Says::Percent {
            self.corrected_percent(stated, claim.line, here)
        } else {
            self.corrected(says, stated, here)
        };
        if let Some(actual) = actual.map(|actual| actual.to_string()) {
            let place = (kind, subject, claim.line, &claim.range, here.filter(|_| is_of_phase));
            self.report(place, stated.to_string(), actual.clone(), Some(actual));
        }
    }

    /// Compares a status with the state of a phase; unclear wordings are accepted.
    fn status(&mut self, stated: &Located<String>, index: usize) {
        let phase = &self.position.phases[index];
        let Some(progress) = self.expected(&stated.value, index) else { return };
        if phase.dir.is_some() {
            let actual = template_status("Not started", progress, None).to_lowercase();
            let written = template_status(&stated.value, progress, Some(phase));
            let written = is_plain(&stated.value).then_some(written);
            let place = (DriftKind::Status, STATUS, stated.line, &stated.range, Some(index));
            self.report(place, stated.value.clone(), actual, written);
        }
    }

    /// Returns the progress of a phase that a status contradicts; `None` if it may stay.
    fn expected(&self, stated: &str, index: usize) -> Option<PhaseProgress> {
        let phase = &self.position.phases[index];
        let words = phase_in_status(stated, phase.number.numbering()).1;
        let says_complete = PhaseProgress::is_complete_status(words);
        let says_open = PhaseProgress::is_open_status(words) && !names_step(words);
        let waits = phase.awaits_check || may_be_checked(self.position, &phase.number);
        match phase.state {
            PhaseState::Done if says_open && !waits => Some(PhaseProgress::Complete),
            PhaseState::Open | PhaseState::Running
                if says_complete && !is_passed(self.position, index) =>
            {
                Some(PhaseProgress::InProgress)
            }
            PhaseState::Unplanned if says_complete => Some(PhaseProgress::NotStarted),
            _ => None,
        }
    }

    /// Returns the possible values of a number of phases or plans; `None` if the files do not determine it.
    fn possible(&self, says: Says, here: Option<usize>) -> Option<RangeInclusive<usize>> {
        let position = self.position;
        let here = here.map(|index| &position.phases[index]);
        let here = here.filter(|phase| !has_unclear_counts(phase)).map(Phase::counts);
        Some(match says {
            Says::Total => position.total()..=position.total(),
            // Those that wait for a check may be left out, and those of earlier milestones included.
            Says::PhasesDone => {
                let awaiting = position.members().filter(|phase| phase.awaits_check).count();
                position.done().saturating_sub(awaiting)..=usize::MAX
            }
            Says::PlansDone => here?.done,
            Says::PlansTotal => here?.all,
            // The last complete one, or the next.
            Says::CurrentPlan => here.map(|here| *here.done.start()..=here.done.end() + 1)?,
            Says::AllPlansDone | Says::AllPlansTotal => {
                let Counts { done, all } = Counts::sum(position.members());
                // Plans of earlier milestones may be included.
                let first = position.members().map(|phase| phase.number.whole()).min();
                let has_earlier =
                    first > Some(1) || position.phases.iter().any(|phase| !phase.is_in_milestone);
                let range = if says == Says::AllPlansDone { done } else { all.clone() };
                let end = if has_earlier { usize::MAX } else { *range.end() };
                (*all.end() > 0).then_some(*range.start()..=end)?
            }
            _ => return None,
        })
    }

    /// Returns the correct value of a number; `None` if the stated one is possible.
    fn corrected(&self, says: Says, stated: usize, here: Option<usize>) -> Option<usize> {
        let range = self.possible(says, here)?;
        let phase = here.map(|index| &self.position.phases[index]);
        let is_kept = match says {
            Says::Total => is_a_count(self.position, stated),
            // `Plan: 21 of 21` may count the plans of all phases.
            Says::PlansDone | Says::PlansTotal | Says::CurrentPlan => {
                let counts_all =
                    |all: Counts| [*all.done.start(), *all.all.start()].contains(&stated);
                phase.is_some_and(|phase| stated > phase.plans.len())
                    && counts_all(Counts::sum(&self.position.phases))
            }
            _ => false,
        };
        let next = phase.map(|phase| phase.plans.len().min(range.start() + 1));
        let correct = next.filter(|_| says == Says::CurrentPlan).unwrap_or(*range.start());
        (!is_kept && !range.contains(&stated)).then_some(correct)
    }

    /// Returns the correct value of a percentage; `None` if it is at least the least of the measures that templates use,
    /// and not 100 while work is left.
    fn corrected_percent(&self, stated: usize, line: usize, here: Option<usize>) -> Option<usize> {
        const PAIRS: [(Says, Says); 3] = [
            (Says::PhasesDone, Says::Total),
            (Says::AllPlansDone, Says::AllPlansTotal),
            (Says::PlansDone, Says::PlansTotal),
        ];
        let (position, claims) = (self.position, &self.survey.state.claims);
        // In `78% (7 of 8 phases)`, the percentage cannot be corrected without the counts.
        if claims.iter().any(|one| one.line == line && one.value.count(Says::Share).is_some()) {
            return None;
        }
        let count = |says| {
            let stated = claims.iter().find_map(|claim| claim.value.count(says))? as usize;
            Some(self.corrected(says, stated, here).unwrap_or(stated))
        };
        // The stated counts are the measure, once corrected.
        let counted = PAIRS.iter().filter_map(|(done, all)| share(count(*done)?, count(*all)?));
        let mut measures: Vec<usize> = counted.collect();
        if measures.is_empty() {
            let of_phases = share(position.done(), position.total()).unwrap_or(0);
            measures.extend([of_phases, position.percent_of_plans() as usize]);
        }
        // A phase without plans has no progress yet.
        let here = here.map_or(0, |index| {
            let phase = &position.phases[index];
            share(phase.count(PlanState::Complete), phase.plans.len()).unwrap_or(0)
        });
        let others = [here, position.percent() as usize];
        let mut may_be = measures.iter().chain(&others);
        if may_be.any(|measure| measure.abs_diff(stated) <= 1) {
            return None;
        }
        let least = measures.iter().min().copied()?;
        let most = measures.iter().filter(|measure| **measure < 100).max().copied();
        if stated < least { Some(least) } else { most.filter(|_| stated >= 100) }
    }

    /// Compares the checkboxes and the rows of ROADMAP.md.
    fn roadmap(&mut self) {
        let mut folders: HashMap<&PhaseNumber, Vec<usize>> = HashMap::new();
        for (index, phase) in self.position.phases.iter().enumerate() {
            if phase.dir.is_some() && phase.has_plans() && !phase.is_old {
                folders.entry(&phase.number).or_default().push(index);
            }
        }
        // Shipped phases are history, and of two folders with a number it is unclear which one is meant.
        let to_do = self.survey.roadmap.phases.iter();
        for planned in to_do.filter(|planned| !planned.is_shipped) {
            if let Some([index]) = folders.get(&planned.number).map(Vec::as_slice) {
                self.checkbox(planned, *index);
                planned.row.iter().for_each(|row| self.row(row, *index));
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
        let is_kept = mark.value && planned.row.as_ref().is_some_and(is_dated);
        let show = |checked: bool| if checked { "[x]" } else { "[ ]" }.to_owned();
        let written = (!is_kept).then(|| if is_done { "x" } else { " " }.to_owned());
        let place = (DriftKind::Checkbox, "the checkbox", mark.line, &mark.range, Some(index));
        self.report(place, show(mark.value), show(is_done), written);
    }

    /// Compares a row. One that a template could not have written is left to a person, whole, and so is a dated one that
    /// calls a phase complete to which plans were added since.
    fn row(&mut self, row: &ProgressRow, index: usize) {
        let phase = &self.position.phases[index];
        if has_unclear_counts(phase) {
            return;
        }
        let stated = row.status.as_ref();
        let is_open = matches!(phase.state, PhaseState::Open | PhaseState::Running);
        let is_under_way = phase.awaits_check || is_open && phase.is_begun();
        let is_late = row.progress() == Some(PhaseProgress::NotStarted) && is_under_way;
        let correct = match stated {
            Some(_) if is_late => Some(PhaseProgress::InProgress),
            _ => stated.and_then(|stated| self.expected(&stated.value, index)),
        };
        let is_set_back = correct.is_some_and(|progress| progress != PhaseProgress::Complete);
        let is_kept =
            stated.is_some_and(|stated| !is_plain(&stated.value)) || is_set_back && is_dated(row);
        let place =
            |subject, range| (DriftKind::ProgressRow, subject, row.line, range, Some(index));
        if let Some(cell) = &row.plans
            && let Some(actual) = row_counts(row, &cell.value, phase)
        {
            let is_template = |c: char| c.is_ascii_digit() || "/? ".contains(c);
            let is_written = !is_kept && cell.value.replace("TBD", "").chars().all(is_template);
            let written = is_written.then(|| actual.clone());
            let place = place("the number of plans", &cell.range);
            self.report(place, cell.value.clone(), actual, written);
        }
        if let Some((stated, progress)) = stated.zip(correct) {
            let actual = template_status("Not started", progress, None);
            let written = template_status(&stated.value, progress, None);
            let written = (!is_kept).then_some(written);
            self.report(place(STATUS, &stated.range), stated.value.clone(), actual, written);
        }
    }
}

/// Returns whether a row calls its phase complete on a date.
fn is_dated(row: &ProgressRow) -> bool {
    let date = row.completed.as_ref().map_or("", |cell| &cell.value);
    row.progress() == Some(PhaseProgress::Complete) && date.contains(|c: char| c.is_ascii_digit())
}

/// Returns what the cell of a row should count; `None` if what it counts is possible.
fn row_counts(row: &ProgressRow, cell: &str, phase: &Phase) -> Option<String> {
    let counts = phase.counts();
    // More plans may be complete than were committed, but not fewer.
    let most = match phase.state {
        PhaseState::Running => phase.plans_expected(),
        _ => *counts.done.end(),
    };
    let done =
        row.plans_complete.filter(|done| (*counts.done.start()..=most).contains(&(*done as usize)));
    let all = row.plans_total.filter(|all| counts.all.contains(&(*all as usize)));
    let right_done = done.map_or(phase.count(PlanState::Complete), |done| done as usize);
    let right_all = all.map_or(phase.plans_expected(), |all| all as usize);
    match (row.plans_complete, row.plans_total) {
        (Some(_), Some(_)) if done.is_some() && all.is_some() => None,
        (Some(_), None) if !cell.contains('/') => Some(right_done.to_string()),
        (None, Some(_)) => Some(right_all.to_string()),
        _ => Some(format!("{right_done}/{right_all}")),
    }
}

/// Returns whether a total is a plausible count of the phases, or would be below the current one: numbering continues
/// across milestones, or folders are missing.
fn is_a_count(position: &Position, stated: usize) -> bool {
    let ordinal = |phase: &Phase| phase.number.ordinal() as usize;
    let folders = position.phases.iter().filter(|phase| phase.dir.is_some()).count();
    let last = position.phases.iter().map(ordinal).max().unwrap_or(0);
    [position.total(), position.phases.len(), folders, last].contains(&stated)
        || position.phase().is_some_and(|phase| ordinal(phase) > position.total())
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
