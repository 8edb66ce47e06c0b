//! Finds statements of STATE.md and ROADMAP.md that contradict the files, with what is to be written over them, and plans
//! that were left behind.
//!
//! For each kind of statement, a row says what the files show and what else may stay. Beside the number of a wrong phase,
//! nothing else may stay, since it was written about that phase. Only what the planning tools' own templates could have
//! written is written over, in the words of these templates. Metrics are compared with the summaries.

use std::fmt::Display;
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;

use serde::Serialize;

use crate::clock::{Minutes, TimeUnit};
use crate::plan::phase::Counts;
use crate::plan::read::vocabulary::{begins, has};
use crate::plan::rules::{names_check, names_step, row_names_check};
use crate::plan::{
    Action, Claim, Located, Phase, PhaseNumber, PhaseProgress, PhaseState, PlanState, Position,
    ProgressRow, RoadmapPhase, Says, Summary, Survey,
};
use crate::project::{LayoutName, vocabulary};
use crate::search::to_f64;
use crate::text::{clip, fold, is_absent, is_digit, listed, one_line, slug_of, words_in};

mod measure;

use measure::Measure;

/// Maximum width of a displayed value; longer ones are truncated.
const MAX_VALUE_LENGTH: usize = 160;

/// The subject of a status, which is displayed in quotes.
const STATUS: &str = "the status";

/// The subject of a plan without a summary: a file rather than a statement.
const LEFT_PLAN: &str = "a plan";

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
    /// What the statement is about, in words: `the current phase`.
    #[serde(skip)]
    subject: &'static str,
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
    /// Returns whether `annals sync --fix-state` would correct it.
    pub fn is_fixable(&self) -> bool {
        self.written.is_some()
    }

    /// Returns whether it is a plan that was left without a summary, not a statement.
    pub(crate) fn is_left_plan(&self) -> bool {
        self.subject == LEFT_PLAN
    }

    /// Leaves the statement to a person if something holds.
    fn leave_if(&mut self, is_kept: bool) -> &mut Self {
        self.written.take_if(|_| is_kept);
        self
    }

    /// Returns a sentence with the stated and the actual value; the caller prints file and line before it.
    pub fn sentence(&self) -> String {
        let [stated, actual] =
            [&self.stated, &self.actual].map(|value| clip(value, MAX_VALUE_LENGTH));
        match self.subject {
            LEFT_PLAN => format!("{stated} has {actual}"),
            STATUS => format!("{STATUS} is {stated:?}, but the files show {actual:?}"),
            subject => format!("{subject} is {stated}, but the files show {actual}"),
        }
    }
}

/// Returns the statements of STATE.md, then of ROADMAP.md, that contradict the files, in file order, then the
/// plans that were left behind.
pub fn drift(survey: &Survey) -> Vec<Drift> {
    let mut left = Comparison::new(survey, "");
    for phase in survey.position.members() {
        let is_passed = survey.position.is_passed(phase) && phase.state != PhaseState::Dropped;
        let reason = match phase.state {
            PhaseState::Done => format!("phase {} is called complete", phase.number),
            _ if is_passed => format!("the work has moved on from phase {}", phase.number),
            _ => continue,
        };
        for slot in phase.plans.iter().filter(|slot| slot.state == PlanState::Open) {
            let Some(plan) = &slot.plan else { continue };
            survey.relative(&plan.path).clone_into(&mut left.file);
            let plan = format!("plan {}", slot.number);
            let actual = format!("no summary, but {reason}");
            let at = Located { value: (), range: 0..0, line: 1 };
            let kind = Some(DriftKind::Plans);
            left.report(kind, LEFT_PLAN, &at, Some(phase), &plan, actual).written = None;
        }
    }
    statements(survey).chain(left.found).collect()
}

/// Returns the statements of STATE.md, then of ROADMAP.md, that contradict the files, in file order.
pub(super) fn statements(survey: &Survey) -> impl Iterator<Item = Drift> {
    found(survey).into_iter().flatten().filter(|drift| drift.kind.is_some())
}

/// Returns the contradicted statements of STATE.md, and those of ROADMAP.md, in file order, with those that depend on
/// others.
pub(super) fn found(survey: &Survey) -> [Vec<Drift>; 2] {
    let [mut state, mut roadmap] =
        [vocabulary::STATE, vocabulary::ROADMAP].map(|name| Comparison::new(survey, name));
    // What was not understood may be what the statements are about.
    if survey.position.next.action != Action::Unknown {
        state.state();
        roadmap.roadmap();
    }
    [state, roadmap].map(|mut comparison| {
        comparison.found.sort_by_key(|drift| drift.line);
        comparison.found
    })
}

