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

/// Model name of the encoder's vectors, which are not comparable with those of other models.
pub const ENCODER_ID: &str = "annals-encoder-s3-v1";

/// Maximum number of pieces of a text that are read.
const MAX_PIECES: usize = 126;

static BYTES: &[u8] = include_bytes!("../../assets/encoder.bin");

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
    embedding: Packed<'static>,
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

/// Numbers as codes of a few bits, with one scale per block.
#[derive(Clone, Copy, Debug)]
struct Packed<'a> {
    scales: &'a [u8],
    codes: &'a [u8],
    block: usize,
}

#[derive(Debug)]
struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

/// A linear map; the weights of each output lie side by side.
#[derive(Debug)]
struct Linear {
    inputs: usize,
    weights: Vec<f32>,
    bias: Vec<f32>,
}

#[derive(Debug)]
struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    attention_norm: Norm,
    up: Linear,
    down: Linear,
    norm: Norm,
}

impl Encoder {
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
        let encoder = Self {
            embedding: parts.packed(ROWS * DIMENSION, 3, EMBEDDING_BLOCK)?,
            positions: parts.halves((MAX_PIECES + 2) * DIMENSION)?,
            norm: parts.norm()?,
            layers: (0..LAYERS).map(|_| parts.layer()).collect::<Option<_>>()?,
        };
        (parts.at == bytes.len()).then_some(encoder)
    }

    /// Returns the vectors of the texts, in their order; the texts are shared among the processor's cores.
    pub fn vectors(&self, texts: &[&str]) -> Vec<Vector> {
        let cores = thread::available_parallelism().map_or(1, usize::from).clamp(1, 8);
        let share = texts.len().div_ceil(cores).max(1);
        let encode = |texts: &[&str]| -> Vec<Vector> {
            texts.iter().map(|text| self.vector(text)).collect()
        };
        if texts.len() <= 1 || cores == 1 {
            return encode(texts);
        }
        thread::scope(|scope| {
            let start =
                |texts| (texts, thread::Builder::new().spawn_scoped(scope, move || encode(texts)));
            let running: Vec<_> = texts.chunks(share).map(start).collect();
            running
                .into_iter()
                // The system may refuse a thread.
                .flat_map(|(texts, thread)| {
                    thread
                        .ok()
                        .and_then(|thread| thread.join().ok())
                        .unwrap_or_else(|| encode(texts))
                })
                .collect()
        })
    }

    /// Returns the vector of a text: the mean over the positions of the last layer.
    pub fn vector(&self, text: &str) -> Vector {
        let mut rows = self.embedded(text);
        for layer in &self.layers {
            layer.run(&mut rows);
        }
        let mut mean = vec![0.0; DIMENSION];
        for row in rows.chunks_exact(DIMENSION) {
            for (sum, value) in mean.iter_mut().zip(row) {
                *sum += value;
            }
        }
        Vector::new(mean)
    }

    /// Returns one row per piece of the text, between the rows that mark its beginning and its end.
    fn embedded(&self, text: &str) -> Vec<f32> {
        let mut pieces = vec![ROWS - 3];
        VectorTable::built_in().each_piece(text, |piece| {
            pieces.push(piece);
            if pieces.len() > MAX_PIECES {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        pieces.push(ROWS - 2);
        let mut rows = Vec::with_capacity(pieces.len() * DIMENSION);
        for (piece, position) in pieces.into_iter().zip(self.positions.chunks_exact(DIMENSION)) {
            let from = rows.len();
            self.embedding.unpack_3_bits(piece * DIMENSION, DIMENSION, &mut rows);
            for (value, position) in rows[from..].iter_mut().zip(position) {
                *value += position;
            }
        }
        self.norm.apply(&mut rows);
        rows
    }
}

impl Layer {
    fn run(&self, rows: &mut [f32]) {
        let attended = self.attention(rows);
        add(rows, &self.output.apply(&attended));
        self.attention_norm.apply(rows);
        let mut inner = self.up.apply(rows);
        for value in &mut inner {
            *value = gelu(*value);
        }
        add(rows, &self.down.apply(&inner));
        self.norm.apply(rows);
    }

    fn attention(&self, rows: &[f32]) -> Vec<f32> {
        let head = DIMENSION / HEADS;
        let count = rows.len() / DIMENSION;
        let scale = 1.0 / to_f32(head).sqrt();
        let [queries, keys, values] =
            [&self.query, &self.key, &self.value].map(|linear| linear.apply(rows));
        let mut attended = vec![0.0; rows.len()];
        let mut weights = vec![0.0; count * count];
        for start in (0..DIMENSION).step_by(head) {
            let part =
                |numbers| Matrix { numbers, rows: count, columns: head, row: DIMENSION, column: 1 };
            let (queries, keys) = (part(&queries[start..]), part(&keys[start..]));
            weights.fill(0.0);
            multiply(queries, keys.transposed(), &mut weights, count);
            for row in weights.chunks_exact_mut(count) {
                let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                for weight in row.iter_mut() {
                    *weight = exp(scale * (*weight - largest));
                }
                let total: f32 = row.iter().sum();
                for weight in row {
                    *weight /= total;
                }
            }
            let weights =
                Matrix { numbers: &weights, rows: count, columns: count, row: count, column: 1 };
            multiply(weights, part(&values[start..]), &mut attended[start..], DIMENSION);
        }
        attended
    }
}

/// Numbers in rows and columns, each a distance apart.
#[derive(Clone, Copy)]
struct Matrix<'a> {
    numbers: &'a [f32],
    rows: usize,
    columns: usize,
    /// Distance between rows, and between columns.
    row: usize,
    column: usize,
}

impl Matrix<'_> {
    fn transposed(self) -> Self {
        Self { rows: self.columns, columns: self.rows, row: self.column, column: self.row, ..self }
    }

    fn is_inside(&self) -> bool {
        self.rows > 0
            && self.columns > 0
            && (self.rows - 1) * self.row + (self.columns - 1) * self.column < self.numbers.len()
    }
}

