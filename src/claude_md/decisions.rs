//! Selects the decisions that a new session must know: the newest, and the most important of the older ones.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::claude_md::decision_list::{DecisionFile, DecisionList, PlacedDecision};
use crate::claude_md::repetition::KnownDecisions;
use crate::claude_md::superseded::superseded;
use crate::plan::{Decision, is_absent, non_placeholder};
use crate::text::fold;

/// Maximum number of decisions in the block.
pub(crate) const MAX_DECISIONS: usize = 10;

/// Maximum number of decisions, newest first, that are examined for display.
const MAX_EXAMINED: usize = 5_000;

/// Maximum number of decisions of each file that are compared with those of the other one.
const MAX_COMPARED: usize = 1_000;

/// Maximum number of these that may be older but more important ones.
const MAX_HELD: usize = 3;

/// Maximum number of decisions from one plan.
const MAX_PER_PLAN: usize = 3;

/// Words that mark a decision as binding.
const BINDING_WORDS: &[&str] = &[
    "must", "never", "only", "breaking", "always", "mandatory", "required", "forbidden",
    "prohibited",
];

/// Prefixes of words for things that others depend on.
const STRUCTURAL_PREFIXES: &[&str] = &[
    "api", "interface", "protocol", "contract", "schema", "storage", "database", "migration",
    "security", "auth", "encrypt", "permission", "secret", "dependency", "dependencies",
];

/// A decision with its sort keys.
struct RankedDecision<'a> {
    placed: PlacedDecision<'a>,
    file: DecisionFile,
    /// Index of its list; of two lists without dates, the first is considered newer.
    list: usize,
    /// Index in its list, oldest first.
    position: usize,
    impact: u8,
}

impl<'a> RankedDecision<'a> {
    /// Takes over the other statement of the same decision if only that one has a reason.
    fn take_reason(&mut self, other: &RankedDecision<'a>) {
        if self.placed.decision.rationale.is_none() && other.placed.decision.rationale.is_some() {
            self.placed.decision = other.placed.decision;
            self.impact = other.impact;
        }
    }

    /// Sorts newest first.
    fn recency(&self) -> impl Ord + use<> {
        let era = Reverse(self.placed.era.clone());
        (Reverse(self.placed.date), era, self.list, Reverse(self.position))
    }

    /// Sorts newest first, and decisions of the same date by impact.
    fn rank(&self) -> impl Ord + use<> {
        let tie = self.placed.date.map(|_| Reverse(self.impact));
        (Reverse(self.placed.date), tie, self.recency())
    }
}

/// Returns all decisions, newest first and without repetitions.
pub(crate) fn newest_first(lists: &[DecisionList]) -> impl Iterator<Item = &Decision> {
    ranked(lists).into_iter().map(|ranked| ranked.placed.decision)
}

/// Returns the texts of the decisions to show, newest first.
///
/// `shown` returns a decision's text, or `None` to omit it; it is not called for those too old to be shown.
pub(crate) fn select<'a, T>(
    lists: &'a [DecisionList],
    shown: impl Fn(&'a Decision) -> Option<T>,
) -> Vec<T> {
    let mut ranked = ranked(lists);
    ranked.sort_by_cached_key(RankedDecision::rank);
    ranked.truncate(MAX_EXAMINED);
    let mut texts = ShownTexts { texts: HashMap::new(), ranked: &ranked, shown };
    let all = 0..ranked.len();
    let mut selected: Vec<usize> =
        all.clone().filter(|place| texts.is_kept(*place)).take(MAX_DECISIONS).collect();
    let older = selected.last().map_or(0, |last| last + 1)..all.end;
    promote_older(&mut selected, older.collect(), &mut texts);
    selected.sort_by_key(|place| ranked[*place].recency());
    let mut texts = texts.texts;
    let texts = selected.iter().filter_map(|place| texts.remove(place));
    texts.flatten().collect()
}

/// The ranked decisions with their texts, as far as they were needed.
struct ShownTexts<'r, 'a, T, F> {
    ranked: &'r [RankedDecision<'a>],
    texts: HashMap<usize, Option<T>>,
    shown: F,
}

