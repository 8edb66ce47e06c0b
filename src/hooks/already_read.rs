//! What the harness has read already: lines of its context files need not be said again.

use crate::context::AlreadyRead;
use crate::hooks::Harness;
use crate::project::Project;
use crate::storage::read;

/// Reads the context files of a harness in the project, and what these import of it as a whole.
pub(crate) fn read(project: &Project, harness: Harness) -> AlreadyRead {
    let files = &harness.profile().context;
    let mut known = AlreadyRead::default();
    for group in files.of_folder {
        let Some(text) = group.iter().find_map(|name| text(project, name)) else {
            continue;
        };
        if files.has_imports && text.lines().any(|line| line.trim() == "@AGENTS.md") {
            known.add(&self::text(project, "AGENTS.md").unwrap_or_default());
        }
        known.add(&text);
    }
    known
}

/// A file that can't be read is as good as none: then everything is news.
fn text(project: &Project, name: &str) -> Option<String> {
    let text = read::text(&project.root.join(name)).ok().flatten()?;
    Some(text.value)
}
