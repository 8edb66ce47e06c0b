//! Sums the table rows of a text's pieces, from which its vector is computed.

use crate::embedding::vector::Vector;

/// Number of values of a row.
pub(crate) const DIMENSION: usize = 128;

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
        Self { values: [0.0; DIMENSION], pieces: 0 }
    }
}

impl Sum {
    /// Returns the normalised vector of the sum.
    pub fn vector(&self) -> Vector {
        Vector::new(self.values.to_vec())
    }
}
