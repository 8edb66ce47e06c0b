//! Before a compaction, notes the current position in the notepad, if the user enabled breadcrumbs.

use crate::context::BREADCRUMB;
use crate::error::Result;
use crate::hooks::input::Input;
use crate::knowledge::notepad;
use crate::knowledge::notepad::{Note, NotepadSection};
use crate::plan::{StatusReport, Survey};
use crate::project::Project;
use crate::secrets::SecretPolicy;
use crate::text::{Line, sanitized};

const WIDTH: usize = 160;

/// Adds a breadcrumb to the working memory.
pub(crate) fn leave(project: &Project, input: &Input) -> Result<()> {
    let trigger = input.trigger().unwrap_or("unasked");
    let place =
        if project.planning().is_ok() { describe_position(project)? } else { String::new() };
    let text = format!("{BREADCRUMB}{trigger}){place}");
    let text = Line::new(&sanitized(&text)).clipped(WIDTH);
    let note = Note {
        section: NotepadSection::Working,
        text: text.as_str(),
        secrets: SecretPolicy::Refuse,
        request_id: None,
    };
    notepad::write(project, &note).map(|_| ())
}

/// Describes the position: `: phase 4 - Low-Stock Alerts (in progress, 1 of 3 plans), next /vbw:execute 4`.
fn describe_position(project: &Project) -> Result<String> {
    let status = StatusReport::from_survey(project, &Survey::read(project)?);
    let phase = status.derived;
    let name = phase.name.map(|name| format!(" - {name}"));
    let state = phase.status.map(|state| format!(" ({state})"));
    let parts = [name, state].into_iter().flatten();
    let number = phase.number.map(|number| format!(": phase {number}"));
    let text: String = number.into_iter().chain(parts).collect();
    let contested = if status.next.conflict { " (contested)" } else { "" };
    Ok(format!("{text}, next {}{contested}", status.next.command))
}