impl<'a, T, F: Fn(&'a Decision) -> Option<T>> ShownTexts<'_, 'a, T, F> {
    fn has_text(&mut self, place: usize) -> bool {
        let decision = self.ranked[place].placed.decision;
        let shown = || (self.shown)(decision);
        let text = self.texts.entry(place).or_insert_with(shown);
        text.is_some()
    }

    /// Returns whether a decision can be shown and is one of the first of its plan.
    fn is_kept(&mut self, place: usize) -> bool {
        if !self.has_text(place) {
            return false;
        }
        let ranked = self.ranked;
        let Some(own) = plan(ranked[place].placed.decision) else {
            return true;
        };
        let earlier = (0..place).filter(|other| plan(ranked[*other].placed.decision) == Some(own));
        let earlier = earlier.filter(|other| self.has_text(*other));
        earlier.take(MAX_PER_PLAN).count() < MAX_PER_PLAN
    }
}

/// Returns the plan that a decision came from, such as `02-03`, if its source is a plan.
fn plan(decision: &Decision) -> Option<&str> {
    let source = decision.source.as_deref()?;
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let (phase, plan) = source.rsplit_once('-')?;
    let phase = phase.trim_start_matches(|c: char| !c.is_ascii_digit());
    (is_number(phase) && is_number(plan)).then_some(source)
}

/// Replaces up to three of the last decisions with older ones of higher impact.
fn promote_older<'a, T, F: Fn(&'a Decision) -> Option<T>>(
    selected: &mut [usize],
    mut older: Vec<usize>,
    texts: &mut ShownTexts<'_, 'a, T, F>,
) {
    let ranked = texts.ranked;
    older.sort_by_key(|place| Reverse(ranked[*place].impact));
    let replaceable = selected.len().saturating_sub(MAX_HELD);
    for candidate in older {
        // Among equally weak ones, the last is replaced first, because it is the oldest.
        let replaceable_last_first = selected[replaceable..].iter_mut().rev();
        match replaceable_last_first.min_by_key(|place| ranked[**place].impact) {
            Some(weakest) if ranked[*weakest].impact < ranked[candidate].impact => {
                if texts.is_kept(candidate) {
                    *weakest = candidate;
                }
            }
            _ => return,
        }
    }
}

/// Returns the valid decisions, newest first.
fn ranked(lists: &[DecisionList]) -> Vec<RankedDecision<'_>> {
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut ranked: Vec<RankedDecision<'_>> = Vec::new();
    for (index, list) in lists.iter().enumerate() {
        // Newest first, so that a repeated decision is kept at its newer position.
        for (position, placed) in list.oldest_first().into_iter().enumerate().rev() {
            let one = RankedDecision {
                impact: impact(placed.decision),
                placed,
                file: list.file,
                list: index,
                position,
            };
            let text = one.placed.decision.untagged();
            if is_absent(text) {
                continue;
            }
            if let Some(known) = known.get(&fold(text)) {
                ranked[*known].take_reason(&one);
            } else {
                known.insert(fold(text), ranked.len());
                ranked.push(one);
            }
        }
    }
    let mut ranked = without_repetitions(ranked);
    ranked.sort_by_cached_key(RankedDecision::recency);
    let all: Vec<&Decision> = ranked.iter().map(|one| one.placed.decision).collect();
    let superseded = superseded(&all);
    let all = ranked.into_iter().enumerate();
    let valid = all.filter(|(index, _)| !superseded.contains(index));
    valid.map(|(_, one)| one).collect()
}

