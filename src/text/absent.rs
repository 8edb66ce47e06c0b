//! Recognises values that say nothing: words such as `none`, and the placeholders that templates leave to be filled in.

use std::sync::LazyLock;

use foldhash::HashMap;

/// The words for no value, in lower case: a row of English ones, then one of other languages.
pub(crate) const NO_VALUE: &str = include_str!("no_value.txt");

/// Each of these words with its row; of several, with the last.
static WORDS: LazyLock<HashMap<&str, usize>> = LazyLock::new(|| {
    NO_VALUE
        .lines()
        .enumerate()
        .filter_map(|(row, line)| Some((row, line.split_once(": ")?.1)))
        .flat_map(|(row, words)| words.split(" | ").map(move |word| (word, row)))
        .collect()
});

/// Length of the longest word for no value, in bytes.
const MAX_LENGTH: usize = 21;

/// Returns whether a value is only a placeholder: a word such as `None.`, `_(none)_`, `N/A` or `TBD`, an unfilled
/// `{placeholder}`, or the hint of a template, such as `(No decisions yet)` or `[to be planned]`.
pub fn is_absent(value: &str) -> bool {
    let value = value.trim();
    let bare = bare(value);
    let inside = |open: char, close: char| bare.strip_prefix(open)?.strip_suffix(close);
    let in_brackets = inside('(', ')');
    let inner = in_brackets.unwrap_or(bare).trim_end_matches('.').trim();
    // Templates and tools write `_(populated as work lands)_` where there is no value yet.
    let is_remark = |text: &str| value.starts_with(['_', '*']) && !text.contains(['(', ')']);
    let says_no = |text: &str| text.to_lowercase().starts_with("no ") && text.len() < 60;
    inner.is_empty()
        || is_word(inner, false)
        || in_brackets.is_some_and(|text| is_remark(text) || says_no(text))
        || inside('{', '}').is_some_and(|text| !text.contains([',', '"', ':', '{']))
        || inside('[', ']').is_some_and(|text| text.contains(' ') && !text.contains(['[', ']']))
}

/// Returns the trimmed value unless it is only a placeholder.
pub fn non_placeholder(value: &str) -> Option<&str> {
    Some(value.trim()).filter(|value| !is_absent(value))
}

/// Does the same for a text that is kept.
pub(crate) fn given(value: &str) -> Option<String> {
    non_placeholder(value).map(str::to_owned)
}

/// Returns whether a text says `none`, with or without a reason: `None - all cleared`, `_(none — shipped)_`.
pub(crate) fn says_none(text: &str) -> bool {
    let ends = ['.', ',', ';', ':', '!', '(', ')', '。', '，', '\u{2013}', '\u{2014}'];
    let head = bare(text).trim_start_matches('(').split(ends).next().unwrap_or_default();
    // A hyphen inside a word ends nothing: `None-blocking IO`.
    let head = head.split("- ").next().unwrap_or_default().trim();
    // Other English words may begin a sentence: `Null-pointer crash`.
    head.eq_ignore_ascii_case("none") || is_word(head, true) || is_absent(text)
}

fn bare(value: &str) -> &str {
    value.trim().trim_matches(|c: char| matches!(c, '*' | '_' | '`' | ' ' | '"'))
}

/// Returns whether a text is a word for no value, in any language or only in those other than English.
fn is_word(text: &str, only_foreign: bool) -> bool {
    // Most values are longer, and need not be converted.
    text.len() <= MAX_LENGTH
        && WORDS.get(&*text.to_lowercase()).is_some_and(|row| *row >= usize::from(only_foreign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillers_are_absent_and_words_are_not() {
        for placeholder in [
            "None.",
            "_(none)_",
            "_(No decisions yet)_",
            "N/A",
            "\u{2014}",
            "TBD",
            "{todos-or-none}",
            "{Project Name}",
            " ",
            "None yet.",
            "*None currently*",
            "_(populated as work lands)_",
            "[The one thing that must work]",
            "Nenhum no momento.",
            "Нет",
            "なし",
        ] {
            assert!(is_absent(placeholder), "{placeholder}");
        }
        for value in [
            "No locks", "{a, b}", "{a: 1}", "none of the tests ran", "0", "[KNOWN-ISSUE] x",
            "unknown", "_(a)_ and _(b)_",
        ] {
            assert!(!is_absent(value), "{value}");
        }
    }

    #[test]
    fn every_word_of_the_table_is_absent() {
        for (_, words) in NO_VALUE.lines().filter_map(|row| row.split_once(": ")) {
            assert!(words.split(" | ").all(is_absent), "{words}");
        }
    }

    #[test]
    fn none_with_a_reason_is_still_none() {
        for text in [
            "None - roadmap restructured.",
            "_(none \u{2014} v2 shipped)_",
            "None. All met.",
            "None",
            "none",
            "_(nenhum)_ \u{2014} todo anterior concluído",
            "Ninguno por ahora.",
            "Нет: всё готово",
        ] {
            assert!(says_none(text), "{text}");
        }
        for text in [
            "Null-pointer crash on import",
            "None-blocking IO is half done",
            "TBD: choose the database",
            "Empty-state screen is missing",
            "none of the tests ran",
            "Nonempty",
            "no",
            "\u{e9}\u{e9}\u{e9}",
            "Nada funciona",
            "Нет доступа к серверу",
        ] {
            assert!(!says_none(text), "{text}");
        }
    }
}
