//! The log of all writes, `log.md`: one line per write, append-only.

use crate::clock::Clock;
use crate::error::Result;
use crate::knowledge::KnowledgeDir;
use crate::storage::Changes;

/// Appends a line to the log: `- 2026-02-17T10:11:12Z write test-runner (convention, high)`.
///
/// Line breaks in `what` are replaced by spaces.
pub(crate) fn add(
    changes: &mut Changes,
    place: &KnowledgeDir,
    clock: &Clock,
    what: &str,
) -> Result<()> {
    let what: Vec<&str> = what.lines().map(str::trim).collect();
    let line = format!("- {} {}\n", clock.timestamp(), what.join(" "));
    changes.append(&place.log(), line)
}
