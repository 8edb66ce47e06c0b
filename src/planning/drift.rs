//! Where STATE.md and ROADMAP.md say otherwise than the files.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::Range;
use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;

use crate::planning::Action;
use crate::planning::Claim;
use crate::planning::Evidence;
use crate::planning::Phase;
use crate::planning::PhaseNumber;
use crate::planning::PhaseProgress;
use crate::planning::PlanStanding;
use crate::planning::Position;
use crate::planning::ProgressRow;
use crate::planning::RoadmapPhase;
use crate::planning::Standing;
use crate::planning::Stated;

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
    /// What is stated.
    pub stated: String,
    /// What the files say.
    pub actual: String,
    /// The file that states it, relative to the project's root.
    pub file: PathBuf,
    /// The line that states it, counted from 1.
    pub line: usize,
}

/// A statement that is off, where it stands, and what puts it right.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    /// The statement as it is reported.
    pub(crate) drift: Drift,
    /// The bytes of the file that state it.
    pub(crate) range: Range<usize>,
    /// What the files say.
    pub(crate) right: Right,
    /// The index of the phase it is about in [`Position::phases`]; none where it is about all of them.
    pub(crate) phase: Option<usize>,
}

/// What the files say in place of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Right {
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

/// Tells whether plans of a phase have no summary although the work has gone on: the phase is called done,
/// or lies before the current one.
fn is_left_behind(position: &Position, index: usize) -> bool {
    let phase = &position.phases[index];
    let is_passed = position
        .current
        .is_some_and(|current| current != index && phase.number < position.phases[current].number);
    phase.is_in_milestone && (phase.standing == Standing::Done || is_passed)
}

fn left_plans(evidence: &Evidence<'_>, phase: &Phase) -> Vec<Drift> {
    let Some(dir) = &phase.dir else {
        return Vec::new();
    };
    let open = phase
        .plans
        .iter()
        .filter(|(_, standing)| *standing == PlanStanding::Open);
    open.filter_map(|(slot, _)| {
        let file = dir.join(slot.plan.as_ref()?);
        Some(Drift {
            kind: DriftKind::Plans,
            stated: format!("plan {}", slot.number),
            actual: format!("left behind in phase {}, without a summary", phase.number),
            file: file.strip_prefix(evidence.root).unwrap_or(&file).to_owned(),
            line: 1,
        })
    })
    .collect()
}

/// Tells whether the files do not tell how many plans a phase has: some were left behind, or more are to come.
fn has_unclear_counts(phase: &Phase) -> bool {
    phase.standing == Standing::Running
        || phase.standing == Standing::Done && phase.open_plans().next().is_some()
}

/// Returns the same statements with their bytes and what puts them right.
pub(crate) fn findings(evidence: &Evidence<'_>, position: &Position) -> Findings {
    Findings {
        state: in_state(evidence, position),
        roadmap: in_roadmap(evidence, position),
    }
}

/// One file's statements as they are compared.
struct Statements<'a> {
    position: &'a Position,
    file: PathBuf,
    found: Vec<Finding>,
}

/// A statement to compare: its kind, its place, and the phase it is about.
struct Place<'a> {
    kind: DriftKind,
    line: usize,
    range: &'a Range<usize>,
    phase: Option<usize>,
}

