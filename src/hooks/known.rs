//! What the harness has read already: lines of its context file need not be said again.

use std::collections::HashSet;

use crate::hooks::Harness;
use crate::project::Project;
use crate::storage::read;

/// The lines that a harness reads at each session's start.
pub(crate) struct Known(HashSet<String>);

impl Known {
    /// Reads the context files of a harness, and what stands in the files that these import as a whole.
    pub(crate) fn read(project: &Project, harness: Harness) -> Self {
        let names: &[&str] = match harness {
            Harness::Claude => &["CLAUDE.md", ".claude/CLAUDE.md"],
            Harness::Codex => &["AGENTS.md"],
            Harness::Gemini => &["GEMINI.md"],
            Harness::Opencode => &["AGENTS.md", "CLAUDE.md"],
        };
        let mut known = HashSet::new();
        for name in names {
            let Some(text) = text(project, name) else {
                continue;
            };
            if harness != Harness::Codex && text.lines().any(|line| line.trim() == "@AGENTS.md") {
                let imported = self::text(project, "AGENTS.md").unwrap_or_default();
                known.extend(imported.lines().map(plain));
            }
            known.extend(text.lines().map(plain));
            if harness == Harness::Opencode {
                // It reads the first of them only.
                break;
            }
        }
        known.remove("");
        Self(known)
    }

    /// Returns the lines of a text that are not known yet; headings stay.
    pub(crate) fn without(&self, text: &str) -> String {
        let is_news = |line: &&str| line.starts_with('#') || !self.0.contains(&plain(line));
        text.split_inclusive('\n').filter(is_news).collect()
    }
}

/// A file that can't be read is as good as none: then everything is news.
fn text(project: &Project, name: &str) -> Option<String> {
    let text = read::text(&project.root.join(name)).ok().flatten()?;
    Some(text.value)
}

/// Returns a line without its bullet and its emphasis.
fn plain(line: &str) -> String {
    let line = line.trim().trim_start_matches(['-', '*', ' ']);
    line.replace("**", "")
}