/// The numbers of STATE.md, and what they are about.
const NUMBERS: &[(Says, DriftKind, &str)] = &[
    (Says::Total, DriftKind::Total, "the number of phases"),
    (Says::PhasesDone, DriftKind::Total, "the number of complete phases"),
    (Says::Percent, DriftKind::Percent, "the progress in percent"),
    (Says::AllPlansDone, DriftKind::Plans, "the number of complete plans"),
    (Says::AllPlansTotal, DriftKind::Plans, "the total number of plans"),
    (Says::PlansDone, DriftKind::Plans, "the number of complete plans in the phase"),
    (Says::PlansTotal, DriftKind::Plans, "the number of plans in the phase"),
    (Says::CurrentPlan, DriftKind::Plans, "the current plan"),
];

/// Those of the current phase.
const OF_PHASE: &[Says] = &[Says::Index, Says::CurrentPlan, Says::PlansDone, Says::PlansTotal];

/// The counts of STATE.md whose ratio a percentage may be, and what they count.
const PAIRS: [([Says; 2], &str); 3] = [
    ([Says::PhasesDone, Says::Total], "phases"),
    ([Says::AllPlansDone, Says::AllPlansTotal], "plans"),
    OF_ITS_PLANS,
];

/// Those of the plans of the current phase.
const OF_ITS_PLANS: ([Says; 2], &str) =
    ([Says::PlansDone, Says::PlansTotal], "plans of the current phase");

/// Compares the statements of a file with the files of the phases.
struct Comparison<'a> {
    survey: &'a Survey,
    position: &'a Position,
    file: PathBuf,
    /// The current phase, if STATE.md wrongly names another.
    moved: Option<&'a Phase>,
    /// The phase that STATE.md names, or has to name.
    here: Option<&'a Phase>,
    found: Vec<Drift>,
}

impl<'a> Comparison<'a> {
    fn new(survey: &'a Survey, name: &str) -> Self {
        let file = survey.relative(&survey.folder.active.dir.join(name)).to_owned();
        let position = &survey.position;
        Self { survey, position, file, moved: None, here: None, found: Vec::new() }
    }

    /// Adds a statement about a phase, or about all of them, that is to be written as the files show.
    fn report<T>(
        &mut self,
        kind: Option<DriftKind>,
        subject: &'static str,
        at: &Located<T>,
        phase: Option<&Phase>,
        stated: &dyn Display,
        right: String,
    ) -> &mut Drift {
        let (survey, position) = (self.survey, self.position);
        // Where a reader can see what the files show of a phase: its first open plan, else its folder; without a phase, the
        // folder of all phases.
        let because = match phase {
            _ if kind == Some(DriftKind::Metric) => {
                "what the summaries of this milestone say".to_owned()
            }
            None => Measure::new(position.done(), position.total(), "phases").line(survey),
            Some(phase) => {
                let open = survey.open_plans(phase).next();
                let open = open.filter(|_| phase.state == PhaseState::Open);
                let place = open.or_else(|| survey.contents(phase));
                place.unwrap_or_else(|| format!("phase {} has no folder", phase.number))
            }
        };
        self.found.push_mut(Drift {
            kind,
            subject,
            stated: stated.to_string(),
            actual: right.clone(),
            file: self.file.clone(),
            line: at.line,
            range: at.range.clone(),
            written: Some(right),
            because,
        })
    }

