//! Splits a text into the words by which it is found.

use crate::ranking::stem::stem;
use crate::text::is_wide;
use crate::text::joins;

/// Returns the words of a text in order, as they are compared.
///
/// Lower case and without English endings; an identifier gives its parts and, where case alone parts
/// them, itself as well; a script that is written without spaces gives its characters and each two
/// neighbours.
///
/// ```text
/// RetryQueue::push     retri queu retryqueu push
/// src/http_client.rs   src http client rs
/// 再試行               再 試 再試 行 試行
/// ```
pub fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        rest = &rest[start..];
        let wide = rest.chars().next().is_some_and(is_wide);
        let end = rest
            .find(|c| !belongs(c) || is_wide(c) != wide && !joins(c))
            .unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        if wide {
            add_wide(run, &mut found);
        } else {
            add_spaced(run, &mut found);
        }
        rest = after;
    }
    found
}

/// Tells whether a word can begin with this character.
fn is_part(c: char) -> bool {
    c.is_alphanumeric()
}

/// Tells whether a word goes on with this character: a letter, a digit, or an accent on one.
fn belongs(c: char) -> bool {
    c.is_alphanumeric() || joins(c)
}

/// Adds the characters of a run and each two neighbours, since nothing says where its words end.
fn add_wide(run: &str, found: &mut Vec<String>) {
    let mut previous: Option<char> = None;
    for c in run.chars().flat_map(char::to_lowercase) {
        found.push(c.to_string());
        if let Some(previous) = previous {
            found.push(String::from_iter([previous, c]));
        }
        previous = Some(c);
    }
}

/// Adds the humps of a run, and the run itself where it has several.
fn add_spaced(run: &str, found: &mut Vec<String>) {
    let humps = humps(run);
    if humps.len() > 1 {
        found.extend(humps.iter().map(|hump| folded(hump)));
    }
    found.push(folded(run));
}

fn folded(word: &str) -> String {
    stem(&word.to_lowercase())
}

/// Splits `HTTPServer2Config` into `HTTP`, `Server2`, `Config`.
fn humps(run: &str) -> Vec<&str> {
    let mut humps = Vec::new();
    let mut start = 0;
    let chars: Vec<(usize, char)> = run.char_indices().collect();
    for window in 1..chars.len() {
        let (at, c) = chars[window];
        let before = chars[window - 1].1;
        let next = chars.get(window + 1).map(|(_, c)| *c);
        let rises = c.is_uppercase() && !before.is_uppercase();
        let last_of_capitals =
            c.is_uppercase() && before.is_uppercase() && next.is_some_and(char::is_lowercase);
        // `IDs`, `APIs`: a plural, not a word `Ds`.
        let plural = last_of_capitals && chars.len() == window + 2 && next == Some('s');
        if rises || (last_of_capitals && !plural) {
            humps.push(&run[start..at]);
            start = at;
        }
    }
    humps.push(&run[start..]);
    humps
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn joined(text: &str) -> String {
        words(text).join(" ")
    }

    #[test]
    fn identifiers_give_their_parts() {
        for (text, expected) in [
            ("RetryQueue::push", "retri queu retryqueu push"),
            ("src/http_client.rs", "src http client rs"),
            ("HTTPServer2Config", "http server2 config httpserver2config"),
            ("max-retry.count", "max retri count"),
            ("the IDs", "the id"),
            ("sha256 v2", "sha256 v2"),
            ("don't", "don t"),
        ] {
            assert_eq!(joined(text), expected, "{text}");
        }
    }

    #[test]
    fn every_script_gives_words() {
        for (text, expected) in [
            ("再試行", "再 試 再試 行 試行"),
            ("use再試go", "use 再 試 再試 go"),
            ("Очередь ПОВТОРОВ", "очередь повторов"),
            ("größe Straße", "größe straße"),
            ("हिन्दी", "हिन्दी"),
            ("猫", "猫"),
            (" — ,;`*` ", ""),
        ] {
            assert_eq!(joined(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics_and_no_word_is_empty(text in "\\PC*") {
            prop_assert!(words(&text).iter().all(|word| !word.is_empty()));
        }
    }
}
