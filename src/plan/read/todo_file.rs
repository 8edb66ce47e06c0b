//! Reads the open todos that GSD keeps as files, one each.
//!
//! ```text
//! <planning>/todos/pending/2026-03-10-print-all-labels.md      front matter: title: Print all labels at once
//! ```

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::markdown::FrontMatter;
use crate::plan::read::names::entries;
use crate::plan::read::{PhaseProgress, non_placeholder};
use crate::project::vocabulary;
use crate::storage::read::PathKind;
use crate::text::fold;
use crate::warning::Warning;

/// Maximum number of files that are read.
const MAX_FILES: usize = 200;

/// Returns the files of the open todos, sorted by name, which begins with the day.
pub(crate) fn pending(planning: &Path, warnings: &mut Vec<Warning>) -> Result<Vec<PathBuf>> {
    let dir = planning.join(vocabulary::PENDING_TODOS);
    let found = entries(&dir, warnings)?.into_iter();
    let is_todo = |name: &str| {
        Path::new(name).extension().is_some_and(|own| own == "md")
            && !name.eq_ignore_ascii_case("README.md")
    };
    let files = found.filter(|(name, kind)| *kind == PathKind::File && is_todo(name));
    let mut files: Vec<PathBuf> = files.map(|(name, _)| dir.join(name)).collect();
    files.truncate(MAX_FILES);
    Ok(files)
}

/// Returns the title of an open todo: of its front matter, else its first heading, else the words of its file's name.
/// `None` if the front matter says that it is done.
pub(crate) fn open_title(text: &str, path: &Path) -> Option<String> {
    let front = FrontMatter::parse(text, path).value;
    let status = front.text(&["status"]);
    let is_done = status.is_some_and(PhaseProgress::is_complete_status)
        || front.text(&["resolved", "completed"]).and_then(non_placeholder).is_some();
    if is_done {
        return None;
    }
    let in_front = front.text(&["title"]).and_then(non_placeholder);
    let mut lines = text[front.range.end..].lines();
    let heading = || lines.find_map(|line| non_placeholder(line.strip_prefix("# ")?));
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let of_name = || {
        let words = stem.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
        let words = if words.is_empty() { &stem } else { words };
        words.replace('-', " ")
    };
    Some(in_front.or_else(heading).map_or_else(of_name, str::to_owned))
}

/// Returns the todos of STATE.md, then those of the files that it does not list.
pub(crate) fn merged(stated: &[String], files: Vec<(&Path, String)>) -> Vec<String> {
    let listed: Vec<String> = stated.iter().map(|todo| fold(todo)).collect();
    let is_listed = |path: &Path, title: &str| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        listed.iter().any(|todo| *todo == fold(title) || todo.contains(&stem))
    };
    let further = files.into_iter().filter(|(path, title)| !is_listed(path, title));
    stated.iter().cloned().chain(further.map(|(_, title)| title)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_add_what_the_state_does_not_list() {
        let stated = ["Integration tests for the API", "See `2026-03-10-labels`"];
        let stated = stated.map(str::to_owned);
        let file = |name, title: &str| (Path::new(name), title.to_owned());
        let files = vec![
            file("2026-03-10-labels.md", "Print all labels"),
            file("2026-03-11-tests.md", "Tests"),
            file("2026-03-12-api.md", "Integration tests for the API"),
        ];
        assert_eq!(merged(&stated, files), [&stated[0], &stated[1], "Tests"]);
        assert_eq!(merged(&stated, Vec::new()), stated);
    }

    #[test]
    fn a_todo_is_named_by_its_title_its_heading_or_its_file() {
        let path = Path::new("todos/pending/2026-03-10-print-labels.md");
        for (text, expected) in [
            ("---\ncreated: 2026-03-10\ntitle: Print all\n---\n# Other\n", "Print all"),
            ("---\ncreated: 2026-03-10\n---\n\n# Print them\n", "Print them"),
            ("## Problem\n\nMany.\n", "print labels"),
            ("", "print labels"),
        ] {
            assert_eq!(open_title(text, path).as_deref(), Some(expected));
        }
        for text in ["---\ntitle: A\nstatus: done\n---\n", "---\nresolved: 2026-03-11\n---\n"] {
            assert_eq!(open_title(text, path), None);
        }
    }
}
