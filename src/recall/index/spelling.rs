//! How texts and queries are spelled for the index of words: parts of identifiers, scripts without spaces.

use crate::ranking::content_words;
use crate::text::is_wide;
use crate::text::joins;

/// Returns a text in which every word by which it can be found stands by itself.
///
/// ```text
/// RetryQueue::push   Retry Queue RetryQueue push
/// 再試行キュー        再 再試 試 試行 …
/// ```
///
/// Dots, underscores and other signs part words anyway.
pub(crate) fn spelled(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut rest = text;
    while let Some(start) = rest.find(char::is_alphanumeric) {
        rest = &rest[start..];
        let wide = rest.chars().next().is_some_and(is_wide);
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() && is_wide(c) == wide || joins(c)))
            .unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        if wide {
            add_wide(run, &mut out);
        } else {
            add_spaced(run, &mut out);
        }
        rest = after;
    }
    out
}

/// Adds each character and each two neighbours: nothing says where the words of such a script end.
fn add_wide(run: &str, out: &mut String) {
    let mut chars = run.chars().peekable();
    while let Some(c) = chars.next() {
        out.push(c);
        out.push(' ');
        if let Some(next) = chars.peek() {
            out.extend([c, *next, ' ']);
        }
    }
}

/// Adds the humps of a run, and the run itself where it has several.
fn add_spaced(run: &str, out: &mut String) {
    let mut before: Option<char> = None;
    let mut chars = run.chars().peekable();
    let mut humps = 1;
    while let Some(c) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(|next| next.is_lowercase());
        let begins = before.is_some_and(|before| {
            c.is_uppercase()
                && (!before.is_uppercase() || next_is_lower && chars.clone().count() > 1)
        });
        if begins {
            humps += 1;
            out.push(' ');
        }
        out.push(c);
        before = Some(c);
    }
    out.push(' ');
    if humps > 1 {
        out.push_str(run);
        out.push(' ');
    }
}

/// Returns the words of a query that tell something, as the index of words has them.
pub(crate) fn terms(query: &str) -> Vec<String> {
    content_words(&spelled(query))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn identifiers_and_scripts_without_spaces_are_taken_apart() {
        for (text, expected) in [
            ("RetryQueue::push", "Retry Queue RetryQueue push "),
            ("src/http_client.rs", "src http client rs "),
            ("HTTPServer2", "HTTP Server2 HTTPServer2 "),
            ("the IDs", "the IDs "),
            ("再試行 go", "再 再試 試 試行 行 go "),
            ("use再試", "use 再 再試 試 "),
            ("-- \" * 🚀", ""),
        ] {
            assert_eq!(spelled(text), expected, "{text}");
        }
    }

    #[test]
    fn a_query_keeps_what_says_something() {
        assert_eq!(terms("What is the Retry policy?"), ["retry", "policy"]);
        assert_eq!(terms("the who"), ["the", "who"]);
        assert_eq!(terms("a\" OR b* NEAR(c) -d"), ["b", "near", "c", "d"]);
        assert!(terms("\"-*()🚀\0").is_empty());
    }

    proptest! {
        #[test]
        fn terms_are_letters_and_digits(query in "\\PC{0,60}") {
            for term in terms(&query) {
                prop_assert!(!term.is_empty());
                prop_assert!(term.chars().all(|c| c.is_alphanumeric() || joins(c)), "{term:?}");
            }
        }
    }
}
