//! The rules for classifying findings, in one table: rules.txt, which says how it is read.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::knowledge::notepad::NotepadSection;
use crate::knowledge::{Confidence, EntryType};

const TABLE: &str = include_str!("rules.txt");

/// Where to keep a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// Not kept: it is not durable, or recorded elsewhere already.
    Nowhere,
    /// In a section of the notepad.
    Note(NotepadSection),
    /// As an entry.
    Entry(EntryType, Confidence),
}

/// A rule; its conditions are compiled when it is tried, since an earlier one decides as a rule.
pub(super) struct ClassifyRule {
    /// Each expression, and whether it has to match or must not.
    conditions: Vec<(&'static str, bool)>,
    /// Where to keep the finding if the rule applies.
    pub(super) destination: Destination,
    /// The reason, in one short line.
    pub(super) reason: &'static str,
}

struct Rules {
    /// The expressions with a name.
    parts: Vec<(&'static str, &'static str)>,
    rules: Vec<ClassifyRule>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let mut all = Rules { parts: Vec::new(), rules: Vec::new() };
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some((is_wanted, expression)) = condition(line) {
            all.rules
                .last_mut()
                .into_iter()
                .for_each(|rule| rule.conditions.push((expression, is_wanted)));
        } else if let Some(part) = line.split_once(" = ") {
            all.parts.push(part);
        } else if let Some((place, reason)) = line.split_once(": ")
            && let Some(destination) = destination(place)
        {
            all.rules.push(ClassifyRule { conditions: Vec::new(), destination, reason });
        }
    }
    all
});

fn condition(line: &str) -> Option<(bool, &str)> {
    let line = line.strip_prefix("  ")?;
    let wanted = line.strip_prefix("if ").map(|expression| (true, expression));
    wanted.or_else(|| Some((false, line.strip_prefix("unless ")?)))
}

fn destination(place: &str) -> Option<Destination> {
    if place == "none" {
        return Some(Destination::Nowhere);
    }
    if let Some(section) = place.strip_prefix("notepad-") {
        return NotepadSection::from_word(section).map(Destination::Note);
    }
    let (kind, confidence) = place.split_once(' ')?;
    Some(Destination::Entry(EntryType::from_word(kind)?, Confidence::from_word(confidence)?))
}

/// Returns the first rule that applies to a finding.
pub(super) fn deciding(finding: &str) -> Option<&'static ClassifyRule> {
    let holds = |(expression, is_wanted): &(&str, bool)| {
        compiled(expression).is_ok_and(|regex| regex.is_match(finding)) == *is_wanted
    };
    RULES.rules.iter().find(|rule| rule.conditions.iter().all(holds))
}

/// Compiles an expression with its names replaced.
fn compiled(expression: &str) -> Result<Regex, regex_lite::Error> {
    let parts = RULES.parts.iter();
    let filled = parts.fold(expression.to_owned(), |text, (name, part)| text.replace(name, part));
    Regex::new(&format!("(?i){filled}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        let conditions = RULES.rules.iter().flat_map(|rule| &rule.conditions);
        for (expression, _) in conditions.clone() {
            assert!(compiled(expression).is_ok(), "{expression}");
        }
        let lines = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let read = RULES.parts.len() + RULES.rules.len() + conditions.count();
        assert_eq!(lines.count(), read);
        for rule in &RULES.rules {
            assert!(!rule.reason.contains(['\n', ':', '#']), "{}", rule.reason);
            let high = matches!(rule.destination, Destination::Entry(_, Confidence::High));
            assert!(!high, "no rule may claim high confidence");
        }
    }
}
