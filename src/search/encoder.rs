//! The sentence encoder: a small transformer that turns a text into a vector, read from the binary.
//!
//! ```text
//! 0   "ANNENC1\0"  u32: version 2, layers, dimension, heads, width, pieces, positions, block, rank 0,
//!     bits of the embedding 3, its block, bits of the layers 4
//! 64  word embedding: f16 scale per block, 8 codes in 3 bytes
//! positions f16, normalisation f32 (weight, bias)
//! per layer: q, k, v, o, normalisation, up, down, normalisation
//! ```
//!
//! A linear part is an f16 scale per block of a row, codes of 4 bits and f32 biases. Numbers are little-endian, and
//! each part is padded to 64 bytes. docs/embedding.md says how the file was made.

use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::thread;

use crate::search::table::VectorTable;
use crate::search::vector::Vector;

/// Maximum number of pieces of a text that are read.
const MAX_PIECES: usize = 126;

static BYTES: &[u8] = include_bytes!("../../assets/encoder.bin");

/// The encoder's name; vectors of another one are not comparable with its vectors.
pub(crate) const ENCODER_ID: &str = "annals-encoder-s3-v1";

/// Its sizes: layers, dimension, attention heads, width of the inner layer, rows of the embedding, numbers per block of a
/// linear part and of the embedding.
const LAYERS: usize = 3;
const DIMENSION: usize = 384;
const HEADS: usize = 12;
const WIDTH: usize = 1536;
const ROWS: usize = 29_526;
const BLOCK: usize = 64;
const EMBEDDING_BLOCK: usize = 32;

/// The numbers at the head of the file.
const HEADER: [u32; 12] = [2, 3, 384, 12, 1536, 29_526, 128, 64, 0, 3, 32, 4];

