//! Reads notes of basic-memory: front matter, `- [category] fact #tag`, `- relation [[Other note]]`.

use std::path::Path;

use crate::error::Result;
use crate::exchange::Format;
use crate::exchange::kind::kind_of;
use crate::exchange::note::{notes, tag, unique};
use crate::exchange::source::{ImportSource, title};
use crate::knowledge::ImportItem;

/// Reads the notes of a folder, or one file.
pub(crate) fn read(path: &Path) -> Result<ImportSource> {
    notes(path, |file, name, words| {
        let named = file.front.text(&["title"]).map(str::to_owned);
        let named = named.or(file.heading.clone()).unwrap_or_default();
        let facts = observations(&file.body);
        let kind = file.front.text(&["type"]).unwrap_or_default();
        let mut clues = vec![kind];
        clues.extend(facts.iter().map(|fact| fact.category));
        clues.extend([named.as_str(), words]);
        let mut aliases = vec![name.trim_end_matches(".md").to_owned(), words.to_owned()];
        aliases.extend(file.front.text(&["permalink"]).map(str::to_owned));
        let tags = facts.iter().flat_map(|fact| tags_of(fact.text));
        let piece = ImportItem {
            origin: (Format::BasicMemory.as_str(), name),
            names: aliases,
            title: title(&named, words),
            kind: kind_of(&clues),
            confidence: file.confidence(),
            tags: unique(file.tags().into_iter().chain(tags)),
            body: file.body.clone(),
        };
        let statements = facts.iter().map(|fact| fact.text.to_owned());
        (piece, statements.collect())
    })
}

/// A line that states a fact with a category.
struct CategorizedLine<'t> {
    category: &'t str,
    text: &'t str,
}

/// Returns the lines `- [category] fact`; task checkboxes and links are not categories.
fn observations(body: &str) -> Vec<CategorizedLine<'_>> {
    let line = |line: &'_ str| -> Option<(usize, usize)> {
        let rest = line.trim_start().strip_prefix("- [")?;
        let end = rest.find(']')?;
        let category = rest[..end].trim();
        let is_box = category.len() <= 1 || category.starts_with('[');
        let after = &rest[end + 1..];
        (!is_box && after.starts_with(' ') && !after.trim().is_empty()).then_some((end, 0))?;
        Some((line.len() - rest.len(), end))
    };
    let found = body.lines().filter_map(|text| {
        let (start, end) = line(text)?;
        Some(CategorizedLine {
            category: text[start..start + end].trim(),
            text: text[start + end + 1..].trim(),
        })
    });
    found.collect()
}

fn tags_of(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split_whitespace();
    words
        .filter(|word| word.starts_with('#') && word.len() > 1)
        .filter_map(|word| tag(word.trim_end_matches(['.', ',', ')'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_have_a_category_and_tags() {
        let body = "- [decision] Tokens expire #auth #jwt.\n- [ ] a task\n- [x] done\n- [[Link]] no\n- [a](b) no\n- requires [[X]]\n";
        let found = observations(body);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].category, "decision");
        assert_eq!(found[0].text, "Tokens expire #auth #jwt.");
        let tags: Vec<String> = tags_of(found[0].text).collect();
        assert_eq!(tags, ["auth", "jwt"]);
    }
}
