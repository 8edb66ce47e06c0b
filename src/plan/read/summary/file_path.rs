//! Extracts file paths from list entries with markup, verbs and notes.

use crate::text::{file_name, strip_prefix_ignore_case};

/// Returns the paths at the start of a text, in code spans or bare.
///
/// ```text
/// `src/a.rs` — new file        **Created:** `src/a.rs`, `src/b.rs`        src/a.rs (modified)
/// Modified `src/a.rs`          `old.rs` → `new.rs`                         [src/a.rs](link)
/// ```
pub(super) fn leading(text: &str) -> Vec<&str> {
    let mut rest = without_lead(text);
    let mut paths = Vec::new();
    while let Some((path, after)) = first_path(rest) {
        paths.push(path);
        let joint = without_note(after.trim_start_matches(['*', '_']).trim_start());
        rest = ["and ", ", and ", ",", "+", "&", "/ ", "->", "\u{2192}"]
            .iter()
            .find_map(|joint_word| joint.strip_prefix(joint_word))
            .unwrap_or("")
            .trim_start();
    }
    paths
}

/// Strips a leading note in brackets.
fn without_note(text: &str) -> &str {
    text.strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
        .map_or(text, |(_, rest)| rest.trim_start())
}

/// Strips a label, a verb and markup before the first path.
fn without_lead(text: &str) -> &str {
    const LEADS: &[&str] = &[
        "created", "added", "new", "modified", "changed", "updated", "deleted", "removed",
        "edited", "renamed", "moved", "create", "modify", "add", "update", "delete", "files",
        "file", "tests", "test", "source", "docs", "key files", "created/modified", "rewrote",
        "extended", "tracked",
    ];
    let mut text = text.trim_start_matches([
        '*', '_', ' ', '-', '+', '~', '\u{251c}', '\u{2514}', '\u{2500}', '\u{2502}',
    ]);
    for sign in ["[x] ", "[ ] ", "NEW ", "NEW: ", "MOD ", "A ", "M ", "D "] {
        text = text.strip_prefix(sign).unwrap_or(text);
    }
    for lead in LEADS {
        let Some(rest) = strip_prefix_ignore_case(text, lead) else {
            continue;
        };
        let after = rest
            .trim_start_matches(['*', ':', ' ', '(', ')'])
            .trim_start_matches(|c: char| c.is_ascii_digit());
        let after = after.trim_start_matches(['*', ':', ' ', '(', ')']);
        if after.len() < rest.len() && rest.starts_with([' ', ':', '*', '(']) {
            return after;
        }
    }
    text
}

/// Splits off the path at the start of a text.
fn first_path(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(['*', '_', '~']);
    if let Some(inner) = text.strip_prefix('`') {
        let (span, after) = inner.split_once('`')?;
        let path = span.split(" (").next().unwrap_or(span).trim();
        let is_whole = !path.is_empty() && !path.contains(' ') && !path.ends_with("()");
        return (is_whole || is_path(path)).then_some((path, after));
    }
    if let Some((name, after)) = text.strip_prefix('[').and_then(|rest| rest.split_once("](")) {
        let path = name.trim_matches('`');
        return is_path(path).then(|| (path, after.split_once(')').map_or("", |(_, rest)| rest)));
    }
    let end = text.find(|c: char| c.is_whitespace() || c == ',' || c == ';').unwrap_or(text.len());
    let path = text[..end].trim_end_matches(['*', ':', '.', '`']);
    is_path(path).then(|| (path, &text[path.len()..]))
}

/// Returns whether a text looks like the path of a file or folder.
pub(super) fn is_path(text: &str) -> bool {
    const NAMES: &[&str] = &[
        "Makefile", "Dockerfile", "LICENSE", "Gemfile", "Rakefile", "Procfile", "CODEOWNERS",
        "Justfile", "Caddyfile",
    ];
    if text.is_empty()
        || text.contains("://")
        || text.ends_with("()")
        || text.contains(' ') && !text.contains('/')
    {
        return false;
    }
    if text.contains(['"', '\'', '=', '<', '>', '|', '`', ';'])
        || text.starts_with(['/', '@', '(']) && !text[1..].contains('/')
    {
        return false;
    }
    let name = file_name(text.trim_end_matches('/'));
    let has_ending = name.rsplit_once('.').is_some_and(|(_, ending)| {
        (1..=12).contains(&ending.len())
            && ending.chars().all(|c| c.is_ascii_alphanumeric() || "{},*_-".contains(c))
            && ending.contains(|c: char| c.is_ascii_alphabetic() || c == '*' || c == '{')
    });
    let has_folder = text.contains('/') && text.chars().any(char::is_alphabetic);
    has_ending || has_folder || NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_without_what_is_said_of_them() {
        for (text, paths) in [
            ("`src/a.rs` \u{2014} new file with `helper()`", &["src/a.rs"][..]),
            ("src/a.rs -- created: all of it", &["src/a.rs"]),
            ("src/a.rs: what changed", &["src/a.rs"]),
            ("**Created:** `src/a.rs`, `src/b.rs`", &["src/a.rs", "src/b.rs"]),
            ("Modified `MANIFEST.in`", &["MANIFEST.in"]),
            (
                "**`src/app/(auth)/[id]/page.tsx`** (new, 12 tests)",
                &["src/app/(auth)/[id]/page.tsx"],
            ),
            ("`src/{a,b}.ts`", &["src/{a,b}.ts"]),
            ("`lib/l10n/app*.dart` - regenerated", &["lib/l10n/app*.dart"]),
            ("`old.rs` \u{2192} `new.rs`", &["old.rs", "new.rs"]),
            ("`Makefile`", &["Makefile"]),
            ("See `files_modified` in frontmatter (14 files).", &[]),
            ("None", &[]),
            ("7 files updated", &[]),
        ] {
            assert_eq!(leading(text), paths, "{text}");
        }
    }
}
