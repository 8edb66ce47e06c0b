//! Builds FTS5 queries in which no part of the user's text is an operator.

use crate::ranking::language::Language;
use crate::ranking::words::{MAX_TERM_LENGTH, MAX_TERMS};

/// Minimum length of a stem used as a prefix, in characters: shorter ones match unrelated words.
const MIN_STEM_LENGTH: usize = 3;

/// Returns the distinct content words of a query in order, accents as written.
///
/// Words are tokenised as in the index: runs of letters, digits and marks. A query that consists of function
/// words keeps them.
pub fn content_words(query: &str) -> Vec<String> {
    let language = Language::detect(query);
    let mut words: Vec<String> = Vec::new();
    let mut function_words: Vec<String> = Vec::new();
    let split = query.split(|c: char| !is_word_char(c));
    for word in split.filter(|word| !word.is_empty()) {
        let lower = word.to_lowercase();
        let is_function_word =
            Language::English.is_function_word(&lower) || language.is_function_word(&lower);
        let list = if is_function_word { &mut function_words } else { &mut words };
        if lower.chars().count() <= MAX_TERM_LENGTH && !list.contains(&lower) {
            list.push(lower);
        }
        if words.len() == MAX_TERMS {
            break;
        }
    }
    if words.is_empty() {
        function_words.truncate(MAX_TERMS);
        return function_words;
    }
    words
}

/// Returns the FTS5 expression that matches texts with any form of any word, or `None` without words.
///
/// The index has English stems. A word of another language is also matched by its stem, as a prefix.
pub fn any_form_of(words: &[String], language: Language) -> Option<String> {
    let forms: Vec<String> = words.iter().map(|word| forms(word, language)).collect();
    (!forms.is_empty()).then(|| forms.join(" OR "))
}

fn forms(word: &str, language: Language) -> String {
    let has_no_english_stem = language != Language::English || !word.is_ascii();
    let stem = language.stem(word);
    let is_usable_prefix = stem != word && stem.chars().count() >= MIN_STEM_LENGTH;
    if has_no_english_stem && is_usable_prefix {
        format!("({} OR {} *)", quoted(word), quoted(&stem))
    } else {
        quoted(word)
    }
}

/// Returns the FTS5 expression that matches texts with any of the words, or `None` without words.
pub fn any_of(words: &[String]) -> Option<String> {
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    (!quoted.is_empty()).then(|| quoted.join(" OR "))
}

/// Returns a text as an FTS5 string literal.
pub fn quoted(text: &str) -> String {
    // A NUL would end the expression.
    format!("\"{}\"", text.replace('\0', " ").replace('"', "\"\""))
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || crate::text::is_combining(c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn stop_words_and_repetitions_are_dropped() {
        for (query, expected) in [
            ("When did Ada go to the Library, the library?", &["go", "library", "ada"][..]),
            ("the who", &["the", "who"]),
            (
                "a - \"quoted\" * AND NOT NEAR(x, 2) ^b col:y",
                &["quoted", "near", "x", "2", "b", "col", "y"],
            ),
            ("再試行 キュー", &["再試行", "キュー"]),
            ("don't re-run", &["don", "t", "re", "run"]),
            ("🙂 — \0", &[]),
            ("", &[]),
        ] {
            let mut expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
            let mut found = content_words(query);
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "{query}");
        }
    }

    #[test]
    fn a_long_query_keeps_its_first_words() {
        let query: Vec<String> = (0..2000).map(|n| format!("word{n}")).collect();
        let query = query.join(" ");
        let words = content_words(&query);
        assert_eq!((words.len(), words[0].as_str()), (MAX_TERMS, "word0"));
        assert!(content_words(&"x".repeat(10_000)).is_empty());
    }

    #[test]
    fn words_in_an_expression_are_quoted() {
        let words = ["say".to_owned(), "\"hi\"".to_owned()];
        assert_eq!(any_of(&words).as_deref(), Some("\"say\" OR \"\"\"hi\"\"\""));
        assert_eq!(any_of(&[]), None);
    }

    #[test]
    fn words_of_other_languages_also_match_by_stem() {
        let forms = |word: &str, language| any_form_of(&[word.to_owned()], language).unwrap();
        assert_eq!(forms("queues", Language::English), "\"queues\"");
        let expected = "(\"warteschlangen\" OR \"warteschlang\" *)";
        assert_eq!(forms("warteschlangen", Language::German), expected);
        let expected = "(\"решениями\" OR \"решен\" *)";
        assert_eq!(forms("решениями", Language::English), expected);
        assert_eq!(any_form_of(&[], Language::German), None);
    }

    proptest! {
        #[test]
        fn any_query_yields_a_valid_expression(query in "\\PC*", raw in any::<String>()) {
            let index = Connection::open_in_memory().unwrap();
            index.execute_batch("CREATE VIRTUAL TABLE texts USING fts5 (text)").unwrap();
            let search = |expression: &str| {
                index.query_row("SELECT count(*) FROM texts (?1)", [expression], |row| row.get::<_, i64>(0))
            };
            let words = [any_of(&content_words(&query)), any_of(&content_words(&raw))];
            for expression in words.into_iter().flatten().chain([quoted(&raw)]) {
                prop_assert_eq!(search(&expression), Ok(0));
            }
        }
    }
}
