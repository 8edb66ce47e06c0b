//! Parses `@file` imports in context files.

use std::path::{Path, PathBuf};

use crate::markdown::comments::is_fence;

/// Returns the files that a text imports, in order, except those in code.
pub(crate) fn imported_files(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_fenced = false;
    for line in text.lines() {
        if is_fence(line) {
            is_fenced = !is_fenced;
        } else if !is_fenced {
            // Every second piece between backticks is inline code.
            for prose in line.split('`').step_by(2) {
                found.extend(prose.split_whitespace().filter_map(import));
            }
        }
    }
    found
}

/// Returns the path that a word imports; email addresses and `@names` are not imports.
fn import(word: &str) -> Option<String> {
    let path = word.strip_prefix('@')?;
    let path = path.trim_end_matches(['.', ',', ';', ':', ')']);
    let is_path = path.contains('/') || Path::new(path).extension().is_some();
    (is_path && !path.contains('@')).then(|| path.to_owned())
}

/// Returns the path of an imported file.
pub(crate) fn resolve_import(import: &str, from: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let path = match import.strip_prefix("~/") {
        Some(below) => home?.join(below),
        None => from.parent()?.join(import),
    };
    // `./x` is the same file as `x`.
    Some(path.components().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_told_from_names_addresses_and_code() {
        let text = "@AGENTS.md\nSee @docs/rules.md, and @./a.\nask @ada or ada@example.org\n`@not.md`\n```\n@fenced.md\n```\n@~/own.md\n";
        assert_eq!(imported_files(text), ["AGENTS.md", "docs/rules.md", "./a", "~/own.md"]);
    }

    #[test]
    fn imports_lead_from_their_file_and_from_home() {
        let from = Path::new("/users/ada/p/CLAUDE.md");
        let home = Path::new("/users/ada");
        let to = |import| resolve_import(import, from, Some(home)).unwrap();
        assert_eq!(to("./docs/a.md"), Path::new("/users/ada/p/docs/a.md"));
        assert_eq!(to("~/b.md"), Path::new("/users/ada/b.md"));
        assert_eq!(to("/etc/c.md"), Path::new("/etc/c.md"));
        assert_eq!(resolve_import("~/b.md", from, None), None);
    }
}
