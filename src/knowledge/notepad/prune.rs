//! Removes old notes from Working Memory.

use std::ops::Range;
use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};

use crate::clock::{Clock, parse_date, parse_timestamp};
use crate::error::Result;
use crate::knowledge::KnowledgeDir;
use crate::knowledge::notepad::reader::{outline, whole_line};
use crate::knowledge::notepad::{NotepadSection, parse, same_length_text};
use crate::markdown::{Block, Lines, ListItem, Outline};
use crate::storage::Changes;
use crate::warning::{Parsed, Warning};

/// Age after which a note is removed, in days.
const KEPT_DAYS: i64 = 7;

/// The result of removing old notes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Number of notes removed.
    pub count: usize,
    /// The changes to the file; empty if no note is old enough.
    pub changes: Changes,
}

/// Removes the bullets of Working Memory whose time is more than 7 days ago; to be called while holding the
/// store's lock.
///
/// A bullet without a valid time is kept, and so is every other byte.
pub fn pruned(place: &KnowledgeDir, clock: &Clock) -> Result<Parsed<Pruned>> {
    let path = place.notepad();
    let mut changes = Changes::new();
    let Some(bytes) = changes.current(&path)? else {
        return Ok(Parsed::default());
    };
    let text = same_length_text(&bytes);
    let parsed = old_bullets(&text, clock.now(), &path);
    let mut rest = Vec::with_capacity(bytes.len());
    let mut done = 0;
    for range in &parsed.value {
        if range.start >= done {
            rest.extend_from_slice(&bytes[done..range.start]);
            done = range.end;
        }
    }
    rest.extend_from_slice(&bytes[done..]);
    changes.edit(&path, Some(bytes), rest)?;
    Ok(parsed.map(|ranges| Pruned { count: ranges.len(), changes }))
}

/// Returns the lines of each bullet that is too old, with the lines indented below it.
fn old_bullets(text: &str, now: DateTime<Utc>, path: &Path) -> Parsed<Vec<Range<usize>>> {
    let mut parsed = Parsed::clean(Vec::new());
    if let Some(warning) = Outline::unread_warning(text, path) {
        parsed.warnings.push(warning);
        return parsed;
    }
    let notepad = parse(text, path).value;
    let Some(working) = notepad.section(NotepadSection::Working) else {
        return parsed;
    };
    let outline = outline(text);
    let lines = Lines::new(text);
    let outer = |(_, item): &(&Block, &ListItem)| item.depth == 0;
    let mut bullets = outline.items(&working.body).filter(outer).peekable();
    while let Some((block, _)) = bullets.next() {
        let line = whole_line(text, block.range.start);
        let Some(stamp) = stamp(&text[line.clone()]) else {
            continue;
        };
        let Some(time) = stamp_time(stamp) else {
            let message = format!("invalid time [{stamp}], so the line is never pruned");
            parsed.warnings.push(Warning::at(path, lines.line(line.start), message));
            continue;
        };
        if now.signed_duration_since(time) > TimeDelta::days(KEPT_DAYS) {
            let next = bullets.peek().map(|(next, _)| whole_line(text, next.range.start).start);
            let to = next.unwrap_or(working.body.end).max(line.end);
            let end = indented_below(text, &line, to);
            parsed.value.push(line.start..end);
        }
    }
    parsed
}

/// Returns the text in the brackets of `- [2026-02-17T10:11Z] …`, if it begins with a year.
fn stamp(line: &str) -> Option<&str> {
    let indented = line.len() - line.trim_start_matches(' ').len();
    let rest = line.trim_start_matches(' ').strip_prefix(['-', '*', '+'])?;
    let inner = rest.trim_start_matches([' ', '\t']).strip_prefix('[')?;
    let stamp = inner.split_once(']')?.0.trim();
    let mut start = stamp.chars();
    let is_year = start.by_ref().take(4).filter(char::is_ascii_digit).count() == 4;
    let is_dated = is_year && matches!(start.next(), Some('-' | '/'));
    (indented <= 3 && is_dated).then_some(stamp)
}

/// Returns the time of a stamp; for a date without a time, the end of the day.
fn stamp_time(stamp: &str) -> Option<DateTime<Utc>> {
    parse_timestamp(stamp).or_else(|| {
        let day = parse_date(stamp).filter(|_| !stamp.contains(':'))?;
        Some(day.succ_opt()?.and_hms_opt(0, 0, 0)?.and_utc())
    })
}

/// Returns the end of the lines up to `to` that are indented below the bullet on a line; blank lines are
/// included only if such a line follows.
fn indented_below(text: &str, bullet: &Range<usize>, to: usize) -> usize {
    let content = indent(&text[bullet.clone()]) + 2;
    let mut end = bullet.end;
    let mut at = bullet.end;
    for line in text[bullet.end..to].split_inclusive('\n') {
        at += line.len();
        if line.trim().is_empty() {
            continue;
        }
        if indent(line) < content {
            break;
        }
        end = at;
    }
    end
}

