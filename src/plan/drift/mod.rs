//! Finds statements of STATE.md and ROADMAP.md that contradict the files.

use std::fmt::Display;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::plan::{
    Action, Survey, Located, Phase, PhaseNumber, PhaseNumbering, PhaseProgress, PhaseState,
    PlanState, Position,
};
use crate::text::{clip, strip_prefix_ignore_case};

mod counts;
mod percent;
mod roadmap;
mod state;

/// Maximum width of a displayed value; longer ones are truncated.
const MAX_VALUE_LENGTH: usize = 160;

/// The subject of a plan without a summary: a file rather than a statement.
const PLAN: &str = "the plan";

/// The subject of a status, which is displayed in quotes.
const STATUS: &str = "the status";

/// The kind of a contradicted statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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

/// A contradicted statement, with its location and its correct value.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// The statement for reports.
    pub(crate) drift: Drift,
    /// Byte range of the statement in the file.
    pub(crate) range: Range<usize>,
    /// The correct value.
    pub(crate) correct: Expected,
    /// The index of its phase in [`Position::phases`]; `None` if it is about all phases.
    pub(crate) phase: Option<usize>,
}

/// The correct value of a statement, according to the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
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

/// The contradicted statements, by file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// Those in STATE.md, in file order.
    pub(crate) state: Vec<Finding>,
    /// Those in ROADMAP.md, in file order.
    pub(crate) roadmap: Vec<Finding>,
}

/// Returns the statements of STATE.md, then of ROADMAP.md, that contradict the files, in file order, then the
/// plans that were left behind.
pub fn drift(survey: &Survey) -> Vec<Drift> {
    let position = &survey.position;
    let left_behind = position
        .phases
        .iter()
        .enumerate()
        .filter(|(index, _)| is_left_behind(position, *index))
        .flat_map(|(_, phase)| left_plans(survey, phase));
    let stated = statements(survey, position).into_iter();
    stated.chain(left_behind).collect()
}

/// Returns the statements of STATE.md, then of ROADMAP.md, that contradict the files, in file order.
pub(crate) fn statements(survey: &Survey, position: &Position) -> Vec<Drift> {
    let Findings { state, roadmap } = findings(survey, position);
    let all = state.into_iter().chain(roadmap);
    all.map(|finding| finding.drift).collect()
}

/// Returns whether plans of a phase were left without a summary: the phase is called complete, or precedes
/// the current one.
fn is_left_behind(position: &Position, index: usize) -> bool {
    let phase = &position.phases[index];
    let is_over = match phase.state {
        PhaseState::Done => true,
        // Its plans are not to be done.
        PhaseState::Dropped => false,
        _ => is_passed(position, index),
    };
    phase.is_in_milestone && is_over
}

/// Returns whether a phase precedes the current one.
fn is_passed(position: &Position, index: usize) -> bool {
    let number = &position.phases[index].number;
    position
        .current
        .is_some_and(|current| current != index && *number < position.phases[current].number)
}

fn left_plans(survey: &Survey, phase: &Phase) -> Vec<Drift> {
    let Some(dir) = &phase.dir else {
        return Vec::new();
    };
    let open = phase.plans.iter().filter(|(_, state)| *state == PlanState::Open);
    let reason = if phase.state == PhaseState::Done {
        format!("phase {} is called complete", phase.number)
    } else {
        format!("the work has moved on from phase {}", phase.number)
    };
    open.filter_map(|(slot, _)| {
        let file = dir.join(slot.plan.as_ref()?);
        Some(Drift {
            kind: DriftKind::Plans,
            subject: PLAN,
            stated: format!("plan {}", slot.number),
            actual: format!("no summary, but {reason}"),
            file: file.strip_prefix(&survey.root).unwrap_or(&file).to_owned(),
            line: 1,
        })
    })
    .collect()
}

/// Returns whether the files do not determine the number of plans of a phase: some were left behind, or more
/// may follow.
fn has_unclear_counts(phase: &Phase) -> bool {
    phase.state == PhaseState::Running
        || phase.state == PhaseState::Done && phase.open_plans().next().is_some()
}

/// Returns the contradicted statements with their byte ranges and correct values.
pub(crate) fn findings(survey: &Survey, position: &Position) -> Findings {
    Findings {
        state: state::statements(survey, position),
        roadmap: roadmap::statements(survey, position),
    }
}