/// Adds the product of two matrices to `sums`, whose rows are `row` numbers apart.
///
/// The multiplication is that of a dependency, which is optimised in every build.
fn multiply(one: Matrix<'_>, other: Matrix<'_>, sums: &mut [f32], row: usize) {
    let result = Matrix { numbers: sums, rows: one.rows, columns: other.columns, row, column: 1 };
    assert!(one.columns == other.rows, "matrices of these sizes have no product");
    assert!([one, other, result].iter().all(Matrix::is_inside), "a matrix is too short");
    let [one_row, one_column] = [one.row, one.column].map(usize::cast_signed);
    let [other_row, other_column] = [other.row, other.column].map(usize::cast_signed);
    #[expect(unsafe_code, reason = "the multiplication takes pointers")]
    // SAFETY: every number of the three matrices is inside of its slice, which was just checked, and `sums` is borrowed
    // for writing.
    unsafe {
        matrixmultiply::sgemm(
            one.rows,
            one.columns,
            other.columns,
            1.0,
            one.numbers.as_ptr(),
            one_row,
            one_column,
            other.numbers.as_ptr(),
            other_row,
            other_column,
            1.0,
            sums.as_mut_ptr(),
            row.cast_signed(),
            1,
        );
    }
}

impl Packed<'_> {
    fn scale(&self, at: usize) -> f32 {
        half(&self.scales[at / self.block * 2..])
    }

    /// Appends `count` numbers from `from` on, both multiples of 8.
    fn unpack_3_bits(&self, from: usize, count: usize, numbers: &mut Vec<f32>) {
        for at in (from..from + count).step_by(8) {
            let scale = self.scale(at);
            let bytes = &self.codes[at / 8 * 3..at / 8 * 3 + 3];
            let codes = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]);
            numbers.extend((0..8).map(|code| scale * small(codes >> (3 * code) & 7, 4)));
        }
    }

    fn unpack_4_bits(&self, count: usize) -> Vec<f32> {
        let mut numbers = Vec::with_capacity(count);
        for (block, codes) in self.codes.chunks_exact(self.block / 2).enumerate() {
            let scale = half(&self.scales[block * 2..]);
            for byte in codes {
                numbers.push(scale * small(u32::from(byte & 15), 8));
                numbers.push(scale * small(u32::from(byte >> 4), 8));
            }
        }
        numbers
    }
}

impl Norm {
    /// Normalises each row to mean 0 and variance 1, then scales and shifts it.
    fn apply(&self, rows: &mut [f32]) {
        let width = self.weight.len();
        for row in rows.chunks_exact_mut(width) {
            let mean = row.iter().sum::<f32>() / to_f32(width);
            let variance =
                row.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / to_f32(width);
            let scale = 1.0 / (variance + 1e-12).sqrt();
            for ((value, weight), bias) in row.iter_mut().zip(&self.weight).zip(&self.bias) {
                *value = (*value - mean) * scale * weight + bias;
            }
        }
    }
}

