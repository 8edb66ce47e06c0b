//! Extracts the files that a plan changed, and its commits, exactly as written.

use std::collections::HashSet;
use std::hash::Hash;

use crate::markdown::{BlockContent, Node, Value};
use crate::plan::read::document::Document;
use crate::plan::read::is_absent;
use crate::plan::read::vocabulary::{has, words};
use crate::text::file_name;

/// Returns the hashes in the front matter, otherwise in the body's lines about tasks and commits; `None` if no list of
/// them is stated.
pub(super) fn commits(document: &Document<'_>) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut is_known = false;
    // The first list of hashes is complete; `commits` repeats them with messages.
    for key in words("fields with commits") {
        let Some(node) = document.get(key).filter(|_| found.is_empty()) else { continue };
        is_known |= key.starts_with("commit") && matches!(node.value, Value::List(_));
        for item in node.elements() {
            let hash = item.get(&["hash", "sha", "commit", "commit_hash", "commits"]);
            let text = hash.unwrap_or(item).flat();
            let words = text.split(|c: char| !c.is_ascii_alphanumeric());
            let words = words.filter(|word| !word.is_empty());
            let leading = words.take_while(|word| (7..=64).contains(&word.len()) && is_hex(word));
            found.extend(leading.map(str::to_owned));
        }
    }
    if found.is_empty() {
        found = in_body(document);
    }
    let found = distinct(found);
    (is_known || !found.is_empty()).then_some(found)
}

/// Returns the hashes in the paragraphs, list items, tables and sections of the body that are about tasks and commits.
fn in_body(document: &Document<'_>) -> Vec<String> {
    let outline = &document.outline;
    let is_about = |text: &str| {
        let text = text.to_lowercase();
        words("commits").any(|word| text.contains(word))
    };
    let mut found = Vec::new();
    for section in outline.sections() {
        let is_of_section = is_about(&section.title);
        for block in outline.blocks(&section.own) {
            let text = outline.slice(&block.range);
            if !matches!(block.content, BlockContent::Code) && (is_of_section || is_about(text)) {
                found.extend(hashes(text).map(str::to_owned));
            }
        }
    }
    found
}

/// Returns the hashes of a text: words of hexadecimal digits, of which some are letters unless they stand in a code span.
fn hashes(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || "-_/#@=.`".contains(c);
    text.split(move |c| !is_part(c)).filter_map(|word| {
        let bare = word.trim_matches(['`', '.']);
        let is_mixed = bare.contains(|c: char| c.is_ascii_digit())
            && bare.contains(|c: char| c.is_ascii_alphabetic());
        let is_certain = is_mixed || word.starts_with('`') && !bare.starts_with("20");
        (matches!(bare.len(), 7..=12 | 40) && is_hex(bare) && is_certain).then_some(bare)
    })
}

fn is_hex(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

fn distinct<T: Hash + Eq + Clone>(mut list: Vec<T>) -> Vec<T> {
    let mut seen = HashSet::new();
    list.retain(|one| seen.insert(one.clone()));
    list
}

/// Returns the files in the front matter and in the sections of files in the body, without duplicates, in that order; `None`
/// if neither lists any.
pub(super) fn files(document: &Document<'_>) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut is_known = false;
    let fields: Vec<&str> = words("fields with files").collect();
    let rows = document.get("task_rows").map(Node::elements).unwrap_or_default();
    let of_rows = rows.into_iter().filter_map(|row| row.get(&fields));
    for node in fields.iter().filter_map(|key| document.get(key)).chain(of_rows) {
        is_known |= !matches!(node.value, Value::Text(_));
        add_files(node, &mut found);
    }
    let is_title =
        |title: &[String]| title.len() <= 4 && title.iter().any(|word| has("files", word));
    for section in document.sections(is_title) {
        let text = document.outline.slice(&section.whole);
        is_known |= is_absent(text);
        for block in document.outline.blocks(&section.whole) {
            match &block.content {
                BlockContent::Table(table) => {
                    let names = ["file", "path", "files", "file path", "artifact"];
                    let column = table.column(&names).unwrap_or(0);
                    let cells = table.rows.iter().filter_map(|row| row.cells.get(column));
                    found.extend(cells.flat_map(|cell| paths(cell)));
                }
                BlockContent::Html => {}
                _ => found.extend(document.outline.slice(&block.range).lines().flat_map(paths)),
            }
        }
    }
    let found = distinct(found);
    (is_known || !found.is_empty()).then(|| found.into_iter().map(str::to_owned).collect())
}

/// Adds the files of a field: texts, mappings with a path, and `path: what changed`, which YAML parses as a mapping.
fn add_files<'d>(node: &'d Node, found: &mut Vec<&'d str>) {
    match &node.value {
        Value::Text(text) => found.extend(paths(text)),
        Value::List(items) => items.iter().for_each(|item| add_files(item, found)),
        Value::Map(pairs) => match node.get(&["path", "file", "name"]) {
            Some(path) => add_files(path, found),
            None => pairs.iter().for_each(|(key, value)| match paths(key).next() {
                Some(path) => found.push(path),
                None => add_files(value, found),
            }),
        },
    }
}

/// Returns the paths of a line, in code spans or bare, before a remark on them.
///
/// ```text
/// `src/a.rs` — new file        **Created:** `src/a.rs`, `src/b.rs`        src/a.rs (modified)
/// ```
fn paths(line: &str) -> impl Iterator<Item = &str> {
    // A label ends with a colon, too.
    let line = line.split_once(":** ").map_or(line, |(_, value)| value);
    let ends = [" — ", " – ", " - ", " -- ", ": "].iter();
    let end = ends.filter_map(|mark| line.find(mark)).min();
    let head = &line[..end.unwrap_or(line.len())];
    let (marks, step): (&[char], usize) = match head.find('`') {
        Some(_) => (&['`'], 2),
        None => (&[' ', ',', ';', '[', ']', '(', ')', '*', '│'], 1),
    };
    let words = head.split(marks).skip(step - 1).step_by(step);
    words.map(|path| path.trim_start_matches("./")).filter(|path| is_path(path))
}

/// Returns whether a text looks like the path of a file or folder.
fn is_path(text: &str) -> bool {
    let name = file_name(text.trim_end_matches('/'));
    let has_ending = name.rsplit_once('.').is_some_and(|(_, ending)| {
        (1..=12).contains(&ending.len())
            && ending.chars().all(|c| c.is_ascii_alphanumeric() || "{},*_-".contains(c))
            && ending.contains(|c: char| c.is_ascii_alphabetic() || c == '*' || c == '{')
    });
    let has_folder = text.contains('/') && text.contains(char::is_alphabetic);
    let is_other = text.contains("://")
        || text.ends_with("()")
        || text.contains(['"', '\'', '=', '<', '>', '|', ';'])
        || text.contains(' ') && !text.contains('/')
        || text.starts_with(['/', '@']) && !text[1..].contains('/');
    !is_other && (has_ending || has_folder || ["Makefile", "Dockerfile", "LICENSE"].contains(&name))
}