    /// Compares the statements of STATE.md; without any phase folder, there is nothing to compare with.
    fn state(&mut self) {
        let (survey, position) = (self.survey, self.position);
        let state = &survey.state;
        if position.phases.iter().all(|phase| phase.dir.is_none()) {
            return;
        }
        // The phase that STATE.md names, if it has a folder and a unique number.
        let stated = state.phase.number.as_ref().and_then(|number| position.only(number));
        let stated = stated.filter(|phase| phase.dir.is_some());
        let just_done = self.just_done(stated);
        // While only a check goes first, the tools name the phase that follows.
        let following = position.phase().filter(|current| current.state == PhaseState::Done);
        let following = following.and_then(|current| {
            let mut unfinished = position.members().filter(|phase| phase.is_unfinished());
            unfinished.find(|phase| phase.number > current.number)
        });
        let expected = [following, just_done, position.phase()];
        let may_stay = |number: &PhaseNumber| {
            position.phase().is_none()
                || expected.into_iter().flatten().any(|phase| phase.number == *number)
                || may_be_checked(position, number)
        };
        let names_other = |claim: &&Located<Claim>| matches!(&claim.value, Claim::Phase(number) if !may_stay(number));
        let wrong: Vec<usize> =
            state.claims.iter().filter(names_other).map(|claim| claim.line).collect();
        self.moved = position.phase().filter(|_| !wrong.is_empty());
        self.here = self.moved.or(stated);
        for claim in &state.claims {
            match (&claim.value, self.moved) {
                (Claim::Phase(stated), Some(phase)) if *stated != phase.number => {
                    let (kind, right) = (Some(DriftKind::Phase), phase.number.to_string());
                    self.report(kind, "the current phase", claim, Some(phase), stated, right);
                }
                (Claim::Text(Says::Name, stated), Some(phase)) => {
                    if let Some(name) = name_to_write(stated, phase) {
                        self.report(None, "the name", claim, Some(phase), stated, name);
                    }
                }
                (Claim::Text(Says::Status | Says::PhaseStatus, status), moved) => {
                    // The phase that it names, else the one just completed, else the current one.
                    let about = match survey.numbering.phase_in_status(status).0 {
                        Some(number) => position.only(&number),
                        None => just_done.or(position.phase()),
                    };
                    self.status(claim, status, about, moved);
                }
                (Claim::Count(says, count), _) => self.count(*says, *count as usize, claim),
                // A bar is drawn again with its percentage.
                _ => {}
            }
        }
        for (number, status) in &state.phase_statuses {
            self.status(status, &status.value, position.only(number), None);
        }
        // A person who must correct the phase corrects what else is said of it, too.
        if self.moved.is_some_and(|phase| !self.is_clear(phase, &wrong)) {
            self.found.iter_mut().for_each(|drift| drift.written = None);
        }
    }

