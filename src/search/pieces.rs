//! Splits a text into words, to be split further into pieces of the vocabulary.

use std::ops::ControlFlow;

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Maximum length of a word in characters; longer ones are ignored.
pub(crate) const MAX_WORD_LENGTH: usize = 100;

/// Calls `each` with every word of a text, until it breaks.
///
/// Words are separated by white space; each punctuation mark and each ideograph is a word by itself. Words
/// are passed in lower case and without accents.
pub(crate) fn each_word(text: &str, each: impl FnMut(&str) -> ControlFlow<()>) {
    let mut splitter = Splitter { word: String::new(), length: 0, each };
    // Whether `each` broke makes no difference here.
    let _flow = splitter.split(text);
}

/// The current word, and the callback for complete words.
struct Splitter<F> {
    word: String,
    /// Length in characters.
    length: usize,
    each: F,
}

impl<F: FnMut(&str) -> ControlFlow<()>> Splitter<F> {
    fn split(&mut self, text: &str) -> ControlFlow<()> {
        let mut rest = text;
        while !rest.is_empty() {
            // ASCII is already decomposed, and no combining mark is reordered across it, so each run can be
            // handled alone.
            let (ascii, after) = split_where(rest, |byte| !byte.is_ascii());
            self.ascii(ascii)?;
            let (other, after) = split_where(after, u8::is_ascii);
            self.non_ascii(other)?;
            rest = after;
        }
        // The end of the text ends the last word.
        self.end()
    }

    fn ascii(&mut self, text: &str) -> ControlFlow<()> {
        let mut rest = text;
        loop {
            let (run, after) = split_where(rest, |byte| !byte.is_ascii_alphanumeric());
            self.letters(run);
            let Some(c) = after.chars().next() else {
                return ControlFlow::Continue(());
            };
            if is_kept(c) {
                self.push(c)?;
            }
            rest = &after[1..];
        }
    }

    /// Appends ASCII letters and digits.
    fn letters(&mut self, run: &str) {
        // A word that is too long will be dropped, so its rest need not be stored.
        if self.length < MAX_WORD_LENGTH {
            let before = self.word.len();
            self.word.push_str(&run[..run.len().min(MAX_WORD_LENGTH)]);
            self.word[before..].make_ascii_lowercase();
        }
        self.length += run.len();
    }

    fn non_ascii(&mut self, text: &str) -> ControlFlow<()> {
        let kept = text.chars().filter(|c| is_kept(*c));
        let spaced = kept.flat_map(|c| {
            let space = is_ideograph(c).then_some(' ');
            space.into_iter().chain([c]).chain(space)
        });
        let mut without_marks = spaced
            .nfd()
            .filter(|c| c.is_ascii() || c.general_category() != GeneralCategory::NonspacingMark)
            .flat_map(char::to_lowercase);
        without_marks.try_for_each(|c| self.push(c))
    }

    fn push(&mut self, c: char) -> ControlFlow<()> {
        if c.is_whitespace() {
            return self.end();
        }
        let is_own_word = is_punctuation(c);
        if is_own_word {
            self.end()?;
        }
        if self.length < MAX_WORD_LENGTH {
            self.word.push(c);
        }
        self.length += 1;
        if is_own_word {
            self.end()?;
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self) -> ControlFlow<()> {
        let flow = if (1..=MAX_WORD_LENGTH).contains(&self.length) {
            (self.each)(&self.word)
        } else {
            ControlFlow::Continue(())
        };
        self.word.clear();
        self.length = 0;
        flow
    }
}

/// Splits a text before the first byte that matches, which must be the first byte of a character.
fn split_where(text: &str, ends: impl Fn(&u8) -> bool) -> (&str, &str) {
    let end = text.as_bytes().iter().position(ends);
    text.split_at(end.unwrap_or(text.len()))
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
    fn an_overlong_word_is_dropped() {
        let (fits, too_long) = ("x".repeat(MAX_WORD_LENGTH), "y".repeat(MAX_WORD_LENGTH + 1));
        assert_eq!(words(&format!("a {fits} {too_long} b")), ["a", &fits, "b"]);
        let accented = "é".repeat(MAX_WORD_LENGTH);
        assert_eq!(words(&accented), ["e".repeat(MAX_WORD_LENGTH)]);
    }

    #[test]
    fn splitting_stops_when_the_callback_breaks() {
        let mut seen = 0;
        each_word("one two, three", |_| {
            seen += 1;
            ControlFlow::Break(())
        });
        assert_eq!(seen, 1);
    }

    proptest! {
        #[test]
        fn the_ascii_fast_path_yields_the_same_words(text in "[ -~\\t\\n\\x00-\\x1fé—東]*") {
            let mut words_of_one = Vec::new();
            let mut splitter = Splitter {
                word: String::new(),
                length: 0,
                each: |word: &str| {
                    words_of_one.push(word.to_owned());
                    ControlFlow::Continue(())
                },
            };
            let flow = splitter.non_ascii(&text);
            prop_assert!(flow.is_continue() && splitter.end().is_continue());
            prop_assert_eq!(words(&text), words_of_one);
        }

        #[test]
        fn no_text_panics(text in "\\PC*") {
            prop_assert!(words(&text).iter().all(|word| !word.is_empty()));
        }
    }
}
