//! Where STATE.md and ROADMAP.md contradict the files.

use std::fmt::Display;
use std::ops::Range;
use std::ops::RangeInclusive;
use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;

use crate::planning::PhaseNumber;
use crate::planning::PhaseProgress;
use crate::planning::Stated;
use crate::position::Evidence;
use crate::position::Phase;
use crate::position::PhaseState;
use crate::position::PlanState;
use crate::position::Position;
use crate::text::clip;

mod percent;
mod roadmap;
mod state;

/// Longer values are cut where they are shown.
const WIDTH: usize = 160;

/// The subject of a plan that was left behind: no statement, but a file that should not be alone.
const PLAN: &str = "the plan";

/// The subject of a status, whose words are quoted.
const STATUS: &str = "the status";

/// What kind of statement is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DriftKind {
    /// The current phase.
    Phase,
    /// How many phases there are.
    Total,
    /// How many plans there are, or are done.
    Plans,
    /// The progress.
    Percent,
    /// The status of a phase.
    Status,
    /// A phase's checkbox in the roadmap.
    Checkbox,
    /// A phase's row in the roadmap's progress table.
    ProgressRow,
}

/// A statement that the files contradict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Drift {
    /// What kind of statement.
    pub kind: DriftKind,
    /// What it states a value of, in words: `the current phase`.
    #[serde(skip)]
    pub subject: &'static str,
    /// What is stated.
    pub stated: String,
    /// What the files say.
    pub actual: String,
    /// The file that states it, relative to the project's root.
    pub file: PathBuf,
    /// The line that states it, counted from 1.
    pub line: usize,
}

impl Drift {
    /// Says what is stated and what the files show; its file and line are named before it.
    pub fn sentence(&self) -> String {
        let (stated, actual) = (clip(&self.stated, WIDTH), clip(&self.actual, WIDTH));
        match self.subject {
            PLAN => format!("{stated} has {actual}"),
            STATUS => format!("{STATUS} is {stated:?}, but the files show {actual:?}"),
            subject => format!("{subject} is {stated}, but the files show {actual}"),
        }
    }
}

/// A statement that is off, where it stands, and what puts it right.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// The statement as it is reported.
    pub(crate) drift: Drift,
    /// The bytes of the file that state it.
    pub(crate) range: Range<usize>,
    /// What the files say.
    pub(crate) right: Expected,
    /// The index of the phase it is about in [`Position::phases`]; none where it is about all of them.
    pub(crate) phase: Option<usize>,
}

/// What the files say in place of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// The current phase.
    Phase(PhaseNumber),
    /// A number of phases or plans, or of percent.
    Count(usize),
    /// A status.
    Status(PhaseProgress),
    /// Whether a checkbox is ticked.
    Mark(bool),
    /// How many plans are complete, and how many there are.
    Counts(usize, usize),
}

/// The statements that the files contradict, by file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// In STATE.md, in file order.
    pub(crate) state: Vec<Finding>,
    /// In ROADMAP.md, in file order.
    pub(crate) roadmap: Vec<Finding>,
}

/// Returns the statements of STATE.md, then of ROADMAP.md, that the files contradict, in file order, then the
/// plans that were left behind.
pub fn drift(evidence: &Evidence<'_>, position: &Position) -> Vec<Drift> {
    let left_behind = position
        .phases
        .iter()
        .enumerate()
        .filter(|(index, _)| is_left_behind(position, *index))
        .flat_map(|(_, phase)| left_plans(evidence, phase));
    let stated = statements(evidence, position).into_iter();
    stated.chain(left_behind).collect()
}

/// Returns the statements of STATE.md, then of ROADMAP.md, that the files contradict, in file order.
pub(crate) fn statements(evidence: &Evidence<'_>, position: &Position) -> Vec<Drift> {
    let Findings { state, roadmap } = findings(evidence, position);
    let all = state.into_iter().chain(roadmap);
    all.map(|finding| finding.drift).collect()
}

/// Returns whether plans of a phase have no summary although the work has gone on: the phase is called done,
/// or lies before the current one.
fn is_left_behind(position: &Position, index: usize) -> bool {
    let phase = &position.phases[index];
    phase.is_in_milestone && (phase.state == PhaseState::Done || is_passed(position, index))
}

/// Returns whether the work has gone on past a phase.
fn is_passed(position: &Position, index: usize) -> bool {
    let number = &position.phases[index].number;
    position
        .current
        .is_some_and(|current| current != index && *number < position.phases[current].number)
}