    /// Returns the phase before the current one, if STATE.md rightly calls it complete or ready for a check, and has not
    /// moved on yet.
    fn just_done(&self, stated: Option<&Phase>) -> Option<&'a Phase> {
        let (before, after) = self.position.phases.split_at(self.position.current?);
        let before = before.last()?;
        let is_named = before.state == PhaseState::Done && stated == Some(before);
        let mut statuses = self.survey.state.statuses();
        let is_to_plan = self.position.next.action == Action::Plan;
        let says_complete = |status| PhaseProgress::is_complete_status(self.words(status));
        let is_to_check = before.awaits_check && !after.iter().any(Phase::is_begun);
        let says_so =
            |status| is_to_plan && says_complete(status) || is_to_check && names_check(status);
        (is_named && statuses.any(says_so)).then_some(before)
    }

    /// Returns whether the new number would stand next to no text about the phase before; `wrong` are the lines that name
    /// another phase.
    fn is_clear(&self, phase: &Phase, wrong: &[usize]) -> bool {
        let whole = phase.number.whole();
        self.survey.state.claims.iter().all(|claim| {
            let is_wrong = wrong.contains(&claim.line);
            let is_of_phase = |says: &Says| claim.value.count(*says).is_some();
            let is_moved = is_wrong || OF_PHASE.iter().any(is_of_phase);
            claim.value.status().is_none_or(is_template_status)
                && !(is_wrong && claim.value.count(Says::Total).is_some_and(|total| total < whole))
                && !(is_moved && has_remark(self.survey, claim.line))
        })
    }

    /// Compares a status with the state of the phase that it is about; unclear wordings are accepted. If the phase has
    /// moved, it becomes that of the new one.
    fn status<T>(
        &mut self,
        at: &Located<T>,
        stated: &str,
        about: Option<&Phase>,
        moved: Option<&Phase>,
    ) {
        let about = about.filter(|phase| {
            let is_named = self.survey.state.phase.number.as_ref() == Some(&phase.number);
            let is_early = is_named && precedes_plans(self.words(stated));
            (phase.dir.is_some() || moved.is_some())
                && self.is_contradicted(stated, phase, is_early)
        });
        let Some(phase) = moved.filter(|phase| !fits(stated, phase)).or(about) else { return };
        let right = template_status(stated, phase, Some(self.survey.layout.name));
        let kind = about.map(|_| DriftKind::Status);
        let drift = self.report(kind, STATUS, at, Some(phase), &stated, right);
        drift.leave_if(!is_template_status(stated));
        if moved.is_none() {
            drift.actual = template_status("", phase, None).to_lowercase();
        }
    }

    /// Returns a status without the number of the phase that it names.
    fn words<'s>(&self, status: &'s str) -> &'s str {
        self.survey.numbering.phase_in_status(status).1
    }

    /// Returns whether the files contradict a status; `is_early` tells whether it may not stay once work has begun.
    fn is_contradicted(&self, stated: &str, phase: &Phase, is_early: bool) -> bool {
        let words = self.words(stated);
        let is_late = is_early && phase.is_begun();
        match phase.state {
            PhaseState::Dropped => false,
            PhaseState::Done if phase.awaits_check => is_late,
            PhaseState::Done => {
                // A phase that was passed over with an unfinished plan is not called complete by a program.
                let is_unfinished =
                    phase.count(PlanState::Partial) + phase.count(PlanState::Failed) > 0;
                let waits = is_unfinished || may_be_checked(self.position, &phase.number);
                PhaseProgress::is_open_status(words) && !names_step(words) && !waits
            }
            _ => {
                is_late
                    || PhaseProgress::is_complete_status(words) && !self.position.is_passed(phase)
            }
        }
    }

    /// Compares a number, and the bar that is drawn beside a percentage.
    fn count(&mut self, says: Says, stated: usize, claim: &Located<Claim>) {
        let position = self.position;
        let is_of_phase = OF_PHASE.contains(&says);
        // A milestone without phases has nothing to count; where none is active, folders may be of several.
        let is_counted = position.next.action != Action::None && position.total() > 0;
        let right = self.right(says, stated, claim.line);
        if right == stated || !(is_of_phase || is_counted) {
            return;
        }
        // GSD's tools write this before a phase is planned.
        let is_unplanned = says == Says::PlansTotal && right == 0 && !self.survey.is_vbw();
        let actual = if is_unplanned { "TBD".to_owned() } else { right.to_string() };
        let claims = self.survey.state.claims.iter().filter(|one| one.line == claim.line);
        let mut bars = claims.filter_map(|one| Some((one, one.value.text(Says::Bar)?)));
        let bar = bars.next().filter(|_| says == Says::Percent);
        let drawn = bar.map(|(at, bar)| (at, bar, redrawn(bar, right)));
        // A bar of another style cannot be drawn, so its percentage stays, too.
        let is_kept = matches!(drawn, Some((.., None)));
        // What a number over the milestone is computed from.
        let measure = match says {
            Says::Percent => self.percent(stated, claim.line),
            Says::AllPlansDone | Says::AllPlansTotal => {
                let Counts { done, all } = Counts::sum(position.members());
                Some(Measure::new(*done.start(), *all.start(), "plans"))
            }
            _ => None,
        };
        let because = measure.map(|measure| measure.line(self.survey));
        if let Some((at, bar, Some(drawn))) = drawn {
            let drift = self.report(None, "the bar", at, None, &bar, drawn);
            if let Some(because) = &because {
                drift.because.clone_from(because);
            }
        }
        let row = NUMBERS.iter().find(|(known, ..)| *known == says);
        let (kind, subject) = row.map_or((None, ""), |(_, kind, subject)| (Some(*kind), *subject));
        let moves =
            is_of_phase || says == Says::Percent && self.percent_beside(claim.line).is_some();
        let kind = kind.filter(|_| !moves || self.moved.is_none());
        let about = self.here.filter(|_| is_of_phase);
        let drift = self.report(kind, subject, claim, about, &stated, actual);
        drift.leave_if(is_kept);
        if let Some(because) = because {
            drift.because = because;
        }
    }

    /// Returns what a number should be: as stated, if that is possible or the files do not determine it.
    fn right(&self, says: Says, stated: usize, line: usize) -> usize {
        let position = self.position;
        match says {
            Says::Percent => self.percent(stated, line).map_or(stated, Measure::percent),
            Says::Total if is_a_count(position, stated) => stated,
            Says::Total => position.total(),
            // Those that wait for a check may be left out, and those of earlier milestones included.
            Says::PhasesDone => {
                let is_done =
                    |phase: &&Phase| phase.state == PhaseState::Done && !phase.awaits_check;
                stated.max(position.members().filter(is_done).count())
            }
            Says::AllPlansDone | Says::AllPlansTotal => {
                let Counts { done, all } = Counts::sum(position.members());
                let range = if says == Says::AllPlansDone { done } else { all.clone() };
                // Plans of earlier milestones may be included.
                let first = position.members().map(|phase| phase.number.whole()).min();
                let has_earlier =
                    first > Some(1) || position.phases.iter().any(|phase| !phase.is_in_milestone);
                let may_stay = range.contains(&stated) || has_earlier && stated > *range.end();
                if may_stay || *all.end() == 0 { stated } else { *range.start() }
            }
            // Beside the number of another phase, a number of the phase may not stay.
            _ => {
                let Some(here) = self.here else { return stated };
                let (right, possible) = numbers(says, here, self.survey.layout.name);
                // `Plan: 21 of 21` may count the plans of all phases, VBW's `Plans: 1/2` does not.
                let Counts { done, all } = Counts::sum(&position.phases);
                let is_of_phase =
                    self.survey.is_vbw() && self.survey.state.count(Says::PlansDone).is_some();
                let counts_all = !is_of_phase
                    && stated > here.plans.len()
                    && [*done.start(), *all.start()].contains(&stated);
                let may_stay =
                    possible.contains(&stated) || counts_all || here.has_unclear_counts();
                if may_stay && self.moved.is_none() { stated } else { right }
            }
        }
    }

    /// Returns the corrected counts of a pair.
    fn pair(&self, (pair, what): ([Says; 2], &'static str), line: usize) -> Option<Measure> {
        let stated = pair.map(|says| self.survey.state.count(says));
        let right = |says| Some(self.right(says, self.survey.state.count(says)?, line));
        let [done, all] = pair.map(right);
        let is_stated = stated == [done, all];
        Some(Measure { is_stated, ..Measure::new(done?, all?, what) })
    }

    /// Returns the plans of the phase, if STATE.md counts them as VBW does, which means their percentage beside them.
    fn percent_beside(&self, line: usize) -> Option<Measure> {
        self.pair(OF_ITS_PLANS, line).filter(|_| self.survey.is_vbw())
    }

    /// Returns what a percentage should be computed from; `None` if it may stay, since it is at least the least of the
    /// measures that templates use, and not 100 while work is left.
    fn percent(&self, stated: usize, line: usize) -> Option<Measure> {
        let position = self.position;
        // The stated counts are the measure, once corrected.
        let counted = PAIRS.into_iter().filter_map(|pair| self.pair(pair, line));
        let counted = counted.filter(|measure| measure.all > 0);
        // Another percentage beside the plans is that of the phases.
        let [done, all] = OF_ITS_PLANS.0.map(|says| self.survey.state.count(says));
        let stated_share = done.zip(all).and_then(|(done, all)| share(done, all));
        let of_plans = self.percent_beside(line).filter(|_| stated_share == Some(stated));
        let mut measures: Vec<Measure> = counted.chain(of_plans).collect();
        if measures.is_empty() {
            let done = position.kept().map(|phase| phase.count(PlanState::Complete)).sum();
            let all = position.kept().map(|phase| phase.plans.len()).sum();
            let phases = Measure::new(position.done(), position.total(), "phases");
            measures.extend([phases, Measure::new(done, all, "plans")]);
        }
        // A phase without plans has no progress yet.
        let of_phase = |here: &Phase| share(here.count(PlanState::Complete), here.plans.len());
        let here = self.here.filter(|_| self.moved.is_none());
        let others = [here.and_then(of_phase).unwrap_or(0), position.percent()];
        let shares = measures.iter().map(|measure| measure.percent()).chain(others);
        // In `78% (7 of 8 phases)`, the percentage cannot be corrected without the counts.
        let text = self.survey.text_of(vocabulary::STATE, line);
        let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|text| !text.is_empty());
        let is_more = numbers.count() > 1;
        if of_plans.is_some() && self.moved.is_some() && !is_more {
            return of_plans;
        }
        if is_more || shares.into_iter().any(|share| share.abs_diff(stated) <= 1) {
            return None;
        }
        let is_less = |measure: &&Measure| measure.percent() < 100 && stated >= 100;
        let most = measures.iter().filter(is_less).max_by_key(|measure| measure.percent());
        let least = measures.iter().min_by_key(|measure| measure.percent());
        most.or(least.filter(|measure| measure.percent() > stated)).copied()
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
        let Some(mark) = &planned.checkbox else { return };
        let [status, stated, right] =
            if mark.value { ["complete", "[x]", "[ ]"] } else { ["in progress", "[ ]", "[x]"] };
        if self.is_contradicted(status, phase, false) {
            let is_kept = mark.value && planned.row.as_ref().is_some_and(is_dated);
            let range = mark.range.start.saturating_sub(1)..mark.range.end + 1;
            let mark = Located { value: (), range, line: mark.line };
            let kind = Some(DriftKind::Checkbox);
            let right = right.to_owned();
            self.report(kind, "the checkbox", &mark, Some(phase), &stated, right).leave_if(is_kept);
        }
    }

    /// Compares a row. One that a template could not have written is left to a person, whole, and so is a dated one that
    /// calls a phase complete to which plans were added since.
    fn row(&mut self, row: &ProgressRow, phase: &Phase) {
        if phase.has_unclear_counts() {
            return;
        }
        let kind = Some(DriftKind::ProgressRow);
        let stated = row.status.as_ref();
        let is_early = row.progress() == Some(PhaseProgress::NotStarted);
        // A row that names a check is as open as the box, once the check has passed.
        let is_passed = row_names_check(row) && phase.has_passed();
        let wrong = stated.filter(|stated| {
            let words = if is_passed { "in progress" } else { &stated.value };
            self.is_contradicted(words, phase, is_early)
        });
        let is_set_back = wrong.is_some() && is_dated(row);
        let is_kept = is_set_back
            || !row_names_check(row)
                && stated.is_some_and(|stated| !is_template_status(&stated.value));
        if let Some(cell) = row.plans.as_ref().filter(|cell| cell.value.contains('/'))
            && let Some(actual) = row_counts(row, phase, self.survey.layout.name)
        {
            let stated = &cell.value;
            self.report(kind, "the number of plans", cell, Some(phase), stated, actual)
                .leave_if(is_kept || !is_template_status(stated));
        }
        // Of a finished phase, VBW counts plans, tasks and commits instead of the zeros of its template.
        let is_called_done = wrong.is_some() || row.progress() == Some(PhaseProgress::Complete);
        if is_called_done && phase.state == PhaseState::Done {
            type Number = fn(&Summary) -> Option<usize>;
            let sum = |count: Number| {
                let slots = phase.plans.iter().filter(|slot| slot.state == PlanState::Complete);
                slots.map(|slot| count(&slot.summary()?.value)).sum::<Option<usize>>()
            };
            let numbers: [(_, _, Number); 3] = [
                ("the number of plans", &row.plans, |_| Some(1)),
                ("the number of tasks", &row.tasks, |one| Some(one.tasks.completed? as usize)),
                ("the number of commits", &row.commits, |one| Some(one.commits.as_ref()?.len())),
            ];
            // The summaries are read only if a zero stands there.
            for (what, cell, number) in numbers {
                if let Some(cell) = cell.as_ref().filter(|cell| cell.value == "0")
                    && let Some(actual) = sum(number).filter(|actual| *actual > 0)
                {
                    let right = actual.to_string();
                    self.report(kind, what, cell, Some(phase), &cell.value, right)
                        .leave_if(is_kept);
                }
            }
        }
        if let Some(status) = wrong {
            let right = template_status(&status.value, phase, None);
            let drift = self.report(kind, STATUS, status, Some(phase), &status.value, right);
            drift.leave_if(is_kept).actual = template_status("", phase, None);
        }
    }
}