/// A sentence encoder.
#[derive(Debug)]
pub struct Encoder {
    /// Scales and codes of the word embedding.
    embedding: [&'static [u8]; 2],
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

/// Weight and bias of a normalisation.
#[derive(Debug)]
struct Norm([Vec<f32>; 2]);

/// A linear map; the weights of each output lie side by side.
#[derive(Debug)]
struct Linear {
    weights: Vec<f32>,
    bias: Vec<f32>,
}

#[derive(Debug)]
struct Layer {
    /// Query, key, value and output.
    attention: [Linear; 4],
    attention_norm: Norm,
    up: Linear,
    down: Linear,
    norm: Norm,
}

impl Encoder {
    /// What is said once if it is damaged.
    pub const DAMAGED: &'static str =
        "the encoder in this program is damaged, so words and the table of vectors decide alone";

    /// Returns the encoder built into the program, unpacked when it is first used; `None` if it is damaged.
    pub fn built_in() -> Option<&'static Self> {
        static ENCODER: OnceLock<Option<Encoder>> = OnceLock::new();
        ENCODER.get_or_init(|| Self::from_bytes(BYTES)).as_ref()
    }

    fn from_bytes(bytes: &'static [u8]) -> Option<Self> {
        let mut parts = Parts { bytes, at: 0 };
        let (numbers, _) = parts.take(64)?.strip_prefix(b"ANNENC1\0")?.as_chunks();
        if !numbers.iter().zip(HEADER).all(|(bytes, number)| u32::from_le_bytes(*bytes) == number) {
            return None;
        }
        let count = ROWS * DIMENSION;
        let encoder = Self {
            embedding: [parts.take(count / EMBEDDING_BLOCK * 2)?, parts.take(count * 3 / 8)?],
            positions: halves(parts.take((MAX_PIECES + 2) * DIMENSION * 2)?),
            norm: parts.norm()?,
            layers: (0..LAYERS).map(|_| parts.layer()).collect::<Option<_>>()?,
        };
        (parts.at == bytes.len()).then_some(encoder)
    }

    /// Returns the vectors of the texts, in their order; the texts are shared among the processor's cores.
    pub fn vectors(&self, texts: &[&str]) -> Vec<Vector> {
        let cores = thread::available_parallelism().map_or(1, usize::from).clamp(1, 8);
        let encode = |texts: &[&str]| -> Vec<Vector> {
            texts.iter().map(|text| self.vector(text)).collect()
        };
        if texts.len() <= 1 || cores == 1 {
            return encode(texts);
        }
        thread::scope(|scope| {
            let start =
                |texts| (texts, thread::Builder::new().spawn_scoped(scope, move || encode(texts)));
            let running: Vec<_> = texts.chunks(texts.len().div_ceil(cores)).map(start).collect();
            let result = |(texts, thread): (_, std::io::Result<thread::ScopedJoinHandle<_>>)| {
                // The system may refuse a thread.
                let vectors = thread.ok().and_then(|thread| thread.join().ok());
                vectors.unwrap_or_else(|| encode(texts))
            };
            running.into_iter().flat_map(result).collect()
        })
    }

    /// Returns the vector of a text: the mean over the positions of the last layer.
    pub fn vector(&self, text: &str) -> Vector {
        let mut rows = self.embedded(text);
        self.layers.iter().for_each(|layer| layer.run(&mut rows));
        let mut mean = vec![0.0; DIMENSION];
        rows.chunks_exact(DIMENSION).for_each(|row| add(&mut mean, row));
        Vector::new(mean)
    }

    /// Returns one row per piece of the text, between the rows that mark its beginning and its end.
    fn embedded(&self, text: &str) -> Vec<f32> {
        let mut pieces = vec![ROWS - 3];
        VectorTable::built_in().each_piece(text, |piece| {
            pieces.push(piece);
            match pieces.len() > MAX_PIECES {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        pieces.push(ROWS - 2);
        let mut rows = Vec::with_capacity(pieces.len() * DIMENSION);
        for (piece, position) in pieces.into_iter().zip(self.positions.chunks_exact(DIMENSION)) {
            let from = rows.len();
            self.unpack_row(piece, &mut rows);
            add(&mut rows[from..], position);
        }
        self.norm.apply(&mut rows);
        rows
    }

    /// Appends a row of the embedding: eight codes of three bits in three bytes.
    fn unpack_row(&self, row: usize, numbers: &mut Vec<f32>) {
        let [scales, codes] = self.embedding;
        for at in (row * DIMENSION..(row + 1) * DIMENSION).step_by(8) {
            let scale = half(&scales[at / EMBEDDING_BLOCK * 2..]);
            let bytes = &codes[at / 8 * 3..at / 8 * 3 + 3];
            let codes = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]);
            let code = |at: u32| (codes >> (3 * at)).to_le_bytes()[0] & 7;
            numbers.extend((0..8).map(|at| scale * (f32::from(code(at)) - 4.0)));
        }
    }
}

impl Layer {
    fn run(&self, rows: &mut [f32]) {
        let attended = self.attended(rows);
        add(rows, &self.attention[3].apply(&attended));
        self.attention_norm.apply(rows);
        let mut inner = self.up.apply(rows);
        for value in &mut inner {
            *value = gelu(*value);
        }
        add(rows, &self.down.apply(&inner));
        self.norm.apply(rows);
    }

    fn attended(&self, rows: &[f32]) -> Vec<f32> {
        let width = DIMENSION / HEADS;
        let count = rows.len() / DIMENSION;
        let scale = 1.0 / to_f32(width).sqrt();
        let [queries, keys, values] = [0, 1, 2].map(|part| self.attention[part].apply(rows));
        let mut attended = vec![0.0; rows.len()];
        let mut weights = vec![0.0; count * count];
        for start in (0..DIMENSION).step_by(width) {
            weights.fill(0.0);
            let transposed = (&keys[start..], [1, DIMENSION]);
            let by_row = |numbers| (numbers, [DIMENSION, 1]);
            let size = [count, width, count];
            multiply(size, by_row(&queries[start..]), transposed, &mut weights, count);
            for row in weights.chunks_exact_mut(count) {
                let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                for weight in row.iter_mut() {
                    *weight = (scale * (*weight - largest)).exp();
                }
                let total: f32 = row.iter().sum();
                for weight in row {
                    *weight /= total;
                }
            }
            let (weights, values) = ((&weights[..], [count, 1]), by_row(&values[start..]));
            multiply([count, count, width], weights, values, &mut attended[start..], DIMENSION);
        }
        attended
    }
}

/// Adds the product of two matrices to `sums`, whose rows are `row` numbers apart; `size` is the number of rows of the
/// first, of its columns and of the columns of the second. The distances of the rows and columns of each are given.
///
/// The multiplication is that of a dependency, which is optimised in every build.
fn multiply(
    size: [usize; 3],
    one: (&[f32], [usize; 2]),
    other: (&[f32], [usize; 2]),
    sums: &mut [f32],
    row: usize,
) {
    let is_inside = |rows: usize, columns: usize, steps: [usize; 2], length: usize| {
        rows > 0 && columns > 0 && (rows - 1) * steps[0] + (columns - 1) * steps[1] < length
    };
    let [rows, inner, columns] = size;
    let are_inside = is_inside(rows, inner, one.1, one.0.len())
        && is_inside(inner, columns, other.1, other.0.len())
        && is_inside(rows, columns, [row, 1], sums.len());
    assert!(are_inside, "a matrix is too short");
    let [[one_row, one_column], [other_row, other_column], [row, column]] =
        [one.1, other.1, [row, 1]].map(|steps| steps.map(usize::cast_signed));
    let (one, other, sums) = (one.0.as_ptr(), other.0.as_ptr(), sums.as_mut_ptr());
    #[expect(unsafe_code, reason = "the multiplication takes pointers")]
    // SAFETY: every number of the three matrices is inside of its slice, which was just checked, and `sums` is borrowed
    // for writing.
    unsafe {
        matrixmultiply::sgemm(
            rows, inner, columns, 1.0, one, one_row, one_column, other, other_row, other_column,
            1.0, sums, row, column,
        );
    }
}

impl Norm {
    /// Normalises each row to mean 0 and variance 1, then scales and shifts it.
    fn apply(&self, rows: &mut [f32]) {
        let Self([weight, bias]) = self;
        for row in rows.chunks_exact_mut(DIMENSION) {
            let mean = row.iter().sum::<f32>() / to_f32(DIMENSION);
            let squares = row.iter().map(|value| (value - mean).powi(2));
            let scale = 1.0 / (squares.sum::<f32>() / to_f32(DIMENSION) + 1e-12).sqrt();
            for ((value, weight), bias) in row.iter_mut().zip(weight).zip(bias) {
                *value = (*value - mean) * scale * weight + bias;
            }
        }
    }
}

impl Linear {
    /// Maps each row.
    fn apply(&self, rows: &[f32]) -> Vec<f32> {
        let outputs = self.bias.len();
        let inputs = self.weights.len() / outputs;
        let count = rows.len() / inputs;
        let mut results = self.bias.repeat(count);
        let transposed = (&self.weights[..], [1, inputs]);
        let size = [count, inputs, outputs];
        multiply(size, (rows, [inputs, 1]), transposed, &mut results, outputs);
        results
    }
}

/// Reads the parts of the file in order.
struct Parts {
    bytes: &'static [u8],
    at: usize,
}

impl Parts {
    fn take(&mut self, length: usize) -> Option<&'static [u8]> {
        let part = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at = (self.at + length).next_multiple_of(64);
        Some(part)
    }

    fn floats(&mut self, count: usize) -> Option<Vec<f32>> {
        let (floats, _) = self.take(count * 4)?.as_chunks();
        Some(floats.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    fn norm(&mut self) -> Option<Norm> {
        Some(Norm([self.floats(DIMENSION)?, self.floats(DIMENSION)?]))
    }

    fn linear(&mut self, outputs: usize, inputs: usize) -> Option<Linear> {
        let count = outputs * inputs;
        let scales = halves(self.take(count / BLOCK * 2)?);
        let blocks = self.take(count / 2)?.chunks_exact(BLOCK / 2);
        let mut weights = Vec::with_capacity(count);
        for (scale, block) in scales.iter().zip(blocks) {
            let codes = block.iter().flat_map(|byte| [byte & 15, byte >> 4]);
            weights.extend(codes.map(|code| scale * (f32::from(code) - 8.0)));
        }
        Some(Linear { weights, bias: self.floats(outputs)? })
    }

    fn layer(&mut self) -> Option<Layer> {
        let mut square = || self.linear(DIMENSION, DIMENSION);
        Some(Layer {
            attention: [square()?, square()?, square()?, square()?],
            attention_norm: self.norm()?,
            up: self.linear(WIDTH, DIMENSION)?,
            down: self.linear(DIMENSION, WIDTH)?,
            norm: self.norm()?,
        })
    }
}

fn halves(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(2).map(half).collect()
}

/// Returns the number stored as 16 bits at the start of the bytes: a sign, 5 bits of exponent, 10 of fraction.
fn half(bytes: &[u8]) -> f32 {
    let bits = u32::from(u16::from_le_bytes([bytes[0], bytes[1]]));
    let magnitude = f32::from_bits((bits & 0x7fff) << 13) * f32::from_bits(0x7780_0000);
    if bits & 0x8000 == 0 { magnitude } else { -magnitude }
}

#[expect(clippy::cast_precision_loss, reason = "the numbers are below 2,000")]
fn to_f32(count: usize) -> f32 {
    count as f32
}

fn add(numbers: &mut [f32], more: &[f32]) {
    numbers.iter_mut().zip(more).for_each(|(number, more)| *number += more);
}

/// Returns the Gaussian error linear unit; the error function is that of Abramowitz and Stegun, 7.1.28.
fn gelu(value: f32) -> f32 {
    const SERIES: [f32; 7] = [
        0.000_043_063_8, 0.000_276_567_2, 0.000_152_014_3, 0.009_270_527, 0.042_282_01,
        0.070_523_076, 1.0,
    ];
    let scaled = value.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let sum = SERIES.iter().fold(0.0, |sum, factor| sum * scaled + factor);
    let erf = 1.0 - 1.0 / sum.powi(16);
    0.5 * value * (1.0 + erf.copysign(value))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const CHECK: &str = include_str!("../../tests/embedding/encoder_check.jsonl");

    #[test]
    fn vectors_match_the_reference() {
        let encoder = Encoder::from_bytes(BYTES).unwrap();
        let mut checked = 0;
        for line in CHECK.lines() {
            let expected: Value = serde_json::from_str(line).unwrap();
            let text = expected["text"].as_str().unwrap();
            let vector = encoder.vector(text);
            let first = expected["first8"].as_array().unwrap();
            for (value, expected) in vector.values().iter().zip(first) {
                let difference = f64::from(*value) - expected.as_f64().unwrap();
                assert!(difference.abs() < 1e-4, "{text:?} {difference}");
            }
            checked += 1;
        }
        assert_eq!(checked, 50);
    }

    #[test]
    fn a_damaged_file_is_no_encoder() {
        for length in [0, 63, 64, BYTES.len() - 64] {
            assert!(Encoder::from_bytes(&BYTES[..length]).is_none(), "{length}");
        }
        let mut other: Vec<u8> = BYTES[..64].to_vec();
        other[12] = 200;
        assert!(Encoder::from_bytes(other.leak()).is_none());
    }

    #[test]
    fn a_linear_map_multiplies_and_adds() {
        let linear = Linear { weights: vec![0.0, 1.0, 2.0, 1.0, 0.0, 0.0], bias: vec![0.5, 0.0] };
        let rows = [3.0, 4.0, 5.0, 1.0, 1.0, 1.0];
        assert_eq!(linear.apply(&rows), [14.5, 3.0, 3.5, 1.0]);
    }

    #[test]
    fn the_error_function_is_close() {
        for (value, expected) in [(0.0, 0.0), (1.0, 0.841_344_7), (-3.0, -0.004_049_7)] {
            assert!((gelu(value) - expected).abs() < 1e-6, "{value}");
        }
    }
}
