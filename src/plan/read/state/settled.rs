//! Recognises entries of a list of todos or blockers that need no more work.

use crate::plan::read::PhaseNumber;
use crate::plan::read::status::begins_with_date;

/// Returns whether an entry only reports a finished phase: `Phase 3 complete -- all 3 plans executed`.
fn reports_finished_phase(text: &str) -> bool {
    const LEFT: &[&str] =
        &["must", "need", "open", "red", "fail", "but", "not", "except", "remain", "await"];
    let lower = text.to_lowercase().replace('*', "");
    let number = lower.strip_prefix("phase ").and_then(PhaseNumber::split);
    let status = number.map(|(_, rest)| rest.trim_start_matches([':', ' ']));
    let words = ["completed", "complete", "finished", "done", "shipped"];
    let rest = status.and_then(|status| words.iter().find_map(|word| status.strip_prefix(word)));
    let mut words = lower.split(|c: char| !c.is_alphabetic());
    let is_left = words.any(|word| LEFT.iter().any(|left| word.starts_with(left)));
    let is_report = |rest: &str| {
        let rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let words: Vec<&str> = rest.split_whitespace().take(3).collect();
        let counts_plans =
            words.iter().any(|word| word.starts_with("plan") || word.starts_with("task"));
        let is_count = rest.starts_with(|c: char| c.is_ascii_digit()) || rest.starts_with("all ");
        rest.is_empty()
            || is_count && counts_plans
            || begins_with_date(rest)
            || rest.starts_with("verified")
            || rest.starts_with("no blockers")
    };
    rest.is_some_and(is_report) && !is_left
}

/// Returns whether an entry begins with a word in capitals that closes it: `FIXED 2026-07-31 (commit 510b424): …`.
fn is_closed(text: &str) -> bool {
    let text = text.trim_start_matches(['*', '[', '(', '`']);
    let mut words = ["FIXED", "DONE", "CLOSED"].iter();
    let Some(rest) = words.find_map(|word| text.strip_prefix(word)) else {
        return false;
    };
    let ends = [
        " -", " \u{2013}", " \u{2014}", " (", " \u{2713}", " in ", " by ", ":", ")", "]", "*",
        "`:", ".", ",",
    ];
    let is_dated = begins_with_date(rest.trim_start());
    rest.is_empty() || is_dated || ends.iter().any(|end| rest.starts_with(end))
}

/// Returns whether an entry says that there is or was none: `None at this time`, `None as of 2026-05-08`,
/// `No active blockers.`, `Nothing blocking`.
pub(super) fn is_none_so_far(text: &str) -> bool {
    let text = text.trim_matches(['*', '_', '.', ' ']).to_lowercase();
    text.strip_prefix("none ").is_some_and(is_time)
        || text.strip_prefix("no ").is_some_and(is_kind_of_item)
        || matches!(
            text.as_str(),
            "nothing blocked" | "nothing blocking" | "nothing open" | "nothing pending"
        )
}

/// Returns whether a text only says when or for what there is none: `yet`, `at this time`, `blocking v1.1`,
/// `for this phase`.
fn is_time(text: &str) -> bool {
    // `None at roadmap stage`, not `None at all of the services may write`.
    let is_short = |most| text.split_whitespace().count() <= most;
    let words = ["so far", "yet", "known", "blocking", "active", "open", "outstanding"];
    let ends = |word: &&str| {
        let after = text.strip_prefix(*word);
        after.is_some_and(|after| {
            let scope = after.strip_prefix(' ');
            scope.is_none_or(|scope| is_scope(scope) || *word == "blocking" && names_work(scope))
        })
    };
    let goes_on = text.contains(" but ");
    !goes_on && words.iter().any(ends)
        || is_scope(text)
        || text.starts_with("at this ") && is_short(7)
        || text.starts_with("at ") && is_short(3)
        || text.starts_with("as of ") && is_short(4)
}

/// Returns whether a text limits a statement to a part of the work: `for v1.1`, `before phase 3`, `in this milestone`.
fn is_scope(text: &str) -> bool {
    let Some((preposition, object)) = text.split_once(' ') else {
        return false;
    };
    ["before", "for", "from", "in", "on", "to"].contains(&preposition) && names_work(object)
}

/// Returns whether a text is only the name of a part of the work: `phase 3`, `the next milestone`, `v1.1 start`.
fn names_work(text: &str) -> bool {
    const NAMES: &[&str] = &[
        "the", "this", "next", "current", "now", "phase", "milestone", "plan", "planning",
        "execution", "release", "start", "launch", "sprint",
    ];
    text.split(' ').all(|word| {
        let digits = word.strip_prefix('v').unwrap_or(word);
        let is_number = digits.starts_with(|c: char| c.is_ascii_digit())
            && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
        is_number || NAMES.contains(&word)
    })
}

/// Returns whether a text names only a kind of entries, perhaps with a time: `open issues`, `blockers identified yet`.
fn is_kind_of_item(text: &str) -> bool {
    const WHICH: &[&str] = &[
        "active", "blocking", "current", "further", "known", "major", "new", "open", "outstanding",
        "pending", "remaining", "unresolved",
    ];
    const ITEMS: &[&str] = &[
        "blocker", "blockers", "blockers/concerns", "concern", "concerns", "issue", "issues",
        "item", "items", "problems", "risks", "task", "tasks", "todo", "todos",
    ];
    const FOUND: &[&str] = &[
        "currently", "found", "identified", "known", "now", "recorded", "remain", "remaining",
        "yet",
    ];
    let mut words = text.split(' ').skip_while(|word| WHICH.contains(word));
    let is_item = words.next().is_some_and(|word| ITEMS.contains(&word));
    let rest: Vec<&str> = words.skip_while(|word| FOUND.contains(word)).collect();
    let rest = rest.join(" ");
    is_item && (rest.is_empty() || is_time(&rest))
}

/// Returns whether an entry is struck through or marked as resolved.
pub(super) fn is_settled(text: &str) -> bool {
    let is_struck = text.starts_with("~~") && text[2..].contains("~~");
    let lower = text.to_lowercase();
    is_struck
        || reports_finished_phase(text)
        || is_closed(text)
        || text.split(|c: char| !c.is_alphanumeric()).any(|word| word == "RESOLVED")
        || ["resolved", "[resolved", "(resolved", "**resolved", "\u{2705}", "[done"]
            .iter()
            .any(|mark| lower.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_with_a_time_or_a_scope_is_none() {
        for text in [
            "None blocking v1.1 start.",
            "None active for v1.1.",
            "None for this phase",
            "No blockers for v1.1.",
            "No open issues before phase 3",
            "None yet",
            "None at this time",
            "None in the current milestone",
        ] {
            assert!(is_none_so_far(text), "{text}");
        }
        for text in [
            "None of the services may write",
            "None blocking, but the key expires",
            "No blockers until the certificate expires",
            "None for the client except the login",
            "No access to the server",
            "No issues tracker access for the whole of the second team in June",
            "None for now \u{2014} vendor key missing",
            "None for v1.1, API key missing",
            "None for phase 3: key expires on Friday",
            "None in production can reach the database",
            "None known for macOS, Linux crashes",
            "No blockers for now, staging is down",
        ] {
            assert!(!is_none_so_far(text), "{text}");
        }
    }
}