impl<'a> Statements<'a> {
    fn of(evidence: &Evidence<'_>, position: &'a Position, name: &str) -> Self {
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
        place: &Place<'_>,
        stated: &dyn Display,
        actual: &dyn Display,
        right: Right,
    ) {
        let (stated, actual) = (stated.to_string(), actual.to_string());
        if stated != actual {
            self.found.push(Finding {
                drift: Drift {
                    kind: place.kind,
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

    fn count(&mut self, place: &Place<'_>, stated: u32, actual: usize) {
        self.compare(place, &stated, &actual, Right::Count(actual));
    }

    /// Compares a status with how far a phase is, where the words leave no doubt.
    fn status(&mut self, stated: &Stated<String>, index: usize) {
        let phase = &self.position.phases[index];
        let words = unprefixed(&stated.value).1;
        let (actual, right) = match phase.standing {
            _ if phase.dir.is_none() => return,
            Standing::Done if PhaseProgress::calls_open(words) && !is_check(words) => {
                ("complete", PhaseProgress::Complete)
            }
            Standing::Open | Standing::Running if PhaseProgress::calls_complete(words) => {
                ("in progress", PhaseProgress::InProgress)
            }
            Standing::Unplanned if PhaseProgress::calls_complete(words) => {
                ("not planned", PhaseProgress::NotStarted)
            }
            _ => return,
        };
        let place = Place {
            kind: DriftKind::Status,
            line: stated.line,
            range: &stated.range,
            phase: Some(index),
        };
        self.compare(&place, &stated.value, &actual, Right::Status(right));
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

/// Tells whether a status speaks of what follows when all plans are done: no file contradicts it.
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

/// The phases that STATE.md's statements are about.
struct Subjects<'a> {
    position: &'a Position,
    /// The phase that STATE.md states, where it has a folder and is the only one of its number.
    stated: Option<usize>,
    /// The phase before the current one, where STATE.md rightly calls it complete and stays there.
    just_done: Option<usize>,
}

impl<'a> Subjects<'a> {
    fn of(evidence: &Evidence<'_>, position: &'a Position) -> Self {
        let number = evidence.state.phase.number.as_ref();
        let stated = number
            .and_then(|number| only(position, number))
            .filter(|index| position.phases[*index].dir.is_some());
        let says_complete = evidence
            .state
            .claims
            .iter()
            .any(|claim| match &claim.value {
                Claim::Status(status) | Claim::PhaseStatus(status) => {
                    PhaseProgress::calls_complete(unprefixed(status).1)
                }
                _ => false,
            });
        let before = position
            .current
            .filter(|_| position.next.action == Action::Plan && says_complete)
            .and_then(|current| current.checked_sub(1))
            .filter(|before| position.phases[*before].standing == Standing::Done);
        Self {
            position,
            stated,
            just_done: before.filter(|before| Some(*before) == stated),
        }
    }

    /// Returns the phase of a status: the one that it names, the one just done, or the current one.
    fn of_status(&self, status: &str) -> Option<usize> {
        match unprefixed(status).0 {
            Some(number) => only(self.position, &number),
            None => self.just_done.or(self.position.current),
        }
    }

    fn is_just_done(&self, number: &PhaseNumber) -> bool {
        self.just_done
            .is_some_and(|index| self.position.phases[index].number == *number)
    }
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

fn in_state(evidence: &Evidence<'_>, position: &Position) -> Vec<Finding> {
    let mut statements = Statements::of(evidence, position, "STATE.md");
    if position.phases.iter().all(|phase| phase.dir.is_none()) {
        // Without a single phase folder there is nothing to hold a statement against.
        return Vec::new();
    }
    let subjects = Subjects::of(evidence, position);
    for claim in &evidence.state.claims {
        statements.claim(claim, &subjects);
    }
    for listed in &evidence.state.phase_statuses {
        if let Some(index) = only(position, &listed.number) {
            statements.status(&listed.status, index);
        }
    }
    statements.sorted()
}

impl Statements<'_> {
    fn claim(&mut self, claim: &Stated<Claim>, subjects: &Subjects<'_>) {
        let (position, here) = (self.position, subjects.stated);
        let place = |kind, phase| Place {
            kind,
            line: claim.line,
            range: &claim.range,
            phase,
        };
        match &claim.value {
            Claim::Phase(stated) if !subjects.is_just_done(stated) => {
                if let Some(current) = position.phase() {
                    let place = place(DriftKind::Phase, position.current);
                    let right = Right::Phase(current.number.clone());
                    self.compare(&place, stated, &current.number, right);
                }
            }
            Claim::Total(stated) if !is_a_count(position, *stated) => {
                self.count(&place(DriftKind::Total, None), *stated, position.total());
            }
            Claim::Percent(stated) if !is_a_percent(position, here, *stated) => {
                let right = position.percent() as usize;
                self.count(&place(DriftKind::Percent, None), *stated, right);
            }
            Claim::Status(stated) | Claim::PhaseStatus(stated) => {
                if let Some(index) = subjects.of_status(stated) {
                    self.status(&claim.clone().map(|_| stated.clone()), index);
                }
            }
            value => {
                if let Some((stated, actual)) = plan_count(value, here, position) {
                    let phase = here.filter(|_| is_of_phase(value));
                    self.count(&place(DriftKind::Plans, phase), stated, actual);
                }
            }
        }
    }
}

fn is_of_phase(claim: &Claim) -> bool {
    matches!(claim, Claim::PlansComplete(_) | Claim::PlansTotal(_))
}

/// Tells whether a total counts the phases in one of the ways that people do.
fn is_a_count(position: &Position, stated: u32) -> bool {
    let stated = stated as usize;
    let last = position
        .phases
        .iter()
        .map(|phase| phase.number.whole() as usize)
        .max();
    let whole: BTreeSet<u32> = position
        .phases
        .iter()
        .map(|phase| phase.number.whole())
        .collect();
    stated == position.total()
        || stated == position.phases.len()
        || Some(stated) == last
        || stated == whole.len()
}

/// Tells whether a percentage is right in one of the ways that templates mean it: over all phases,
/// over all plans, or over the current phase's plans.
fn is_a_percent(position: &Position, here: Option<usize>, stated: u32) -> bool {
    let of_phase = here.map(|index| {
        let phase = &position.phases[index];
        let done = phase.count(PlanStanding::Complete);
        (done * 100).checked_div(phase.plans.len()).unwrap_or(0)
    });
    let done = position
        .phases
        .iter()
        .filter(|phase| phase.standing == Standing::Done)
        .count();
    let of_phases = (done * 100).checked_div(position.total()).unwrap_or(0);
    let stated = stated as usize;
    [
        position.percent() as usize,
        position.percent_of_plans() as usize,
        of_phases,
    ]
    .into_iter()
    .chain(of_phase)
    .any(|right| right.abs_diff(stated) <= 1)
}

/// Returns a stated number of plans and the right one, for claims that count plans.
fn plan_count(claim: &Claim, here: Option<usize>, position: &Position) -> Option<(u32, usize)> {
    let here = here
        .map(|index| &position.phases[index])
        .filter(|phase| !has_unclear_counts(phase));
    let all = || position.phases.iter().filter(|phase| phase.dir.is_some());
    Some(match claim {
        Claim::PlansComplete(stated) => (*stated, here?.count(PlanStanding::Complete)),
        Claim::PlansTotal(stated) => (*stated, here?.plans.len()),
        Claim::AllPlansComplete(stated) => (
            *stated,
            all().map(|phase| phase.count(PlanStanding::Complete)).sum(),
        ),
        Claim::AllPlansTotal(stated) => (*stated, all().map(|phase| phase.plans.len()).sum()),
        _ => return None,
    })
}

fn in_roadmap(evidence: &Evidence<'_>, position: &Position) -> Vec<Finding> {
    let mut statements = Statements::of(evidence, position, "ROADMAP.md");
    for planned in &evidence.roadmap.phases {
        let mut same = position.phases.iter().enumerate().filter(|(_, phase)| {
            phase.number == planned.number && phase.dir.is_some() && !phase.plans.is_empty()
        });
        // Two folders of one number leave open which of them the roadmap means.
        if let (Some((index, _)), None) = (same.next(), same.next()) {
            statements.planned(planned, index);
        }
    }
    statements.sorted()
}

impl Statements<'_> {
    fn planned(&mut self, planned: &RoadmapPhase, index: usize) {
        let phase = &self.position.phases[index];
        if let Some(checkbox) = &planned.checkbox {
            let is_done = phase.standing == Standing::Done;
            let mark = |checked| if checked { "[x]" } else { "[ ]" };
            let place = Place {
                kind: DriftKind::Checkbox,
                line: checkbox.line,
                range: &checkbox.range,
                phase: Some(index),
            };
            let (stated, actual) = (mark(checkbox.value), mark(is_done));
            self.compare(&place, &stated, &actual, Right::Mark(is_done));
        }
        if let Some(row) = &planned.row {
            self.row(row, phase, index);
        }
    }

    fn row(&mut self, row: &ProgressRow, phase: &Phase, index: usize) {
        let place = |range| Place {
            kind: DriftKind::ProgressRow,
            line: row.line,
            range,
            phase: Some(index),
        };
        let (complete, total) = (phase.count(PlanStanding::Complete), phase.plans.len());
        if has_unclear_counts(phase) {
            return;
        }
        if let (Some(cell), Some(done), Some(all)) =
            (&row.plans, row.plans_complete, row.plans_total)
        {
            let stated = format!("{done}/{all}");
            let actual = format!("{complete}/{total}");
            let right = Right::Counts(complete, total);
            self.compare(&place(&cell.range), &stated, &actual, right);
        }
        let Some(status) = &row.status else { return };
        let (actual, right) = match phase.standing {
            Standing::Done
                if PhaseProgress::calls_open(&status.value) && !is_check(&status.value) =>
            {
                ("Complete", PhaseProgress::Complete)
            }
            Standing::Open | Standing::Running if PhaseProgress::calls_complete(&status.value) => {
                ("In progress", PhaseProgress::InProgress)
            }
            Standing::Unplanned if PhaseProgress::calls_complete(&status.value) => {
                ("Not started", PhaseProgress::NotStarted)
            }
            _ => return,
        };
        let place = place(&status.range);
        self.compare(&place, &status.value, &actual, Right::Status(right));
    }
}
