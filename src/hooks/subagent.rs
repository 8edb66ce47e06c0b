//! After a subagent has run: what it was told reaches the main conversation, too.

use crate::error::Result;
use crate::hooks::input::Input;
use crate::hooks::notices;
use crate::project::Project;

/// Returns what subagents left for the main conversation, or `None` if this is the conversation of a subagent.
pub(crate) fn text(project: &Project, input: &Input) -> Result<Option<String>> {
    if input.is_subagent() {
        return Ok(None);
    }
    let texts = notices::take_waiting(project, input)?;
    Ok((!texts.is_empty()).then(|| texts.join("\n")))
}
