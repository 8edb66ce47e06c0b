//! Turns text into vectors: the built-in table, or an endpoint.
//!
//! ```text
//! text ── words ── pieces of the vocabulary ── rows of the table, added up ── length 1
//! ```
//!
//! Vectors of one model compare by their dot product. It finds texts that are about the same thing;
//! what a text says about it is not in there: "tabs over spaces" and "spaces over tabs" are one vector.

mod embedder;
mod pieces;
mod remote;
mod sum;
mod table;
mod vector;

pub use embedder::Embedder;
pub use remote::Endpoint;
pub use sum::Adder;
pub use sum::Sum;
pub use table::MODEL_ID;
pub use table::VectorTable;
pub use vector::Quantized;
pub use vector::Vector;
pub use vector::dot_bytes;
