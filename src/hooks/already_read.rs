//! Collects the lines that the harness has already read from its context files, so that they are not
//! repeated.

use crate::context::AlreadyRead;
use crate::hooks::Harness;
use crate::project::Project;
use crate::storage::read;

/// Reads the context files of a harness in the project, and `AGENTS.md` if one of them imports it.
pub(crate) fn read(project: &Project, harness: Harness) -> AlreadyRead {
    let files = &harness.profile().context;
    let mut known = AlreadyRead::default();
    for group in files.folder_files {
        let Some(text) = group.iter().find_map(|name| text(project, name)) else {
            continue;
        };
        if files.has_imports && text.lines().any(|line| line.trim() == "@AGENTS.md") {
            let imported = self::text(project, "AGENTS.md").unwrap_or_default();
            known.add(&files.visible(&imported));
        }
        known.add(&files.visible(&text));
    }
    known
}

/// Returns a file's text; one that cannot be read counts as missing, so nothing is omitted because of it.
fn text(project: &Project, name: &str) -> Option<String> {
    let text = read::text(&project.root.join(name)).ok().flatten()?;
    Some(text.value)
}
