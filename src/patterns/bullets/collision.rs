//! Plans of one phase that got in each other's way.

use crate::patterns::PlanRecord;
use crate::patterns::bullets::candidate::Candidate;
use crate::patterns::bullets::trouble::Trouble;
use crate::patterns::bullets::trouble::Troubles;
use crate::planning::PhaseNumber;
use crate::planning::PlanNumber;

const COLLISION: u32 = 82;

/// Words of those who meet another's work where they did not expect it.
const SIGNS: &[&str] = &[
    "parallel",
    "concurrent",
    "simultaneous",
    "conflict",
    "overlap",
    "interleav",
    "out of order",
    "same file",
    "staged",
    "another agent",
    "other agent",
    "already committed",
    "already created",
    "already implemented",
    "already deleted",
    "already done",
    "already exist",
    "already in ",
    "already present",
    "already added",
    "already applied",
    "already complete",
    "already contain",
    "already had",
    "already updated",
    "overwr",
];

/// Words that show that two plans were at work at once, which explains all the others.
const AT_ONCE: &[&str] = &["parallel", "concurrent", "simultaneous"];

/// Returns the troubles that name another plan of the phase as their cause, as one bullet.
pub(crate) fn candidates(
    phase: &PhaseNumber,
    plans: &[PlanRecord],
    troubles: &Troubles<'_>,
) -> Option<Candidate> {
    let met: Vec<(usize, &Trouble<'_>, Vec<&PlanNumber>)> = troubles
        .0
        .iter()
        .enumerate()
        .filter(|(_, trouble)| is_sign(trouble.text, SIGNS))
        .map(|(at, trouble)| (at, trouble, siblings(phase, plans, trouble)))
        .filter(|(_, _, others)| !others.is_empty())
        .collect();
    let speaks =
        |trouble: &Trouble<'_>| (is_sign(trouble.text, AT_ONCE), trouble.told.contains('`'));
    let (_, clearest, _) = met
        .iter()
        .rev()
        .max_by_key(|(_, trouble, _)| speaks(trouble))?;
    let mut involved: Vec<&PlanNumber> = met
        .iter()
        .flat_map(|(_, trouble, others)| others.iter().copied().chain([trouble.plan]))
        .collect();
    involved.sort();
    involved.dedup();
    let lead = format!("{} plans collided: ", involved.len());
    let told = met.iter().map(|(at, ..)| *at);
    Some(Candidate::new(COLLISION, &lead, &clearest.told, &involved).telling(told))
}

fn is_sign(text: &str, signs: &[&str]) -> bool {
    let lower = text.to_lowercase();
    signs.iter().any(|sign| lower.contains(sign))
}

/// Returns the other plans of the phase that a trouble names: `plan 05`, `Plans 02 and 03`, `08-16`.
fn siblings<'a>(
    phase: &PhaseNumber,
    plans: &'a [PlanRecord],
    trouble: &Trouble<'_>,
) -> Vec<&'a PlanNumber> {
    let mut named = Vec::new();
    let mut is_after_plan = false;
    let words = trouble
        .text
        .split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '.'))
        .map(|word| word.trim_matches(['-', '.']));
    for word in words.filter(|word| !word.is_empty()) {
        let lower = word.to_lowercase();
        if lower == "plan" || lower == "plans" {
            is_after_plan = true;
            continue;
        }
        let of_phase = word.rsplit_once('-').and_then(|(number, plan)| {
            let is_own = PhaseNumber::parse(number).is_some_and(|number| number == *phase);
            is_own.then(|| PlanNumber::parse(plan)).flatten()
        });
        let bare = || {
            word.starts_with(|c: char| c.is_ascii_digit())
                .then(|| PlanNumber::parse(word))
        };
        let number = of_phase.or_else(|| bare().filter(|_| is_after_plan).flatten());
        is_after_plan = is_after_plan && (number.is_some() || lower == "and");
        named.extend(number);
    }
    plans
        .iter()
        .map(|plan| &plan.plan)
        .filter(|plan| *plan != trouble.plan && named.contains(plan))
        .collect()
}
