//! Determines the entry type of a note from its words.

use crate::knowledge::EntryType;

/// Words that imply an entry type, the most reliable first.
const WORDS: [(&[&str], EntryType); 10] = [
    (
        &[
            "command", "commands", "setup", "environment", "build", "deploy", "deployment",
            "install",
        ],
        EntryType::Environment,
    ),
    (
        &[
            "convention", "conventions", "style", "guideline", "guidelines", "rule", "rules",
            "completion", "checklist", "requirement",
        ],
        EntryType::Convention,
    ),
    (&["decision", "decisions", "adr", "choice"], EntryType::Decision),
    (&["preference", "preferences", "feedback", "user"], EntryType::Preference),
    (
        &[
            "gotcha", "gotchas", "pitfall", "pitfalls", "bug", "bugs", "issue", "problem", "risk",
            "warning",
        ],
        EntryType::Gotcha,
    ),
    (
        &["person", "people", "team", "contact", "organization", "organisation", "company"],
        EntryType::Contact,
    ),
    (&["debug", "debugging", "troubleshooting"], EntryType::Debugging),
    (&["pattern", "patterns", "technique", "method"], EntryType::Pattern),
    (
        &[
            "architecture", "structure", "overview", "design", "component", "module", "service",
            "system", "database",
        ],
        EntryType::Architecture,
    ),
    (&["deadline", "milestone"], EntryType::Deadline),
];

/// Returns the entry type that a text names, else the one that a known word implies, else `Reference`.
pub(crate) fn kind_of(texts: &[&str]) -> EntryType {
    let named = texts.iter().find_map(|text| EntryType::from_any_case(text.trim()));
    let implied = || {
        texts.iter().find_map(|text| {
            let lower = text.to_lowercase();
            let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
            let row = WORDS.iter().find(|(known, _)| words.iter().any(|word| known.contains(word)));
            row.map(|(_, kind)| *kind)
        })
    };
    named.or_else(implied).unwrap_or(EntryType::Reference)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_speak_for_a_kind() {
        assert_eq!(kind_of(&["suggested_commands"]), EntryType::Environment);
        assert_eq!(kind_of(&["", "code_style"]), EntryType::Convention);
        assert_eq!(kind_of(&["Person"]), EntryType::Contact);
        assert_eq!(kind_of(&["session-log"]), EntryType::SessionLog);
        assert_eq!(kind_of(&["note", "coffee"]), EntryType::Reference);
    }
}
