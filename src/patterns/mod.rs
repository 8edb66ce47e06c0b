//! What finished phases taught, whether it still holds, and what fits the current phase.

mod entry;
mod heading;
mod part;
mod reader;
mod trace;

pub use entry::DeviationCount;
pub use entry::Entry;
pub use entry::LoosePattern;
pub use entry::Patterns;
pub use entry::Timing;
pub use trace::Trace;
