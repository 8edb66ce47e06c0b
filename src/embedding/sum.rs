//! Sums the table rows of a text's pieces, which give its vector.

use crate::embedding::pieces::each_word;
use crate::embedding::table::DIMENSION;
use crate::embedding::table::VectorTable;
use crate::embedding::vector::Vector;
use crate::text::WordCache;

/// The sum of the rows of a text's pieces.
///
/// A text may be added in parts; the end of a part ends a word.
#[derive(Clone, Debug, PartialEq)]
pub struct Sum {
    pub(crate) values: [f32; DIMENSION],
    /// Number of rows added.
    pub(crate) pieces: usize,
}

impl Default for Sum {
    fn default() -> Self {
        Self {
            values: [0.0; DIMENSION],
            pieces: 0,
        }
    }
}

impl Sum {
    /// Returns the normalised vector of the sum.
    pub fn vector(&self) -> Vector {
        Vector::new(self.values.to_vec())
    }
}

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
