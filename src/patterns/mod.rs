//! What finished phases taught, whether it still holds, and what fits the current phase.

mod entry;
mod heading;
mod part;
mod reader;
mod relevance;
mod statistics;
mod trace;

pub use entry::DeviationCount;
pub use entry::Entry;
pub use entry::LoosePattern;
pub use entry::Patterns;
pub use entry::Timing;
pub use relevance::Relevant;
pub use statistics::Rate;
pub use statistics::fisher_exact;
pub use statistics::mann_whitney;
pub use trace::Trace;

use std::path::Path;
use std::path::PathBuf;

/// Returns where a planning folder keeps its patterns; they outlive every milestone.
pub fn path(planning_dir: &Path) -> PathBuf {
    planning_dir.join("patterns").join("PATTERNS.md")
}
