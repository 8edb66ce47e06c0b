//! The chronicle of all writes, `log.md`: one line a write, never changed again.

use crate::clock::Clock;
use crate::error::Result;
use crate::knowledge::KnowledgeDir;
use crate::storage::Changes;

/// Adds one line to the chronicle: `- 2026-02-17T10:11:12Z write test-runner (convention, high)`.
///
/// A reason stands there verbatim, but for its line breaks.
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
