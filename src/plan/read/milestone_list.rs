//! Parses MILESTONES.md, GSD's list of what has shipped.

use crate::plan::read::{milestone_version, milestone_version_in};
use crate::text::{Pattern, join, negates, words_in};

/// A label with the day: `**Shipped:** 2026-01-02`, `*Shipped 2026-01-02*`.
static SHIPPED_LABEL: Pattern = Pattern::new(r"^[-*_ ]*shipped(?: on)?[* ]*:?[* ]*20\d\d-");

/// An entry of a list with the day right behind the word: `- v1.0 Base - shipped 2026-01-02`, but not `to be shipped …`.
static SHIPPED_ROW: Pattern =
    Pattern::new(r"^[-*] (?:.*[^\w ] ?|v[\d.]+ (?:\w+ )?)shipped\W*(?:on )?20\d\d-");

/// A line of MILESTONES.md that calls a milestone shipped: `## v1.2 Name (Shipped: 2026-04-05)`, or a label below the heading,
/// or an entry of a list.
pub(crate) struct ShippedLine<'t> {
    line: usize,
    text: &'t str,
    /// The heading that names the milestone; an entry begins with it.
    heading: Option<&'t str>,
}

impl<'t> ShippedLine<'t> {
    /// Finds all such lines.
    pub(crate) fn all(milestones: &'t str) -> Vec<Self> {
        let mut heading = "";
        let shipped = |(line, text): (usize, &'t str)| {
            let is_heading = text.starts_with('#');
            if is_heading {
                heading = text;
            }
            let lower = text.to_lowercase();
            let words: Vec<&str> = words_in(&lower).collect();
            let at = words.iter().position(|word| *word == "shipped")?;
            let before = at.checked_sub(1).map(|at| words[at]);
            let is_to_come =
                before.is_some_and(|word| negates(word) || ["be", "yet"].contains(&word));
            let is_of_heading = is_heading && !is_to_come || SHIPPED_LABEL.is_match(&lower);
            let heading = is_of_heading.then_some(heading);
            (is_of_heading || SHIPPED_ROW.is_match(&lower)).then_some(Self { line, text, heading })
        };
        (1..).zip(milestones.lines()).filter_map(shipped).collect()
    }

    /// Returns the number and the text of the first line about a milestone.
    pub(crate) fn of(all: &[Self], name: &str) -> Option<(usize, String)> {
        let found = all.iter().find(|one| one.is_about(name))?;
        Some((found.line, found.text.trim().to_owned()))
    }

    fn is_about(&self, name: &str) -> bool {
        let words = |text: &str| format!(" {} ", join(words_in(text), " "));
        match (self.heading, milestone_version_in(name)) {
            (Some(heading), Some(version)) => heading
                .split([' ', ':', '(', ')', ','])
                .any(|word| milestone_version(word) == Some(version)),
            (Some(heading), None) => words(heading).contains(&words(name)),
            (None, Some(version)) => milestone_version_in(self.text) == Some(version),
            (None, None) => words(self.text).starts_with(&words(name)),
        }
    }
}
