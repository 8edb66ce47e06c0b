//! The search engine: one score from words, vectors and neighbours, and a sentence encoder for the best texts.

mod encoder;
mod fuse;

pub use encoder::{ENCODER_ID, Encoder};
pub use fuse::{
    Fused, FusedParts, Known, Question, QuestionVectors, ReadText, Reread, fuse, greatest_cosine,
    passage_vectors,
};
