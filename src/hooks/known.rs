//! What the harness has read already: lines of its context file need not be said again.

use crate::context::Known;
use crate::hooks::Harness;
use crate::project::Project;
use crate::storage::read;

/// Reads the context files of a harness, and what stands in the files that these import as a whole.
pub(crate) fn read(project: &Project, harness: Harness) -> Known {
    let names: &[&str] = match harness {
        Harness::Claude => &["CLAUDE.md", ".claude/CLAUDE.md"],
        Harness::Codex => &["AGENTS.md"],
        Harness::Gemini => &["GEMINI.md"],
        Harness::Opencode => &["AGENTS.md", "CLAUDE.md"],
    };
    let mut known = Known::default();
    for name in names {
        let Some(text) = text(project, name) else {
            continue;
        };
        if harness != Harness::Codex && text.lines().any(|line| line.trim() == "@AGENTS.md") {
            known.add(&self::text(project, "AGENTS.md").unwrap_or_default());
        }
        known.add(&text);
        if harness == Harness::Opencode {
            // It reads the first of them only.
            break;
        }
    }
    known
}

/// A file that can't be read is as good as none: then everything is news.
fn text(project: &Project, name: &str) -> Option<String> {
    let text = read::text(&project.root.join(name)).ok().flatten()?;
    Some(text.value)
}
