//! The rollup of DECISIONS.md, the only part of the file that is ever rewritten.

use std::cmp::Reverse;
use std::collections::HashSet;

use chrono::{Days, NaiveDate};

use crate::ledger::decisions::{Decisions, Rollup};
use crate::ledger::edits::{FileUpdate, line_gap};
use crate::ledger::state::is_filled;
use crate::markdown::edit;
use crate::markdown::edit::Edit;
use crate::text::{Line, fold, line_end, quantity};

/// The heading of a new rollup.
const HEADING: &str = "## Recent (last 30 days)";
/// Minimum number of bullets, if there are as many recent entries.
const MIN_BULLETS: usize = 5;
/// Maximum number of bullets.
pub(crate) const MAX_BULLETS: usize = 10;

/// Applies a rollup to the text, which already contains the new entries.
pub(crate) fn apply(text: &str, bullets: &[String], today: NaiveDate) -> FileUpdate {
    let mut outcome = FileUpdate::of(text);
    let decisions = Decisions::parse(text);
    let needed = min_bullets(&decisions, today);
    if bullets.len() < needed {
        let message = format!(
            "has {} for {}; at least {needed} are needed",
            quantity(bullets.len(), "bullet"),
            quantity(decisions.entries.len(), "entry")
        );
        outcome.refuse("/rollup", message);
        return outcome;
    }
    let bullets: Vec<String> = bullets.iter().map(|bullet| Line::new(bullet).to_string()).collect();
    if decisions.rollup.as_ref().is_some_and(|rollup| rollup.texts().eq(&bullets)) {
        return outcome;
    }
    match replace(text, &bullets) {
        Some(text) => outcome.text = text,
        None => outcome.refuse(
            "/rollup",
            "the surrounding markdown, such as an unclosed code fence, would absorb the rollup; fix DECISIONS.md first",
        ),
    }
    outcome
}

/// Returns the minimum number of bullets of a rollup: the number of entries of the last 30 days with different
/// titles, up to five.
pub(crate) fn min_bullets(decisions: &Decisions, today: NaiveDate) -> usize {
    let since = today.checked_sub_days(Days::new(30));
    let recent = decisions.entries.iter().filter(|entry| entry.date >= since);
    let titles: HashSet<String> =
        recent.map(|entry| fold(Line::new(&entry.title).as_str())).collect();
    MIN_BULLETS.min(titles.len())
}

/// Returns the text with a rollup that has as many bullets as it needs, filled up with the newest titles; only
/// placeholders are removed.
pub(crate) fn fill(text: &str, today: NaiveDate) -> String {
    let decisions = Decisions::parse(text);
    let needed = min_bullets(&decisions, today);
    let existing = decisions.rollup.as_ref().map(Rollup::filled_bullets).unwrap_or_default();
    if decisions.rollup.is_some() && existing.len() >= needed {
        return text.to_owned();
    }
    let mut newest: Vec<_> = decisions.entries.iter().collect();
    newest.sort_by_key(|entry| Reverse(entry.date));
    let mut wanted = existing.clone();
    for entry in newest {
        let title = Line::new(&entry.title).to_string();
        if wanted.len() < needed && !wanted.iter().any(|one| fold(one) == fold(&title)) {
            wanted.push(title);
        }
    }
    let filled = match &decisions.rollup {
        Some(rollup) if !existing.is_empty() => append(text, rollup, &wanted[existing.len()..]),
        _ => replace(text, &wanted),
    };
    let is_kept = |filled: &String| {
        let after = Decisions::parse(filled);
        after.rollup.is_some_and(|rollup| rollup.filled_bullets() == wanted)
            && after.entries.len() == decisions.entries.len()
    };
    filled.filter(is_kept).unwrap_or_else(|| text.to_owned())
}

/// Returns the text with bullets appended to the rollup and its placeholders removed; nested lines stay in
/// place.
fn append(text: &str, rollup: &Rollup, new: &[String]) -> Option<String> {
    let (filled, placeholders): (Vec<_>, Vec<_>) =
        rollup.bullets.iter().partition(|bullet| is_filled(&bullet.text));
    let end = filled.last()?.lines.end;
    let gap = line_gap(&text[..end], line_end(text));
    let mut edits: Vec<Edit> =
        placeholders.iter().map(|bullet| Edit::replace(bullet.lines.clone(), "")).collect();
    edits.push(Edit::insert(end, gap.to_owned() + &list(new, text)));
    Some(edit::apply(text, edits))
}

/// Returns the text with these bullets as its rollup, or `None` if it would not parse as such.
pub(crate) fn replace(text: &str, bullets: &[String]) -> Option<String> {
    let decisions = Decisions::parse(text);
    let new = edit::apply(text, edits(text, &decisions, &list(bullets, text)));
    let after = Decisions::parse(&new);
    let is_present = after.rollup.is_some_and(|rollup| rollup.texts().eq(bullets));
    (is_present && after.entries.len() == decisions.entries.len()).then_some(new)
}

/// Returns bullets as a list.
fn list(bullets: &[String], text: &str) -> String {
    bullets.iter().map(|bullet| format!("- {bullet}{}", line_end(text))).collect()
}

/// Returns the edits that replace the bullets by a list; other text in the section is kept.
fn edits(text: &str, decisions: &Decisions, list: &str) -> Vec<Edit> {
    let end = line_end(text);
    let Some(rollup) = &decisions.rollup else {
        let at = decisions.first_section.unwrap_or(text.len());
        let gap = line_gap(&text[..at], end);
        return vec![Edit::insert(at, format!("{gap}{HEADING}{end}{list}{end}"))];
    };
    let Some((first, rest)) = rollup.bullets.split_first() else {
        let at = rollup.own.start;
        // A paragraph in the section ends before the list.
        let below = if text[rollup.own.clone()].trim().is_empty() { "" } else { end };
        return vec![Edit::insert(at, format!("{}{list}{below}", line_gap(&text[..at], end)))];
    };
    let mut edits = vec![Edit::replace(first.lines.clone(), list)];
    let mut above = first.lines.end;
    for bullet in rest {
        // Blank lines between bullets go with them; what else is there stays.
        let is_blank = text[above..bullet.lines.start].trim().is_empty();
        let start = if is_blank { above } else { bullet.lines.start };
        edits.push(Edit::replace(start..bullet.lines.end, ""));
        above = bullet.lines.end;
    }
    edits
}
