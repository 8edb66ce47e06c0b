//! Extracts the files that a plan changed.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::markdown::node::Value;
use crate::markdown::{BlockContent, Node};
use crate::plan::read::document::Document;
use crate::plan::read::is_absent;
use crate::plan::read::summary::file_path::{is_path, leading};

/// Fields that list files; a mapping in such a field has a list for some of the [`KINDS`].
const FIELDS: &[&str] = &[
    "key_files", "files_created", "files_modified", "files_changed", "files_deleted",
    "files_touched", "files",
];
const KINDS: &[&str] = &[
    "created", "added", "new", "modified", "changed", "updated", "deleted", "removed", "renamed",
    "moved", "touched",
];
const PATH_KEYS: &[&str] = &["path", "file", "name", "filename"];

/// Labels that list the files of a task or a fix, used if there is no overall list.
const LABELS: &[&str] = &[
    "files", "files created", "files modified", "files changed", "files created/modified",
    "modified files", "created files",
];

/// Words that a title may consist of to introduce a list of files, in addition to at least one of
/// [`FILE_WORDS`].
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

/// Returns the files listed in the front matter and the body, without duplicates, in that order; `None` if
/// neither lists any.
pub(super) fn files(document: &Document<'_>) -> Option<Vec<String>> {
    let mut paths = Paths::default();
    for key in FIELDS {
        if let Some(node) = document.field(&[key]) {
            paths.add_node(node);
        }
    }
    for task in document.field(&["task_rows"]).map(Node::elements).unwrap_or_default() {
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
    let list = paths.list.into_iter().map(str::to_owned);
    paths.is_known.then(|| list.collect())
}

fn heads_files(words: &[String]) -> bool {
    let is = |word: &String, list: &[&str]| list.contains(&word.as_str());
    words.iter().any(|word| is(word, FILE_WORDS))
        && words.iter().all(|word| is(word, FILE_WORDS) || is(word, TITLE_WORDS))
}

/// Maximum length of a path, in bytes.
const MAX_PATH_LENGTH: usize = 4096;

/// Maximum number of folders above a file that are compared with a shorter path.
const MAX_DEPTH: usize = 32;

#[derive(Default)]
struct Paths<'d> {
    list: Vec<&'d str>,
    /// Index in the list of each path.
    places: HashMap<&'d str, usize>,
    /// All suffixes of the listed paths that start after a slash, and the paths themselves.
    endings: HashSet<&'d str>,
    /// Whether there was any list, even an empty one.
    is_known: bool,
}

impl<'d> Paths<'d> {
    /// Adds a path, unless it is already listed, possibly with more folders; a listed suffix of it is
    /// replaced.
    fn add(&mut self, path: &'d str) {
        let path = path.trim().trim_start_matches("./");
        if path.is_empty() || path.len() > MAX_PATH_LENGTH {
            return;
        }
        self.is_known = true;
        if self.endings.contains(path) {
            return;
        }
        let short = endings(path).filter_map(|ending| self.places.get(ending));
        let place = short.min().copied().unwrap_or(self.list.len());
        if let Some(short) = self.list.get_mut(place) {
            self.places.remove(short);
            *short = path;
        } else {
            self.list.push(path);
        }
        self.places.insert(path, place);
        self.endings.extend(endings(path));
    }

    fn add_node(&mut self, node: &'d Node) {
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

    /// Adds a list entry: a path, a mapping with one, or `path: what changed`, which YAML parses as a
    /// mapping.
    fn add_item(&mut self, item: &'d Node) {
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

    /// Adds the paths at the start of a text; a number is only a count.
    fn add_text(&mut self, text: &'d str) {
        let found = leading(text);
        if found.is_empty() && !text.trim().contains(' ') && is_path(text.trim()) {
            self.add(text);
        }
        for path in found {
            self.add(path);
        }
    }

    /// Adds the paths at the start of a line, if they look like paths.
    fn add_line(&mut self, line: &'d str) {
        for path in leading(line).into_iter().filter(|path| is_path(path)) {
            self.add(path);
        }
    }

    fn add_section(&mut self, document: &'d Document<'_>, range: &Range<usize>) {
        let text = document.outline.slice(range);
        self.is_known |= is_absent(text) || text.to_lowercase().starts_with("none");
        for block in document.outline.blocks(range) {
            let text = document.outline.slice(&block.range);
            match &block.content {
                BlockContent::Item(item) => {
                    for path in leading(&item.text) {
                        // Nested items describe the file above them, or list the files of a group.
                        if item.depth == 0 || is_path(path) {
                            self.add(path);
                        }
                    }
                }
                BlockContent::Table(table) => {
                    let names = ["file", "path", "files", "file path", "artifact"];
                    let column = table.column(&names).unwrap_or(0);
                    for row in &table.rows {
                        let cell = row.cells.get(column).map_or("", String::as_str);
                        self.add_line(cell);
                    }
                }
                BlockContent::Paragraph | BlockContent::Code => {
                    for line in text.lines() {
                        self.add_line(line);
                    }
                }
                BlockContent::Html => {}
            }
        }
    }
}

/// Returns a path, and its suffixes that start after a slash, shortest first.
fn endings(path: &str) -> impl Iterator<Item = &str> {
    let folders = path.match_indices('/').rev().take(MAX_DEPTH);
    std::iter::once(path).chain(folders.filter_map(|(at, _)| path.get(at + 1..)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read(text: &str) -> Option<Vec<String>> {
        files(&Document::parse(text, Path::new("a.md"), &mut Vec::new()))
    }

    #[test]
    fn front_matter_and_body_are_one_set() {
        let text = "---\nkey-files:\n  created: [src/a.rs]\n  modified:\n    - src/b.rs: renamed\n    - path: src/c.rs\n---\n## Files Created/Modified\n- `a.rs` - again\n- `src/d.rs`\n  - `run()` added\n\n## Files to read\n- `x.rs`\n";
        assert_eq!(read(text).unwrap(), ["src/a.rs", "src/b.rs", "src/c.rs", "src/d.rs"]);
    }

    #[test]
    fn a_path_is_kept_under_the_name_that_says_most() {
        fn list<'a>(names: &[&'a str]) -> Vec<&'a str> {
            let mut paths = Paths::default();
            for name in names {
                paths.add(name);
            }
            paths.list
        }
        assert_eq!(list(&["b.rs", "a.rs", "src/b.rs", "b.rs"]), ["src/b.rs", "a.rs"]);
        assert_eq!(list(&["src/b.rs", "b.rs", "rb.rs"]), ["src/b.rs", "rb.rs"]);
        assert_eq!(list(&["a/b.rs", "c/b.rs", "x/c/b.rs"]), ["a/b.rs", "x/c/b.rs"]);
        assert_eq!(list(&["x".repeat(5000).as_str()]), [""; 0]);
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
