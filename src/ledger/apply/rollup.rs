//! The rollup of DECISIONS.md: the one part of it that is written anew.

use crate::error::Problem;
use crate::ledger::apply::Outcome;
use crate::ledger::decisions::Decisions;
use crate::markdown::edit;
use crate::markdown::edit::Edit;
use crate::text::Line;
use crate::text::quantity;

/// The heading of a new rollup.
const HEADING: &str = "## Recent (last 30 days)";
/// The fewest bullets, where there are as many entries.
pub(crate) const FEWEST: usize = 5;
/// The most bullets.
pub(crate) const MOST: usize = 10;

/// Returns what a rollup makes of the text, the new entries already in it.
pub(crate) fn apply(text: &str, bullets: &[String], line_end: &str) -> Outcome {
    let mut outcome = Outcome::of(text);
    let found = Decisions::parse(text);
    let needed = FEWEST.min(found.entries.len());
    if bullets.len() < needed {
        let message = format!(
            "has {} for {}, at least {needed} needed",
            quantity(bullets.len(), "bullet"),
            quantity(found.entries.len(), "entry")
        );
        outcome.problems.push(Problem::new("/rollup", message));
        return outcome;
    }
    let lines: Vec<Line> = bullets.iter().map(|bullet| Line::new(bullet)).collect();
    let standing = found.rollup.as_ref();
    if standing.is_some_and(|rollup| rollup.bullets.iter().eq(lines.iter().map(Line::as_str))) {
        return outcome;
    }
    let bullets: Vec<String> = lines.iter().map(|line| line.as_str().to_owned()).collect();
    if let Some(text) = replaced(text, &bullets, line_end) {
        outcome.change(text);
    } else {
        let message = "the markdown around the rollup would swallow it; put DECISIONS.md in order there first";
        outcome.problems.push(Problem::new("/rollup", message));
    }
    outcome
}

/// Returns the text with these bullets as its rollup; none where they would not read back as such.
pub(crate) fn replaced(text: &str, bullets: &[String], line_end: &str) -> Option<String> {
    let found = Decisions::parse(text);
    let list = bullets.iter().fold(String::new(), |list, bullet| {
        list + "- " + bullet + line_end
    });
    let new = edit::apply(text, edits(text, &found, &list, line_end));
    let after = Decisions::parse(&new);
    let is_there = after.rollup.is_some_and(|rollup| rollup.bullets == bullets);
    (is_there && after.entries.len() == found.entries.len()).then_some(new)
}

/// Returns the edits that put a list in place of the bullets; what else stands in the section stays.
fn edits(text: &str, found: &Decisions, list: &str, line_end: &str) -> Vec<Edit> {
    let Some(rollup) = &found.rollup else {
        let at = found.first_section.unwrap_or(text.len());
        let gap = if text[..at].is_empty() || text[..at].ends_with('\n') {
            ""
        } else {
            line_end
        };
        return vec![Edit::insert(
            at,
            format!("{gap}{HEADING}{line_end}{list}{line_end}"),
        )];
    };
    let Some((first, rest)) = rollup.lines.split_first() else {
        let own = &text[rollup.own.clone()];
        let gap = if own.is_empty() && !text[..rollup.own.start].ends_with('\n') {
            line_end
        } else {
            ""
        };
        // A paragraph in the section ends before the list.
        let below = if own.trim().is_empty() { "" } else { line_end };
        return vec![Edit::insert(
            rollup.own.start,
            format!("{gap}{list}{below}"),
        )];
    };
    let mut end = first.end;
    let mut edits = Vec::new();
    for line in rest {
        // Blank lines between bullets go with them; what else is there stays.
        if text[end..line.start].trim().is_empty() && edits.is_empty() {
            end = line.end;
        } else {
            edits.push(Edit::replace(line.clone(), ""));
        }
    }
    edits.push(Edit::replace(first.start..end, list));
    edits
}
