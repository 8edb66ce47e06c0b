//! Finds the decisions that a later one revokes by naming their plan, their id, or the path or code that it replaces.

use std::collections::{BTreeSet, HashMap};

use crate::plan::Decision;
use crate::ranking::WordSet;

/// Minimum number of words that a decision shares with the one that revokes it, if its plan made several.
const MIN_SHARED_WORDS: usize = 3;

/// Maximum number of ids that are looked for.
const MAX_IDS: usize = 100;

/// Maximum number of decisions with the same id that are compared.
const MAX_OF_ID: usize = 20;

/// Returns the indices of the decisions that another one revokes: `supersedes D-12`, `REVERSAL of 02-01`,
/// ``src/b.rs replaces `src/a.rs` ``. `decisions` are sorted newest first.
///
/// If the named plan made several decisions, only the one that shares most words is revoked.
pub(crate) fn superseded(decisions: &[&Decision]) -> BTreeSet<usize> {
    let mut found = superseded_by_id(decisions);
    found.extend(superseded_by_name(decisions));
    found
}

/// Returns the older decisions that name a path or code in the place of which a newer one names another.
fn superseded_by_name(decisions: &[&Decision]) -> BTreeSet<usize> {
    let names = decisions.iter().enumerate().flat_map(|(index, decision)| {
        let names = names_replaced(&decision.text).into_iter();
        names.map(move |name| (name, index))
    });
    let older = |(name, later): (&str, usize)| {
        let of_name: BTreeSet<usize> = decisions
            .iter()
            .enumerate()
            .skip(later + 1)
            .filter(|(_, decision)| decision.text.contains(name))
            .filter(|(_, decision)| asserts(&decision.text, name))
            .map(|(index, _)| index)
            .take(MAX_OF_ID + 1)
            .collect();
        let is_few = (1..=MAX_OF_ID).contains(&of_name.len());
        is_few.then(|| most_shared(later, &of_name, decisions))?
    };
    names.take(MAX_IDS).filter_map(older).collect()
}

/// The word before what a decision replaces. After `instead of` and `not`, the old may still hold elsewhere.
const REPLACES: &str = "replaces ";

/// Returns the paths and pieces of code that a decision replaces: `a/b` in `c/d replaces a/b`.
fn names_replaced(text: &str) -> Vec<&str> {
    let lower = text.to_ascii_lowercase();
    let starts = lower.match_indices(REPLACES);
    let starts = starts.map(|(at, mark)| at + mark.len());
    let names = starts.filter_map(|start| {
        let rest = &text[start..];
        let end = match rest.strip_prefix('`') {
            Some(code) => code.find('`')? + 2,
            None => rest.find(char::is_whitespace).unwrap_or(rest.len()),
        };
        let name = bare_name(&rest[..end]);
        let is_code = rest.starts_with('`') || name.trim_matches('/').contains('/');
        (is_code && name.len() >= MIN_NAME_LENGTH).then_some(name)
    });
    names.collect()
}

/// Minimum length of a name; a shorter one may mean something else in another decision.
const MIN_NAME_LENGTH: usize = 4;

/// Returns a name without the punctuation around it.
fn bare_name(word: &str) -> &str {
    word.trim_matches(['`', '(', ')', ',', ';', ':', '.', '"', '\''])
}

/// Returns whether a text names exactly this path or code, and not as what it replaces itself.
fn asserts(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "_-./~".contains(c);
    let ends = |rest: &str| {
        let rest = rest.strip_prefix('.').unwrap_or(rest);
        !rest.starts_with(is_part)
    };
    let is_whole = |at: usize| !text[..at].ends_with(is_part) && ends(&text[at + name.len()..]);
    text.match_indices(name).any(|(at, _)| is_whole(at)) && !names_replaced(text).contains(&name)
}

