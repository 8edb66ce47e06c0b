//! Which files a plan touched.

use std::ops::Range;

use crate::markdown::Content;
use crate::markdown::Node;
use crate::markdown::node::Value;
use crate::planning::document::Document;
use crate::planning::is_absent;

/// Fields that list files; a mapping under them lists some under each of [`KINDS`].
const FIELDS: &[&str] = &[
    "key_files",
    "files_created",
    "files_modified",
    "files_changed",
    "files_deleted",
    "files_touched",
    "files",
];
const KINDS: &[&str] = &[
    "created", "added", "new", "modified", "changed", "updated", "deleted", "removed", "renamed",
    "moved", "touched",
];
const PATH_KEYS: &[&str] = &["path", "file", "name", "filename"];

/// Labels of lines that list files, of a task or a fix, where there is no list of all.
const LABELS: &[&str] = &[
    "files",
    "files created",
    "files modified",
    "files changed",
    "files created/modified",
    "modified files",
    "created files",
];

/// The words of which a title must consist to head a list of files; one of [`FILE_WORDS`] among them.
const TITLE_WORDS: &[&str] = &[
    "key", "created", "modified", "changed", "deleted", "removed", "added", "updated", "new",
    "touched", "and", "or", "main", "source", "affected", "by", "this", "plan", "in", "list",
    "summary", "total", "all",
];
const FILE_WORDS: &[&str] = &[
    "files",
    "file",
    "artifacts",
    "archivos",
    "arquivos",
    "fichiers",
    "dateien",
    "\u{444}\u{430}\u{439}\u{43b}\u{44b}",
];

/// Returns the files that the front matter and the body list, as a set in that order; nothing where neither does.
pub(super) fn files(document: &Document<'_>) -> Option<Vec<String>> {
    let mut paths = Paths::default();
    for key in FIELDS {
        if let Some(node) = document.field(&[key]) {
            paths.add_node(node);
        }
    }
    for task in document
        .field(&["task_rows"])
        .map(Node::elements)
        .unwrap_or_default()
    {
        if let Some(node) = task.get(&["files"]) {
            paths.add_node(node);
        }
    }
    for section in document.sections(heads_files) {
        paths.add_section(document, &section.whole);
    }
    if !paths.is_known {
        for value in document.values(LABELS) {
            paths.add_line(value);
        }
    }
    paths.is_known.then_some(paths.list)
}

fn heads_files(words: &[String]) -> bool {
    let is = |word: &String, list: &[&str]| list.contains(&word.as_str());
    words.iter().any(|word| is(word, FILE_WORDS))
        && words
            .iter()
            .all(|word| is(word, FILE_WORDS) || is(word, TITLE_WORDS))
}

#[derive(Default)]
struct Paths {
    list: Vec<String>,
    /// Whether there was a list at all, perhaps an empty one.
    is_known: bool,
}

impl Paths {
    /// Adds a path, unless it is there under a name that says more.
    fn add(&mut self, path: &str) {
        let path = path.trim().trim_start_matches("./");
        if path.is_empty() {
            return;
        }
        self.is_known = true;
        let ends = |whole: &str, part: &str| {
            whole
                .strip_suffix(part)
                .is_some_and(|head| head.is_empty() || head.ends_with('/'))
        };
        if self.list.iter().any(|known| ends(known, path)) {
            return;
        }
        match self.list.iter_mut().find(|known| ends(path, known)) {
            Some(short) => path.clone_into(short),
            None => self.list.push(path.to_owned()),
        }
    }

    fn add_node(&mut self, node: &Node) {
        match &node.value {
            Value::Text(text) => self.add_text(text),
            Value::List(items) => {
                self.is_known = true;
                for item in items {
                    self.add_item(item);
                }
            }
            Value::Map(_) => {
                for kind in KINDS {
                    if let Some(inner) = node.get(&[kind]) {
                        self.add_node(inner);
                    }
                }
            }
        }
    }

