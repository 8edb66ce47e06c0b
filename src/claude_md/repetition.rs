//! Finds the decisions that PROJECT.md repeats from STATE.md with a word more or less.

use crate::plan::{Decision, PhaseNumber};
use crate::ranking::WordSet;
use crate::text::strip_prefix_ignore_case;

/// Decisions that others may repeat.
pub(crate) struct KnownDecisions(Vec<Wordings>);

/// A known decision that another one repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repetition {
    /// The index of the known decision.
    pub(crate) index: usize,
    /// Whether the other one has all its words, reasons aside.
    pub(crate) has_all_words: bool,
}

impl KnownDecisions {
    pub(crate) fn new<'a>(decisions: impl Iterator<Item = &'a Decision>) -> Self {
        Self(decisions.map(Wordings::new).collect())
    }

    /// Returns the known decision that this one repeats.
    pub(crate) fn repetition(&self, decision: &Decision) -> Option<Repetition> {
        if self.0.is_empty() {
            return None;
        }
        let own = Wordings::new(decision);
        let index = self.0.iter().position(|known| own.repeats(known))?;
        Some(Repetition { index, has_all_words: self.0[index].text.is_part_of(&own.text) })
    }
}

/// The words of a decision, without and with its reason.
struct Wordings {
    text: WordSet,
    whole: WordSet,
}

impl Wordings {
    fn new(decision: &Decision) -> Self {
        let text = without_phase(decision.untagged());
        let reason = decision.rationale.as_deref().unwrap_or_default();
        Self {
            text: WordSet::from_text(text),
            whole: WordSet::from_text(&format!("{text} {reason}")),
        }
    }

    fn repeats(&self, other: &Self) -> bool {
        self.text.differs_only_by_additions(&other.text)
            || self.whole.differs_only_by_additions(&other.whole)
    }
}

/// Returns a decision without the phase before it: `[v1.0]: Phase 1: Use SQLite`.
fn without_phase(text: &str) -> &str {
    strip_prefix_ignore_case(text, "phase ")
        .and_then(|rest| rest.split_once(": "))
        .filter(|(number, _)| PhaseNumber::parse(number).is_some())
        .map_or(text, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(text: &str, rationale: &str) -> Decision {
        Decision {
            text: text.to_owned(),
            rationale: Some(rationale.to_owned()),
            ..Decision::default()
        }
    }

    #[test]
    fn only_a_word_more_or_less_is_a_repetition() {
        let known = [
            decision("[v1.0]: Phase 1: Pages by name (`/shop/:name`)", ""),
            decision("Amounts are integers in cents, rounded up", ""),
            decision("Use Redis for the cache of sessions", "It is fast"),
            decision("Migration 12 is applied to staging", ""),
        ];
        let known = KnownDecisions::new(known.iter());
        let found = |text: &str, rationale: &str| {
            let found = known.repetition(&decision(text, rationale));
            found.map(|found| (found.index, found.has_all_words))
        };
        let name = "Pages by name (`/shop/:name`)";
        assert_eq!(found(name, "One host for all"), Some((0, true)));
        let cents = "Amounts are integers in cents, rounded";
        assert_eq!(found(cents, "No drift"), Some((1, false)));
        for (text, rationale) in [
            ("Use SQLite for the cache of sessions", "It is fast"),
            ("Never use Redis for the cache of sessions", ""),
            ("Migration 13 is applied to staging", ""),
            ("Pages", ""),
            ("", ""),
        ] {
            assert_eq!(found(text, rationale), None, "{text}");
        }
    }
}
