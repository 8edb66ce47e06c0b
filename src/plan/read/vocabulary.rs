//! The words that have a meaning in planning files, in all languages seen in them: `vocabulary.txt` is the table.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};

/// What the words of a row mean, and the words.
type Row = (&'static str, Vec<&'static str>);

/// The rows of each kind, in file order; several may have the same meaning.
static ROWS: LazyLock<HashMap<&str, Vec<Row>>> = LazyLock::new(|| {
    let mut rows: HashMap<_, Vec<Row>> = HashMap::new();
    for line in include_str!("vocabulary.txt").lines().filter(|line| !line.starts_with('#')) {
        let Some((head, words)) = line.split_once(": ") else { continue };
        let (kind, meaning) = head.split_once('/').unwrap_or((head, ""));
        rows.entry(kind).or_default().push((meaning, words.split(" | ").collect()));
    }
    rows
});

fn rows(kind: &str) -> &'static [Row] {
    ROWS.get(kind).map_or(&[], Vec::as_slice)
}

/// Returns all words of a kind.
pub(crate) fn words(kind: &str) -> impl Iterator<Item = &'static str> {
    rows(kind).iter().flat_map(|(_, words)| words).copied()
}

/// Returns whether a text in lower case is a word of a kind.
pub(crate) fn has(kind: &str, text: &str) -> bool {
    words(kind).any(|word| word == text)
}

/// Returns whether a text in lower case begins with a word of a kind.
pub(crate) fn begins(kind: &str, text: &str) -> bool {
    words(kind).any(|word| text.starts_with(word))
}

/// Returns the first word of a kind that fits, with its meaning.
pub(crate) fn find<M: Deserialize<'static>>(
    kind: &str,
    fits: impl Fn(&str) -> bool,
) -> Option<(M, &'static str)> {
    rows(kind).iter().find_map(|(meaning, words)| {
        let word = words.iter().find(|word| fits(word))?;
        let meaning: StrDeserializer<'static, Error> = meaning.into_deserializer();
        Some((M::deserialize(meaning).ok()?, *word))
    })
}

/// A field of a phase's section in the roadmap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Field {
    /// The goal of the phase.
    Goal,
    /// The phases that it depends on.
    DependsOn,
    /// The requirements that it covers.
    Requirements,
    /// What must be true when it is complete.
    SuccessCriteria,
    /// Its plans: the count, or the checklist.
    Plans,
    /// Its status.
    Status,
    /// Any other label, which ends the preceding field.
    Other,
}

/// What a label of STATE.md is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Label {
    /// The current phase.
    Phase,
    /// Its name.
    PhaseName,
    /// Its status.
    Status,
    /// The current plan.
    Plan,
    /// The number of complete plans.
    Plans,
    /// The number of phases.
    Phases,
    /// The progress.
    Progress,
    /// The milestone.
    Milestone,
    /// A date on which work went on.
    LastActive,
}

impl Label {
    /// Returns the meaning of a label's name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let lower = name.to_lowercase();
        find("label", |word| word == lower).map(|(label, _)| label)
    }
}

/// The topic of a labelled part of a deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeviationPart {
    Issue,
    Cause,
    Fix,
    Files,
    Severity,
    /// A known part that does not describe the problem: a commit, a verification.
    Other,
}

impl DeviationPart {
    pub(super) fn from_label(label: &str) -> Option<Self> {
        // Without the remark: `**Fix (abc1234):**`.
        let name = label.split_once(" (").map_or(label, |(name, _)| name);
        let name = name.trim_matches(|c: char| !c.is_alphanumeric());
        let name = name.to_lowercase().replace('_', " ");
        find("part of a deviation", |word| word == name).map(|(part, _)| part)
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::plan::read::{CheckOutcome, PhaseProgress, SummaryStatus};

    #[test]
    fn the_documentation_lists_every_word() {
        let docs = include_str!("../../../docs/formats.md");
        let lines = include_str!("vocabulary.txt").lines().filter(|line| !line.starts_with('#'));
        let mut missing = String::new();
        for (head, words) in lines.filter_map(|line| line.split_once(": ")) {
            let name = head
                .split_once('/')
                .map_or(head, |(kind, meaning)| if kind.contains(' ') { head } else { meaning });
            let row = format!("| {name} | `{}` |", words.replace(" | ", "` `"));
            if !docs.contains(&row) {
                missing.push_str(&row);
                missing.push('\n');
            }
        }
        assert!(missing.is_empty(), "docs/formats.md lacks these rows:\n{missing}");
    }

    #[test]
    fn every_meaning_is_known() {
        fn count<M: Deserialize<'static>>(kind: &str) {
            for (meaning, words) in rows(kind) {
                let found = find::<M>(kind, |word| word == words[0]);
                assert!(found.is_some(), "{kind}/{meaning}");
            }
        }
        count::<PhaseProgress>("status");
        count::<PhaseProgress>("symbol");
        count::<Field>("field");
        count::<Label>("label");
        count::<DeviationPart>("part of a deviation");
        count::<SummaryStatus>("outcome of a plan");
        count::<CheckOutcome>("outcome of a check");
    }
}
