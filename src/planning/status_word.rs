//! What a status says, whatever words it is written in.

/// Words that say a thing is finished.
const COMPLETE: &[&str] = &["complete", "completed", "done", "shipped", "finished"];
/// Words that take that back, in front of it or beside it.
const NOT_YET: &[&str] = &[
    "not",
    "incomplete",
    "partial",
    "partially",
    "nearly",
    "almost",
    "until",
    "when",
];
/// Words that say there is work left.
const OPEN: &[&str] = &[
    "pending",
    "planned",
    "planning",
    "executing",
    "progress",
    "started",
    "ready",
    "building",
    "active",
    "blocked",
    "remediation",
    "verifying",
    "paused",
];

/// Tells whether a status says that the thing is finished: `Complete (3 plans)`, `v2.1 MILESTONE COMPLETE`.
pub(crate) fn is_complete(status: &str) -> bool {
    let words = words(status);
    has(&words, COMPLETE) && !has(&words, NOT_YET)
}

/// Tells whether a status says that there is work left: `Ready to execute`, `In Progress`.
pub(crate) fn is_open(status: &str) -> bool {
    let words = words(status);
    !is_complete(status) && has(&words, OPEN)
}

fn words(status: &str) -> Vec<String> {
    status
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

fn has(words: &[String], wanted: &[&str]) -> bool {
    words.iter().any(|word| wanted.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_decide() {
        for status in [
            "Complete",
            "COMPLETE",
            "Phase complete - v2.1 MILESTONE COMPLETE",
            "Shipped (2026-02-24)",
        ] {
            assert!(is_complete(status) && !is_open(status), "{status}");
        }
        for status in [
            "Pending planning",
            "In Progress",
            "Ready to execute",
            "not started",
            "Planned (6 plans)",
        ] {
            assert!(!is_complete(status) && is_open(status), "{status}");
        }
        assert!(!is_complete("not complete") && !is_complete("unknown") && !is_open("unknown"));
    }
}
