//! Interprets the wording of statuses and next steps.

use crate::plan::{Count, PhaseNumber};

/// Words that mean that the plans of a phase are complete.
const COMPLETE: &[&str] = &[
    "complete", "shipped", "verif", "finished", "done", "archived", "all plans executed",
    "completa", "completo", "concluíd", "concluid", "terminad", "finalizad", "abgeschlossen",
    "завершен", "завершён", "完成", "完了",
];

/// Prefixes that mean that something other than the phase is complete, or that it is not.
const NOT_THE_PHASE: &[&str] = &[
    "planning", "planned", "plans ", "context", "research", "discuss", "spec", "ui-spec",
    "incomplete", "not ", "ready to ", "ready for planning", "ready for execution", "não ", "nao ",
    "no complet", "no terminad", "no finalizad", "nicht ", "не ", "未",
];

/// Returns whether a status calls the plans of phase `number` complete.
pub(super) fn calls_phase_complete(status: &str, number: &PhaseNumber) -> bool {
    let lower = status.to_lowercase();
    let words = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let names_another = number.numbering().phases_in(words).iter().any(|named| named != number);
    let names_plan = words.starts_with("plan ") || words.starts_with(|c: char| c.is_ascii_digit());
    let has_open_count = Count::find(words).is_some_and(|count| count.is_open());
    !names_another
        && !names_plan
        && !has_open_count
        && !NOT_THE_PHASE.iter().any(|beginning| words.starts_with(beginning))
        && !words.contains("incomplete")
        && COMPLETE.iter().any(|word| words.contains(word))
}

/// Returns whether a status says that a finished phase is waiting for a check.
pub(super) fn waits_for_check(status: &str) -> bool {
    const WAITS: &[&str] = &["verifying", "ready for", "awaiting", "pending", "waiting"];
    let lower = status.to_lowercase();
    let names_check = ["verif", "review", "uat"].iter().any(|word| lower.contains(word));
    names_check && WAITS.iter().any(|word| lower.contains(word))
}

/// Returns whether a next step mentions the end of a milestone.
pub(super) fn mentions_shipping(step: &str) -> bool {
    let lower = step.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    words.any(|word| ["ship", "archive", "release", "milestone"].contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_called_complete_in_several_languages() {
        let calls = |status: &str| calls_phase_complete(status, &PhaseNumber::from(6));
        for status in [
            "concluída", "Fase 6 completa", "Abgeschlossen", "Завершена", "已完成",
            "Phase 6 complete",
        ] {
            assert!(calls(status), "{status}");
        }
        for status in
            ["não concluída", "Fase 5 completa", "em andamento", "nicht abgeschlossen", "未完成"]
        {
            assert!(!calls(status), "{status}");
        }
    }
}
