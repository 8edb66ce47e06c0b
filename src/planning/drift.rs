//! Where STATE.md and ROADMAP.md say otherwise than the files.

use std::fmt::Display;
use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;

use crate::planning::Claim;
use crate::planning::Evidence;
use crate::planning::Phase;
use crate::planning::PhaseProgress;
use crate::planning::PlanStanding;
use crate::planning::Position;
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

/// Returns the statements of STATE.md, then of ROADMAP.md, that the files contradict, in file order.
pub fn drift(evidence: &Evidence<'_>, position: &Position) -> Vec<Drift> {
    let mut found = in_state(evidence, position);
    let mut roadmap = in_roadmap(evidence, position);
    roadmap.sort_by_key(|drift| drift.line);
    found.extend(roadmap);
    found
}

/// One file's statements as they are compared.
struct Statements {
    file: PathBuf,
    found: Vec<Drift>,
}

impl Statements {
    fn of(evidence: &Evidence<'_>, name: &str) -> Self {
        let file = evidence.folder.active.dir.join(name);
        let shown: &Path = file.strip_prefix(evidence.root).unwrap_or(&file);
        Self {
            file: shown.to_owned(),
            found: Vec::new(),
        }
    }

    fn compare(
        &mut self,
        kind: DriftKind,
        line: usize,
        stated: &dyn Display,
        actual: &dyn Display,
    ) {
        let (stated, actual) = (stated.to_string(), actual.to_string());
        if stated != actual {
            self.found.push(Drift {
                kind,
                stated,
                actual,
                file: self.file.clone(),
                line,
            });
        }
    }
}

fn in_state(evidence: &Evidence<'_>, position: &Position) -> Vec<Drift> {
    let mut statements = Statements::of(evidence, "STATE.md");
    if position.phases.iter().all(|phase| phase.dir.is_none()) {
        // Without a single phase folder there is nothing to hold a statement against.
        return Vec::new();
    }
    let stated_phase = evidence.state.phase.number.clone();
    let here = position
        .phases
        .iter()
        .find(|phase| Some(&phase.number) == stated_phase.as_ref() && phase.dir.is_some());
    for Stated { value, line, .. } in &evidence.state.claims {
        match value {
            Claim::Phase(stated) => {
                if let Some(current) = position.phase() {
                    statements.compare(DriftKind::Phase, *line, stated, &current.number);
                }
            }
            Claim::Total(stated) if !is_a_count(position, *stated) => {
                statements.compare(DriftKind::Total, *line, stated, &position.total());
            }
            Claim::Percent(stated) if !is_a_percent(position, here, *stated) => {
                statements.compare(DriftKind::Percent, *line, stated, &position.percent());
            }
            Claim::Status(stated) => statements.status(*line, stated, position.phase()),
            _ => {
                if let Some((stated, actual)) = plan_count(value, here, position) {
                    statements.compare(DriftKind::Plans, *line, &stated, &actual);
                }
            }
        }
    }
    for listed in &evidence.state.phase_statuses {
        let phase = position
            .phases
            .iter()
            .find(|phase| phase.number == listed.number);
        statements.status(listed.status.line, &listed.status.value, phase);
    }
    statements.found.sort_by_key(|drift| drift.line);
    statements.found
}

impl Statements {
    /// Compares a status with how far the phase is, where the words leave no doubt.
    fn status(&mut self, line: usize, stated: &str, phase: Option<&Phase>) {
        let Some(phase) = phase.filter(|phase| phase.dir.is_some()) else {
            return;
        };
        let actual = match phase.standing {
            Standing::Done if PhaseProgress::calls_open(stated) => "complete",
            Standing::Open if PhaseProgress::calls_complete(stated) => "in progress",
            Standing::Unplanned if PhaseProgress::calls_complete(stated) => "not planned",
            _ => return,
        };
        self.compare(DriftKind::Status, line, &stated, &actual);
    }
}

/// Tells whether a total counts the phases in one of the ways that people do.
fn is_a_count(position: &Position, stated: u32) -> bool {
    let stated = stated as usize;
    let last = position
        .phases
        .iter()
        .map(|phase| phase.number.whole() as usize)
        .max();
    let whole: std::collections::BTreeSet<u32> = position
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
fn is_a_percent(position: &Position, here: Option<&Phase>, stated: u32) -> bool {
    let of_phase = here.map(|phase| {
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
fn plan_count(claim: &Claim, here: Option<&Phase>, position: &Position) -> Option<(u32, usize)> {
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

fn in_roadmap(evidence: &Evidence<'_>, position: &Position) -> Vec<Drift> {
    let mut statements = Statements::of(evidence, "ROADMAP.md");
    for planned in &evidence.roadmap.phases {
        let mut same = position.phases.iter().filter(|phase| {
            phase.number == planned.number && phase.dir.is_some() && !phase.plans.is_empty()
        });
        // Two folders of one number leave open which of them the roadmap means.
        if let (Some(phase), None) = (same.next(), same.next()) {
            statements.planned(planned, phase);
        }
    }
    statements.found
}

impl Statements {
    fn planned(&mut self, planned: &RoadmapPhase, phase: &Phase) {
        let is_done = phase.standing == Standing::Done;
        if let Some(checkbox) = &planned.checkbox {
            let mark = |checked| if checked { "[x]" } else { "[ ]" };
            self.compare(
                DriftKind::Checkbox,
                checkbox.line,
                &mark(checkbox.value),
                &mark(is_done),
            );
        }
        let Some(row) = &planned.row else { return };
        let complete = phase.count(PlanStanding::Complete);
        if let (Some(done), Some(total)) = (row.plans_complete, row.plans_total) {
            let actual = format!("{complete}/{}", phase.plans.len());
            self.compare(
                DriftKind::ProgressRow,
                row.line,
                &format!("{done}/{total}"),
                &actual,
            );
        }
        if let Some(status) = &row.status {
            let actual = match is_done {
                true if PhaseProgress::calls_open(&status.value) => "Complete",
                false if PhaseProgress::calls_complete(&status.value) => "In progress",
                _ => return,
            };
            self.compare(DriftKind::ProgressRow, row.line, &status.value, &actual);
        }
    }
}
