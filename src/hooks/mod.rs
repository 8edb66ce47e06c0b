//! What a harness calls at session start, before compaction and at stop.

mod harness;
pub mod setup;

pub use harness::Harness;
