//! Handles the end of a subagent: passes what it was told on to the main conversation.

use crate::error::Result;
use crate::hooks::input::Input;
use crate::hooks::notices;
use crate::project::Project;

/// Returns the pending texts for the main conversation, or `None` in the conversation of a subagent.
pub(crate) fn text(project: &Project, input: &Input) -> Result<Option<String>> {
    if input.is_subagent() {
        return Ok(None);
    }
    let texts = notices::take_waiting(project, input)?;
    Ok((!texts.is_empty()).then(|| texts.join("\n")))
}
