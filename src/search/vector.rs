//! Vectors, and their quantised form for storage.

/// Number of partial sums: they are added in parallel by SIMD instructions, in the same order on every
/// processor.
const LANES: usize = 8;

/// The embedding of a text: a vector of length 1, or of zeros if none of its words is in the vocabulary.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector(Vec<f32>);

impl Vector {
    /// Returns the vector in this direction with length 1.
    pub fn new(mut values: Vec<f32>) -> Self {
        let length = dot(&values, &values).sqrt();
        if length.is_normal() {
            for value in &mut values {
                *value /= length;
            }
        } else {
            values.fill(0.0);
        }
        Self(values)
    }

    /// Returns the mean of vectors of one dimension, with length 1.
    pub fn mean(vectors: impl Iterator<Item = Self>) -> Self {
        let sum = vectors.reduce(|mut sum, vector| {
            sum.0.iter_mut().zip(&vector.0).for_each(|(sum, value)| *sum += value);
            sum
        });
        Self::new(sum.map_or_else(Vec::new, |sum| sum.0))
    }

    /// Returns the components.
    pub fn values(&self) -> &[f32] {
        &self.0
    }

    /// Returns the number of components.
    pub fn dimension(&self) -> usize {
        self.0.len()
    }

    /// Returns whether no word of the text is in the vocabulary.
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|value| *value == 0.0)
    }

    /// Returns the cosine similarity of two texts, from -1 to 1.
    pub fn dot(&self, other: &Self) -> f32 {
        dot(&self.0, &other.0)
    }

    /// Returns the vector with one byte per component.
    pub fn quantized(&self) -> Quantized {
        Quantized::concatenated(std::slice::from_ref(self))
    }
}

/// A quantised vector: each component is a byte times the scale.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quantized {
    /// Factor of every component.
    pub scale: f32,
    /// The components as signed bytes, as they are stored.
    pub values: Vec<u8>,
}

impl Quantized {
    /// Returns the concatenation of several vectors of the same length with a common scale.
    pub fn concatenated(vectors: &[Vector]) -> Self {
        let values = || vectors.iter().flat_map(|vector| &vector.0);
        let largest = values().fold(0.0_f32, |most, value| most.max(value.abs()));
        let scale = largest / f32::from(i8::MAX);
        let values = values().map(|value| rounded(value / scale).cast_unsigned()).collect();
        Self { scale, values }
    }

    /// Returns the cosine similarity to stored components with their scale, from -1 to 1, up to the rounding error.
    pub fn dot(&self, values: &[u8], scale: f32) -> f32 {
        let products = self.values.iter().zip(values);
        let sum: i32 = products
            .map(|(one, other)| i32::from(one.cast_signed()) * i32::from(other.cast_signed()))
            .sum();
        to_f32(sum) * self.scale * scale
    }
}

/// Returns the dot product, summed in a fixed order, so that equal texts get equal vectors on every
/// processor.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a.chunks(LANES).zip(b.chunks(LANES)) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}

#[expect(clippy::cast_possible_truncation, reason = "the value is at most 127, and NaN becomes 0")]
fn rounded(value: f32) -> i8 {
    value.round() as i8
}

#[expect(
    clippy::cast_precision_loss,
    reason = "rounding in the eighth digit makes no meaningful difference"
)]
fn to_f32(sum: i32) -> f32 {
    sum as f32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn vectors_have_length_one_or_zero() {
        let vector = Vector::new(vec![3.0, 4.0]);
        assert_eq!(vector.values(), [0.6, 0.8]);
        assert!((vector.dot(&vector) - 1.0).abs() < 1e-6);
        for nothing in [vec![], vec![0.0; 3], vec![f32::NAN, 1.0], vec![f32::INFINITY]] {
            let vector = Vector::new(nothing);
            assert!(vector.is_zero());
            assert!(vector.quantized().values.iter().all(|value| *value == 0));
            assert!(vector.quantized().scale.abs() < f32::MIN_POSITIVE);
        }
    }

    #[test]
    fn stored_bytes_yield_the_same_similarity() {
        let (one, other) = (Vector::new(vec![1.0, -2.0]), Vector::new(vec![-1.0, 2.0]));
        let stored = other.quantized();
        let near = one.quantized().dot(&stored.values, stored.scale);
        assert!((near + 1.0).abs() < 0.01, "{near}");
    }

    proptest! {
        #[test]
        fn quantisation_preserves_the_similarity(
            one in prop::collection::vec(-1.0_f32..1.0, 64),
            other in prop::collection::vec(-1.0_f32..1.0, 64),
        ) {
            let (one, other) = (Vector::new(one), Vector::new(other));
            let stored = other.quantized();
            let near = one.quantized().dot(&stored.values, stored.scale);
            prop_assert!((near - one.dot(&other)).abs() < 0.02);
        }
    }
}