/// Removes the decisions of PROJECT.md that STATE.md has with a word more or less.
fn without_repetitions(ranked: Vec<RankedDecision<'_>>) -> Vec<RankedDecision<'_>> {
    let (mut kept, project): (Vec<_>, Vec<_>) =
        ranked.into_iter().partition(|one| one.file == DecisionFile::State);
    let compared = if project.is_empty() { 0 } else { MAX_COMPARED };
    let known = KnownDecisions::new(kept.iter().take(compared).map(|one| one.placed.decision));
    for (index, one) in project.into_iter().enumerate() {
        let is_compared = index < MAX_COMPARED;
        let repetition = is_compared.then(|| known.repetition(one.placed.decision));
        match repetition.flatten() {
            Some(of) if of.has_all_words => kept[of.index].take_reason(&one),
            Some(_) => {}
            None => kept.push(one),
        }
    }
    kept
}

/// Returns the impact of a decision: one point each for a reason, a binding word, and a structural word.
fn impact(decision: &Decision) -> u8 {
    let reason = decision.rationale.as_deref().and_then(non_placeholder);
    let text = format!("{} {}", decision.text, reason.unwrap_or_default()).to_lowercase();
    let words = || text.split(|c: char| !c.is_alphanumeric());
    let is_binding = words().any(|word| BINDING_WORDS.contains(&word));
    let is_structural =
        words().any(|word| STRUCTURAL_PREFIXES.iter().any(|prefix| word.starts_with(prefix)));
    u8::from(reason.is_some()) + u8::from(is_binding) + u8::from(is_structural)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(text: &str, date: Option<&str>) -> Decision {
        Decision {
            text: text.to_owned(),
            date: date.map(|date| date.parse().unwrap()),
            ..Decision::default()
        }
    }

    fn list(decisions: Vec<Decision>) -> DecisionList {
        DecisionList { decisions, ..DecisionList::default() }
    }

    fn undated(count: usize) -> DecisionList {
        list((0..count).map(|n| decision(&format!("d{n}"), None)).collect())
    }

    fn texts(lists: &[DecisionList]) -> String {
        let texts: Vec<&str> = select(lists, Some).iter().map(|d| d.text.as_str()).collect();
        texts.join(" ")
    }

    #[test]
    fn undated_lists_count_as_oldest_first() {
        assert_eq!(texts(&[undated(3)]), "d2 d1 d0");
        assert_eq!(texts(&[undated(12)]), "d11 d10 d9 d8 d7 d6 d5 d4 d3 d2");
        for heading in ["Decisions (newest first)", "Recent: most recent first"] {
            let list = DecisionList { heading: Some(heading.to_owned()), ..undated(3) };
            assert_eq!(texts(&[list]), "d0 d1 d2");
        }
        assert_eq!(texts(&[]), "");
    }

    #[test]
    fn texts_are_built_only_for_decisions_that_may_be_shown() {
        let lists = [undated(200)];
        let calls = std::cell::Cell::new(0);
        let texts = select(&lists, |decision| {
            calls.set(calls.get() + 1);
            // The newest is omitted.
            (decision.text != "d199").then_some(decision.text.as_str())
        });
        let expected: Vec<String> = (189..199).rev().map(|number| format!("d{number}")).collect();
        assert_eq!(texts, expected);
        assert_eq!(calls.get(), MAX_DECISIONS + 1);
    }

    #[test]
    fn dates_take_precedence() {
        let rising = list(vec![
            decision("a", Some("2026-02-01")),
            decision("b", Some("2026-02-03")),
            decision("c", Some("2026-02-02")),
            decision("d", Some("2026-02-03")),
        ]);
        assert_eq!(texts(&[rising]), "d b c a");
        let falling = list(vec![
            decision("a", Some("2026-02-03")),
            decision("b", None),
            decision("c", Some("2026-02-01")),
            decision("d", None),
        ]);
        assert_eq!(texts(std::slice::from_ref(&falling)), "a b c d");
        assert_eq!(texts(&[undated(2), falling]), "a b c d d1 d0");
    }

    #[test]
    fn without_dates_the_phase_decides_across_all_lists() {
        let of = |heading: &str, decisions: &[(&str, &str)]| DecisionList {
            file: DecisionFile::State,
            heading: Some(heading.to_owned()),
            decisions: decisions
                .iter()
                .map(|(text, source)| Decision {
                    source: Some((*source).to_owned()),
                    ..decision(text, None)
                })
                .collect(),
        };
        let falling =
            of("Decisions", &[("e", "[Phase 10]"), ("d", "09-02"), ("y", ""), ("c", "2.1")]);
        let rising = of("Recent Decisions", &[("a", "phase-1"), ("b", "2"), ("f", "11")]);
        assert_eq!(texts(&[falling, rising]), "f e d y c b a");
        let first = of("v1.0", &[("a", "4"), ("b", "5")]);
        let second = of("v1.10 Shop", &[("c", "1"), ("d", "v1.9 phase 7"), ("e", "2")]);
        assert_eq!(texts(&[first.clone(), second]), "e c d b a");
        let third = of("Milestone 2", &[("g", "Plan 03-01")]);
        assert_eq!(texts(&[first.clone(), third]), "g b a");
        let day = of("Decisions", &[("x", "2026-02-17")]);
        assert_eq!(texts(&[day, first]), "b a x");
    }

    #[test]
    fn a_decision_is_shown_once_at_its_newest_position() {
        let mut again = undated(3);
        again.decisions.push(decision("D0 ", None));
        again.decisions.push(decision("_(none)_", None));
        assert_eq!(texts(&[again, undated(3)]), "D0  d2 d1");
    }

    #[test]
    fn what_the_other_file_repeats_is_shown_once() {
        let because = |text: &str, rationale: &str| Decision {
            rationale: Some(rationale.to_owned()),
            ..decision(text, None)
        };
        let state = list(vec![
            decision("[Phase 2]: [02-03]: Keep the index", None),
            because("AES-256-GCM for token encryption", "Standard"),
            decision("Photo upload uses the form of the shop", None),
            decision("Logo photo upload uses the form of the shop", None),
        ]);
        let project = DecisionList {
            file: DecisionFile::Project,
            ..list(vec![
                because("Keep the index", "It is fast"),
                because("Token encryption: AES-256-GCM", "Standard of the trade"),
                decision("Use SQLite", None),
            ])
        };
        let shown =
            |decision: &Decision| (decision.untagged().to_owned(), decision.rationale.clone());
        let found: Vec<_> = newest_first(&[state, project]).map(shown).collect();
        let expected = [
            ("Logo photo upload uses the form of the shop", None),
            ("Photo upload uses the form of the shop", None),
            ("AES-256-GCM for token encryption", Some("Standard")),
            ("Keep the index", Some("It is fast")),
            ("Use SQLite", None),
        ];
        let expected = expected.map(|(text, reason)| (text.to_owned(), reason.map(str::to_owned)));
        assert_eq!(found, expected);
    }

    #[test]
    fn impact_breaks_ties_on_the_same_date() {
        let day = Some("2026-02-01");
        let mut decisions: Vec<_> = (0..11).map(|n| decision(&format!("d{n}"), day)).collect();
        decisions[0].text = "never 0".to_owned();
        decisions[1].rationale = Some("why".to_owned());
        decisions[0].rationale = Some("because it must".to_owned());
        assert_eq!(texts(&[list(decisions)]), "d10 d9 d8 d7 d6 d5 d4 d3 d1 never 0");
    }

    #[test]
    fn up_to_three_older_decisions_of_higher_impact_are_kept() {
        let mut decisions = undated(20).decisions;
        decisions[0].text = "api 0 must stay".to_owned();
        decisions[2].text = "never 2 schemas".to_owned();
        decisions[4].text = "only 4".to_owned();
        decisions[12].text = "auth 12".to_owned();
        // The last three places go to 12, 11 and 10; 12 has the same impact as 4, which came earlier.
        assert_eq!(
            texts(&[list(decisions.clone())]),
            "d19 d18 d17 d16 d15 d14 d13 auth 12 never 2 schemas api 0 must stay"
        );
        decisions[12].text = "d12".to_owned();
        assert!(
            texts(&[list(decisions.clone())])
                .ends_with("d13 only 4 never 2 schemas api 0 must stay")
        );
        decisions[3].text = "only 3".to_owned();
        assert!(texts(&[list(decisions)]).ends_with("d13 only 4 never 2 schemas api 0 must stay"));
    }

    #[test]
    fn impact_counts_reasons_and_binding_and_structural_words() {
        let of = |text: &str, rationale: Option<&str>| {
            impact(&Decision { rationale: rationale.map(str::to_owned), ..decision(text, None) })
        };
        assert_eq!(of("Use tabs", None), 0);
        assert_eq!(of("Use tabs", Some("None")), 0);
        assert_eq!(of("Use tabs", Some("readable")), 1);
        assert_eq!(of("Never log in CI", None), 1);
        assert_eq!(of("Commonly, mustard", None), 0);
        assert_eq!(of("The APIs are frozen", None), 1);
        assert_eq!(of("Encrypted storage only", Some("audit")), 3);
    }
}
