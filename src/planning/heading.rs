//! Normalises headings, so that sections are found despite decoration.

use crate::markdown::Outline;
use crate::markdown::Section;

/// Returns the words of a heading in lower case: `### 🚧 Key Decisions (v1.0):` becomes `key decisions`.
pub(crate) fn words(title: &str) -> String {
    let title = title.split(['(', '[']).next().unwrap_or_default();
    let mut words = String::with_capacity(title.len());
    for word in title
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '/' | '-' | '.')))
        .filter(|word| word.contains(char::is_alphanumeric))
    {
        if !words.is_empty() {
            words.push(' ');
        }
        words.extend(word.chars().flat_map(char::to_lowercase));
    }
    words
}

/// Returns the sections whose normalised title is one of `names`; every name must begin with a letter.
pub(crate) fn sections<'o>(
    outline: &'o Outline<'_>,
    names: &'o [&str],
) -> impl Iterator<Item = &'o Section> {
    // A file may have many headings, and dozens of names are looked up, so the first letter is compared first.
    let may_be = |title: &str| {
        let first = title.chars().find(|c| c.is_alphanumeric());
        let is_first = |name: &&str| name.chars().next() == first.map(|c| c.to_ascii_lowercase());
        names.iter().any(is_first)
    };
    outline.sections().iter().filter(move |section| {
        let title = &section.title;
        section.level > 0 && may_be(title) && names.contains(&words(title).as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoration_is_dropped() {
        assert_eq!(words("🚧 Key Decisions (v1.0):"), "key decisions");
        assert_eq!(words("Blockers/Concerns"), "blockers/concerns");
        assert_eq!(words("**Todos**"), "todos");
    }
}
