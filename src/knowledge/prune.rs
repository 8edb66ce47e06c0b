//! Drops what is old from the notepad's Working Memory; nothing else in the notepad ever goes by itself.

use chrono::DateTime;
use chrono::TimeDelta;
use chrono::Utc;

use crate::clock::parse_timestamp;
use crate::knowledge::entry::Fence;

/// How long a line of Working Memory stays.
const DAYS: i64 = 7;

/// Returns the notepad without the lines of Working Memory that are over seven days old, and how many went.
pub(crate) fn prune(notepad: &str, now: DateTime<Utc>) -> (String, usize) {
    let mut kept = String::with_capacity(notepad.len());
    let mut fence = Fence::default();
    let (mut is_working, mut goes, mut gone) = (false, false, 0);
    for line in notepad.split_inclusive('\n') {
        let text = line.trim_end();
        let in_code = fence.holds(text);
        if !in_code && let Some(heading) = heading(text) {
            is_working = heading.eq_ignore_ascii_case("working memory");
            goes = false;
        } else if is_working && !in_code && !text.is_empty() && !text.starts_with([' ', '\t']) {
            goes = is_old(text, now);
            gone += usize::from(goes);
        } else if text.is_empty() {
            goes = false;
        }
        if !goes {
            kept.push_str(line);
        }
    }
    (kept, gone)
}

/// Returns the text of a heading that parts the notepad.
fn heading(line: &str) -> Option<&str> {
    let text = line
        .strip_prefix("## ")
        .or_else(|| line.strip_prefix("# "))?;
    Some(text.trim().trim_end_matches(['#', ' ', ':']))
}

fn is_old(line: &str, now: DateTime<Utc>) -> bool {
    let written = line
        .strip_prefix("- [")
        .or_else(|| line.strip_prefix("* ["))
        .and_then(|rest| rest.split_once(']'))
        .and_then(|(time, _)| parse_timestamp(time));
    written.is_some_and(|written| now - written > TimeDelta::days(DAYS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pruned(notepad: &str) -> (String, usize) {
        prune(notepad, parse_timestamp("2026-03-01T12:00:00Z").unwrap())
    }

    #[test]
    fn only_old_lines_of_working_memory_go() {
        let notepad = "# Vibekit Notepad\r\n\r\n## Priority Context\n- [2020-01-01T00:00Z] stays\n\n\
            ## Working Memory\n- [2026-03-01T11:00Z] new\n- [2026-02-22T12:00Z] seven days\n\
            - [2026-02-22T11:59Z] old\n  with more\n- no time\n\nmine\n```\n- [2020-01-01T00:00Z] code\n```\n\
            - [2020-01-01T00:00Z] old\n## Manual\n- [2020-01-01T00:00Z] stays\n";
        let (kept, gone) = pruned(notepad);
        assert_eq!(gone, 2);
        let expected = notepad
            .replace("- [2026-02-22T11:59Z] old\n  with more\n", "")
            .replace("- [2020-01-01T00:00Z] old\n", "");
        assert_eq!(kept, expected);
        assert_eq!(pruned(&kept), (kept.clone(), 0));
    }
}