/// Collects the contradicted statements of a file.
struct Statements<'a> {
    position: &'a Position,
    file: PathBuf,
    found: Vec<Finding>,
}

/// A statement to compare: its kind, its location, and its phase.
struct Statement<'a> {
    kind: DriftKind,
    subject: &'static str,
    line: usize,
    range: &'a Range<usize>,
    phase: Option<usize>,
}

impl<'a> Statements<'a> {
    fn new(survey: &Survey, position: &'a Position, name: &str) -> Self {
        let file = survey.folder.active.dir.join(name);
        let shown: &Path = file.strip_prefix(&survey.root).unwrap_or(&file);
        Self { position, file: shown.to_owned(), found: Vec::new() }
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
            self.found.push(Finding {
                drift: Drift {
                    kind: place.kind,
                    subject: place.subject,
                    stated,
                    actual,
                    file: self.file.clone(),
                    line: place.line,
                },
                range: place.range.clone(),
                correct,
                phase: place.phase,
            });
        }
    }

    /// Compares a count with a range, used if the files do not determine the exact value.
    fn count_within(&mut self, place: &Statement<'_>, stated: u32, actual: &RangeInclusive<usize>) {
        if !actual.contains(&(stated as usize)) {
            self.count(place, stated, *actual.start());
        }
    }

    fn count(&mut self, place: &Statement<'_>, stated: u32, actual: usize) {
        self.compare(place, &stated, &actual, Expected::Count(actual));
    }

    /// Compares a status with the state of a phase; unclear wordings are accepted.
    fn status(&mut self, stated: &Located<String>, index: usize) {
        let phase = &self.position.phases[index];
        let awaits_check = phase.awaits_check || may_be_checked(self.position, &phase.number);
        let words = unprefixed(&stated.value, phase.number.numbering()).1;
        let (actual, correct) = match phase.state {
            _ if phase.dir.is_none() => return,
            PhaseState::Done
                if PhaseProgress::is_open_status(words) && !is_check(words) && !awaits_check =>
            {
                ("complete", PhaseProgress::Complete)
            }
            PhaseState::Open | PhaseState::Running
                if PhaseProgress::is_complete_status(words) && !is_passed(self.position, index) =>
            {
                ("in progress", PhaseProgress::InProgress)
            }
            PhaseState::Unplanned if PhaseProgress::is_complete_status(words) => {
                ("not planned", PhaseProgress::NotStarted)
            }
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

    fn sorted(mut self) -> Vec<Finding> {
        self.found.sort_by_key(|finding| finding.drift.line);
        self.found
    }
}

/// Returns whether a check of a phase is next, or about as likely to be.
fn may_be_checked(position: &Position, number: &PhaseNumber) -> bool {
    let next = &position.next;
    let other = next.alternative.as_ref();
    let other = other.map(|other| (other.action, other.phase.as_ref()));
    let mut actions = [Some((next.action, next.phase.as_ref())), other].into_iter().flatten();
    actions.any(|(action, of)| {
        matches!(action, Action::Verify | Action::Remediate) && of == Some(number)
    })
}

/// Splits a status such as `Phase 3 complete` into the named phase and the rest.
pub(crate) fn unprefixed(status: &str, numbering: PhaseNumbering) -> (Option<PhaseNumber>, &str) {
    let named = strip_prefix_ignore_case(status, "phase ")
        .and_then(|rest| numbering.split(rest.trim_start()));
    match named {
        Some((number, rest)) => (
            Some(number),
            rest.trim_start_matches(|c: char| {
                c.is_whitespace() || matches!(c, ':' | '-' | '\u{2013}' | '\u{2014}' | '(')
            }),
        ),
        None => (None, status),
    }
}

/// Returns whether a status names a step that follows the last plan, which no file can contradict.
fn is_check(status: &str) -> bool {
    const CHECKS: &[&str] =
        &["verif", "remediation", "ship", "milestone", "archiv", "review", "uat", "audit"];
    let lower = status.to_lowercase();
    CHECKS.iter().any(|word| lower.contains(word))
}

/// Returns the index of the phase with a number, if there is exactly one.
pub(crate) fn unique_phase(position: &Position, number: &PhaseNumber) -> Option<usize> {
    let mut same = position.phases.iter().enumerate().filter(|(_, phase)| phase.number == *number);
    match (same.next(), same.next()) {
        (Some((index, _)), None) => Some(index),
        _ => None,
    }
}
