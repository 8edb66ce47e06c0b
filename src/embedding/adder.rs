//! Sums the rows of many texts, and caches the pieces of words.

use crate::embedding::pieces::each_word;
use crate::embedding::sum::Sum;
use crate::embedding::table::VectorTable;
use crate::text::WordCache;

/// Sums many texts, and caches the pieces of words, since most words recur.
#[derive(Debug, Default)]
pub struct Adder {
    pieces: WordCache<Box<[u32]>>,
}

impl Adder {
    /// Adds part of a text to a sum.
    pub fn add(&mut self, text: &str, sum: &mut Sum) {
        let table = VectorTable::built_in();
        each_word(text, |word| {
            if let Some(pieces) = self.pieces.get(word) {
                return table.add(pieces, sum);
            }
            let mut pieces = Vec::new();
            table.split_word(word, &mut pieces);
            let flow = table.add(&pieces, sum);
            self.pieces.insert(word, pieces.into());
            flow
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
    }
}
