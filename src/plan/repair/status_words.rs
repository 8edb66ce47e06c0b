//! Formats status words in the style of the surrounding file.

use std::collections::HashMap;

use crate::plan::PhaseProgress;

/// Words of plain statuses; a text that consists of these and numbers contains no free text.
const PLAIN: &[&str] = &[
    "active", "all", "and", "begin", "begun", "building", "built", "commit", "commits", "complete",
    "completed", "current", "done", "execute", "executed", "executing", "execution", "finished",
    "for", "in", "inprogress", "is", "milestone", "next", "not", "of", "ongoing", "pass",
    "pending", "phase", "phases", "plan", "planned", "planning", "plans", "progress", "qa",
    "queued", "ready", "ship", "shipped", "started", "task", "tasks", "test", "tests", "the", "to",
    "todo", "unplanned", "upcoming", "verification", "verified", "verify", "verifying", "wave",
    "waves", "wip", "yet",
];

/// Returns whether a status may be replaced entirely, since it contains only status words and numbers.
pub(in crate::plan) fn is_plain(status: &str) -> bool {
    status.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).all(|word| {
        let lower = word.to_lowercase();
        let is_number = lower.starts_with(|c: char| c.is_ascii_digit());
        is_number || PLAIN.contains(&lower.as_str())
    })
}

/// Returns the text for `progress` that replaces `stated`: the wording of `siblings`, otherwise the style of
/// `stated`.
pub(super) fn written(stated: &str, progress: PhaseProgress, siblings: &[&str]) -> String {
    usual(progress, siblings).unwrap_or_else(|| own(stated, progress))
}

/// Returns the most frequent wording among the siblings without additions; the first of several.
fn usual(progress: PhaseProgress, siblings: &[&str]) -> Option<String> {
    let heads: Vec<&str> = siblings
        .iter()
        .filter(|sibling| PhaseProgress::parse(sibling) == Some(progress))
        .map(|sibling| head(sibling))
        .filter(|head| PhaseProgress::parse(head) == Some(progress) && is_plain(head))
        .collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for head in &heads {
        *counts.entry(head).or_default() += 1;
    }
    let most = counts.values().copied().max()?;
    let usual = heads.into_iter().find(|head| counts[head] == most)?;
    Some(usual.to_owned())
}

/// Returns a status without additions in brackets or after a dash.
fn head(status: &str) -> &str {
    let end = [" (", " \u{2014}", " \u{2013}", " - ", ",", ";", ":"]
        .iter()
        .filter_map(|mark| status.find(mark))
        .min()
        .unwrap_or(status.len());
    status[..end].trim()
}

/// Returns whether a status says that plans exist or are being executed: `Planned`, `Ready to execute`.
pub(super) fn speaks_of_plans(status: &str) -> bool {
    let lower = status.to_lowercase();
    let core = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    core.contains("execut")
        || core.starts_with("planned")
        || core.starts_with("verif")
        || core == "ready"
}

/// Returns the status of an unplanned phase in a tool's wording, as a single word if `stated` is one.
pub(super) fn to_be_planned(stated: &str) -> String {
    let words = if stated.contains(' ') || stated.starts_with(char::is_uppercase) {
        "ready to plan"
    } else {
        "planning"
    };
    in_style(stated, words)
}

/// Returns a status in the style of `stated`: a symbol for a symbol, otherwise words.
fn own(stated: &str, progress: PhaseProgress) -> String {
    if !stated.chars().any(char::is_alphanumeric) {
        let sign = match progress {
            PhaseProgress::Complete => "\u{2705}",
            PhaseProgress::InProgress => "\u{1f6a7}",
            _ => "\u{23f3}",
        };
        return sign.to_owned();
    }
    let words = match progress {
        PhaseProgress::Complete => "complete",
        PhaseProgress::InProgress => "in progress",
        _ => "pending",
    };
    in_style(stated, words)
}

/// Formats words with the markup, case and word separator of `stated`.
fn in_style(stated: &str, words: &str) -> String {
    let marks = |c: char| matches!(c, '*' | '_' | '`' | '~');
    let core = stated.trim_matches(marks);
    let letters: String = core.chars().filter(|c| c.is_alphabetic()).collect();
    let is_lower = letters.chars().all(char::is_lowercase);
    let cased = if letters.len() > 1 && letters.chars().all(char::is_uppercase) {
        words.to_uppercase()
    } else if letters.starts_with(char::is_lowercase) {
        words.to_owned()
    } else {
        let mut chars = words.chars();
        chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
    };
    let joined = match core {
        core if core.contains('_') => cased.replace(' ', "_"),
        core if is_lower && core.contains('-') => cased.replace(' ', "-"),
        _ => cased,
    };
    let lead = &stated[..stated.len() - stated.trim_start_matches(marks).len()];
    let is_closed = !lead.is_empty() && stated.ends_with(lead);
    if is_closed { format!("{lead}{joined}{lead}") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_in_the_style_of_the_file() {
        use PhaseProgress::{Complete, InProgress, NotStarted};
        let none: &[&str] = &[];
        let siblings: &[&str] = &["\u{25cf} Complete (4 plans)", "\u{25cf} Complete", "Done, QA"];
        for (stated, progress, siblings, expected) in [
            ("in-progress", Complete, none, "complete"),
            ("Planned (6 plans)", Complete, none, "Complete"),
            ("**COMPLETE**", InProgress, none, "**IN PROGRESS**"),
            ("milestone_complete", InProgress, none, "in_progress"),
            ("all-done", InProgress, none, "in-progress"),
            ("\u{23f3}", Complete, none, "\u{2705}"),
            ("\u{25d1} In progress", Complete, siblings, "\u{25cf} Complete"),
            ("Done", NotStarted, siblings, "Pending"),
        ] {
            assert_eq!(written(stated, progress, siblings), expected, "{stated}");
        }
    }

    #[test]
    fn a_sentence_is_not_plain() {
        assert!(is_plain("Complete (6 plans, 23 tasks, QA: PASS)"));
        assert!(is_plain("Executing Phase 03.1"));
        assert!(!is_plain("In progress, waiting for the vendor"));
    }
}