/// Returns a share in percent.
fn share(done: usize, all: usize) -> Option<usize> {
    Some((done * 100).checked_div(all)?.min(100))
}

/// Returns whether a row calls its phase complete on a date.
fn is_dated(row: &ProgressRow) -> bool {
    let date = row.completed.as_ref().map_or("", |cell| &cell.value);
    row.progress() == Some(PhaseProgress::Complete) && date.contains(is_digit)
}

/// Returns a number of a phase, and what is possible.
fn numbers(says: Says, phase: &Phase, tool: LayoutName) -> (usize, RangeInclusive<usize>) {
    let Counts { done, all } = phase.counts();
    let expected = phase.plans.len().max(phase.declared.unwrap_or(0));
    // More plans may be complete than were committed, but not fewer.
    let most = if phase.state == PhaseState::Running { expected } else { *done.end() };
    // VBW counts all that ended, also partly or with a failure.
    let most = if tool.keeps_milestones() { most } else { most.max(phase.summaries()) };
    let next = phase.plans.iter().position(|slot| slot.state != PlanState::Complete);
    match says {
        Says::PlansDone => (phase.count(PlanState::Complete), *done.start()..=most),
        Says::PlansTotal => (expected, all),
        // The last complete one, or the next.
        Says::CurrentPlan => {
            (next.map_or(phase.plans.len(), |next| next + 1), *done.start()..=done.end() + 1)
        }
        _ => (phase.number.ordinal() as usize, 0..=usize::MAX),
    }
}

