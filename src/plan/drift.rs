//! Finds statements of STATE.md and ROADMAP.md that contradict the files, with what is to be written over them, and plans
//! that were left behind.
//!
//! Only what the planning tools' own templates could have written is written over, in the words of these templates.
//! Metrics are compared with the summaries.

use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::clock::{Minutes, TimeUnit};
use crate::error::Result;
use crate::plan::phase::Counts;
use crate::plan::read::vocabulary::has;
use crate::plan::rules::names_step;
use crate::plan::{
    Action, Claim, Located, Phase, PhaseNumber, PhaseProgress, PhaseState, PlanState, Position,
    ProgressRow, RoadmapPhase, Says, Summary, Survey,
};
use crate::project::{LayoutName, vocabulary};
use crate::search::to_f64;
use crate::storage::read;
use crate::text::{clip, fold, is_absent, one_line, slug_of, words_in};

/// Maximum width of a displayed value; longer ones are truncated.
const MAX_VALUE_LENGTH: usize = 160;

/// What the files contradict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// A plan without a summary: a file rather than a statement.
    LeftPlan,
    /// A status, which is displayed in quotes.
    Status,
    /// A statement, in words: `the current phase`.
    Stated(&'static str),
}

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

/// A statement that contradicts the files, and what is to be written over it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Drift {
    /// The kind of statement; `None` if it is wrong only because another one is, and so is not reported by itself.
    pub kind: Option<DriftKind>,
    /// What the files contradict.
    #[serde(skip)]
    pub(super) subject: Subject,
    /// The stated value.
    pub stated: String,
    /// The value according to the files.
    pub actual: String,
    /// The file with the statement, relative to the project's root.
    pub file: PathBuf,
    /// Line number of the statement, from 1.
    pub line: usize,
    /// Byte range of the statement in the file.
    #[serde(skip)]
    pub(super) range: Range<usize>,
    /// The correct text; `None` if only a person can say what belongs there.
    #[serde(skip)]
    pub(super) written: Option<String>,
    /// The place of the fact that proves it: a file or folder, and what it shows.
    #[serde(skip)]
    pub(super) because: String,
}

impl Drift {
    /// Returns whether it is a plan that was left without a summary, not a statement.
    pub(crate) fn is_left_plan(&self) -> bool {
        self.subject == Subject::LeftPlan
    }

    /// Returns a sentence with the stated and the actual value; the caller prints file and line before it.
    pub fn sentence(&self) -> String {
        let [stated, actual] =
            [&self.stated, &self.actual].map(|value| clip(value, MAX_VALUE_LENGTH));
        match self.subject {
            Subject::LeftPlan => format!("{stated} has {actual}"),
            Subject::Status => format!("the status is {stated:?}, but the files show {actual:?}"),
            Subject::Stated(what) => format!("{what} is {stated}, but the files show {actual}"),
        }
    }
}

/// Returns the statements of STATE.md, then of ROADMAP.md, that contradict the files, in file order, then the
/// plans that were left behind.
pub fn drift(survey: &Survey) -> Vec<Drift> {
    let position = &survey.position;
    let left = position.members().filter(|phase| {
        phase.state == PhaseState::Done
            || phase.state != PhaseState::Dropped && position.is_passed(phase)
    });
    statements(survey).chain(left.flat_map(|phase| left_plans(survey, phase))).collect()
}

/// Returns the statements of STATE.md, then of ROADMAP.md, that contradict the files, in file order.
pub(super) fn statements(survey: &Survey) -> impl Iterator<Item = Drift> {
    found(survey).into_iter().flatten().filter(|drift| drift.kind.is_some())
}

/// Returns the contradicted statements of STATE.md, and those of ROADMAP.md, in file order, with those that depend on
/// others.
pub(super) fn found(survey: &Survey) -> [Vec<Drift>; 2] {
    if survey.position.next.action == Action::Unknown {
        // What was not understood may be what the statements are about.
        return [Vec::new(), Vec::new()];
    }
    let mut state = Comparison::new(survey, vocabulary::STATE);
    state.state();
    let mut roadmap = Comparison::new(survey, vocabulary::ROADMAP);
    roadmap.roadmap();
    [state, roadmap].map(|mut comparison| {
        comparison.found.sort_by_key(|drift| drift.line);
        comparison.found
    })
}

