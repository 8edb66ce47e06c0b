//! Writes the text for the start of a session: what it needs to know, without what the harness already read.

use crate::context;
use crate::context::{DigestPart, DigestRequest};
use crate::error::{Error, Result};
use crate::hooks::harness::Harness;
use crate::hooks::{already_read, cap};
use crate::project::Project;
use crate::text::estimate_tokens;

/// The last line, with the command that prints what did not fit.
const REST: &str = "More: `annals context`";

/// The parameters of a session's start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// Whether the conversation has just been compacted.
    pub(crate) is_compacted: bool,
    /// Whether to include the notepad.
    pub(crate) notepad: bool,
}

/// Returns the text for a new session, or `None` if there is nothing new.
pub(crate) fn text(
    project: &Project,
    harness: Harness,
    start: Start,
    problems: &mut Vec<Error>,
) -> Result<Option<String>> {
    let already_read = already_read::read(project, harness);
    let mut without = Vec::new();
    if !start.notepad {
        without.push(DigestPart::Notepad);
    }
    if already_read.has_decisions {
        without.push(DigestPart::Decisions);
    }
    let request = DigestRequest {
        // Joining two texts may add a token.
        budget: context::START_BUDGET - estimate_tokens(REST) - 2,
        compacted: start.is_compacted,
        without,
        max_lines_per_list: context::START_LINES,
        already_read,
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