/// Returns what the cell of a row should count; `None` if what it counts is possible.
fn row_counts(row: &ProgressRow, phase: &Phase, tool: LayoutName) -> Option<String> {
    let [complete, total] =
        [row.plans_complete, row.plans_total].map(|count| count.map(|count| count as usize));
    let right = |says, stated: Option<usize>| {
        let (right, possible) = numbers(says, phase, tool);
        stated.filter(|count| possible.contains(count)).unwrap_or(right)
    };
    let [done, all] = [right(Says::PlansDone, complete), right(Says::PlansTotal, total)];
    let is_right = complete == Some(done) && total.is_none_or(|total| total == all);
    (!is_right).then(|| format!("{done}/{all}"))
}

/// Returns whether a total is a plausible count of the phases, or would be below the current one: numbering continues
/// across milestones, or folders are missing.
fn is_a_count(position: &Position, stated: usize) -> bool {
    let ordinal = |phase: &Phase| phase.number.ordinal() as usize;
    let folders = position.phases.iter().filter(|phase| phase.dir.is_some());
    // GSD counts the folders of the milestone; others count all.
    let own = folders.clone().filter(|phase| phase.is_in_milestone).count();
    let last = position.phases.iter().map(ordinal).max().unwrap_or(0);
    [position.total(), position.phases.len(), folders.count(), own, last].contains(&stated)
        || position.phase().is_some_and(|phase| ordinal(phase) > position.total())
}

