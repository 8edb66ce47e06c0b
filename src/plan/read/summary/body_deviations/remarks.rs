//! Distinguishes deviations from other contents of their section: checks, decisions, deferred work, notes.

use crate::markdown::{Block, BlockContent};
use crate::plan::read::document::{Document, title_words};
use crate::plan::read::summary::deviation::{is_not_a_deviation, names_rule};

/// Beginnings of the titles of groups that contain no deviations.
const REMARK_TITLES: &[&str] = &[
    "deferred", "verification", "verified", "self check", "flagged not fixed", "out of scope",
    "non deviation", "non deviations", "not deviations", "no deviation", "authentication gates",
    "auth gates", "scope note", "scope notes", "note on", "notes on", "environment limitation",
    "none",
];

/// Returns whether a title belongs to a group without deviations: `Deferred …`, `Design Decisions`.
pub(super) fn is_remark_title(title: &str) -> bool {
    if names_rule(title) {
        return title.trim_end_matches(['.', '*', ' ']).ends_with(": None");
    }
    let words = title_words(title);
    let joined = words.join(" ");
    let opens = |start: &&str| {
        let rest = joined.strip_prefix(*start);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let is_decisions = words.iter().take(3).any(|word| word == "decisions")
        && !words.iter().any(|word| word.starts_with("deviation"));
    is_decisions || REMARK_TITLES.iter().any(opens) || is_not_a_deviation(title)
}

/// Returns whether a paragraph says that the list below it contains no deviations.
pub(super) fn introduces_remarks(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.contains("not deviations") || lower.contains("not a deviation")
}

/// Returns whether a heading that names a rule contains several deviations: `Rule 3 — Auto-fixed blocking
/// issues`.
pub(super) fn is_rule_group(document: &Document<'_>, title: &str, blocks: &[Block]) -> bool {
    const SEVERAL: &[&str] = &["issues", "fixes", "bugs", "deviations", "additions"];
    let words = title_words(title);
    let is_several = words.iter().any(|word| SEVERAL.contains(&word.as_str()));
    is_several || blocks.iter().any(|block| is_numbered_head(document, block))
}

/// Returns whether a block begins a numbered or tagged deviation: `**2. [Rule 1 - Bug] …`, `**[Rule 3] …`.
pub(super) fn is_numbered_head(document: &Document<'_>, block: &Block) -> bool {
    if !matches!(block.content, BlockContent::Paragraph) {
        return false;
    }
    let text = document.outline.slice(&block.range);
    let Some(head) = text.strip_prefix("**") else {
        return false;
    };
    head.starts_with(|c: char| c.is_ascii_digit()) || names_rule(head)
}
