//! A session's start: what it needs to know, and what it does not know already.

use crate::context;
use crate::context::DigestPart;
use crate::context::DigestRequest;
use crate::error::Error;
use crate::error::Result;
use crate::hooks::already_read;
use crate::hooks::cap;
use crate::hooks::harness::Harness;
use crate::project::Project;
use crate::text::tokens;

/// The last line: the command that prints what did not fit.
const REST: &str = "More: `annals context`";

/// What a new session wants to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// Whether a compaction just took the conversation away.
    pub(crate) is_compacted: bool,
    /// Whether the notepad is wanted.
    pub(crate) notepad: bool,
}

/// Returns what a new session is told, or `None` if there is no news for it.
pub(crate) fn text(
    project: &Project,
    harness: Harness,
    start: Start,
    problems: &mut Vec<Error>,
) -> Result<Option<String>> {
    let without = if start.notepad {
        Vec::new()
    } else {
        vec![DigestPart::Notepad]
    };
    let request = DigestRequest {
        // What two texts have together may be one more than the sum.
        budget: context::START_BUDGET - tokens(REST) - 2,
        compacted: start.is_compacted,
        without,
        max_lines_per_part: context::START_LINES,
        already_read: already_read::read(project, harness),
        ..DigestRequest::default()
    };
    let digest = context::digest(project, &request)?;
    problems.extend(
        digest.warnings.into_iter().map(|warning| {
            Error::failed(warning.message).at(&warning.place.file, warning.place.line)
        }),
    );
    Ok((!digest.text.is_empty()).then(|| cap::capped(&digest.text, REST)))
}
