//! Formats the evidence for a choice as sentences, each with file and line.

use crate::plan::weighing::assessment::Assessment;
use crate::plan::weighing::choice::{Choice, ChoiceRule};
use crate::plan::weighing::gate;
use crate::plan::{Check, Phase, PhaseState};
use crate::project::vocabulary;
use crate::text::quantity;

/// Maximum number of open plans listed individually.
const MAX_PLANS: usize = 5;

/// Returns the reasons for a choice.
pub(super) fn for_choice(assessment: &Assessment<'_>, choice: &Choice) -> Vec<String> {
    let Some(index) = choice.phase else {
        return vec![match choice.rule {
            ChoiceRule::Blank => "no phase is planned yet".to_owned(),
            ChoiceRule::Over => over(assessment),
            _ => all_done(assessment),
        }];
    };
    let mut because = match choice.rule {
        ChoiceRule::Check => vec![check(assessment, index)],
        _ => for_phase(assessment, index),
    };
    let first = assessment.unfinished_after(None).next();
    if assessment.stated_phase() == Some(index) && first != Some(index) {
        let evidence = assessment.evidence;
        let place = evidence.state(evidence.pointer_line());
        because.push(format!(
            "{place}: names phase {} as the current one",
            assessment.phases[index].number
        ));
    }
    if choice.rule == ChoiceRule::NextStep
        && let Some(step) = assessment.evidence.state.next_steps.first()
    {
        because
            .push(format!("{}: names it as the next step", assessment.evidence.state(step.line)));
    }
    because
}

/// Returns the check that blocks a finished phase.
fn check(assessment: &Assessment<'_>, index: usize) -> String {
    match gate::open_check(assessment, index) {
        Some(check) => for_check(assessment, check),
        None => format!(
            "{}: asks for a check of phase {}, but there is none",
            assessment.evidence.show(&assessment.evidence.folder.dir.join(vocabulary::CONFIG)),
            assessment.phases[index].number
        ),
    }
}

/// Returns what the file of a check says.
pub(super) fn for_check(assessment: &Assessment<'_>, check: &Check) -> String {
    let file = assessment.evidence.show(&check.file);
    format!("{file}: says {:?}", check.status_word)
}

/// Returns the evidence for the state of an unfinished phase.
pub(super) fn for_phase(assessment: &Assessment<'_>, index: usize) -> Vec<String> {
    let (phase, phase_evidence) = (&assessment.phases[index], &assessment.phase_evidence[index]);
    let evidence = assessment.evidence;
    match (phase.state, &phase.dir) {
        (PhaseState::Open, _) => open_plans(assessment, phase),
        (PhaseState::Running, Some(dir)) => match phase_evidence.declared {
            Some(declared) => vec![format!(
                "{}: {} of {declared} declared plans have summaries",
                evidence.show(dir),
                phase_evidence.summaries
            )],
            None => vec![summaries_alone(assessment, index)],
        },
        (_, Some(dir)) => {
            vec![format!("{}: phase {} has no plans", evidence.show(dir), phase.number)]
        }
        (_, None) => match phase_evidence.planned {
            Some(planned) => vec![format!(
                "{}: names phase {}, which has no folder",
                evidence.roadmap(planned.line),
                phase.number
            )],
            None => vec![format!("phase {} has no folder", phase.number)],
        },
    }
}

/// Says that an earlier phase was completed with fewer plans than declared, so the chosen one may be complete
/// too.
pub(super) fn passed(assessment: &Assessment<'_>, index: usize, chosen: usize) -> String {
    let phase = &assessment.phases[index];
    let phase_evidence = &assessment.phase_evidence[index];
    let dir = phase.dir.clone().unwrap_or_default();
    format!(
        "{}: phase {} was passed with {} of {} declared plans, so phase {} may be complete as well",
        assessment.evidence.show(&dir),
        phase.number,
        phase_evidence.summaries,
        phase_evidence.declared.unwrap_or_default(),
        assessment.phases[chosen].number
    )
}

/// Says that a phase has more summaries than plans.
pub(super) fn summaries_alone(assessment: &Assessment<'_>, index: usize) -> String {
    let phase = &assessment.phases[index];
    let dir = phase.dir.clone().unwrap_or_default();
    let phase_evidence = &assessment.phase_evidence[index];
    format!(
        "{}: {} and {}: not every plan is committed, so more may be under way",
        assessment.evidence.show(&dir),
        quantity(phase_evidence.summaries, "summary"),
        quantity(phase_evidence.plans, "plan file")
    )
}

pub(super) fn open_plans(assessment: &Assessment<'_>, phase: &Phase) -> Vec<String> {
    let mut found: Vec<String> = assessment.evidence.open_plans(phase).collect();
    let rest = found.len().saturating_sub(MAX_PLANS);
    found.truncate(MAX_PLANS);
    if rest > 0 {
        found.push(format!("and {rest} more"));
    }
    found
}

fn all_done(assessment: &Assessment<'_>) -> String {
    let count = |state| {
        let members = assessment.members.iter();
        members.filter(|index| assessment.state(**index) == state).count()
    };
    let mut words = match count(PhaseState::Done) {
        1 => "1 phase is complete".to_owned(),
        done => format!("{done} phases are complete"),
    };
    let dropped = count(PhaseState::Dropped);
    if dropped > 0 {
        words = format!("{words}, {dropped} dropped");
    }
    words
}

fn over(assessment: &Assessment<'_>) -> String {
    let evidence = assessment.evidence;
    if evidence.state.is_between_milestones {
        "STATE.md says that no milestone is active".to_owned()
    } else if evidence.roadmap.is_between_milestones {
        "ROADMAP.md calls every milestone shipped".to_owned()
    } else if evidence.has_shipped {
        "MILESTONES.md calls STATE.md's milestone shipped".to_owned()
    } else if evidence.folder.archived.is_empty() {
        "no phase is planned; only STATE.md mentions one".to_owned()
    } else {
        "all milestones are archived".to_owned()
    }
}