/// Returns the column at which the text of a line begins; a tab leads to the next multiple of 4.
fn indent(line: &str) -> usize {
    let mut column = 0;
    for byte in line.bytes() {
        column = match byte {
            b' ' => column + 1,
            b'\t' => column / 4 * 4 + 4,
            _ => break,
        };
    }
    column
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn prune(text: &str) -> String {
        let now = parse_timestamp("2026-03-01T12:00Z").unwrap();
        let mut rest = text.to_owned();
        for range in old_bullets(text, now, Path::new("notepad.md")).value.into_iter().rev() {
            rest.replace_range(range, "");
        }
        rest
    }

    #[test]
    fn only_bullets_older_than_seven_days_are_removed() {
        let text = "## Working Memory\n- [2026-02-22T12:00Z] to the minute\n- [2026-02-22T11:59Z] old\n* [2026-02-22] the day is not over\n- [2026-02-21] old\n- undated\n";
        let rest = "## Working Memory\n- [2026-02-22T12:00Z] to the minute\n* [2026-02-22] the day is not over\n- undated\n";
        assert_eq!(prune(text), rest);
    }

    #[test]
    fn only_indented_lines_below_a_bullet_are_removed_with_it() {
        let text = "## Working Memory\r\n- [2026-01-01T00:00Z] old\r\n  wrapped\r\n\r\n  - nested\r\n\r\nmine\r\n- [2026-01-02T00:00Z] old\r\nbelow\r\n";
        assert_eq!(prune(text), "## Working Memory\r\n\r\nmine\r\nbelow\r\n");
    }

    #[test]
    fn other_sections_fences_and_quotes_are_left_alone() {
        let text = "## Priority Context\n- [2026-01-01T00:00Z] a\n## Working Memory\n```\n- [2026-01-01T00:00Z] b\n```\n> - [2026-01-01T00:00Z] c\n\n- d\n  - [2026-01-01T00:00Z] e\n## Manual\n- [2026-01-01T00:00Z] f\n";
        assert_eq!(prune(text), text);
    }

    #[test]
    fn an_indented_list_loses_only_its_old_bullets() {
        for indent in [" ", "  ", "   "] {
            let old = format!("{indent}- [2020-01-01T10:00Z] old\n{indent}    below\n");
            let new = format!("{indent}- [2099-01-02T10:00Z] new\n{indent}  - nested\n");
            let text = format!("## Working Memory\n{old}{old}{new}{old}{new}");
            assert_eq!(prune(&text), format!("## Working Memory\n{new}{new}"), "{indent:?}");
        }
        let stairs =
            "## Working Memory\n- [2020-01-01] old\n - [2020-01-02] old\n  - [2099-01-02] new\n";
        assert_eq!(prune(stairs), "## Working Memory\n  - [2099-01-02] new\n");
    }

    #[test]
    fn an_invalid_time_is_reported() {
        let now = parse_timestamp("2026-03-01T12:00Z").unwrap();
        let text = "## Working Memory\n- [2026-13-01T00:00Z] a\n- [TODO] b\n";
        let parsed = old_bullets(text, now, Path::new("notepad.md"));
        assert!(parsed.value.is_empty());
        assert_eq!(parsed.warnings.len(), 1);
        assert_eq!(parsed.warnings[0].place.line, Some(2));
    }

    proptest! {
        #[test]
        fn any_text_keeps_what_is_no_old_bullet(
            lines in proptest::collection::vec(prop_oneof![
                Just("## Working Memory"), Just("## Manual"), Just("## Mine"),
                Just("- [2026-01-01T00:00Z] old"), Just("- [2026-03-01T00:00Z] new"),
                Just("  - [2026-01-01T00:00Z] old"),
                Just("  below"), Just("```"), Just("mine"), Just(""), Just("> quoted"), Just("日本"),
            ], 0..24),
            is_crlf in any::<bool>(),
        ) {
            let newline = if is_crlf { "\r\n" } else { "\n" };
            let text = lines.join(newline);
            let rest = prune(&text);
            let foreign = |text: &str| {
                let lines = text.lines().filter(|line| !line.contains("old") && *line != "  below");
                let lines = lines.filter(|line| !line.is_empty());
                lines.map(str::to_owned).collect::<Vec<_>>()
            };
            prop_assert_eq!(foreign(&text), foreign(&rest));
            // A bullet that was nested in a removed one stands alone now, and may be too old itself.
            prop_assert_eq!(foreign(&text), foreign(&prune(&rest)));
        }
    }
}