    /// Adds one entry of a list: a path, a mapping with one, or `path: what changed`, which YAML takes for a mapping.
    fn add_item(&mut self, item: &Node) {
        if let Some(text) = item.as_text() {
            return self.add_text(text);
        }
        if let Some(path) = item.get(PATH_KEYS).and_then(Node::as_text) {
            return self.add_text(path);
        }
        if let Some((key, _)) = item.pairs().first().filter(|(key, _)| is_path(key)) {
            self.add(key);
        }
    }

    /// Adds the path that a text begins with; a number is only a count.
    fn add_text(&mut self, text: &str) {
        let found = leading(text);
        if found.is_empty() && !text.trim().contains(' ') && is_path(text.trim()) {
            self.add(text);
        }
        for path in found {
            self.add(path);
        }
    }

    /// Adds the paths that a line begins with, if they look like some.
    fn add_line(&mut self, line: &str) {
        for path in leading(line).into_iter().filter(|path| is_path(path)) {
            self.add(path);
        }
    }

    fn add_section(&mut self, document: &Document<'_>, range: &Range<usize>) {
        let text = document.outline.slice(range);
        self.is_known |= is_absent(text) || text.to_lowercase().starts_with("none");
        for block in document.outline.blocks(range) {
            let text = document.outline.slice(&block.range);
            match &block.content {
                Content::Item(item) => {
                    for path in leading(&item.text) {
                        // Nested items tell about the file above them, or list the files of a group.
                        if item.depth == 0 || is_path(path) {
                            self.add(path);
                        }
                    }
                }
                Content::Table(table) => {
                    let names = ["file", "path", "files", "file path", "artifact"];
                    let column = table.column(&names).unwrap_or(0);
                    for row in &table.rows {
                        let cell = row.cells.get(column).map_or("", String::as_str);
                        self.add_line(cell);
                    }
                }
                Content::Paragraph | Content::Code => {
                    for line in text.lines() {
                        self.add_line(line);
                    }
                }
                Content::Html => {}
            }
        }
    }
}