fn left_plans(survey: &Survey, phase: &Phase) -> Vec<Drift> {
    let number = &phase.number;
    let reason = match phase.state {
        PhaseState::Done => format!("phase {number} is called complete"),
        _ => format!("the work has moved on from phase {number}"),
    };
    let open = phase.plans.iter().filter(|slot| slot.state == PlanState::Open);
    let left = open.filter_map(|slot| {
        let file = phase.dir.as_ref()?.join(slot.plan.as_ref()?);
        Some(Drift {
            kind: Some(DriftKind::Plans),
            subject: Subject::LeftPlan,
            stated: format!("plan {}", slot.number),
            actual: format!("no summary, but {reason}"),
            file: survey.relative(&file).to_owned(),
            line: 1,
            range: 0..0,
            written: None,
            because: because(survey, Some(phase)),
        })
    });
    left.collect()
}

/// Returns where a reader can see what the files show of a phase: its first open plan, else its folder; without a phase,
/// the folder of all phases.
fn because(survey: &Survey, phase: Option<&Phase>) -> String {
    let position = &survey.position;
    let Some(phase) = phase else {
        let dir = survey.folder.active.dir.join(vocabulary::PHASES);
        let (done, total) = (position.done(), position.total());
        return format!("{}: {done} of {total} phases done", survey.show(&dir));
    };
    let open = survey.open_plans(phase).next().filter(|_| phase.state == PhaseState::Open);
    let place = open.or_else(|| survey.contents(phase));
    place.unwrap_or_else(|| format!("phase {} has no folder", phase.number))
}

/// Compares the statements of a file with the files of the phases.
struct Comparison<'a> {
    survey: &'a Survey,
    position: &'a Position,
    file: PathBuf,
    found: Vec<Drift>,
}

/// The kind and the subject of a statement.
type What = (Option<DriftKind>, Subject);

impl<'a> Comparison<'a> {
    fn new(survey: &'a Survey, name: &str) -> Self {
        let file = survey.relative(&survey.folder.active.dir.join(name)).to_owned();
        Self { survey, position: &survey.position, file, found: Vec::new() }
    }

