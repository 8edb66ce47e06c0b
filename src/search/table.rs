//! The built-in table: one quantised vector per word piece, read in place from the binary.
//!
//! ```text
//! 0   "ANNEMB1\0"  u32: version 1, dimension, pieces, hash slots
//! 24  u32 x 6: offsets of the scales, slots, offsets, texts, rows and of the end of the file
//! scales   f32 per piece            slots    u32 per slot: a piece, or ffffffff if empty
//! offsets  u32 per piece, and one   texts    UTF-8      rows  i8 x dimension per piece
//! ```
//!
//! Numbers are little-endian. docs/embedding.md describes how it was made.

use std::ops::ControlFlow;

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::search::vector::Vector;
use crate::text::WordCache;

/// Number of values of a row.
pub(crate) const DIMENSION: usize = 128;

/// Model name of the built-in table; vectors of other models are not comparable with its vectors.
pub const MODEL_ID: &str = "annals-static-128-v1";

/// Maximum number of pieces that contribute to the vector of a text.
const MAX_PIECES: usize = 128;

/// Length of the longest piece in bytes, which bounds the lookup.
const MAX_PIECE_BYTES: usize = 18;

/// Offset basis and prime of the hash (FNV-1a).
const FNV_OFFSET_BASIS: u32 = 0x811c_9dc5;
const FNV_PRIME: u32 = 0x0100_0193;

/// Prefix of the pieces that continue a word.
const CONTINUATION: &[u8] = b"##";

/// Aligns the rows with the processor's cache lines.
#[repr(C, align(64))]
struct Aligned<T>(T);

static BYTES: Aligned<[u8; include_bytes!("../../assets/static-128.bin").len()]> =
    Aligned(*include_bytes!("../../assets/static-128.bin"));

/// Checked at compile time, so that it costs nothing at run time.
static BUILT_IN: VectorTable = VectorTable::from_bytes(&BYTES.0);

/// The sum of the rows of a text's pieces.
///
/// A text may be added in parts; the end of a part ends a word.
#[derive(Clone)]
pub(crate) struct Sum {
    values: [f32; DIMENSION],
    /// Number of rows added.
    pieces: usize,
}

impl Default for Sum {
    fn default() -> Self {
        Self { values: [0.0; DIMENSION], pieces: 0 }
    }
}

impl Sum {
    /// Returns the normalised vector of the sum.
    pub(crate) fn vector(&self) -> Vector {
        Vector::new(self.values.to_vec())
    }
}

/// Sums many texts, and caches the pieces of words, since most words recur.
#[derive(Default)]
pub(crate) struct Adder(WordCache<Box<[u32]>>);

impl Adder {
    /// Adds part of a text to a sum.
    pub(crate) fn add(&mut self, text: &str, sum: &mut Sum) {
        let table = VectorTable::built_in();
        each_word(text, |word| {
            if let Some(pieces) = self.0.get(word) {
                return table.add(pieces, sum);
            }
            let mut pieces = Vec::new();
            table.split_word(word, &mut pieces);
            let flow = table.add(&pieces, sum);
            self.0.insert(word, pieces.into());
            flow
        });
    }
}

/// A vocabulary with the vector of each piece.
#[derive(Debug)]
pub struct VectorTable {
    scales: &'static [u8],
    slots: &'static [u8],
    offsets: &'static [u8],
    texts: &'static [u8],
    rows: &'static [u8],
}

