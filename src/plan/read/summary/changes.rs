//! Extracts the files that a plan changed, and its commits, exactly as written.

use std::collections::{HashMap, HashSet};

use crate::markdown::{BlockContent, Node, Ranges, Value};
use crate::plan::read::document::{Document, title_words};
use crate::plan::read::is_absent;
use crate::text::{file_name, strip_prefix_ignore_case};

/// Title words of sections about commits of other plans, or that repeat those of this one.
const ABOUT_OTHERS: &[&str] = &[
    "deviation", "deviations", "issues", "auto", "self", "verification", "decisions", "next",
    "known", "notes", "readiness", "stubs", "setup",
];

/// Words for commits and tasks, in lower case.
const ABOUT_COMMITS: &[&str] = &["commit", "task", "коммит", "задач"];

/// Returns the hashes in the front matter, otherwise in the body's commit sections, otherwise in its task
/// lines, otherwise in a self-check, otherwise under commit labels.
pub(super) fn commits(document: &Document<'_>) -> Option<Vec<String>> {
    let (stated, is_known) = in_fields(document);
    if !stated.is_empty() {
        return Some(unique(stated));
    }
    let found = in_body(document).into_iter().find(|found| !found.is_empty());
    found.map(unique).or(is_known.then(Vec::new))
}

fn unique(mut hashes: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    hashes.retain(|hash| seen.insert(hash.clone()));
    hashes
}

/// Returns the hashes of the front matter, and whether it has a list of them.
fn in_fields(document: &Document<'_>) -> (Vec<String>, bool) {
    let mut hashes = Vec::new();
    let mut is_known = false;
    for key in ["commit_hashes", "commits", "commit", "commit_hash"] {
        let Some(node) = document.field(&[key]) else { continue };
        is_known |= matches!(node.value, Value::List(_));
        match &node.value {
            Value::Text(line) => add_line(&mut hashes, line, true),
            Value::List(_) | Value::Map(_) => {
                for item in node.elements() {
                    let stated = item.get(&["hash", "sha", "commit"]).unwrap_or(item);
                    add_leading(&mut hashes, &stated.flat());
                }
            }
        }
        // The list of hashes is complete; `commits` repeats them with messages.
        if !hashes.is_empty() {
            return (hashes, is_known);
        }
    }
    let tasks = ["task_rows", "tasks"].map(|key| document.field(&[key]));
    for task in tasks.iter().flatten().flat_map(|node| node.elements()) {
        let stated = task.get(&["commit", "commit_hash", "commits", "hash"]);
        for text in stated.map(Node::texts).unwrap_or_default() {
            add_leading(&mut hashes, &text);
        }
    }
    (hashes, is_known)
}

/// Returns the hashes of the body by where they are: in sections about commits, in lines about tasks and commits, in a
/// self-check, after a label in any section.
fn in_body(document: &Document<'_>) -> [Vec<String>; 4] {
    let [mut of_sections, mut of_tasks, mut of_check, mut of_labels] = [const { Vec::new() }; 4];
    let outline = &document.outline;
    let others = outline.sections().iter().filter(|section| {
        let words = title_words(&section.title);
        let is_task = words.first().is_none_or(|word| word == "task");
        section.level > 1
            && !is_task
            && words.iter().any(|word| ABOUT_OTHERS.contains(&word.as_str()))
    });
    let others = Ranges::merge(others.map(|section| section.heading.start..section.whole.end));
    let commits = document.sections(|words| words.iter().any(|word| word.starts_with("commit")));
    for section in commits.iter().filter(|section| !others.contains(section.heading.start)) {
        for line in outline.text()[section.heading.start..section.whole.end].lines() {
            add_line(&mut of_sections, line, true);
        }
    }
    let is_about = |text: &str| {
        let text = text.to_lowercase();
        ABOUT_COMMITS.iter().any(|word| text.contains(word))
    };
    let mut is_code = false;
    for section in outline.sections().iter().filter(|one| !others.contains(one.heading.start)) {
        let of_section = is_about(&section.title);
        add_line(&mut of_tasks, &section.title, of_section);
        let mut is_table = false;
        for line in outline.text()[section.own.clone()].lines() {
            is_code ^= line.trim_start().starts_with("```");
            let of_line = is_about(line);
            is_table = line.trim_start().starts_with('|') && (is_table || of_line);
            if !is_code && (of_section || of_line || is_table) {
                add_line(&mut of_tasks, line, of_line);
            }
        }
    }
    let checks = document
        .sections(|words| matches!(words, [one, two, ..] if one == "self" && two == "check"));
    for line in checks.iter().flat_map(|section| outline.slice(&section.whole).lines()) {
        add_line(&mut of_check, line, false);
    }
    for value in document.values(&["commit", "commits", "committed_in"]) {
        add_line(&mut of_labels, value, true);
    }
    [of_sections, of_tasks, of_check, of_labels]
}

