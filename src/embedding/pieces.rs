//! Splits a text into the words whose pieces the vocabulary knows.

use std::ops::ControlFlow;

use unicode_normalization::UnicodeNormalization;
use unicode_properties::GeneralCategory;
use unicode_properties::GeneralCategoryGroup;
use unicode_properties::UnicodeGeneralCategory;

/// A longer word is no word.
pub(crate) const LONGEST_WORD: usize = 100;

/// Calls `each` with every word of a text, until it breaks off.
///
/// Words are parted by white space; a mark of punctuation and an ideograph is a word of its own. They
/// come in lower case and without accents.
pub(crate) fn each_word(text: &str, each: impl FnMut(&str) -> ControlFlow<()>) {
    if text.is_ascii() {
        let kept = text.bytes().map(char::from).filter(|c| is_kept(*c));
        split(kept.map(|c| c.to_ascii_lowercase()), each);
    } else {
        let kept = text.chars().filter(|c| is_kept(*c));
        let spaced = kept.flat_map(|c| {
            let space = is_ideograph(c).then_some(' ');
            space.into_iter().chain([c]).chain(space)
        });
        let bare = spaced
            .nfd()
            .filter(|c| c.is_ascii() || c.general_category() != GeneralCategory::NonspacingMark);
        split(bare.flat_map(char::to_lowercase), each);
    }
}

fn split(chars: impl Iterator<Item = char>, mut each: impl FnMut(&str) -> ControlFlow<()>) {
    let mut word = String::new();
    let mut length = 0;
    let mut tell = |word: &mut String, length: &mut usize| {
        let told = if (1..=LONGEST_WORD).contains(length) {
            each(word)
        } else {
            ControlFlow::Continue(())
        };
        word.clear();
        *length = 0;
        told
    };
    // The last word ends like the others.
    for c in chars.chain([' ']) {
        let stands_alone = is_punctuation(c);
        if (stands_alone || c.is_whitespace()) && tell(&mut word, &mut length).is_break() {
            return;
        }
        if !c.is_whitespace() {
            // What is too long is dropped whole, and need not be kept until then.
            if length < LONGEST_WORD {
                word.push(c);
            }
            length += 1;
        }
        if stands_alone && tell(&mut word, &mut length).is_break() {
            return;
        }
    }
}

fn is_kept(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => true,
        '\u{fffd}' => false,
        _ if c.is_ascii() => !c.is_ascii_control(),
        _ => c.general_category_group() != GeneralCategoryGroup::Other,
    }
}

fn is_ideograph(c: char) -> bool {
    matches!(
        c,
        '\u{4e00}'..='\u{9fff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{20000}'..='\u{2a6df}'
            | '\u{2a700}'..='\u{2ceaf}'
            | '\u{f900}'..='\u{faff}'
            | '\u{2f800}'..='\u{2fa1f}'
    )
}

fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_punctuation()
    } else {
        c.general_category_group() == GeneralCategoryGroup::Punctuation
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, |word| {
            words.push(word.to_owned());
            ControlFlow::Continue(())
        });
        words
    }

    #[test]
    fn words_are_lower_case_without_accents() {
        for (text, expected) in [
            ("Hello, World!", &["hello", ",", "world", "!"][..]),
            ("naïve  café\tÀ", &["naive", "cafe", "a"]),
            ("ΟΔΟΣ", &["οδοσ"]),
            ("İstanbul", &["istanbul"]),
            ("a\u{0}b\u{200b}c\u{fffd}d\u{b}e", &["abcde"]),
            ("東京タワー", &["東", "京", "タワー"]),
            ("“x”—y", &["“", "x", "”", "—", "y"]),
            ("1 + 1 = $2", &["1", "+", "1", "=", "$", "2"]),
            ("", &[]),
            (" \u{3000}\n", &[]),
        ] {
            assert_eq!(words(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_word_that_is_too_long_is_dropped_whole() {
        let (fits, too_long) = ("x".repeat(LONGEST_WORD), "y".repeat(LONGEST_WORD + 1));
        assert_eq!(words(&format!("a {fits} {too_long} b")), ["a", &fits, "b"]);
        let accented = "é".repeat(LONGEST_WORD);
        assert_eq!(words(&accented), ["e".repeat(LONGEST_WORD)]);
    }

    #[test]
    fn reading_stops_where_the_caller_has_enough() {
        let mut seen = 0;
        each_word("one two, three", |_| {
            seen += 1;
            ControlFlow::Break(())
        });
        assert_eq!(seen, 1);
    }

    proptest! {
        #[test]
        fn the_short_way_for_ascii_gives_the_same_words(text in "[ -~\\t\\n\\x00-\\x1f]*") {
            let mut long_way = Vec::new();
            // An accent that is dropped keeps the text from being ASCII.
            each_word(&format!("{text} \u{301}"), |word| {
                long_way.push(word.to_owned());
                ControlFlow::Continue(())
            });
            prop_assert_eq!(words(&text), long_way);
        }

        #[test]
        fn no_text_panics(text in "\\PC*") {
            prop_assert!(words(&text).iter().all(|word| !word.is_empty()));
        }
    }
}
