//! Lists the open blockers; those that were noted for a phase that is complete say so and come last.

use crate::plan::{Phase, PhaseNumber, PhaseNumbering, PhaseState, Survey};
use crate::text::{clip, strip_prefix_ignore_case};

/// Returns the open blockers; a text before ` (phase 2 is complete)` is truncated so that both fit into `width`
/// characters.
pub(crate) fn open_blockers(survey: &Survey, width: usize) -> Vec<String> {
    let (mut current, mut past) = (Vec::new(), Vec::new());
    for text in &survey.state.blockers {
        let phase = phase_of(text, survey.state.numbering);
        match phase.filter(|number| is_complete(&survey.position.phases, number)) {
            Some(number) => {
                let note = format!(" (phase {number} is complete)");
                let text = clip(text, width.saturating_sub(note.len()));
                past.push(format!("{text}{note}"));
            }
            None => current.push(text.clone()),
        }
    }
    current.append(&mut past);
    current
}

/// Returns the phase that a blocker was noted for: `[Phase 2]: …`, `**Phase 2:** …`, `Phase 2 planning …`, but not that
/// of `Phase 2 crashes` or `[Phase 1-3]`.
fn phase_of(blocker: &str, numbering: PhaseNumbering) -> Option<PhaseNumber> {
    let text = blocker.trim_start_matches(['*', '_', '[', '(']);
    let (number, rest) = numbering.split(strip_prefix_ignore_case(text, "phase ")?)?;
    let rest = rest.trim_start_matches(['*', '_']);
    let is_planning = strip_prefix_ignore_case(rest, " planning")
        .is_some_and(|rest| rest.starts_with([' ', ':', ']', ')']));
    (is_planning || rest.starts_with([':', ']', ')'])).then_some(number)
}

/// Returns whether a phase is complete and no check of it waits for a person.
fn is_complete(phases: &[Phase], number: &PhaseNumber) -> bool {
    let mut named = phases.iter().filter(|phase| phase.number == *number);
    let is_over = |phase: &Phase| phase.state == PhaseState::Done && !phase.awaits_check;
    named.next().is_some_and(is_over) && named.all(is_over)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocker_is_noted_for_the_phase_in_front() {
        let phase = |text| phase_of(text, PhaseNumbering::Plain).map(|number| number.to_string());
        for text in [
            "[Phase 2]: Which tides are shown?",
            "[Phase 2] The clock drifts",
            "(Phase 2): The clock drifts",
            "**Phase 2:** The clock drifts",
            "**Phase 2**: The clock drifts",
            "Phase 02: The clock drifts",
            "Phase 2 planning: check the backup policy",
            "Phase 2 planning should verify the backup policy",
        ] {
            assert_eq!(phase(text).as_deref(), Some("2"), "{text}");
        }
        for text in [
            "Phase 2 crashes on old phones",
            "Phase 2 is gated: nobody has a key",
            "[Phase 1-3] Tests by users are open",
            "[Phase 1\u{2013}3] Tests by users are open",
            "[Phase 2 \u{2192} 3] The check fails",
            "Phase 2 plannings",
            "Waiting for phase 2: no key",
            "Phases 2: x",
            "No key",
        ] {
            assert_eq!(phase(text), None, "{text}");
        }
    }

    #[test]
    fn a_phase_is_complete_if_all_with_its_number_are() {
        let phase = |number: u32, state| Phase { state, ..Phase::empty(PhaseNumber::from(number)) };
        let waiting = Phase { awaits_check: true, ..phase(4, PhaseState::Done) };
        let phases = [
            phase(1, PhaseState::Done),
            phase(2, PhaseState::Done),
            phase(2, PhaseState::Open),
            phase(3, PhaseState::Dropped),
            waiting,
        ];
        let complete = (1..=5).filter(|number| is_complete(&phases, &PhaseNumber::from(*number)));
        assert_eq!(complete.collect::<Vec<u32>>(), [1]);
    }
}