/// Adds the hashes at the start of a list entry; the commit message follows them.
fn add_leading(hashes: &mut Vec<String>, text: &str) {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let leading = words.take_while(|word| (7..=64).contains(&word.len()) && is_hex(word));
    hashes.extend(leading.map(str::to_owned));
}

/// Adds the hashes of a line; in one about commits, a hash may look like a plain number.
fn add_line(hashes: &mut Vec<String>, line: &str, is_about_commits: bool) {
    let mut at = 0;
    for word in line.split(|c: char| !c.is_ascii_alphanumeric()) {
        let start = at;
        at += word.len();
        let (before, after) = (line[..start].chars().next_back(), line[at..].chars().next());
        at += after.map_or(0, char::len_utf8);
        if !matches!(word.len(), 7..=12 | 40) || !is_hex(word) {
            continue;
        }
        let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
        let has_letter = word.bytes().any(|byte| byte.is_ascii_alphabetic());
        let is_date = word.len() == 8 && word.starts_with("20");
        let is_code = before == Some('`') && after == Some('`');
        let is_certain =
            has_digit && has_letter || is_about_commits && is_code && (has_letter || !is_date);
        let joins = |c: char| "-_/#@=".contains(c) || !c.is_ascii() && c.is_alphanumeric();
        let is_part = before.is_some_and(|c| "-_/#@=.".contains(c)) || after.is_some_and(joins);
        if is_certain && !is_part {
            hashes.push(word.to_owned());
        }
    }
}

fn is_hex(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Fields that list files; a mapping in such a field has a list for some of the [`KINDS`].
const FIELDS: &[&str] = &[
    "key_files", "files_created", "files_modified", "files_changed", "files_deleted",
    "files_touched", "files",
];
const KINDS: &[&str] = &[
    "created", "added", "new", "modified", "changed", "updated", "deleted", "removed", "renamed",
    "moved", "touched",
];

/// Labels that list the files of a task or a fix, used if there is no overall list.
const LABELS: &[&str] = &[
    "files", "files_created", "files_modified", "files_changed", "files_created/modified",
    "modified_files", "created_files",
];

/// Words that a title may consist of to introduce a list of files, in addition to [`KINDS`] and at least one of
/// [`FILE_WORDS`].
const TITLE_WORDS: &[&str] = &[
    "key", "and", "or", "main", "source", "affected", "by", "this", "plan", "in", "list",
    "summary", "total", "all",
];
const FILE_WORDS: &[&str] =
    &["files", "file", "artifacts", "archivos", "arquivos", "fichiers", "dateien", "файлы"];

/// Returns the files listed in the front matter and the body, without duplicates, in that order; `None` if
/// neither lists any.
pub(super) fn files(document: &Document<'_>) -> Option<Vec<String>> {
    let mut paths = Paths::default();
    for node in FIELDS.iter().filter_map(|key| document.field(&[key])) {
        paths.add_node(node);
    }
    let tasks = document.field(&["task_rows"]).map(Node::elements).unwrap_or_default();
    for node in tasks.iter().filter_map(|task| task.get(&["files"])) {
        paths.add_node(node);
    }
    let heads_files = |words: &[String]| {
        let is = |word: &String, list: &[&str]| list.contains(&word.as_str());
        let is_known = |word| is(word, FILE_WORDS) || is(word, TITLE_WORDS) || is(word, KINDS);
        words.iter().any(|word| is(word, FILE_WORDS)) && words.iter().all(is_known)
    };
    for section in document.sections(heads_files) {
        let text = document.outline.slice(&section.whole);
        paths.is_known |= is_absent(text) || text.to_lowercase().starts_with("none");
        for block in document.outline.blocks(&section.whole) {
            match &block.content {
                // Nested items describe the file above them, or list the files of a group.
                BlockContent::Item(item) => {
                    let is_entry = |path: &&str| item.depth == 0 || is_path(path);
                    leading(&item.text)
                        .into_iter()
                        .filter(is_entry)
                        .for_each(|path| paths.add(path));
                }
                BlockContent::Table(table) => {
                    let names = ["file", "path", "files", "file path", "artifact"];
                    let column = table.column(&names).unwrap_or(0);
                    let cells = table.rows.iter().filter_map(|row| row.cells.get(column));
                    cells.for_each(|cell| paths.add_line(cell));
                }
                BlockContent::Paragraph | BlockContent::Code => {
                    let lines = document.outline.slice(&block.range).lines();
                    lines.for_each(|line| paths.add_line(line));
                }
                BlockContent::Html => {}
            }
        }
    }
    if !paths.is_known {
        document.values(LABELS).into_iter().for_each(|value| paths.add_line(value));
    }
    let list = paths.list.into_iter().map(str::to_owned);
    paths.is_known.then(|| list.collect())
}

/// Maximum number of folders above a file that are compared with a shorter path.
const MAX_DEPTH: usize = 32;

#[derive(Default)]
struct Paths<'d> {
    list: Vec<&'d str>,
    /// Index in the list of each path.
    places: HashMap<&'d str, usize>,
    /// The listed paths, and what follows each of their slashes.
    endings: HashSet<&'d str>,
    /// Whether there was any list, even an empty one.
    is_known: bool,
}

