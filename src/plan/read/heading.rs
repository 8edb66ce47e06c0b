//! Normalises headings, so that sections are found despite decoration.

use crate::markdown::{Outline, Section};
use crate::plan::read::vocabulary;

/// Returns the words of a heading in lower case: `### 🚧 Key Decisions (v1.0):` becomes `key decisions`.
pub(crate) fn words(title: &str) -> String {
    let mut words = String::with_capacity(title.len());
    for word in plain_words(title) {
        if !words.is_empty() {
            words.push(' ');
        }
        let start = words.len();
        if word.is_ascii() {
            words.push_str(word);
            words[start..].make_ascii_lowercase();
        } else {
            words.extend(word.chars().flat_map(char::to_lowercase));
        }
    }
    words
}

/// Returns the words of a heading as written, up to the first bracket.
fn plain_words(title: &str) -> impl Iterator<Item = &str> {
    let title = title.split(['(', '[']).next().unwrap_or_default();
    title
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '/' | '-' | '.')))
        .filter(|word| word.contains(char::is_alphanumeric))
}

/// Returns whether the words of a heading are `name`; reads no further than to the first difference.
fn is_titled(title: &str, name: &str) -> bool {
    let chars = plain_words(title).enumerate().flat_map(|(index, word)| {
        let space = (index > 0).then_some(' ');
        space.into_iter().chain(word.chars().flat_map(char::to_lowercase))
    });
    chars.eq(name.chars())
}

/// Returns the sections whose normalised title is one of `names`; every name must begin with a letter.
pub(crate) fn sections<'o>(
    outline: &'o Outline<'_>,
    names: &'o [&str],
) -> impl Iterator<Item = &'o Section> {
    // A file may have many headings, and dozens of names are looked up, so the first letter is compared first.
    outline.sections().iter().filter(move |section| {
        let title = &section.title;
        let first = title.chars().find(|c| c.is_alphanumeric());
        let is_first = |name: &str| name.chars().next() == first.map(|c| c.to_ascii_lowercase());
        let mut names = names.iter();
        section.level > 0 && names.any(|name| is_first(name) && is_titled(title, name))
    })
}

/// Returns whether a heading is about open, deferred or completed items.
pub(crate) fn is_about_items(title: &str) -> bool {
    const WORDS: &[&str] = &[
        "open", "pending", "question", "concern", "deferred", "rejected", "superseded", "todo",
        "blocker",
    ];
    let words = words(title);
    let is_item = |word: &str| WORDS.contains(&word.strip_suffix('s').unwrap_or(word));
    vocabulary::DONE.contains(&words.as_str())
        || words.split(|c: char| !c.is_alphanumeric()).any(is_item)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_recognised_by_whole_words() {
        for title in ["Open Questions", "Blockers/Concerns", "Deferred", "Done", "Todos"] {
            assert!(is_about_items(title), "{title}");
        }
        for title in ["OpenAPI", "Key Decisions", "Definition of done"] {
            assert!(!is_about_items(title), "{title}");
        }
    }

    #[test]
    fn decoration_is_dropped() {
        for (title, expected) in [
            ("🚧 Key Decisions (v1.0):", "key decisions"),
            ("Blockers/Concerns", "blockers/concerns"),
            ("**Todos**", "todos"),
            ("Принятые РЕШЕНИЯ", "принятые решения"),
            ("(none)", ""),
        ] {
            assert_eq!(words(title), expected);
            assert!(is_titled(title, expected), "{title}");
            assert!(!is_titled(title, "key decision"), "{title}");
        }
        assert!(!is_titled("Key", "key decisions"));
    }
}
