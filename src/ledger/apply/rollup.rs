//! Rewrites the rollup of DECISIONS.md, the only part of the file that is ever rewritten.

use std::cmp::Reverse;
use std::collections::HashSet;

use chrono::{Days, NaiveDate};

use crate::error::Problem;
use crate::ledger::apply::{FileUpdate, line_gap};
use crate::ledger::decisions::{Decisions, Rollup};
use crate::ledger::state::is_filled;
use crate::markdown::edit;
use crate::markdown::edit::Edit;
use crate::text::{Line, fold, quantity};

/// The heading of a new rollup.
const HEADING: &str = "## Recent (last 30 days)";
/// Minimum number of bullets, if there are as many recent entries.
const MIN_BULLETS: usize = 5;
/// Maximum age of the entries that a rollup summarises.
const RECENT_DAYS: Days = Days::new(30);
/// Maximum number of bullets.
pub(crate) const MAX_BULLETS: usize = 10;

/// Applies a rollup to the text, which already contains the new entries.
pub(crate) fn apply(
    text: &str,
    bullets: &[String],
    today: NaiveDate,
    line_end: &str,
) -> FileUpdate {
    let mut outcome = FileUpdate::unchanged(text);
    let decisions = Decisions::parse(text);
    let needed = min_bullets(&decisions, today);
    if bullets.len() < needed {
        let message = format!(
            "has {} for {}; at least {needed} are needed",
            quantity(bullets.len(), "bullet"),
            quantity(decisions.entries.len(), "entry")
        );
        outcome.problems.push(Problem::new("/rollup", message));
        return outcome;
    }
    let bullets = bullets.iter().map(|bullet| Line::new(bullet).to_string());
    let bullets: Vec<String> = bullets.collect();
    let current = decisions.rollup.as_ref();
    if current.is_some_and(|rollup| rollup.bullets == bullets) {
        return outcome;
    }
    if let Some(text) = replace(text, &bullets, line_end) {
        outcome.change(text);
    } else {
        let message = "the surrounding markdown, such as an unclosed code fence, would absorb the rollup; fix DECISIONS.md first";
        outcome.problems.push(Problem::new("/rollup", message));
    }
    outcome
}

/// Returns the minimum number of bullets of a rollup: the number of recent entries with different titles, up
/// to five.
pub(crate) fn min_bullets(decisions: &Decisions, today: NaiveDate) -> usize {
    let since = today.checked_sub_days(RECENT_DAYS);
    let recent = decisions.entries.iter().filter(|entry| entry.date >= since);
    let titles: HashSet<String> =
        recent.map(|entry| fold(Line::new(&entry.title).as_str())).collect();
    MIN_BULLETS.min(titles.len())
}

/// Returns the text with a rollup that has as many bullets as it needs, filled up with the newest titles.
///
/// All existing bullets are kept, except placeholders.
pub(crate) fn fill(text: &str, today: NaiveDate, line_end: &str) -> String {
    let decisions = Decisions::parse(text);
    let needed = min_bullets(&decisions, today);
    let existing = decisions.rollup.as_ref().map(Rollup::filled_bullets).unwrap_or_default();
    if decisions.rollup.is_some() && existing.len() >= needed {
        return text.to_owned();
    }
    let new = missing_titles(&decisions, &existing, needed);
    let filled = match &decisions.rollup {
        Some(rollup) if !existing.is_empty() => append(text, rollup, &new, line_end),
        _ => replace(text, &new, line_end),
    };
    let is_kept = |filled: &String| {
        let after = Decisions::parse(filled);
        let is_complete =
            after.rollup.as_ref().map(Rollup::filled_bullets) == Some([existing, new].concat());
        is_complete && after.entries.len() == decisions.entries.len()
    };
    filled.filter(is_kept).unwrap_or_else(|| text.to_owned())
}

/// Returns the titles of the newest entries that have no bullet yet, as many as are missing.
fn missing_titles(decisions: &Decisions, existing: &[String], needed: usize) -> Vec<String> {
    let mut newest: Vec<_> = decisions.entries.iter().collect();
    newest.sort_by_key(|entry| Reverse(entry.date));
    let mut missing: Vec<String> = Vec::new();
    for entry in newest {
        let title = Line::new(&entry.title).as_str().to_owned();
        let mut listed = existing.iter().chain(&missing);
        let is_listed = listed.any(|bullet| fold(bullet) == fold(&title));
        if existing.len() + missing.len() < needed && !is_listed {
            missing.push(title);
        }
    }
    missing
}

/// Returns the text with bullets appended to the rollup and its placeholders removed; nested lines stay in
/// place.
fn append(text: &str, rollup: &Rollup, new: &[String], line_end: &str) -> Option<String> {
    let mut edits = Vec::new();
    let mut end = None;
    for (bullet, lines) in rollup.bullets.iter().zip(&rollup.lines) {
        if is_filled(bullet) {
            end = Some(lines.end);
        } else {
            edits.push(Edit::replace(lines.clone(), ""));
        }
    }
    let end = end?;
    let gap = line_gap(&text[..end], line_end);
    edits.push(Edit::insert(end, gap.to_owned() + &list(new, line_end)));
    edits.sort_by_key(|edit| edit.range.start);
    Some(edit::apply(text, edits))
}

/// Returns the text with these bullets as its rollup, or `None` if it would not parse as such.
pub(crate) fn replace(text: &str, bullets: &[String], line_end: &str) -> Option<String> {
    let decisions = Decisions::parse(text);
    let list = list(bullets, line_end);
    let new = edit::apply(text, edits(text, &decisions, &list, line_end));
    let after = Decisions::parse(&new);
    let is_present = after.rollup.is_some_and(|rollup| rollup.bullets == bullets);
    (is_present && after.entries.len() == decisions.entries.len()).then_some(new)
}

/// Returns bullets as a list.
fn list(bullets: &[String], line_end: &str) -> String {
    let lines = bullets.iter().map(|bullet| format!("- {bullet}{line_end}"));
    lines.collect()
}

/// Returns the edits that replace the bullets by a list; other text in the section is kept.
fn edits(text: &str, decisions: &Decisions, list: &str, line_end: &str) -> Vec<Edit> {
    let Some(rollup) = &decisions.rollup else {
        let at = decisions.first_section.unwrap_or(text.len());
        let gap = line_gap(&text[..at], line_end);
        return vec![Edit::insert(at, format!("{gap}{HEADING}{line_end}{list}{line_end}"))];
    };
    let Some((first, rest)) = rollup.lines.split_first() else {
        let own = &text[rollup.own.clone()];
        let gap =
            if own.is_empty() && !text[..rollup.own.start].ends_with('\n') { line_end } else { "" };
        // A paragraph in the section ends before the list.
        let gap_below = if own.trim().is_empty() { "" } else { line_end };
        return vec![Edit::insert(rollup.own.start, format!("{gap}{list}{gap_below}"))];
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