fn superseded_by_id(decisions: &[&Decision]) -> BTreeSet<usize> {
    let ids = decisions.iter().enumerate().flat_map(|(index, decision)| {
        let ids = revoked_ids(&decision.text).into_iter();
        ids.map(move |id| (id, index))
    });
    let revoked: Vec<(String, usize)> = ids.take(MAX_IDS).collect();
    if revoked.is_empty() {
        return BTreeSet::new();
    }
    let mut by_id: HashMap<&str, BTreeSet<usize>> = HashMap::new();
    for (id, _) in &revoked {
        by_id.insert(id, BTreeSet::new());
    }
    for (index, decision) in decisions.iter().enumerate() {
        for id in decision.possible_ids() {
            if let Some(of_id) = by_id.get_mut(id.as_str()) {
                of_id.insert(index);
            }
        }
    }
    let earlier = |(id, later): &(String, usize)| {
        let of_id = by_id.get(id.as_str())?;
        let is_other = !of_id.contains(later) && of_id.len() <= MAX_OF_ID;
        is_other.then(|| most_alike(*later, of_id, decisions))?
    };
    revoked.iter().filter_map(earlier).collect()
}

/// Returns the only decision of an id, or the one that shares most words with the later decision.
fn most_alike(later: usize, of_id: &BTreeSet<usize>, decisions: &[&Decision]) -> Option<usize> {
    if of_id.len() == 1 {
        return of_id.first().copied();
    }
    most_shared(later, of_id, decisions)
}

/// Returns the decision that shares most words with the later one, if it shares enough and no other as many.
fn most_shared(
    later: usize,
    candidates: &BTreeSet<usize>,
    decisions: &[&Decision],
) -> Option<usize> {
    let words = |index: usize| WordSet::from_text(decisions[index].untagged());
    let later = words(later);
    let mut shared: Vec<(usize, usize)> =
        candidates.iter().map(|index| (later.common(&words(*index)), *index)).collect();
    shared.sort_unstable();
    let (most, index) = shared.pop()?;
    let second = shared.last().map_or(0, |(count, _)| *count);
    (most >= MIN_SHARED_WORDS && most > second).then_some(index)
}

/// Returns the ids after a word that revokes: `02-01` in `reversal of the 02-01 pattern`.
fn revoked_ids(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    if !lower.contains("supersede") && !lower.contains("revers") {
        return Vec::new();
    }
    let mut ids = Vec::new();
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let words: Vec<String> = lower.split_whitespace().map(bare).collect();
    for (at, word) in words.iter().enumerate() {
        let after = match word.as_str() {
            "supersedes" | "reverses" => &words[at + 1..],
            "reversal" | "reverse" if words.get(at + 1).is_some_and(|next| next == "of") => {
                &words[at + 2..]
            }
            _ => continue,
        };
        let fillers = ["the", "decision", "plan"];
        let mut after = after.iter().skip_while(|word| fillers.contains(&word.as_str()));
        ids.extend(after.next().filter(|word| is_id(word)).cloned());
    }
    ids
}

