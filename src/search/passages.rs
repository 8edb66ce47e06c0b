//! Splits a long text into passages, since a single vector for a long text resembles nothing in particular, and
//! distinguishes questions from answers.

use crate::search::bm25::to_f64;

/// Maximum length of a passage, in bytes; the last one may be a quarter longer.
const MAX_PASSAGE_LENGTH: usize = 600;

/// Maximum number of passages; the last one contains the rest of the text.
const MAX_PASSAGES: usize = 64;

/// Returns the passages of a text in order; a short text is a single passage.
///
/// They end after a sentence or a line if possible, otherwise between words.
pub fn passages(text: &str) -> Vec<&str> {
    let mut passages = Vec::new();
    let mut rest = text.trim();
    while rest.len() > MAX_PASSAGE_LENGTH + MAX_PASSAGE_LENGTH / 4
        && passages.len() + 1 < MAX_PASSAGES
    {
        let end = end(rest);
        let (passage, remainder) = rest.split_at(end);
        if !passage.trim().is_empty() {
            passages.push(passage.trim());
        }
        rest = remainder.trim_start();
    }
    if !rest.is_empty() || passages.is_empty() {
        passages.push(rest);
    }
    passages
}

/// Returns the end of the first passage of a text, as a byte offset.
fn end(text: &str) -> usize {
    let limit = (0..=MAX_PASSAGE_LENGTH).rev().find(|end| text.is_char_boundary(*end));
    let head = &text[..limit.unwrap_or_default()];
    let half = head.len() / 2;
    let sentence = head.char_indices().rev().find_map(|(at, c)| {
        let after = at + c.len_utf8();
        let ends_sentence =
            matches!(c, '.' | '!' | '?') && text[after..].starts_with(char::is_whitespace);
        (c == '\n' || ends_sentence || matches!(c, '。' | '！' | '？')).then_some(after)
    });
    sentence
        .filter(|end| *end >= half)
        .or_else(|| head.rfind(char::is_whitespace).filter(|end| *end >= half))
        .unwrap_or(head.len())
        .max(1)
}

/// Returns the share of a text, from 0 to 1, that consists of questions.
pub(crate) fn question_share(text: &str) -> f64 {
    let (mut in_questions, mut all) = (0, 0);
    for sentence in text.split_inclusive(['.', '!', '?', '\n', '？', '。']) {
        let letters = sentence.chars().filter(|c| c.is_alphanumeric()).count();
        all += letters;
        if sentence.ends_with(['?', '？']) {
            in_questions += letters;
        }
    }
    if all == 0 {
        return 0.0;
    }
    to_f64(in_questions) / to_f64(all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_text_is_split_after_sentences() {
        assert_eq!(passages("short"), ["short"]);
        assert_eq!(passages(""), [""]);
        let sentence = "The queue is read at the start of the program. ";
        let text = sentence.repeat(30);
        let found = passages(&text);
        assert!(found.len() >= 3, "{}", found.len());
        for passage in &found {
            assert!(
                passage.ends_with('.') && passage.len() <= MAX_PASSAGE_LENGTH * 5 / 4,
                "{passage}"
            );
        }
        assert!(passages(&"x".repeat(100 * MAX_PASSAGE_LENGTH)).len() <= MAX_PASSAGES);
    }

    #[test]
    fn questions_are_distinguished_from_statements() {
        let is = |text: &str, share: f64| (question_share(text) - share).abs() < 1e-9;
        assert!(is("Where is it?", 1.0));
        assert!(is("It is here.", 0.0));
        assert!(is("abcd. efgh?", 0.5));
        assert!(is("重試在哪裡？", 1.0));
        assert!(is("", 0.0) && is("?!", 0.0));
        assert!(is("see https://a.test/x", 0.0));
    }

    proptest! {
        #[test]
        fn passages_are_substrings_in_order(text in "([a-z é再]{0,80}[.\n ]?){0,40}") {
            let mut rest = text.as_str();
            for passage in passages(&text) {
                let at = rest.find(passage);
                prop_assert!(at.is_some(), "{passage}");
                rest = &rest[at.unwrap_or_default() + passage.len()..];
            }
            prop_assert!(rest.trim().is_empty());
        }
    }
}
