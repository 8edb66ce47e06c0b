//! The rules of CONSTRAINTS.md.

use crate::clock::parse_date;
use crate::ledger::check::findings::Findings;
use crate::ledger::constraints::{Bullet, Constraints, SECTIONS};
use crate::ledger::similarity::bullet_words;
use crate::search::WordSet;

/// Maximum number of bullets that are compared with each other.
const MAX_COMPARED: usize = 1_000;

pub(crate) fn check(text: &str, findings: &mut Findings<'_>) {
    let constraints = Constraints::parse(text);
    for title in SECTIONS {
        if constraints.section(title).is_none() {
            findings.add_fixable("section", None, format!("has no section {title:?}"));
        }
    }
    let last = constraints.prose.iter().max().copied().unwrap_or_default();
    let lines: Vec<&str> = text.lines().take(last).collect();
    for line in &constraints.prose {
        let is_placeholder = lines.get(line - 1).is_some_and(|line| {
            let plain = line.trim().trim_matches(['(', ')', '_', '*', '.']).to_lowercase();
            matches!(plain.as_str(), "none" | "none yet")
        });
        if !is_placeholder {
            findings.add("prose", *line, "is prose; each constraint is one bullet");
        }
    }
    for bullet in &constraints.bullets {
        if constraints.sections[bullet.section].title.is_empty() {
            findings.add("section", bullet.line, "is a bullet outside any section");
        }
        if constraints.is_superseded(bullet) && !has_superseded_format(&bullet.text) {
            let message = "is not written `(Superseded YYYY-MM-DD) … \u{2014} reason`";
            findings.add("superseded", bullet.line, message);
        }
    }
    check_duplicates(&constraints, findings);
}

fn has_superseded_format(text: &str) -> bool {
    let rest = text.strip_prefix("(Superseded ").and_then(|rest| rest.split_once(") "));
    rest.is_some_and(|(day, rest)| {
        parse_date(day).is_some()
            && [" \u{2014} ", " \u{2013} ", " - "].iter().any(|dash| rest.contains(dash))
    })
}

fn check_duplicates(constraints: &Constraints, findings: &mut Findings<'_>) {
    let bullets: Vec<&Bullet> = constraints.active().take(MAX_COMPARED).collect();
    let words: Vec<WordSet> = bullets.iter().map(|bullet| bullet_words(&bullet.text)).collect();
    for (index, bullet) in bullets.iter().enumerate() {
        let earlier = (0..index).find(|earlier| words[index].is_similar_to(&words[*earlier]));
        if let Some(earlier) = earlier {
            let message = format!("duplicates line {}", bullets[earlier].line);
            findings.add("duplicate", bullet.line, message);
        }
    }
}