    /// Adds a statement about a phase, or about all of them, unless it says what the files show.
    fn report<T>(
        &mut self,
        (kind, subject): What,
        at: &Located<T>,
        phase: Option<&Phase>,
        [stated, actual]: [String; 2],
        written: Option<String>,
    ) {
        if stated != actual {
            let (file, line, range) = (self.file.clone(), at.line, at.range.clone());
            let because = match kind {
                Some(DriftKind::Metric) => "what the summaries of this milestone say".to_owned(),
                _ => because(self.survey, phase),
            };
            let drift =
                Drift { kind, subject, stated, actual, file, line, range, written, because };
            self.found.push(drift);
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
        let may_stay = |number: &PhaseNumber| {
            just_done.is_some_and(|phase| phase.number == *number)
                || position.phase().is_none_or(|current| current.number == *number)
                || may_be_checked(position, number)
        };
        let names_other = |claim: &&Located<Claim>| matches!(&claim.value, Claim::Phase(number) if !may_stay(number));
        let wrong: Vec<usize> =
            state.claims.iter().filter(names_other).map(|claim| claim.line).collect();
        let moved = position.phase().filter(|_| !wrong.is_empty());
        let here = self.stated_phase().filter(|_| moved.is_none());
        for claim in &state.claims {
            if moved.is_some_and(|phase| self.moved(phase, claim)) {
                continue;
            }
            match &claim.value {
                Claim::Text(Says::Status | Says::PhaseStatus, status) => {
                    self.status(claim, status, self.subject(status));
                }
                Claim::Count(says, count) => self.count(*says, *count as usize, claim, here),
                Claim::Phase(_) | Claim::Text(..) => {}
            }
        }
        for (number, status) in &state.phase_statuses {
            self.status(status, &status.value, position.only(number));
        }
        // A person who must correct the phase corrects what else is said of it, too.
        if moved.is_some_and(|phase| !self.is_clear(phase, &wrong)) {
            self.found.iter_mut().for_each(|drift| drift.written = None);
        }
    }

    /// Reports a statement about the phase that STATE.md wrongly calls the current one; returns `false` if it stays.
    fn moved(&mut self, phase: &Phase, claim: &Located<Claim>) -> bool {
        let plans = phase.plans_expected().max(phase.declared.unwrap_or(0));
        let open = phase.plans.iter().position(|slot| slot.state != PlanState::Complete);
        let new = match &claim.value {
            Claim::Phase(number) if *number != phase.number => Some(phase.number.to_string()),
            Claim::Text(Says::Name, old) => name_to_write(old, phase),
            Claim::Text(Says::Status | Says::PhaseStatus, old) => {
                moved_status(old, phase, self.survey.layout.name)
            }
            Claim::Count(Says::Index, _) => Some(phase.number.ordinal().to_string()),
            Claim::Count(Says::PlansDone, _) => Some(phase.count(PlanState::Complete).to_string()),
            // The tools write this before a phase is planned.
            Claim::Count(Says::PlansTotal, _) if plans == 0 => Some("TBD".to_owned()),
            Claim::Count(Says::PlansTotal, _) => Some(plans.to_string()),
            Claim::Count(Says::CurrentPlan, _) => {
                Some(open.map_or(phase.plans.len(), |open| open + 1).to_string())
            }
            _ => None,
        };
        let Some(new) = new else { return false };
        let (what, stated, actual) = match &claim.value {
            Claim::Phase(number) => {
                let what = (Some(DriftKind::Phase), Subject::Stated("the current phase"));
                (what, number.to_string(), phase.number.to_string())
            }
            Claim::Text(says, old) => {
                let expected = || self.subject(old).and_then(|about| self.expected(old, about));
                let is_wrong = *says != Says::Name && expected().is_some();
                ((is_wrong.then_some(DriftKind::Status), Subject::Status), old.clone(), new.clone())
            }
            Claim::Count(_, count) => {
                ((None, Subject::Stated("the count")), count.to_string(), new.clone())
            }
        };
        self.report(what, claim, Some(phase), [stated, actual], Some(new));
        true
    }

    /// Returns whether the new number would stand next to no text about the phase before; `wrong` are the lines that name
    /// another phase.
    fn is_clear(&self, phase: &Phase, wrong: &[usize]) -> bool {
        let state = &self.survey.state;
        let whole = phase.number.whole();
        state.claims.iter().all(|claim| {
            let count = |says| claim.value.count(says);
            let of_plans = [Says::PlansDone, Says::PlansTotal, Says::CurrentPlan];
            let is_wrong = wrong.contains(&claim.line);
            let is_moved = is_wrong && matches!(claim.value, Claim::Phase(_))
                || of_plans.into_iter().any(|says| count(says).is_some());
            claim.value.status().is_none_or(is_plain)
                && !(is_wrong && count(Says::Total).is_some_and(|total| total < whole))
                && !(is_moved && has_remark(self.survey, claim.line))
        })
    }

    /// Returns the phase that a status of STATE.md is about: the one that it names, else the one just completed, else the
    /// current one.
    fn subject(&self, status: &str) -> Option<&'a Phase> {
        match self.survey.numbering.phase_in_status(status).0 {
            Some(number) => self.position.only(&number),
            None => self.just_done().or(self.position.phase()),
        }
    }