/// Returns whether a check of a phase is next, or may be.
fn may_be_checked(position: &Position, number: &PhaseNumber) -> bool {
    let is = |action, phase: Option<&PhaseNumber>| {
        matches!(action, Action::Verify | Action::Remediate) && phase == Some(number)
    };
    let next = &position.next;
    let other = next.alternative.as_ref();
    is(next.action, next.phase.as_ref())
        || other.is_some_and(|other| is(other.action, other.phase.as_ref()))
}

/// Returns whether a template could have written a status, since it contains only status words and numbers.
pub(super) fn is_template_status(status: &str) -> bool {
    words_in(status).next().is_some()
        && words_in(status).all(|word| {
            word.starts_with(is_digit) || has("status of a template", &word.to_lowercase())
        })
}

/// Returns whether a status is of a phase without plans; `Planned`, `Ready to execute` and `Ready for plan 2` are not.
fn precedes_plans(status: &str) -> bool {
    let lower = status.to_lowercase().replace('_', " ");
    begins("status before the plans", &lower) && !lower.contains("execut") && !names_step(&lower)
}

/// Returns whether a line of STATE.md says more than its statements: `Plan: 4 executed — PDF export`.
fn has_remark(survey: &Survey, line: usize) -> bool {
    let text = survey.text_of(vocabulary::STATE, line);
    let mut rest = text.split_once(':').map_or(text, |(_, rest)| rest).to_owned();
    for claim in survey.state.claims.iter().filter(|claim| claim.line == line) {
        if let Claim::Text(_, known) = &claim.value {
            rest = rest.replacen(known, "", 1);
        }
    }
    words_in(&rest).any(|word| {
        let is_neutral = listed("phase of in current plan plans the tbd", &word.to_lowercase());
        word.starts_with(char::is_alphabetic) && !is_neutral
    })
}

/// Returns the progress of a phase.
fn progress(phase: &Phase) -> PhaseProgress {
    match phase.state {
        PhaseState::Done if !phase.awaits_check => PhaseProgress::Complete,
        _ if phase.is_begun() => PhaseProgress::InProgress,
        _ => PhaseProgress::NotStarted,
    }
}

/// Returns whether a status that was written about another phase is true of this one.
fn fits(status: &str, phase: &Phase) -> bool {
    let (named, words) = phase.number.numbering().phase_in_status(status);
    let says_it = match progress(phase) {
        // `Planned` and `Ready to execute` speak of plans.
        PhaseProgress::NotStarted if !phase.has_plans() => {
            precedes_plans(words) || words.trim().eq_ignore_ascii_case("ready")
        }
        progress => PhaseProgress::parse(words) == Some(progress) && !names_step(words),
    };
    says_it && named.is_none_or(|number| number == phase.number)
}

/// Returns the status of a phase in the words of the templates, as a single word if the old one is; the tool is given for
/// STATE.md, where the next step is named.
fn template_status(old: &str, phase: &Phase, of_state: Option<LayoutName>) -> String {
    // The last are the words that GSD's own tool writes into the front matter, and VBW's template.
    let [text, word, of_gsd, of_vbw] = match (progress(phase), of_state) {
        (PhaseProgress::Complete, _) => ["Complete", "complete", "completed", "complete"],
        (PhaseProgress::InProgress, _) => ["In progress", "in_progress", "executing", "active"],
        (_, None) => ["Not started", "not_started", "", ""],
        _ if phase.has_plans() => ["Ready to execute", "pending", "executing", "ready"],
        _ => ["Ready to plan", "planning", "planning", "ready"],
    };
    let is_word = !old.contains(' ') && old.starts_with(char::is_lowercase);
    match of_state {
        _ if !is_word => text,
        Some(LayoutName::Gsd) => of_gsd,
        Some(LayoutName::Vbw | LayoutName::Yolo) => of_vbw,
        _ => word,
    }
    .to_owned()
}

