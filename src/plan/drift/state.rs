//! Finds statements of STATE.md that contradict the files: the phase, its plans and status, and the overall
//! progress.

use crate::plan::drift::counts::count;
use crate::plan::drift::percent::StatedCounts;
use crate::plan::drift::{
    DriftKind, Expected, Finding, STATUS, Statement, Statements, may_be_checked, unique_phase,
    unprefixed,
};
use crate::plan::{
    Action, Claim, Survey, Located, PhaseNumber, PhaseNumbering, PhaseProgress, PhaseState,
    Position,
};
use crate::project::vocabulary;

/// The phases that the statements of STATE.md refer to.
struct Subjects<'a> {
    claims: &'a [Located<Claim>],
    position: &'a Position,
    numbering: PhaseNumbering,
    /// The phase stated in STATE.md, if it has a folder and a unique number.
    stated: Option<usize>,
    /// The phase before the current one, if STATE.md correctly calls it complete and has not moved on yet.
    just_done: Option<usize>,
}

impl<'a> Subjects<'a> {
    fn new(survey: &'a Survey, position: &'a Position) -> Self {
        let number = survey.state.phase.number.as_ref();
        let stated = number
            .and_then(|number| unique_phase(position, number))
            .filter(|index| position.phases[*index].dir.is_some());
        let says_complete = survey.state.claims.iter().any(|claim| match &claim.value {
            Claim::Status(status) | Claim::PhaseStatus(status) => {
                PhaseProgress::is_complete_status(unprefixed(status, survey.state.numbering).1)
            }
            _ => false,
        });
        let before = position
            .current
            .filter(|_| position.next.action == Action::Plan && says_complete)
            .and_then(|current| current.checked_sub(1))
            .filter(|before| position.phases[*before].state == PhaseState::Done);
        Self {
            claims: &survey.state.claims,
            numbering: survey.state.numbering,
            position,
            stated,
            just_done: before.filter(|before| Some(*before) == stated),
        }
    }

    /// Returns the phase of a status: the one that it names, otherwise the one just completed, otherwise the
    /// current one.
    fn of_status(&self, status: &str) -> Option<usize> {
        match unprefixed(status, self.numbering).0 {
            Some(number) => unique_phase(self.position, &number),
            None => self.just_done.or(self.position.current),
        }
    }

    fn is_just_done(&self, number: &PhaseNumber) -> bool {
        self.just_done.is_some_and(|index| self.position.phases[index].number == *number)
    }
}

/// Returns the statements of STATE.md that contradict the files, in file order.
pub(super) fn statements(survey: &Survey, position: &Position) -> Vec<Finding> {
    let mut statements = Statements::new(survey, position, vocabulary::STATE);
    if position.phases.iter().all(|phase| phase.dir.is_none()) {
        // Without any phase folder, there is nothing to compare with.
        return Vec::new();
    }
    let subjects = Subjects::new(survey, position);
    for claim in &survey.state.claims {
        statements.claim(claim, &subjects);
    }
    for listed in &survey.state.phase_statuses {
        if let Some(index) = unique_phase(position, &listed.number) {
            statements.status(&listed.status, index);
        }
    }
    statements.sorted()
}

impl Statements<'_> {
    fn claim(&mut self, claim: &Located<Claim>, subjects: &Subjects<'_>) {
        let (position, here) = (self.position, subjects.stated);
        let is_over = position.next.action == Action::None;
        let place = |kind, phase| Statement {
            kind,
            subject: subject(&claim.value),
            line: claim.line,
            range: &claim.range,
            phase,
        };
        match &claim.value {
            Claim::Phase(stated)
                if !subjects.is_just_done(stated) && !may_be_checked(position, stated) =>
            {
                if let Some(current) = position.phase() {
                    let place = place(DriftKind::Phase, position.current);
                    let correct = Expected::Phase(current.number.clone());
                    self.compare(&place, stated, &current.number, correct);
                }
            }
            // A milestone without phases has nothing to count. Where none is active, the folders may be of several.
            Claim::Total(_) | Claim::Percent(_) | Claim::PhasesComplete(_)
                if position.total() == 0 || is_over => {}
            Claim::AllPlansComplete(_) | Claim::AllPlansTotal(_) if is_over => {}
            Claim::Percent(stated) => {
                let counts = StatedCounts { claims: subjects.claims, position, here };
                if let Some(correct) = counts.corrected_percentage(*stated, claim.line) {
                    self.count(&place(DriftKind::Percent, None), *stated, correct);
                }
            }
            Claim::Status(stated) | Claim::PhaseStatus(stated) => {
                if let Some(index) = subjects.of_status(stated) {
                    self.status(&claim.clone().map(|_| stated.clone()), index);
                }
            }
            value => {
                if let Some((stated, actual)) = count(value, here, position) {
                    let phase = here.filter(|_| is_of_phase(value));
                    self.count_within(&place(kind_of_count(value), phase), stated, &actual);
                }
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

fn kind_of_count(claim: &Claim) -> DriftKind {
    match claim {
        Claim::Total(_) | Claim::PhasesComplete(_) => DriftKind::Total,
        _ => DriftKind::Plans,
    }
}

fn is_of_phase(claim: &Claim) -> bool {
    matches!(claim, Claim::PlansComplete(_) | Claim::PlansTotal(_) | Claim::CurrentPlan(_))
}