impl VectorTable {
    /// Returns the table built into the program.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    const fn from_bytes(bytes: &'static [u8]) -> Self {
        let (pieces, slots) = (number(bytes, 4) as usize, number(bytes, 5) as usize);
        Self {
            scales: section(bytes, 6, pieces * 4),
            slots: section(bytes, 7, slots * 4),
            offsets: section(bytes, 8, (pieces + 1) * 4),
            texts: section(bytes, 9, (number(bytes, 10) - number(bytes, 9)) as usize),
            rows: section(bytes, 10, pieces * DIMENSION),
        }
    }

    /// Returns the vector of a text.
    pub fn vector(&self, text: &str) -> Vector {
        let mut sum = Sum::default();
        Adder::default().add(text, &mut sum);
        sum.vector()
    }

    /// Returns the vector of a text of any length: the mean of those of its passages.
    pub fn mean_vector<T: AsRef<str>>(&self, passages: &[T]) -> Vector {
        Vector::mean(passages.iter().map(|passage| self.vector(passage.as_ref())))
    }

    /// Calls `each` with the row of every known piece of a text, until it breaks.
    pub(crate) fn each_piece(&self, text: &str, mut each: impl FnMut(usize) -> ControlFlow<()>) {
        let mut pieces = Vec::new();
        each_word(text, |word| {
            pieces.clear();
            self.split_word(word, &mut pieces);
            pieces.iter().try_for_each(|piece| each(*piece as usize))
        });
    }

    /// Adds the rows of a word's pieces to a sum; breaks once the sum has the maximum number of pieces.
    fn add(&self, pieces: &[u32], sum: &mut Sum) -> ControlFlow<()> {
        for piece in pieces.iter().take(MAX_PIECES - sum.pieces) {
            let row = *piece as usize;
            let scale = f32::from_bits(number(self.scales, row));
            let (rows, _) = self.rows.as_chunks::<DIMENSION>();
            for (sum, value) in sum.values.iter_mut().zip(&rows[row]) {
                *sum += scale * f32::from(value.cast_signed());
            }
            sum.pieces += 1;
        }
        if sum.pieces < MAX_PIECES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Appends the pieces of a word, each the longest that matches; none if a part of the word is unknown.
    fn split_word(&self, word: &str, pieces: &mut Vec<u32>) {
        let before = pieces.len();
        let mut rest = word;
        while !rest.is_empty() {
            // Of no length, but in memory: glibc's memcmp takes long for an address where nothing is.
            let length = if rest.len() == word.len() { 0 } else { CONTINUATION.len() };
            let prefix = &CONTINUATION[..length];
            let Some((piece, length)) = self.longest_piece(prefix, rest) else {
                pieces.truncate(before);
                return;
            };
            pieces.push(piece);
            rest = &rest[length..];
        }
    }

    /// Returns the longest piece that `rest` starts with, and its length in bytes.
    fn longest_piece(&self, prefix: &[u8], rest: &str) -> Option<(u32, usize)> {
        let mut hashes = [FNV_OFFSET_BASIS; MAX_PIECE_BYTES + 1];
        let mut hash = prefix.iter().copied().fold(FNV_OFFSET_BASIS, fnv_step);
        let max_length = rest.len().min(MAX_PIECE_BYTES);
        for (index, byte) in rest.as_bytes()[..max_length].iter().enumerate() {
            hash = fnv_step(hash, *byte);
            hashes[index + 1] = hash;
        }
        let ends = (1..=max_length).rev().filter(|end| rest.is_char_boundary(*end));
        for end in ends {
            let piece = self.find(hashes[end], prefix, &rest.as_bytes()[..end]);
            if let Some(piece) = piece {
                return Some((piece, end));
            }
        }
        None
    }

    fn find(&self, hash: u32, prefix: &[u8], text: &[u8]) -> Option<u32> {
        let mask = self.slots.len() / 4 - 1;
        let mut slot = hash as usize & mask;
        loop {
            let piece = number(self.slots, slot);
            if piece == u32::MAX {
                return None;
            }
            let candidate = self.text(piece);
            if candidate.strip_prefix(prefix) == Some(text) {
                return Some(piece);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn text(&self, piece: u32) -> &[u8] {
        let piece = piece as usize;
        let (start, end) = (number(self.offsets, piece), number(self.offsets, piece + 1));
        &self.texts[start as usize..end as usize]
    }
}

fn fnv_step(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(FNV_PRIME)
}

/// Returns the `index`th 32-bit number.
#[inline]
const fn number(bytes: &[u8], index: usize) -> u32 {
    let offset = index * 4;
    u32::from_le_bytes([bytes[offset], bytes[offset + 1], bytes[offset + 2], bytes[offset + 3]])
}

/// Returns `length` bytes from the offset stored at a place in the header.
const fn section(bytes: &[u8], index: usize, length: usize) -> &[u8] {
    let (_, rest) = bytes.split_at(number(bytes, index) as usize);
    let (section, _) = rest.split_at(length);
    section
}

/// Maximum length of a word in characters; longer ones are ignored.
const MAX_WORD_LENGTH: usize = 100;

/// Calls `each` with every word of a text, until it breaks.
///
/// Words are separated by white space; each punctuation mark and each ideograph is a word by itself. Words
/// are passed in lower case and without accents.
fn each_word(text: &str, each: impl FnMut(&str) -> ControlFlow<()>) {
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
    use serde_json::Value;

    use super::*;

    const CHECK: &str = include_str!("../../tests/embedding/vectors_check.jsonl");

    /// Returns the pieces that contribute to a text's vector.
    fn pieces(text: &str) -> Vec<&str> {
        let table = VectorTable::built_in();
        let mut pieces = Vec::new();
        each_word(text, |word| {
            table.split_word(word, &mut pieces);
            if pieces.len() < MAX_PIECES {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        pieces.truncate(MAX_PIECES);
        let texts = pieces.into_iter().map(|piece| table.text(piece));
        texts.map(|text| std::str::from_utf8(text).unwrap_or_default()).collect()
    }

    #[test]
    fn vectors_match_the_reference() {
        let table = VectorTable::built_in();
        let mut checked = 0;
        for line in CHECK.lines() {
            let expected: Value = serde_json::from_str(line).unwrap();
            let text = expected["text"].as_str().unwrap();
            let number = |name: &str| expected[name].as_f64().unwrap();
            let pieces = pieces(text);
            assert_eq!(
                Some(pieces.len() as u64),
                expected["pieces"].as_u64(),
                "{text:?} {pieces:?}"
            );
            let length = |values: &[f32]| {
                let squares = values.iter().map(|value| f64::from(*value).powi(2));
                squares.sum::<f64>().sqrt()
            };
            let vector = table.vector(text);
            for (value, expected) in
                vector.values().iter().zip(expected["first8"].as_array().unwrap())
            {
                let difference = f64::from(*value) - expected.as_f64().unwrap();
                assert!(difference.abs() < 1e-5, "{text:?} {vector:?}");
            }
            assert!((length(vector.values()) - number("norm")).abs() < 1e-5, "{text:?}");
            let mut sum = Sum::default();
            Adder::default().add(text, &mut sum);
            assert!((length(&sum.values) - number("sum_norm")).abs() < 1e-4, "{text:?}");
            checked += 1;
        }
        assert_eq!(checked, 50);
    }

    #[test]
    fn every_piece_is_found_and_within_the_maximum_length() {
        let table = VectorTable::built_in();
        assert_eq!(table.scales.len() / 4, 29_523);
        for piece in 0..29_523 {
            let text = table.text(piece);
            assert!(std::str::from_utf8(text).is_ok());
            let hash = text.iter().copied().fold(FNV_OFFSET_BASIS, fnv_step);
            assert_eq!(table.find(hash, b"", text), Some(piece));
            let word = text.strip_prefix(CONTINUATION).unwrap_or(text);
            assert!(word.len() <= MAX_PIECE_BYTES, "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn words_are_split_into_the_longest_pieces() {
        let joined = |text| pieces(text).join(" ");
        assert_eq!(joined("Telecommunications"), "telecommunications");
        assert_eq!(joined("tokenizer"), "token ##izer");
        assert_eq!(joined("##ing [CLS]"), "# # ing [ cl ##s ]");
        assert_eq!(pieces(&"a b ".repeat(1000)).len(), MAX_PIECES);
    }

    #[test]
    fn similar_texts_have_similar_vectors_and_rows_are_aligned() {
        let table = VectorTable::built_in();
        let [one, near, far] =
            ["a pet dog", "my puppy", "compile error in the parser"].map(|text| table.vector(text));
        assert!(one.dot(&near) > one.dot(&far) + 0.2);
        assert_eq!(table.rows.as_ptr().addr() % 64, 0);
        assert_eq!(one.values().len(), DIMENSION);
    }

    proptest! {
        #[test]
        fn parts_and_cached_words_yield_the_vector_of_the_text(
            parts in prop::collection::vec("([a-zé東\u{301}]{0,9}[ .,]?){0,20}", 1..12),
        ) {
            let (mut adder, mut sum) = (Adder::default(), Sum::default());
            for part in &parts {
                adder.add(part, &mut sum);
            }
            prop_assert_eq!(sum.vector(), VectorTable::built_in().vector(&parts.join("\n")));
        }

        #[test]
        fn any_text_has_a_vector(text in "\\PC*") {
            let vector = VectorTable::built_in().vector(&text);
            let length = vector.dot(&vector);
            prop_assert!(vector.is_zero() || (length - 1.0).abs() < 1e-4);
        }
    }

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
