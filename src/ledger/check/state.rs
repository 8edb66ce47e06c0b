//! The rules of STATE.md.

use crate::ledger::apply::state::non_present_word;
use crate::ledger::check::findings::Findings;
use crate::ledger::state::{LedgerState, MAX_LINES, SECTIONS, StateSection};
use crate::text::quantity;

/// Minimum and maximum number of bullets of each section, by index.
const BULLET_LIMITS: [(usize, usize); 6] =
    [(0, 1), (1, 3), (0, usize::MAX), (0, 5), (3, 5), (0, 3)];
/// The section whose bullets have checkboxes.
const NEXT_ACTIONS: usize = 3;
/// The section whose bullets are commands.
const QUICK_REFERENCE: usize = 4;

pub(crate) fn check(text: &str, findings: &mut Findings<'_>) {
    let lines = text.lines().count();
    if lines > MAX_LINES {
        let message = format!("has {lines} lines; at most {MAX_LINES} are allowed");
        findings.add("state-lines", None, message);
    }
    let state = LedgerState::parse(text);
    for (index, part) in state.sections.iter().enumerate() {
        if let Some(part) = part {
            check_section(index, part, findings);
        } else {
            let message = format!("has no section {:?}", SECTIONS[index]);
            findings.add_fixable("section", None, message);
        }
    }
}

fn check_section(index: usize, part: &StateSection, findings: &mut Findings<'_>) {
    let (min, max) = BULLET_LIMITS[index];
    let (title, count) = (SECTIONS[index], part.bullets.len());
    let limit = match count {
        _ if count > max => Some(format!("at most {max} are allowed")),
        _ if count < min => Some(format!("at least {min} are needed")),
        _ => None,
    };
    if let Some(limit) = limit {
        let message = format!("{title} has {}; {limit}", quantity(count, "line"));
        findings.add("state-count", part.line, message);
    }
    if index == NEXT_ACTIONS && part.bullets.iter().any(|(_, has_box)| !has_box) {
        findings.add("checkbox", part.line, "Next Actions must be checkboxes, `- [ ] …`");
    }
    if part.text.is_empty() {
        findings.add(
            "empty",
            part.line,
            format!("{title} is empty: write what is known, or `None`"),
        );
    }
    let word = if index == QUICK_REFERENCE { None } else { non_present_word(&part.text) };
    if let Some(word) = word {
        findings.add(
            "not-now",
            part.line,
            format!("{title} contains {word:?}, but the state describes only the present"),
        );
    }
}