/// Returns whether a word in lower case is the id of a plan or a decision: `02-01`, `02.1-01`, `d-12`.
fn is_id(word: &str) -> bool {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    word.split_once('-').is_some_and(|(first, second)| {
        let is_first = first == "d" || is_number(first);
        is_first && !first.is_empty() && !second.is_empty() && is_number(second)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts_left(texts: &[&str]) -> Vec<usize> {
        let decision = |text: &&str| Decision { text: (*text).to_owned(), ..Decision::default() };
        let decisions: Vec<Decision> = texts.iter().map(decision).collect();
        let revoked = superseded(&decisions.iter().collect::<Vec<_>>());
        (0..texts.len()).filter(|index| !revoked.contains(index)).collect()
    }

    #[test]
    fn a_decision_that_is_revoked_by_its_id_is_found() {
        for texts in [
            ["[D-12]: Sort by name", "[D-20]: Sort by date (supersedes D-12)"],
            ["D-12: Sort by name", "Sort by date, which reverses decision D-12."],
            [
                "02-01: Sort by name",
                "[Phase 3]: **REVERSAL of 02-01 pattern** \u{2014} sort by date",
            ],
            [
                "[Phase 2]: [02-01]: Sort by name",
                "03-02: Sort by date -- supersedes 02-01 decision",
            ],
        ] {
            assert_eq!(texts_left(&texts), [1], "{texts:?}");
        }
    }

    #[test]
    fn of_several_of_a_plan_the_one_about_the_same_goes() {
        let several = [
            "[02-01]: The list of pages uses the empty string for none",
            "[02-01]: Errors are shown as a toast",
            "[02-02]: The list of pages uses null for none, supersedes 02-01",
        ];
        assert_eq!(texts_left(&several), [1, 2]);
        let unclear = [
            "[02-01]: The list of pages is cached",
            "[02-01]: The list of pages is sorted",
            "[02-02]: The list of pages is new, supersedes 02-01",
        ];
        assert_eq!(texts_left(&unclear), [0, 1, 2]);
    }

    #[test]
    fn a_path_or_code_that_a_later_decision_replaces_takes_back_the_earlier_one() {
        for texts in [
            [
                "In all lists of orders, `sort_by_date` replaces `sort_by_name`",
                "All lists of orders call `sort_by_name`.",
            ],
            [
                "The queue of mails in src/queue.rs replaces `src/cron.rs`, which sent mails",
                "Mails are sent by src/cron.rs from a queue",
            ],
        ] {
            assert_eq!(texts_left(&texts), [0], "{texts:?}");
        }
        for texts in [
            // An older decision does not take back a newer one.
            [
                "All lists of orders call `sort_by_name`",
                "In all lists of orders, `sort_by_date` replaces `sort_by_name`",
            ],
            // The old may still hold elsewhere.
            [
                "Orders are sorted with `sort_by_date` instead of `sort_by_name` in the report",
                "All lists of orders call `sort_by_name`",
            ],
            // Another name.
            [
                "In lists of orders in all views, `sort` replaces `sort_by`",
                "Lists of orders use `sort_by_name` in all views",
            ],
            [
                "For views of orders, src/views/ replaces src/lists/ with all views",
                "Views of orders are in src/lists/old/ with all views",
            ],
            // Not code.
            [
                "In lists of orders, the date replaces the name in all views",
                "Lists of orders are sorted by name in all views",
            ],
            // Replaced by both.
            [
                "In lists of orders, `by_date` replaces `by_name` in all views",
                "In lists of orders, `by_day` replaces `by_name` in all views",
            ],
            // About something else.
            ["In the report, `by_date` replaces `by_name`", "Exports call `by_name` for customers"],
        ] {
            assert_eq!(texts_left(&texts), [0, 1], "{texts:?}");
        }
    }

    #[test]
    fn nothing_else_is_revoked() {
        for texts in [
            ["D-12: Sort by name", "D-20: Sort by date, unlike D-12"],
            ["D-12: Sort by name", "D-20: Reverse the list, as D-12 says"],
            ["D-12: Sort by name", "D-12: Sort by date (supersedes D-12 of the draft)"],
            ["D-12: Sort by name", "D-20: Sort by date (supersedes D-1)"],
            ["D-12: Sort by name (superseded by D-20)", "D-20: Keep"],
            ["02-01: Sort by name", "The new list supersedes the old one of 02-01"],
        ] {
            assert_eq!(texts_left(&texts), [0, 1], "{texts:?}");
        }
        let reversal = "[02-02]: The list is sorted by date, supersedes 02-01";
        let many: Vec<String> =
            (0..=MAX_OF_ID).map(|n| format!("[02-01]: The list is sorted by name {n}")).collect();
        let all: Vec<&str> = many.iter().map(String::as_str).chain([reversal]).collect();
        assert_eq!(texts_left(&all).len(), all.len());
    }
}
