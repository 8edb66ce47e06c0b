//! The rules of STATE.md.

use crate::ledger::apply::state::not_now;
use crate::ledger::check::Findings;
use crate::ledger::state::LedgerState;
use crate::ledger::state::MAX_LINES;
use crate::ledger::state::SECTIONS;
use crate::ledger::state::StateSection;
use crate::text::quantity;

/// Minimum and maximum number of bullets of each section, by index.
const BULLETS: [(usize, usize); 6] = [(0, 1), (1, 3), (0, usize::MAX), (0, 5), (3, 5), (0, 3)];
/// The section whose bullets have checkboxes.
const NEXT_ACTIONS: usize = 3;
/// The section whose bullets are commands.
const QUICK_REFERENCE: usize = 4;

pub(crate) fn check(text: &str, findings: &mut Findings<'_>) {
    let lines = text.lines().count();
    if lines > MAX_LINES {
        let message = format!("has {lines} lines, at most {MAX_LINES} are allowed");
        findings.add("state-lines", None, message);
    }
    let state = LedgerState::parse(text);
    for (place, part) in state.parts.iter().enumerate() {
        if let Some(part) = part {
            section(place, part, findings);
        } else {
            let message = format!("has no section {:?}", SECTIONS[place]);
            findings.add_fixable("section", None, message);
        }
    }
}

fn section(place: usize, part: &StateSection, findings: &mut Findings<'_>) {
    let (least, most) = BULLETS[place];
    let (title, count) = (SECTIONS[place], part.bullets.len());
    if count > most {
        findings.add(
            "state-count",
            part.line,
            format!(
                "{title} has {}, at most {most} are allowed",
                quantity(count, "line")
            ),
        );
    }
    if count < least {
        findings.add(
            "state-count",
            part.line,
            format!(
                "{title} has {}, at least {least} are needed",
                quantity(count, "line")
            ),
        );
    }
    if place == NEXT_ACTIONS && part.bullets.iter().any(|(_, has_box)| !has_box) {
        findings.add(
            "checkbox",
            part.line,
            "Next Actions are checkboxes, `- [ ] …`",
        );
    }
    if part.text.is_empty() {
        findings.add(
            "empty",
            part.line,
            format!("{title} is empty: write what is known, or that nothing is"),
        );
    }
    let word = if place == QUICK_REFERENCE {
        None
    } else {
        not_now(&part.text)
    };
    if let Some(word) = word {
        findings.add(
            "not-now",
            part.line,
            format!("{title} says {word:?}: the state is what is true now"),
        );
    }
}