impl<'d> Paths<'d> {
    /// Adds a path, unless it is already listed, possibly with more folders; a listed suffix of it is
    /// replaced.
    fn add(&mut self, path: &'d str) {
        let path = path.trim().trim_start_matches("./");
        if path.is_empty() {
            return;
        }
        self.is_known = true;
        if self.endings.contains(path) {
            return;
        }
        let folders = path.match_indices('/').rev().take(MAX_DEPTH);
        let endings = std::iter::once(path).chain(folders.map(|(at, _)| &path[at + 1..]));
        let endings: Vec<&str> = endings.collect();
        let short = endings.iter().filter_map(|ending| self.places.get(ending)).min();
        let place = short.copied().unwrap_or(self.list.len());
        if let Some(short) = self.list.get_mut(place) {
            self.places.remove(short);
            *short = path;
        } else {
            self.list.push(path);
        }
        self.places.insert(path, place);
        self.endings.extend(endings);
    }

    /// Adds the files of a field: texts, mappings with a path, and `path: what changed`, which YAML parses as a mapping.
    fn add_node(&mut self, node: &'d Node) {
        match &node.value {
            Value::Text(text) => self.add_text(text),
            Value::List(items) => {
                self.is_known = true;
                for item in items {
                    let named = item.get(&["path", "file", "name", "filename"]);
                    let text = item.as_text().or_else(|| named.and_then(Node::as_text));
                    let key =
                        || item.pairs().first().map(|(key, _)| key).filter(|key| is_path(key));
                    if let Some(text) = text {
                        self.add_text(text);
                    } else if let Some(key) = key() {
                        self.add(key);
                    }
                }
            }
            Value::Map(_) => {
                for inner in KINDS.iter().filter_map(|kind| node.get(&[kind])) {
                    self.add_node(inner);
                }
            }
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
        leading(line).into_iter().filter(|path| is_path(path)).for_each(|path| self.add(path));
    }
}

/// Returns the paths at the start of a text, in code spans or bare.
///
/// ```text
/// `src/a.rs` — new file        **Created:** `src/a.rs`, `src/b.rs`        src/a.rs (modified)
/// Modified `src/a.rs`          `old.rs` → `new.rs`                         [src/a.rs](link)
/// ```
fn leading(text: &str) -> Vec<&str> {
    const JOINTS: &[&str] = &["and ", ", and ", ",", "+", "&", "/ ", "->", "→"];
    let mut rest = without_lead(text);
    let mut paths = Vec::new();
    while let Some((path, after)) = first_path(rest) {
        paths.push(path);
        let joint = after.trim_start_matches(['*', '_']).trim_start();
        let noted = joint.strip_prefix('(').and_then(|note| note.split_once(')'));
        let joint = noted.map_or(joint, |(_, rest)| rest.trim_start());
        let next = JOINTS.iter().find_map(|word| joint.strip_prefix(word));
        rest = next.unwrap_or_default().trim_start();
    }
    paths
}

/// Strips a label, a verb and markup before the first path.
fn without_lead(text: &str) -> &str {
    const LEADS: &[&str] = &[
        "edited", "create", "modify", "add", "update", "delete", "files", "file", "tests", "test",
        "source", "docs", "key files", "created/modified", "rewrote", "extended", "tracked",
    ];
    let mut text = text.trim_start_matches(['*', '_', ' ', '-', '+', '~', '├', '└', '─', '│']);
    for sign in ["[x] ", "[ ] ", "NEW ", "NEW: ", "MOD ", "A ", "M ", "D "] {
        text = text.strip_prefix(sign).unwrap_or(text);
    }
    let marks = ['*', ':', ' ', '(', ')'];
    let after = KINDS.iter().chain(LEADS).find_map(|lead| {
        let rest = strip_prefix_ignore_case(text, lead)?;
        let after = rest.trim_start_matches(marks).trim_start_matches(|c: char| c.is_ascii_digit());
        rest.starts_with([' ', ':', '*', '(']).then(|| after.trim_start_matches(marks))
    });
    after.unwrap_or(text)
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
    let is_other = text.contains("://")
        || text.ends_with("()")
        || text.contains(' ') && !text.contains('/')
        || text.contains(['"', '\'', '=', '<', '>', '|', '`', ';'])
        || text.starts_with(['/', '@', '(']) && !text[1..].contains('/');
    if text.is_empty() || is_other {
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
