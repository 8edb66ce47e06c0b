//! Parses `@file` imports in context files, and strips the comments that the model never sees.

use std::path::Path;
use std::path::PathBuf;

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

/// Returns a text without HTML comments: Claude Code strips them from context files at session start.
pub(crate) fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut is_fenced = false;
    let mut is_comment = false;
    for line in text.split_inclusive('\n') {
        if !is_comment && is_fence(line) {
            is_fenced = !is_fenced;
        }
        if is_fenced {
            kept.push_str(line);
        } else {
            let before = kept.len();
            let was_comment = is_comment;
            prose(line, &mut is_comment, &mut kept);
            // A line that consisted only of a comment leaves no empty line behind.
            let is_bare = kept[before..].trim().is_empty() && !line.trim().is_empty();
            if is_bare || was_comment && kept[before..].trim().is_empty() {
                kept.truncate(before);
            }
        }
    }
    kept
}

fn prose(line: &str, is_comment: &mut bool, kept: &mut String) {
    let mut rest = line;
    while !rest.is_empty() {
        let sign = if *is_comment { "-->" } else { "<!--" };
        let (before, after) = match rest.split_once(sign) {
            Some((before, after)) => (before, Some(after)),
            None => (rest, None),
        };
        if !*is_comment {
            kept.push_str(before);
        }
        let Some(after) = after else { return };
        *is_comment = !*is_comment;
        rest = after;
    }
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_told_from_names_addresses_and_code() {
        let text = "@AGENTS.md\nSee @docs/rules.md, and @./a.\nask @ada or ada@example.org\n`@not.md`\n```\n@fenced.md\n```\n@~/own.md\n";
        assert_eq!(
            imported_files(text),
            ["AGENTS.md", "docs/rules.md", "./a", "~/own.md"]
        );
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

    #[test]
    fn comments_cost_nothing_outside_of_code() {
        let text =
            "a\n<!-- one -->\nb <!-- two --> c\n<!--\nthree\n-->\n\n```\n<!-- code -->\n```\n";
        assert_eq!(
            without_comments(text),
            "a\nb  c\n\n```\n<!-- code -->\n```\n"
        );
    }
}
