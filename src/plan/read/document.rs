//! Parses a PLAN or SUMMARY file once into fields, outline and labelled lines.

use std::ops::Range;
use std::path::Path;

use crate::markdown::{FrontMatter, Label, Node, Outline, Section};
use crate::plan::read::vocabulary::{has, words};
use crate::plan::read::{json_lines, non_placeholder};
use crate::warning::Warning;

/// A parsed PLAN or SUMMARY file.
pub(crate) struct Document<'a> {
    /// The front matter, or the rows of a JSONL file under their long names.
    pub(crate) front: FrontMatter,
    /// The outline of the text after the front matter; empty for JSONL.
    pub(crate) outline: Outline<'a>,
    labels: Vec<Label>,
}

impl<'a> Document<'a> {
    /// Parses a file; JSONL is detected by its first characters.
    pub(crate) fn parse(text: &'a str, path: &Path, warnings: &mut Vec<Warning>) -> Self {
        let (front, body) = if json_lines::is_json_lines(text) {
            let fields = json_lines::parse(text, path).into_value(warnings);
            (FrontMatter { fields, range: 0..0 }, text.len())
        } else {
            let front = FrontMatter::parse(text, path).into_value(warnings);
            let body = front.range.end;
            (front, body)
        };
        let outline = Outline::parse_beginning(text, body);
        warnings.extend(outline.warning(path));
        let labels = outline.labels(&(body..text.len()));
        Self { front, outline, labels }
    }

    /// Returns the title in the front matter, otherwise the first heading.
    pub(crate) fn title(&self) -> Option<String> {
        let title = self.front.text(&["title", "name"]).or_else(|| self.outline.title());
        title.and_then(non_placeholder).map(str::to_owned)
    }

    /// Returns the node of a key at the top level or under `metrics`.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        let metrics = || self.front.get(&["metrics", "performance"])?.get(&[key]);
        self.front.get(&[key]).or_else(metrics)
    }

    /// Returns the first field whose name is a word of a kind.
    pub(crate) fn field(&self, kind: &str) -> Option<&Node> {
        words(kind).find_map(|key| self.get(key))
    }

    /// Returns the body's values for the labels whose names are words of a kind, from labelled lines.
    /// Names have underscores, as in the front matter.
    pub(crate) fn values(&self, kind: &str) -> Vec<&str> {
        let is_named = |name: &str| {
            let name = name.trim_matches(['*', ' ']);
            has(kind, &name.to_lowercase().replace([' ', '-'], "_"))
        };
        let lines = self.labels.iter().filter(|label| is_named(&label.name));
        lines.map(|label| label.value.as_str()).collect()
    }

    /// Returns the texts of a kind, in the front matter and then in the body.
    pub(crate) fn stated(&self, kind: &'static str) -> impl Iterator<Item = &str> {
        let fields = words(kind).filter_map(|key| self.get(key)?.as_text());
        fields.chain(self.values(kind))
    }

    /// Returns the byte range of the body.
    pub(crate) fn body(&self) -> Range<usize> {
        self.front.range.end..self.outline.text().len()
    }

    /// Returns the outermost sections whose title words satisfy the predicate.
    pub(crate) fn sections(&self, fits: impl Fn(&[String]) -> bool) -> Vec<&Section> {
        let mut found: Vec<&Section> = Vec::new();
        for section in self.outline.sections() {
            let is_inside =
                found.last().is_some_and(|outer| outer.whole.contains(&section.heading.start));
            if section.level > 0 && !is_inside && fits(&title_words(&section.title)) {
                found.push(section);
            }
        }
        found
    }
}

/// Returns the words of a title in lower case, without numbers, symbols and punctuation.
pub(crate) fn title_words(title: &str) -> Vec<String> {
    title
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().any(char::is_alphabetic))
        .map(str::to_lowercase)
        .collect()
}