fn left_plans(evidence: &Evidence<'_>, phase: &Phase) -> Vec<Drift> {
    let Some(dir) = &phase.dir else {
        return Vec::new();
    };
    let open = phase
        .plans
        .iter()
        .filter(|(_, state)| *state == PlanState::Open);
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
            file: file.strip_prefix(evidence.root).unwrap_or(&file).to_owned(),
            line: 1,
        })
    })
    .collect()
}

/// Returns whether the files do not tell how many plans a phase has: some were left behind, or more are to come.
fn has_unclear_counts(phase: &Phase) -> bool {
    phase.state == PhaseState::Running
        || phase.state == PhaseState::Done && phase.open_plans().next().is_some()
}

/// Returns the same statements with their bytes and what puts them right.
pub(crate) fn findings(evidence: &Evidence<'_>, position: &Position) -> Findings {
    Findings {
        state: state::statements(evidence, position),
        roadmap: roadmap::statements(evidence, position),
    }
}

/// One file's statements as they are compared.
struct Statements<'a> {
    position: &'a Position,
    file: PathBuf,
    found: Vec<Finding>,
}

/// A statement to compare: its kind, its place, and the phase it is about.
struct Statement<'a> {
    kind: DriftKind,
    subject: &'static str,
    line: usize,
    range: &'a Range<usize>,
    phase: Option<usize>,
}

impl<'a> Statements<'a> {
    fn new(evidence: &Evidence<'_>, position: &'a Position, name: &str) -> Self {
        let file = evidence.folder.active.dir.join(name);
        let shown: &Path = file.strip_prefix(evidence.root).unwrap_or(&file);
        Self {
            position,
            file: shown.to_owned(),
            found: Vec::new(),
        }
    }

    fn compare(
        &mut self,
        place: &Statement<'_>,
        stated: &dyn Display,
        actual: &dyn Display,
        right: Expected,
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
                right,
                phase: place.phase,
            });
        }
    }

    /// Compares a count with a range in which the files leave it open.
    fn count_within(&mut self, place: &Statement<'_>, stated: u32, actual: &RangeInclusive<usize>) {
        if !actual.contains(&(stated as usize)) {
            self.count(place, stated, *actual.start());
        }
    }

    fn count(&mut self, place: &Statement<'_>, stated: u32, actual: usize) {
        self.compare(place, &stated, &actual, Expected::Count(actual));
    }

    /// Compares a status with how far a phase is, where the words leave no doubt.
    fn status(&mut self, stated: &Stated<String>, index: usize) {
        let phase = &self.position.phases[index];
        let words = unprefixed(&stated.value).1;
        let (actual, right) = match phase.state {
            _ if phase.dir.is_none() => return,
            PhaseState::Done if PhaseProgress::calls_open(words) && !is_check(words) => {
                ("complete", PhaseProgress::Complete)
            }
            PhaseState::Open | PhaseState::Running
                if PhaseProgress::calls_complete(words) && !is_passed(self.position, index) =>
            {
                ("in progress", PhaseProgress::InProgress)
            }
            PhaseState::Unplanned if PhaseProgress::calls_complete(words) => {
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
        self.compare(&place, &stated.value, &actual, Expected::Status(right));
    }

    fn sorted(mut self) -> Vec<Finding> {
        self.found.sort_by_key(|finding| finding.drift.line);
        self.found
    }
}

/// Splits a status such as `Phase 3 complete` into the phase it names and the rest.
pub(crate) fn unprefixed(status: &str) -> (Option<PhaseNumber>, &str) {
    let named = status
        .get(..6)
        .filter(|word| word.eq_ignore_ascii_case("phase "))
        .and_then(|_| PhaseNumber::split(status[6..].trim_start()));
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

/// Returns whether a status speaks of what follows when all plans are done: no file contradicts it.
fn is_check(status: &str) -> bool {
    const CHECKS: &[&str] = &[
        "verif",
        "remediation",
        "ship",
        "milestone",
        "archiv",
        "review",
        "uat",
        "audit",
    ];
    let lower = status.to_lowercase();
    CHECKS.iter().any(|word| lower.contains(word))
}

/// Returns the phase of a number, where no second one has it.
pub(crate) fn only(position: &Position, number: &PhaseNumber) -> Option<usize> {
    let mut same = position
        .phases
        .iter()
        .enumerate()
        .filter(|(_, phase)| phase.number == *number);
    match (same.next(), same.next()) {
        (Some((index, _)), None) => Some(index),
        _ => None,
    }
}