/// Returns the paths at the start of a text, in code marks or bare.
///
/// ```text
/// `src/a.rs` — new file        **Created:** `src/a.rs`, `src/b.rs`        src/a.rs (modified)
/// Modified `src/a.rs`          `old.rs` → `new.rs`                         [src/a.rs](link)
/// ```
fn leading(text: &str) -> Vec<&str> {
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

/// Returns a text without the note in brackets that it begins with.
fn without_note(text: &str) -> &str {
    text.strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
        .map_or(text, |(_, rest)| rest.trim_start())
}

/// Returns a text without a label, a verb and marks in front of its first path.
fn without_lead(text: &str) -> &str {
    const LEADS: &[&str] = &[
        "created",
        "added",
        "new",
        "modified",
        "changed",
        "updated",
        "deleted",
        "removed",
        "edited",
        "renamed",
        "moved",
        "create",
        "modify",
        "add",
        "update",
        "delete",
        "files",
        "file",
        "tests",
        "test",
        "source",
        "docs",
        "key files",
        "created/modified",
        "rewrote",
        "extended",
        "tracked",
    ];
    let mut text = text.trim_start_matches([
        '*', '_', ' ', '-', '+', '~', '\u{251c}', '\u{2514}', '\u{2500}', '\u{2502}',
    ]);
    for sign in ["[x] ", "[ ] ", "NEW ", "NEW: ", "MOD ", "A ", "M ", "D "] {
        text = text.strip_prefix(sign).unwrap_or(text);
    }
    for lead in LEADS {
        let Some(rest) = text
            .get(..lead.len())
            .filter(|start| start.eq_ignore_ascii_case(lead))
            .map(|_| &text[lead.len()..])
        else {
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

/// Splits the path off that a text begins with.
fn first_path(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(['*', '_', '~']);
    if let Some(inner) = text.strip_prefix('`') {
        let (span, after) = inner.split_once('`')?;
        let path = span.split(" (").next().unwrap_or(span).trim();
        let is_whole = !path.is_empty() && !path.contains(' ') && !path.ends_with("()");
        return (is_whole || is_path(path)).then_some((path, after));
    }
    if let Some((name, after)) = text
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]("))
    {
        let path = name.trim_matches('`');
        return is_path(path).then(|| (path, after.split_once(')').map_or("", |(_, rest)| rest)));
    }
    let end = text
        .find(|c: char| c.is_whitespace() || c == ',' || c == ';')
        .unwrap_or(text.len());
    let path = text[..end].trim_end_matches(['*', ':', '.', '`']);
    is_path(path).then(|| (path, &text[path.len()..]))
}

/// Tells whether a text without spaces looks like the path of a file or folder.
fn is_path(text: &str) -> bool {
    const NAMES: &[&str] = &[
        "Makefile",
        "Dockerfile",
        "LICENSE",
        "Gemfile",
        "Rakefile",
        "Procfile",
        "CODEOWNERS",
        "Justfile",
        "Caddyfile",
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
    let name = text
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(text);
    let has_ending = name.rsplit_once('.').is_some_and(|(_, ending)| {
        (1..=12).contains(&ending.len())
            && ending
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "{},*_-".contains(c))
            && ending.contains(|c: char| c.is_ascii_alphabetic() || c == '*' || c == '{')
    });
    let has_folder = text.contains('/') && text.chars().any(char::is_alphabetic);
    has_ending || has_folder || NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read(text: &str) -> Option<Vec<String>> {
        files(&Document::parse(text, Path::new("a.md"), &mut Vec::new()))
    }

    #[test]
    fn paths_are_read_without_what_is_said_of_them() {
        for (text, paths) in [
            (
                "`src/a.rs` \u{2014} new file with `helper()`",
                &["src/a.rs"][..],
            ),
            ("src/a.rs -- created: all of it", &["src/a.rs"]),
            ("src/a.rs: what changed", &["src/a.rs"]),
            (
                "**Created:** `src/a.rs`, `src/b.rs`",
                &["src/a.rs", "src/b.rs"],
            ),
            ("Modified `MANIFEST.in`", &["MANIFEST.in"]),
            (
                "**`src/app/(auth)/[id]/page.tsx`** (new, 12 tests)",
                &["src/app/(auth)/[id]/page.tsx"],
            ),
            ("`src/{a,b}.ts`", &["src/{a,b}.ts"]),
            (
                "`lib/l10n/app*.dart` - regenerated",
                &["lib/l10n/app*.dart"],
            ),
            ("`old.rs` \u{2192} `new.rs`", &["old.rs", "new.rs"]),
            ("`Makefile`", &["Makefile"]),
            ("See `files_modified` in frontmatter (14 files).", &[]),
            ("None", &[]),
            ("7 files updated", &[]),
        ] {
            assert_eq!(leading(text), paths, "{text}");
        }
    }

    #[test]
    fn front_matter_and_body_are_one_set() {
        let text = "---\nkey-files:\n  created: [src/a.rs]\n  modified:\n    - src/b.rs: renamed\n    - path: src/c.rs\n---\n## Files Created/Modified\n- `a.rs` - again\n- `src/d.rs`\n  - `run()` added\n\n## Files to read\n- `x.rs`\n";
        assert_eq!(
            read(text).unwrap(),
            ["src/a.rs", "src/b.rs", "src/c.rs", "src/d.rs"]
        );
    }

    #[test]
    fn no_list_is_not_an_empty_list() {
        assert_eq!(read("# T\n"), None);
        assert_eq!(read("---\nfiles_modified: 7\n---\n"), None);
        assert_eq!(read("---\nfiles_modified: []\n---\n"), Some(Vec::new()));
        let table = "### Files Changed\n\n| File | Change |\n|---|---|\n| `src/a.rs` | new |\n";
        assert_eq!(read(table).unwrap(), ["src/a.rs"]);
    }
}