impl Linear {
    /// Maps each row.
    fn apply(&self, rows: &[f32]) -> Vec<f32> {
        let (inputs, outputs) = (self.inputs, self.bias.len());
        let count = rows.len() / inputs;
        let mut results = self.bias.repeat(count);
        let rows = Matrix { numbers: rows, rows: count, columns: inputs, row: inputs, column: 1 };
        let weights = Matrix {
            numbers: &self.weights,
            rows: outputs,
            columns: inputs,
            row: inputs,
            column: 1,
        };
        multiply(rows, weights.transposed(), &mut results, outputs);
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

    fn halves(&mut self, count: usize) -> Option<Vec<f32>> {
        let halves = self.take(count * 2)?.chunks_exact(2);
        Some(halves.map(half).collect())
    }

    fn packed(&mut self, count: usize, bits: usize, block: usize) -> Option<Packed<'static>> {
        let scales = self.take(count / block * 2)?;
        Some(Packed { scales, codes: self.take(count * bits / 8)?, block })
    }

    fn norm(&mut self) -> Option<Norm> {
        Some(Norm { weight: self.floats(DIMENSION)?, bias: self.floats(DIMENSION)? })
    }

    fn linear(&mut self, outputs: usize, inputs: usize) -> Option<Linear> {
        let packed = self.packed(outputs * inputs, 4, BLOCK)?;
        let weights = packed.unpack_4_bits(outputs * inputs);
        Some(Linear { inputs, weights, bias: self.floats(outputs)? })
    }

    fn layer(&mut self) -> Option<Layer> {
        Some(Layer {
            query: self.linear(DIMENSION, DIMENSION)?,
            key: self.linear(DIMENSION, DIMENSION)?,
            value: self.linear(DIMENSION, DIMENSION)?,
            output: self.linear(DIMENSION, DIMENSION)?,
            attention_norm: self.norm()?,
            up: self.linear(WIDTH, DIMENSION)?,
            down: self.linear(DIMENSION, WIDTH)?,
            norm: self.norm()?,
        })
    }
}

/// Returns the number stored as 16 bits at the start of the bytes: a sign, 5 bits of exponent, 10 of fraction.
fn half(bytes: &[u8]) -> f32 {
    let bits = u32::from(u16::from_le_bytes([bytes[0], bytes[1]]));
    let magnitude = f32::from_bits((bits & 0x7fff) << 13) * f32::from_bits(0x7780_0000);
    if bits & 0x8000 == 0 { magnitude } else { -magnitude }
}

#[expect(clippy::cast_precision_loss, reason = "the numbers are below 16")]
fn small(code: u32, zero: u32) -> f32 {
    code as f32 - zero as f32
}

#[expect(clippy::cast_precision_loss, reason = "the numbers are below 2,000")]
fn to_f32(count: usize) -> f32 {
    count as f32
}

fn add(rows: &mut [f32], more: &[f32]) {
    for (value, more) in rows.iter_mut().zip(more) {
        *value += more;
    }
}

/// Returns e to the power of a number that is not above 0, within 1e-7 of it.
fn exp(value: f32) -> f32 {
    // The sum with this number rounds to an integer, which stands in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    let power = value.max(-87.0) * std::f32::consts::LOG2_E;
    let rounded = power + ROUND;
    let rest = (power - (rounded - ROUND)) * std::f32::consts::LN_2;
    let series = [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
    let fraction = series.iter().fold(0.0, |sum, factor| sum * rest + factor);
    fraction * f32::from_bits(rounded.to_bits().wrapping_add(127) << 23)
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
        let linear =
            Linear { inputs: 3, weights: vec![0.0, 1.0, 2.0, 1.0, 0.0, 0.0], bias: vec![0.5, 0.0] };
        let rows = [3.0, 4.0, 5.0, 1.0, 1.0, 1.0];
        assert_eq!(linear.apply(&rows), [14.5, 3.0, 3.5, 1.0]);
    }

    #[test]
    fn the_approximations_are_close() {
        for (value, expected) in [(0.0, 1.0), (-1.0, 0.367_879_44), (-10.0, 4.539_993e-5)] {
            assert!((exp(value) - expected).abs() < 1e-7, "{value}");
        }
        for (value, expected) in [(0.0, 0.0), (1.0, 0.841_344_7), (-3.0, -0.004_049_7)] {
            assert!((gelu(value) - expected).abs() < 1e-6, "{value}");
        }
    }
}
