//! Embeds texts as vectors, with the built-in table or through an endpoint.
//!
//! ```text
//! text ── words ── pieces of the vocabulary ── sum of their rows ── normalised
//! ```
//!
//! Vectors of one model are compared by their dot product. It finds texts about the same subject, but not
//! what they say about it: "tabs over spaces" and "spaces over tabs" have the same vector.

mod adder;
mod embedder;
mod pieces;
mod remote;
mod sum;
mod table;
mod vector;

pub use adder::Adder;
pub use embedder::Embedder;
pub use remote::Endpoint;
pub use sum::Sum;
pub use table::{MODEL_ID, VectorTable};
pub use vector::{Quantized, Vector, dot_bytes};
