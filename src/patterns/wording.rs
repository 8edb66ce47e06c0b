//! Removes markup without content from the sentences of other tools: tags, numbering, emphasis, hashes.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::text::{one_line, sanitized};

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern")
}

/// Tags in front of the actual text: `[Rule 1 - Bug] `, `DEVN-01 (minor): `, `PR-03 code-fix: `, `2. `.
static TAG: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:\s*(?:[-*>]\s+|\d+[.)]\s+|\[[^\]]{1,48}\][:\s]|DEVN-\d+[^:]{0,40}:\s|Rule \d+[^:]{0,40}:\s|(?i:PR|P|D|T)-?\d+\w*[^:.]{0,40}:\s|(?i:deviation|issue|fix|plan|phase|pattern)\s+[\d.-]+\w*(?:[^:.]{0,32})?:\s|(?i:process|scope|minor|note|bug|blocking|code-fix|plan-amendment)\s*:\s))+",
    )
});
static STRUCK: LazyLock<Regex> = LazyLock::new(|| pattern(r"~~[^~]*~~"));
static LINK: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[([^\]]+)\]\([^)\s]*\)"));
/// Underscores mark emphasis only around several words: `__init__` is a name.
static UNDERLINED: LazyLock<Regex> = LazyLock::new(|| pattern(r"(^|[\s(])__([^_\s]+\s[^_]*)__"));
/// A commit in brackets or at the end: `(commit abc1234)`, `in abc1234.`
static COMMIT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\s*\((?i:(?:committed |fixed )?(?:in |as )?(?:commit )?)`?[0-9a-f]{7,40}`?\)|\s+(?i:(?:in |as |at )?commit |in |as |at )?`?([0-9a-f]{7,40})`?(\.?)$",
    )
});

/// Returns a passage on one line, without secrets, emphasis, tags, link targets and hashes.
pub(crate) fn clean(text: &str) -> String {
    let text = plain(text);
    trimmed(&TAG.replace(&text, "")).to_owned()
}

/// Returns the same with its tags: before a decision, what looks like one may be its subject, as in `D3 charts: …`.
pub(crate) fn plain(text: &str) -> String {
    let mut text = one_line(&sanitized(text));
    text = replaced(text, "~~", &STRUCK, "");
    text = outside_code(&text, |part| replaced(part.replace("**", ""), "__", &UNDERLINED, "$1$2"));
    text = replaced(text, "](", &LINK, "$1");
    text = without_commits(&text).replace(" -- ", " \u{2014} ").replace("  ", " ");
    trimmed(&text).to_owned()
}

/// Returns a text without the punctuation around it. A dash before a word belongs to it: `--init`, `-5 degrees`.
fn trimmed(text: &str) -> &str {
    let is_mark = |c: char| c.is_whitespace() || ";,-\u{2014}".contains(c);
    let text = text.trim_end_matches(is_mark);
    let marks = text.len() - text.trim_start_matches(is_mark).len();
    let before = text[..marks].trim_end_matches('-');
    &text[before.len()..]
}

/// Replaces all matches. A text without `sign`, like most, cannot match and skips the regular expression.
fn replaced(text: String, sign: &str, pattern: &Regex, by: &str) -> String {
    if text.contains(sign) { pattern.replace_all(&text, by).into_owned() } else { text }
}

/// Returns a text without commit hashes, which have both digits and letters, unlike numbers and words.
fn without_commits(text: &str) -> String {
    let is_hash = |hash: &str| {
        hash.bytes().any(|byte| byte.is_ascii_digit())
            && hash.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    let replaced = COMMIT.replace_all(text, |found: &regex_lite::Captures<'_>| {
        let whole = &found[0];
        match found.get(1) {
            Some(hash) if !is_hash(hash.as_str()) => whole.to_owned(),
            Some(_) => found.get(2).map_or("", |stop| stop.as_str()).to_owned(),
            None => String::new(),
        }
    });
    replaced.into_owned()
}

/// Returns a text with its parts outside of code changed.
fn outside_code(text: &str, change: impl Fn(&str) -> String) -> String {
    let parts = text.split_inclusive('`').enumerate();
    let parts = parts.map(|(index, part)| match index % 2 {
        0 => change(part),
        _ => part.to_owned(),
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_goes_and_words_stay() {
        for (text, expected) in [
            ("**1. [Rule 1 - Bug] Locks** are `**kept**` (commit abc1234)", "Locks are `**kept**`"),
            ("DEVN-01 (minor): ~~old~~ new way in commit `a1b2c3d`.", "new way."),
            ("PR-03 code-fix: see [the page](https://a.b/c)", "see the page"),
            ("__init__ and __two words__ of @types/node", "__init__ and two words of @types/node"),
            ("--init is needed for 1234567", "--init is needed for 1234567"),
        ] {
            assert_eq!(clean(text), expected);
        }
    }
}
