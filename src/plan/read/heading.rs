//! Normalises headings, so that sections are found despite decoration.

use crate::markdown::{Outline, Section};
use crate::plan::read::vocabulary::has;

/// Returns the words of a heading in lower case: `### 🚧 Key Decisions (v1.0):` becomes `key decisions`.
pub(crate) fn words(title: &str) -> String {
    let title = title.split(['(', '[']).next().unwrap_or_default().to_lowercase();
    let words = title.split(|c: char| !(c.is_alphanumeric() || matches!(c, '/' | '-' | '.')));
    words.filter(|word| word.contains(char::is_alphanumeric)).collect::<Vec<_>>().join(" ")
}

/// Returns the sections whose title is one of the words of a kind.
pub(crate) fn sections<'o>(
    outline: &'o Outline<'_>,
    kind: &'static str,
) -> impl Iterator<Item = &'o Section> {
    let sections = outline.sections().iter().filter(|section| section.level > 0);
    sections.filter(move |section| has(kind, &words(&section.title)))
}

/// Returns whether a heading is about open, deferred or completed items.
pub(crate) fn is_about_items(title: &str) -> bool {
    let words = words(title);
    let is_item = |word: &str| has("open items", word.strip_suffix('s').unwrap_or(word));
    has("done", &words) || words.split(|c: char| !c.is_alphanumeric()).any(is_item)
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
        }
    }
}
