//! Compares values: whether they are the same, or one refines the other.

use crate::text::{fold, is_unspaced};

/// Returns whether two values are equal but for case, spaces and a final full stop or exclamation mark.
pub(crate) fn is_same(a: &str, b: &str) -> bool {
    folded(a) == folded(b)
}

/// Returns whether a new value contains the whole old one, and nothing that negates it.
pub(crate) fn refines(new: &str, old: &str) -> bool {
    let (new, old) = (folded(new), folded(old));
    if old.is_empty() || new.len() <= old.len() {
        return false;
    }
    let whole = new.match_indices(&old).find(|(at, _)| {
        let before = new[..*at].chars().next_back();
        let after = new[at + old.len()..].chars().next();
        is_word_boundary(before, old.chars().next())
            && is_word_boundary(after, old.chars().next_back())
    });
    whole.is_some_and(|(at, _)| {
        let added = [&new[..at], " ", &new[at + old.len()..]].concat();
        !negates(&added)
    })
}

/// Returns the normalised form by which equal values are recognised.
pub(crate) fn folded(text: &str) -> String {
    fold(text).trim_end_matches(['.', '!']).to_owned()
}

/// Returns whether two characters are at a word boundary, which scripts without spaces have everywhere.
fn is_word_boundary(outside: Option<char>, inside: Option<char>) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && !is_unspaced(c));
    !(is_word(outside) && is_word(inside))
}

/// Words that negate the old value rather than refine it.
const NEGATIONS: &str = "no not never none without cannot former formerly previously ex was were used stopped quit \
                         instead rather but except hate hates dislike dislikes anymore longer unlike until before \
                         over versus vs than nicht kein keine nie mehr pas plus jamais ne non mai nunca ya \
                         不 没 沒 无 非 ない";

fn negates(added: &str) -> bool {
    let is_negation = |word: &str| NEGATIONS.split(' ').any(|negation| negation == word);
    let is_against =
        |word: &str| is_negation(word) || word.ends_with("n't") || word.ends_with("n’t");
    let mut words = added.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’');
    words.any(is_against)
        || NEGATIONS.split(' ').any(|word| !word.is_ascii() && added.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_the_same_whatever_their_case_and_spaces() {
        assert!(is_same("Tabs  over spaces.", "tabs over spaces"));
        assert!(!is_same("tabs over spaces", "spaces over tabs"));
    }

    #[test]
    fn a_refinement_holds_the_old_value_whole_and_takes_nothing_back() {
        for (new, old) in [
            ("Turin, Italy", "Turin"),
            ("senior software engineer", "Software Engineer"),
            ("東京都", "東京"),
            ("vim with relative line numbers", "vim"),
        ] {
            assert!(refines(new, old), "{new:?} of {old:?}");
        }
        for (new, old) in [
            ("Turin", "Turin"),
            ("Turin", "Turin, Italy"),
            ("Bart", "art"),
            ("no longer vim", "vim"),
            ("doesn't eat meat", "eat meat"),
            ("not allergic to penicillin", "allergic to penicillin"),
            ("spaces over tabs", "tabs"),
            ("不喜欢茶", "喜欢茶"),
            ("anything", ""),
        ] {
            assert!(!refines(new, old), "{new:?} of {old:?}");
        }
    }
}
