//! Tells, from a few bytes a text, that the text cannot hold a word.

use std::cell::RefCell;

use crate::knowledge::checksum::checksum;
use crate::knowledge::words;

thread_local! {
    /// A text in lower case and what was met of it, so that ten thousand texts need the room once.
    static ROOM: RefCell<(Vec<u8>, Vec<bool>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

/// Whether a byte is a sign of ASCII, a space among them; asked once for every byte there is.
const IS_SIGN: [bool; 256] = {
    let mut is_sign = [false; 256];
    let mut byte: u8 = 0;
    while byte.is_ascii() {
        is_sign[byte as usize] = !byte.is_ascii_alphanumeric();
        byte += 1;
    }
    is_sign
};

/// What stands for the words of one text: two bytes for each, in no order.
///
/// Words that share their two bytes are taken for each other, which costs reading the text; a word that the text
/// holds is always in here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fingerprint(Vec<[u8; 2]>);

impl Fingerprint {
    /// Returns what stands for the words of a text.
    pub(crate) fn of(text: &str) -> Self {
        ROOM.with_borrow_mut(|(folded, met)| {
            words::fold(text, folded);
            met.resize(1 << 16, false);
            let mut marks = Vec::new();
            let mut add = |word: &[u8]| {
                let mark = mark(word);
                if !std::mem::replace(&mut met[usize::from(u16::from_le_bytes(mark))], true) {
                    marks.push(mark);
                }
            };
            // No word reaches over a sign of ASCII, and most pieces between them are words as they are.
            let pieces = folded.split(|byte| IS_SIGN[usize::from(*byte)]);
            for piece in pieces.filter(|piece| !piece.is_empty()) {
                if piece.is_ascii() {
                    add(piece);
                    continue;
                }
                let piece = String::from_utf8_lossy(piece);
                words::each(&piece, &mut |word| add(word.as_bytes()));
                for c in piece.chars().filter(|c| !c.is_ascii()) {
                    add(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
            for mark in &marks {
                met[usize::from(u16::from_le_bytes(*mark))] = false;
            }
            Self(marks)
        })
    }

    /// Returns the bytes to keep.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.as_flattened()
    }
}

/// Returns what stands for a word.
fn mark(word: &[u8]) -> [u8; 2] {
    let [first, second, ..] = checksum(0, word).to_be_bytes();
    [first, second]
}

/// What the fingerprint of each text has that holds a certain word.
#[derive(Clone, Debug)]
pub(crate) struct Needle(Vec<[u8; 2]>);

impl Needle {
    /// Returns what stands for a word in lower case, one of those that `words` makes of a query.
    pub(crate) fn of(word: &str) -> Self {
        if words::stands_alone(word) {
            return Self(vec![mark(word.as_bytes())]);
        }
        // It may be a part of what a text is split into; each of its characters is there by itself.
        let beyond_ascii = word.chars().filter(|c| !c.is_ascii());
        Self(
            beyond_ascii
                .map(|c| mark(c.encode_utf8(&mut [0; 4]).as_bytes()))
                .collect(),
        )
    }

    /// Says whether the text may hold the word whose fingerprint was kept as these bytes.
    pub(crate) fn may_be_in(&self, kept: &[u8]) -> bool {
        let (marks, _) = kept.as_chunks::<2>();
        // All are looked at, several at a time, which is faster than to stop at the right one.
        let holds = |wanted: &[u8; 2]| marks.iter().filter(|mark| *mark == wanted).count() > 0;
        self.0.iter().all(holds)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn may(word: &str, text: &str) -> bool {
        words::words(word)
            .iter()
            .all(|word| word.may_be_in(Fingerprint::of(text).as_bytes()))
    }

    #[test]
    fn the_marks_are_those_that_caches_hold() {
        // Where this fails, the cache needs another number.
        let marks = Fingerprint::of("The test queue, a retry: 重试 Ä");
        let expected = [
            [14, 128],
            [141, 36],
            [116, 131],
            [56, 74],
            [199, 206],
            [76, 162],
            [102, 177],
            [222, 40],
            [116, 239],
        ];
        assert_eq!(marks.as_bytes(), expected.as_flattened());
    }

    #[test]
    fn what_is_not_there_is_mostly_seen() {
        let text = "The retry queue drops 重试 jobs 🚀 after v2.";
        for word in ["queue", "QUEUE", "v2", "重", "🚀", "重试", "drops"] {
            assert!(may(word, text), "{word}");
        }
        for word in ["que", "queues", "v", "试验", "🎈", "zanzibar"] {
            assert!(!may(word, text), "{word}");
        }
    }

    proptest! {
        #[test]
        fn a_word_that_a_text_holds_is_never_ruled_out(
            text in "[a-cA-C0-1 _.,+é重试ก\u{301}\u{200d}ßİΣς🚀-]{0,24}",
            query in "[a-cA-C0-1 _.,+é重试ก\u{301}\u{200d}ßİΣς🚀-]{0,4}",
        ) {
            let kept = Fingerprint::of(&text);
            let folded = words::folded(&text);
            for word in words::words(&query) {
                if word.is_in(&folded) {
                    prop_assert!(word.may_be_in(kept.as_bytes()), "{} in {folded}", word.as_str());
                }
            }
        }

        #[test]
        fn any_text_holds_its_own_words(text in "\\PC{0,40}") {
            let kept = Fingerprint::of(&text);
            for word in words::words(&text) {
                prop_assert!(word.may_be_in(kept.as_bytes()), "{}", word.as_str());
            }
        }
    }
}
