//! Classifies deviations: only problems and wrong assumptions of plans belong under `What failed`.

use crate::patterns::lesson::signs::{Signs, starts_with_past_verb};
use crate::patterns::lesson::wording::clean;
use crate::plan::Deviation;

/// Returns whether a deviation belongs under `What failed`: something did not work, or the plan made a wrong
/// assumption. `signs` are those of its whole text.
///
/// How the work was split, what was added by choice or put off, and remarks that nothing is wrong do not.
pub(crate) fn is_failure(deviation: &Deviation, signs: Signs) -> bool {
    let text = deviation.text.trim_start_matches(['*', '-', ' ']);
    let lower = deviation.text.to_lowercase();
    let kind = deviation.kind.as_deref().unwrap_or_default().to_lowercase();
    let has_problem = deviation.issue.is_some() || deviation.cause.is_some();
    let is_lasting = signs.environment || signs.error;
    let is_none = text.starts_with("~~")
        || text.starts_with(['\u{2713}', '\u{2705}'])
        || lower.contains("no scope creep")
        || lower.contains("resolved:")
        || is_settled(&lower);
    let is_deferred = signs.deferred && !has_problem && !is_lasting;
    let is_process = signs.process && !has_problem && !signs.environment;
    let says_added =
        lower.contains("added ") && starts_with_past_verb(without_tag(text)) && !has_problem;
    let is_added = kind.contains("rule 2")
        || kind.contains("missing critical")
        || kind == "scope"
        || says_added;
    let is_addition = (!has_problem && is_choice(&clean(&deviation.text)))
        || (is_added && !is_lasting && !signs.general && !signs.version);
    !(is_none || is_deferred || is_process || is_addition)
}

/// Returns whether a text only says what was done, without any problem:
/// `Used the long flag (plan preferred …)`.
fn is_choice(text: &str) -> bool {
    const PROBLEM_WORDS: &[&str] = &[
        "fail", "error", "missing", "not ", "n't", " no ", "without", "because", "since",
        "instead", "unavailable", "conflict", "broke", "wrong", "require", "reject", "only ",
        "never", "already", "block", "crash", "incompat", "lack", "actual", "due to", "must",
        "warning", "prevent", "mismatch", "but ", "avoid", "bug",
    ];
    let lower = text.to_lowercase();
    starts_with_past_verb(text) && !PROBLEM_WORDS.iter().any(|word| lower.contains(word))
}

/// Returns whether a text itself says that nothing is wrong: `RESOLVED, not a regression`.
pub(crate) fn is_settled(lower: &str) -> bool {
    const SETTLED: &[&str] = &[
        "not a regression", "not a deviation", "no deviation", "not deviations",
        "\u{2014} resolved", "resolved,",
    ];
    SETTLED.iter().any(|words| lower.contains(words))
}

fn without_tag(text: &str) -> &str {
    text.split_once("] ").map_or(text, |(_, rest)| rest)
}