    /// Returns the phase that STATE.md names, if it has a folder and a unique number.
    fn stated_phase(&self) -> Option<&'a Phase> {
        let phase = self.position.only(self.survey.state.phase.number.as_ref()?);
        phase.filter(|phase| phase.dir.is_some())
    }

    /// Returns the phase before the current one, if STATE.md rightly calls it complete and has not moved on yet.
    fn just_done(&self) -> Option<&'a Phase> {
        let before = self.position.phases[..self.position.current?].last()?;
        let state = &self.survey.state;
        let mut statuses = state.claims.iter().filter_map(|claim| claim.value.status());
        let is_done = before.state == PhaseState::Done
            && self.position.next.action == Action::Plan
            && self.stated_phase() == Some(before);
        let says_complete = |status| {
            PhaseProgress::is_complete_status(self.survey.numbering.phase_in_status(status).1)
        };
        (is_done && statuses.any(says_complete)).then_some(before)
    }

    /// Compares a number with the files; `here` is the phase whose plans STATE.md counts.
    fn count(&mut self, says: Says, stated: usize, claim: &Located<Claim>, here: Option<&Phase>) {
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
        let position = self.position;
        // A milestone without phases has nothing to count; where none is active, folders may be of several.
        if !is_of_phase && (position.next.action == Action::None || position.total() == 0) {
            return;
        }
        let actual = match says {
            Says::Percent => self.corrected_percent(stated, claim.line, here),
            _ => self.corrected(says, stated, here),
        };
        let Some(actual) = actual.map(|actual| actual.to_string()) else { return };
        let mut written = Some(actual.clone());
        if says == Says::Percent {
            let claims = self.survey.state.claims.iter();
            let mut bars = claims.filter(|bar| bar.line == claim.line);
            if let Some((at, bar)) = bars.find_map(|at| Some((at, at.value.text(Says::Bar)?))) {
                let drawn = redrawn(bar, &actual);
                // A bar of another style cannot be drawn, so its percentage stays, too.
                written = written.filter(|_| drawn.is_some());
                let texts = [bar.to_owned(), drawn.clone().unwrap_or_default()];
                self.report((None, Subject::Stated("the bar")), at, None, texts, drawn);
            }
        }
        let about = here.filter(|_| is_of_phase);
        let what = (Some(kind), Subject::Stated(subject));
        self.report(what, claim, about, [stated.to_string(), actual], written);
    }

    /// Returns the correct value of a number; `None` if the stated one is possible, or the files do not determine it.
    fn corrected(&self, says: Says, stated: usize, here: Option<&Phase>) -> Option<usize> {
        let position = self.position;
        // `Plan: 21 of 21` may count the plans of all phases.
        let counts_all = |here: &Phase| {
            let Counts { done, all } = Counts::sum(&position.phases);
            stated > here.plans.len() && [*done.start(), *all.start()].contains(&stated)
        };
        let here = here.filter(|here| !here.has_unclear_counts() && !counts_all(here));
        let possible: RangeInclusive<usize> = match says {
            Says::Total if is_a_count(position, stated) => return None,
            Says::Total => position.total()..=position.total(),
            // Those that wait for a check may be left out, and those of earlier milestones included.
            Says::PhasesDone => {
                let awaiting = position.members().filter(|phase| phase.awaits_check).count();
                position.done().saturating_sub(awaiting)..=usize::MAX
            }
            Says::PlansDone => here?.counts().done,
            Says::PlansTotal => here?.counts().all,
            // The last complete one, or the next.
            Says::CurrentPlan => {
                let done = here?.counts().done;
                *done.start()..=done.end() + 1
            }
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
        };
        let least = *possible.start();
        let next = here.map(|here| here.plans.len().min(least + 1));
        let correct = next.filter(|_| says == Says::CurrentPlan).unwrap_or(least);
        (!possible.contains(&stated)).then_some(correct)
    }

    /// Returns the correct value of a percentage; `None` if it is at least the least of the measures that templates use,
    /// and not 100 while work is left.
    fn corrected_percent(&self, stated: usize, line: usize, here: Option<&Phase>) -> Option<usize> {
        const PAIRS: [[Says; 2]; 3] = [
            [Says::PhasesDone, Says::Total],
            [Says::AllPlansDone, Says::AllPlansTotal],
            [Says::PlansDone, Says::PlansTotal],
        ];
        let position = self.position;
        // In `78% (7 of 8 phases)`, the percentage cannot be corrected without the counts.
        let text = self.survey.text_of(vocabulary::STATE, line);
        if text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).count() > 1
        {
            return None;
        }
        let claims = &self.survey.state.claims;
        let count = |says| {
            let stated = claims.iter().find_map(|claim| claim.value.count(says))? as usize;
            Some(self.corrected(says, stated, here).unwrap_or(stated))
        };
        // The stated counts are the measure, once corrected.
        let counted = PAIRS.iter().filter_map(|pair| share(count(pair[0])?, count(pair[1])?));
        let mut measures: Vec<usize> = counted.collect();
        if measures.is_empty() {
            let of_phases = share(position.done(), position.total()).unwrap_or(0);
            measures.extend([of_phases, position.percent_of_plans()]);
        }
        // A phase without plans has no progress yet.
        let of_phase =
            here.and_then(|here| share(here.count(PlanState::Complete), here.plans.len()));
        let others = [of_phase.unwrap_or(0), position.percent()];
        if measures.iter().chain(&others).any(|measure| measure.abs_diff(stated) <= 1) {
            return None;
        }
        let least = measures.iter().min().copied()?;
        let most = measures.iter().filter(|measure| **measure < 100).max().copied();
        if stated < least { Some(least) } else { most.filter(|_| stated >= 100) }
    }

    /// Compares a status with the state of a phase; unclear wordings are accepted.
    fn status<T>(&mut self, at: &Located<T>, stated: &str, phase: Option<&Phase>) {
        let Some(phase) = phase.filter(|phase| phase.dir.is_some()) else { return };
        if let Some(progress) = self.expected(stated, phase) {
            let actual = template_status("Not started", progress, None).to_lowercase();
            let written = template_status(stated, progress, Some((phase, self.survey.layout.name)));
            let written = is_plain(stated).then_some(written);
            let texts = [stated.to_owned(), actual];
            self.report(
                (Some(DriftKind::Status), Subject::Status),
                at,
                Some(phase),
                texts,
                written,
            );
        }
    }

    /// Returns the progress of a phase that a status contradicts; `None` if it may stay.
    fn expected(&self, stated: &str, phase: &Phase) -> Option<PhaseProgress> {
        let words = self.survey.numbering.phase_in_status(stated).1;
        let says_complete = PhaseProgress::is_complete_status(words);
        let says_open = PhaseProgress::is_open_status(words) && !names_step(words);
        let waits = phase.awaits_check || may_be_checked(self.position, &phase.number);
        // Where STATE.md names another phase or none, the status may be of that one, or of the milestone.
        let is_named = self.survey.state.phase.number.as_ref() == Some(&phase.number);
        let is_late = is_named && phase.is_begun() && precedes_plans(words);
        match phase.state {
            PhaseState::Done if says_open && !waits => Some(PhaseProgress::Complete),
            PhaseState::Open | PhaseState::Running
                if (says_complete || is_late) && !self.position.is_passed(phase) =>
            {
                Some(PhaseProgress::InProgress)
            }
            PhaseState::Unplanned if says_complete => Some(PhaseProgress::NotStarted),
            _ => None,
        }
    }

    /// Compares the checkboxes and the rows of ROADMAP.md.
    ///
    /// Shipped phases are history, and of two folders with a number it is unclear which one is meant.
    fn roadmap(&mut self) {
        let position = self.position;
        for planned in self.survey.roadmap.phases.iter().filter(|planned| !planned.is_shipped) {
            let mut folders = position
                .with_number(&planned.number)
                .filter(|phase| phase.dir.is_some() && phase.has_plans() && !phase.is_old);
            if let (Some(phase), None) = (folders.next(), folders.next()) {
                self.checkbox(planned, phase);
                planned.row.iter().for_each(|row| self.row(row, phase));
            }
        }
    }

    fn checkbox(&mut self, planned: &RoadmapPhase, phase: &Phase) {
        // A phase that waits for a person is rightly left open.
        let Some(mark) = planned.checkbox.as_ref().filter(|_| !phase.awaits_check) else { return };
        // For a phase before the current one, a checked box is more reliable than a missing summary,
        // which may never have been committed.
        let is_done =
            phase.state == PhaseState::Done || mark.value && self.position.is_passed(phase);
        // A phase that was passed over with an unfinished plan is not ticked off by a program.
        let is_unfinished = phase.count(PlanState::Partial) + phase.count(PlanState::Failed) > 0;
        if is_done && is_unfinished {
            return;
        }
        let is_kept = mark.value && planned.row.as_ref().is_some_and(is_dated);
        let texts = [mark.value, is_done].map(|done| if done { "[x]" } else { "[ ]" }.to_owned());
        let written = (!is_kept).then(|| if is_done { "x" } else { " " }.to_owned());
        self.report(
            (Some(DriftKind::Checkbox), Subject::Stated("the checkbox")),
            mark,
            Some(phase),
            texts,
            written,
        );
    }

    /// Compares a row. One that a template could not have written is left to a person, whole, and so is a dated one that
    /// calls a phase complete to which plans were added since.
    fn row(&mut self, row: &ProgressRow, phase: &Phase) {
        if phase.has_unclear_counts() {
            return;
        }
        let stated = row.status.as_ref();
        let is_open = matches!(phase.state, PhaseState::Open | PhaseState::Running);
        let is_under_way = phase.awaits_check || is_open && phase.is_begun();
        let is_late = row.progress() == Some(PhaseProgress::NotStarted) && is_under_way;
        let correct = match stated {
            Some(_) if is_late => Some(PhaseProgress::InProgress),
            _ => stated.and_then(|stated| self.expected(&stated.value, phase)),
        };
        let is_set_back = correct.is_some_and(|progress| progress != PhaseProgress::Complete);
        let is_kept =
            stated.is_some_and(|stated| !is_plain(&stated.value)) || is_set_back && is_dated(row);
        if let Some(cell) = &row.plans
            && let Some(actual) = row_counts(row, &cell.value, phase)
        {
            let is_template = |c: char| c.is_ascii_digit() || "/? ".contains(c);
            let is_written = !is_kept && cell.value.replace("TBD", "").chars().all(is_template);
            let written = is_written.then(|| actual.clone());
            let what = (Some(DriftKind::ProgressRow), Subject::Stated("the number of plans"));
            self.report(what, cell, Some(phase), [cell.value.clone(), actual], written);
        }
        if let Some((stated, progress)) = stated.zip(correct) {
            let actual = template_status("Not started", progress, None);
            let written = template_status(&stated.value, progress, None);
            let written = (!is_kept).then_some(written);
            let what = (Some(DriftKind::ProgressRow), Subject::Status);
            self.report(what, stated, Some(phase), [stated.value.clone(), actual], written);
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
    let stated = [row.plans_complete, row.plans_total].map(|count| count.map(|one| one as usize));
    let done = stated[0].filter(|done| (*counts.done.start()..=most).contains(done));
    let all = stated[1].filter(|all| counts.all.contains(all));
    let right_done = done.unwrap_or(phase.count(PlanState::Complete));
    let right_all = all.unwrap_or(phase.plans_expected());
    let is_right = done.is_some() && (all.is_some() || stated[1].is_none());
    (cell.contains('/') && !is_right).then(|| format!("{right_done}/{right_all}"))
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

/// Returns whether a template could have written a status, since it contains only status words and numbers.
pub(super) fn is_plain(status: &str) -> bool {
    let mut words = words_in(status);
    let is_known = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            || has("status of a template", &word.to_lowercase())
    };
    words.next().is_some_and(is_known) && words.all(is_known)
}

/// Returns whether a status is of a phase without plans; `Planned`, `Ready to execute` and `Ready for plan 2` are not.
fn precedes_plans(status: &str) -> bool {
    let lower = status.to_lowercase().replace('_', " ");
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    PhaseProgress::parse(status) == Some(PhaseProgress::NotStarted)
        && !names_step(status)
        && !says(&["execut", "planned"])
        && (!lower.starts_with("ready") || says(&["to plan", "planning"]))
}

/// Returns whether a line of STATE.md says more than its statements: `Plan: 4 executed — PDF export`.
pub(super) fn has_remark(survey: &Survey, line: usize) -> bool {
    const NEUTRAL: &[&str] = &["phase", "of", "in", "current", "plan", "plans", "the", "tbd"];
    let text = survey.text_of(vocabulary::STATE, line);
    let mut rest = text.split_once(':').map_or(text, |(_, rest)| rest).to_owned();
    for claim in survey.state.claims.iter().filter(|claim| claim.line == line) {
        if let Claim::Text(_, known) = &claim.value {
            rest = rest.replacen(known, "", 1);
        }
    }
    words_in(&rest).any(|word| {
        let is_neutral = NEUTRAL.iter().any(|one| word.eq_ignore_ascii_case(one));
        word.starts_with(char::is_alphabetic) && !is_neutral
    })
}

/// Returns a status in the words of the templates, as a single word if the old one is; the phase and the tool are given for
/// STATE.md, where the next step is named.
pub(super) fn template_status(
    old: &str,
    progress: PhaseProgress,
    of_state: Option<(&Phase, LayoutName)>,
) -> String {
    let is_word = !old.contains(' ') && old.starts_with(char::is_lowercase);
    // The words that GSD's own tool writes into the front matter.
    let is_gsd = is_word && of_state.is_some_and(|(_, layout)| layout == LayoutName::Gsd);
    let words = match (progress, of_state.map(|(phase, _)| phase.has_plans())) {
        (PhaseProgress::Complete, _) if is_gsd => "Completed",
        (PhaseProgress::InProgress, _) | (_, Some(true)) if is_gsd => "Executing",
        (PhaseProgress::Complete, _) => "Complete",
        (PhaseProgress::InProgress, _) => "In progress",
        (_, Some(true)) if is_word => "Pending",
        (_, Some(true)) => "Ready to execute",
        (_, Some(false)) if is_word => "Planning",
        (_, Some(false)) => "Ready to plan",
        (_, None) => "Not started",
    };
    if is_word { words.to_lowercase().replace(' ', "_") } else { words.to_owned() }
}

/// Returns the status of the new current phase, if the old one does not fit it.
pub(super) fn moved_status(old: &str, phase: &Phase, layout: LayoutName) -> Option<String> {
    let progress = match phase.state {
        PhaseState::Done => PhaseProgress::Complete,
        PhaseState::Running => PhaseProgress::InProgress,
        PhaseState::Open if phase.is_begun() => PhaseProgress::InProgress,
        PhaseState::Open | PhaseState::Unplanned | PhaseState::Dropped => PhaseProgress::NotStarted,
    };
    let (named, words) = phase.number.numbering().phase_in_status(old);
    let is_of_it = named.is_none_or(|number| number == phase.number);
    let fits = is_of_it && PhaseProgress::parse(words) == Some(progress) && !names_step(words);
    // `Planned` and `Ready to execute` speak of plans that the new phase may not have.
    let lower = words.to_lowercase();
    let is_early = phase.state == PhaseState::Unplanned
        && ["execut", "planned"].iter().any(|word| lower.contains(word));
    (!fits || is_early).then(|| template_status(old, progress, Some((phase, layout))))
}

/// Returns the phase's name where it can be read again as such, as a slug if the old one is.
pub(super) fn name_to_write(old: &str, phase: &Phase) -> Option<String> {
    let name = phase.name.as_deref()?;
    let of_folder = || {
        let dir = phase.dir.as_ref()?.file_name()?.to_string_lossy();
        let (_, slug) = phase.number.numbering().split_folder(&dir)?;
        Some(slug.trim_start_matches(['-', '_', ' ']).to_owned())
    };
    let is_name = |c: char| c.is_whitespace() || c.is_uppercase();
    if slug_of(old) == old || old.contains('-') && !old.contains(is_name) {
        // The folder will be named after the phase.
        let slug = of_folder().unwrap_or_else(|| slug_of(name));
        if !slug.is_empty() {
            return Some(slug);
        }
    }
    // A dash between spaces, a bracket or a colon may end a name.
    let is_kept = |c: &char| c.is_alphanumeric() || " _&.,+/'-".contains(*c);
    let name: String = name.replace(" - ", " ").chars().filter(is_kept).collect();
    Some(one_line(&name)).filter(|name| !name.is_empty())
}

/// Returns a bar of one of the templates, drawn for another percentage: `[####------]`, `█████░░░░░`.
pub(super) fn redrawn(bar: &str, percent: &str) -> Option<String> {
    const SIGNS: [[char; 2]; 2] = [['\u{2588}', '\u{2591}'], ['#', '-']];
    let inner = bar.trim_start_matches('[').trim_end_matches(']');
    let [full, empty] =
        SIGNS.into_iter().find(|signs| inner.chars().all(|c| signs.contains(&c)))?;
    let cells = inner.chars().count();
    let filled = cells * percent.parse::<usize>().ok()?.min(100) / 100;
    let drawn: String = (0..cells).map(|cell| if cell < filled { full } else { empty }).collect();
    Some(bar.replacen(inner, &drawn, 1))
}

/// Returns the metrics of STATE.md that the summaries contradict, in file order.
///
/// Free text is accepted. All metrics are accepted if one exceeds what the milestone's summaries show, since they then
/// include work that is not visible here.
pub(super) fn metrics(survey: &Survey) -> Result<Vec<Drift>> {
    let labels = &survey.state.metrics;
    if labels.is_empty() {
        return Ok(Vec::new());
    }
    // A summary of a whole phase that has no plan may be counted or not.
    let (mut complete, mut of_phases, mut durations) = (0, 0, Vec::new());
    for phase in survey.position.members() {
        of_phases += usize::from(phase.is_only_summarised());
        let done = phase.plans.iter().filter(|slot| slot.state == PlanState::Complete);
        for slot in done {
            complete += 1;
            if let Some((dir, name)) = phase.dir.as_ref().zip(slot.summary.as_ref()) {
                durations.extend(duration(&dir.join(name))?);
            }
        }
    }
    let total: Minutes = durations.iter().copied().sum();
    let average = total.as_f64() / to_f64(durations.len().max(1));
    // The durations of some plans say nothing against a stated value of all.
    let are_all = durations.len() == complete && complete > 0;
    let mut comparison = Comparison::new(survey, vocabulary::STATE);
    for label in labels {
        let stated = label.value.as_str();
        let (subject, actual) = match fold(&label.name).as_str() {
            "total plans completed" | "plans completed" => {
                let count = stated.parse::<usize>().ok();
                // `18 (5 of v1.0 + 13)` counts more than this milestone.
                if !is_blank(stated) && count.is_none_or(|count| count > complete) {
                    return Ok(Vec::new());
                }
                let is_right = count.is_some_and(|count| count >= complete - of_phases);
                let right = (complete - of_phases).to_string();
                ("the total of completed plans", (!is_right).then_some(right))
            }
            "total execution time" | "total time" if are_all => {
                let actual = in_style(total.as_f64(), stated);
                // Both are compared as formatted, so that rounding makes no difference.
                let written = actual.as_deref().and_then(Minutes::parse);
                let both = Minutes::parse(stated).zip(written);
                if both.is_some_and(|(stated, written)| stated > written) {
                    return Ok(Vec::new());
                }
                ("the total execution time", actual)
            }
            "average duration" if are_all => ("the average duration", in_style(average, stated)),
            _ => continue,
        };
        if let Some(actual) = actual {
            let at = Located { value: (), range: label.range.clone(), line: label.line };
            let texts = [stated.to_owned(), actual.clone()];
            comparison.report(
                (Some(DriftKind::Metric), Subject::Stated(subject)),
                &at,
                None,
                texts,
                Some(actual),
            );
        }
    }
    Ok(comparison.found)
}

fn duration(path: &Path) -> Result<Option<Minutes>> {
    let text = read::text(path)?.map(|text| text.value);
    Ok(text.and_then(|text| Summary::parse(&text, path).value.duration_minutes))
}

/// Returns whether no value is stated yet.
fn is_blank(stated: &str) -> bool {
    stated == "0" || is_absent(stated)
}

/// Formats minutes in the form of the template: `11 min`, `0.5 hours`; `None` if the old value is in another one.
fn in_style(minutes: f64, stated: &str) -> Option<String> {
    let number = stated.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let unit = &stated[number.len()..];
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let is_number = number.parse::<f64>().is_ok();
    match unit.trim() {
        "min" if is_number => Some(format!("{minutes:.decimals$}{unit}")),
        "hours" if is_number => Some(format!("{:.*}{unit}", decimals.max(1), minutes / 60.0)),
        _ if is_blank(stated) => {
            Minutes::from_number(minutes, TimeUnit::Minutes).map(|value| value.to_string())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_keeps_its_unit_and_a_sentence_stays() {
        for (stated, written) in [
            ("11 min", Some("75 min")),
            ("8min", Some("75min")),
            ("0.55 hours", Some("1.25 hours")),
            ("1 hours", Some("1.2 hours")),
            ("4m", None),
            ("-", Some("1h 15m")),
            ("0", Some("1h 15m")),
            ("about as long as last time", None),
            ("~5 min, mostly waiting", None),
        ] {
            assert_eq!(in_style(75.0, stated).as_deref(), written, "{stated}");
        }
    }
}
