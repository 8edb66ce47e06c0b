//! Which files a plan touched.

use std::collections::HashMap;
use std::collections::HashSet;
use std::ops::Range;

use crate::markdown::BlockContent;
use crate::markdown::Node;
use crate::markdown::node::Value;
use crate::planning::document::Document;
use crate::planning::is_absent;
use crate::planning::summary::file_path::is_path;
use crate::planning::summary::file_path::leading;

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
    let list = paths.list.into_iter().map(str::to_owned);
    paths.is_known.then(|| list.collect())
}

fn heads_files(words: &[String]) -> bool {
    let is = |word: &String, list: &[&str]| list.contains(&word.as_str());
    words.iter().any(|word| is(word, FILE_WORDS))
        && words
            .iter()
            .all(|word| is(word, FILE_WORDS) || is(word, TITLE_WORDS))
}

/// A longer text is no path.
const MAX_PATH_LENGTH: usize = 4096;

/// How many folders above a file are compared with the beginning of a shorter path.
const MAX_DEPTH: usize = 32;

#[derive(Default)]
struct Paths<'d> {
    list: Vec<&'d str>,
    /// Where each path stands in the list.
    places: HashMap<&'d str, usize>,
    /// What the paths of the list end with, from some folder on.
    endings: HashSet<&'d str>,
    /// Whether there was a list at all, perhaps an empty one.
    is_known: bool,
}

impl<'d> Paths<'d> {
    /// Adds a path, unless it is there under a name that says more.
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

    /// Adds one entry of a list: a path, a mapping with one, or `path: what changed`, which YAML takes for a mapping.
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

    /// Adds the path that a text begins with; a number is only a count.
    fn add_text(&mut self, text: &'d str) {
        let found = leading(text);
        if found.is_empty() && !text.trim().contains(' ') && is_path(text.trim()) {
            self.add(text);
        }
        for path in found {
            self.add(path);
        }
    }

    /// Adds the paths that a line begins with, if they look like some.
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
                        // Nested items tell about the file above them, or list the files of a group.
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

/// Returns a path, and what is left of it from each folder on.
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
        assert_eq!(
            read(text).unwrap(),
            ["src/a.rs", "src/b.rs", "src/c.rs", "src/d.rs"]
        );
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
        assert_eq!(
            list(&["b.rs", "a.rs", "src/b.rs", "b.rs"]),
            ["src/b.rs", "a.rs"]
        );
        assert_eq!(list(&["src/b.rs", "b.rs", "rb.rs"]), ["src/b.rs", "rb.rs"]);
        assert_eq!(
            list(&["a/b.rs", "c/b.rs", "x/c/b.rs"]),
            ["a/b.rs", "x/c/b.rs"]
        );
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