/// Returns the phase's name where it can be read again as such, as a slug if the old one is.
fn name_to_write(old: &str, phase: &Phase) -> Option<String> {
    let name = phase.name.as_deref()?;
    let is_name = |c: char| c.is_whitespace() || c.is_uppercase();
    if slug_of(old) == old || old.contains('-') && !old.contains(is_name) {
        // The folder will be named after the phase.
        let of_folder = phase.dir.as_ref().and_then(|dir| {
            let name = dir.dir_name();
            let (_, slug) = phase.number.numbering().split_folder(&name)?;
            Some(slug.trim_start_matches(['-', '_', ' ']).to_owned())
        });
        let slug = of_folder.unwrap_or_else(|| slug_of(name));
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
fn redrawn(bar: &str, percent: usize) -> Option<String> {
    const SIGNS: [[char; 2]; 2] = [['\u{2588}', '\u{2591}'], ['#', '-']];
    let inner = bar.trim_start_matches('[').trim_end_matches(']');
    let [full, empty] =
        SIGNS.into_iter().find(|signs| inner.chars().all(|c| signs.contains(&c)))?;
    let cells = inner.chars().count();
    let filled = cells * percent.min(100) / 100;
    let drawn: String = (0..cells).map(|cell| if cell < filled { full } else { empty }).collect();
    Some(bar.replacen(inner, &drawn, 1))
}

/// Returns the metrics of STATE.md that the summaries contradict, in file order.
///
/// Free text is accepted. All metrics are accepted if one exceeds what the milestone's summaries show, since they then
/// include work that is not visible here.
pub(super) fn metrics(survey: &Survey) -> Vec<Drift> {
    let labels = &survey.state.metrics;
    if labels.is_empty() {
        return Vec::new();
    }
    let members = || survey.position.members();
    let plans = members().flat_map(|phase| &phase.plans);
    let done: Vec<_> = plans.filter(|slot| slot.state == PlanState::Complete).collect();
    let complete = done.len();
    // A summary of a whole phase that has no plan may be counted or not.
    let of_phases = members().filter(|phase| phase.is_only_summarised()).count();
    let least = complete.saturating_sub(of_phases);
    let durations =
        done.iter().map(|slot| slot.summary()?.value.duration_minutes.map(Minutes::as_f64));
    // The durations of some plans say nothing against a stated value of all.
    let total = durations.sum::<Option<f64>>().filter(|_| complete > 0);
    let mut comparison = Comparison::new(survey, vocabulary::STATE);
    for label in labels {
        let stated = label.value.as_str();
        let (subject, right, includes_more) = match fold(&label.name).as_str() {
            "total plans completed" | "plans completed" => {
                let count = stated.parse::<usize>().ok();
                let right = count.unwrap_or(0).max(least).to_string();
                // `18 (5 of v1.0 + 13)` counts more than this milestone.
                let includes_more = !is_blank(stated) && count.is_none_or(|count| count > complete);
                ("the total of completed plans", Some(right), includes_more)
            }
            "total execution time" | "total time" => {
                let right = total.and_then(|total| in_style(total, stated));
                // Both are compared as formatted, so that rounding makes no difference.
                let shown = right.as_deref().and_then(Minutes::parse);
                let includes_more = shown.is_some() && Minutes::parse(stated) > shown;
                ("the total execution time", right, includes_more)
            }
            "average duration" => {
                let average = total.map(|total| total / to_f64(complete));
                let right = average.and_then(|average| in_style(average, stated));
                ("the average duration", right, false)
            }
            _ => continue,
        };
        if includes_more {
            return Vec::new();
        }
        if let Some(right) = right.filter(|right| right != stated) {
            let at = Located { value: (), range: label.range.clone(), line: label.line };
            let kind = Some(DriftKind::Metric);
            comparison.report(kind, subject, &at, None, &stated, right);
        }
    }
    comparison.found
}

/// Returns whether no value is stated yet.
fn is_blank(stated: &str) -> bool {
    stated == "0" || is_absent(stated)
}

/// Formats minutes in the form of the template: `11 min`, `0.5 hours`; `None` if the old value is in another one.
fn in_style(minutes: f64, stated: &str) -> Option<String> {
    if is_blank(stated) {
        return Minutes::from_number(minutes, TimeUnit::Minutes).map(|value| value.to_string());
    }
    let unit = stated.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number = stated.strip_suffix(unit).filter(|number| !number.is_empty())?;
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    match unit.trim() {
        "min" => Some(format!("{minutes:.decimals$}{unit}")),
        "hours" => Some(format!("{:.*}{unit}", decimals.max(1), minutes / 60.0)),
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
