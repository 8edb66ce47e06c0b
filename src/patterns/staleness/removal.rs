//! Detects whether a text reports the removal of a file.

use std::collections::HashSet;

use crate::patterns::{mentions, sentences};

/// Words that say that a file was removed or moved.
const REMOVALS: &[&str] = &[
    "absorbed", "delete", "deleted", "deletes", "deleting", "dissolved", "drop", "dropped",
    "dropping", "drops", "eliminated", "gone", "inlined", "merged", "migrated", "move", "moved",
    "moves", "moving", "purged", "removal", "remove", "removed", "removes", "removing", "rename",
    "renamed", "renames", "renaming", "replace", "replaced", "replaces", "replacing", "retired",
    "split", "superseded", "unused",
];

/// Words that negate either of the two words after them.
const NEGATIONS: &[&str] = &["cannot", "don't", "never", "not", "without"];

/// Returns the paths mentioned in sentences that report a removal or a move.
pub(crate) fn removed_paths(text: &str) -> HashSet<String> {
    let mut paths = HashSet::new();
    for statement in statements(text) {
        let removals = sentences(&statement).into_iter().filter(|s| speaks_of_removal(s));
        paths.extend(removals.flat_map(mentions).map(|mention| mention.path));
    }
    paths
}

fn speaks_of_removal(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let words: Vec<&str> = lower
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .collect();
    words.iter().enumerate().any(|(at, word)| {
        let before = &words[at.saturating_sub(2)..at];
        REMOVALS.contains(word) && !before.iter().any(|word| NEGATIONS.contains(word))
    }) || lower.contains("no longer")
        || lower.contains("rid of")
}

/// Returns the bullets and paragraphs of a text, each on one line.
fn statements(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines().map(str::trim) {
        let is_item = line.starts_with(['-', '*', '+', '#', '|']);
        match found.last_mut().filter(|_| is_open && !is_item) {
            Some(statement) => *statement = format!("{statement} {line}"),
            None => found.push(line.to_owned()),
        }
        is_open = !line.is_empty();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_about_a_removal_are_distinguished() {
        for text in [
            "removed `src/x.rs` for good",
            "- Deleted src/a.rs, src/x.rs and src/b.rs",
            "`src/x.rs` is no longer needed",
            "- The cache got in the way, so that\n  `src/x.rs` was dropped",
            "Split `src/x.rs` into two",
        ] {
            assert!(removed_paths(text).contains("src/x.rs"), "{text}");
        }
        for other in [
            "Lock `src/x.rs` before a write",
            "Never remove the lock of `src/x.rs`",
            "- Removed the cache\n- Lock `src/x.rs` before a write",
            "Removed the cache. `src/x.rs` holds the lock",
            "`src/removed.rs` calls `src/x.rs`",
            "removed `src/y.rs`",
        ] {
            assert!(!removed_paths(other).contains("src/x.rs"), "{other}");
        }
    }
}
