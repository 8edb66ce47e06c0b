//! Parses front matter: the fields at the start of a file, between two `---` lines.
//!
//! ```text
//! ---
//! phase: "05.1"
//! commit_hashes:
//!   - 84e9493
//! ---
//! ```
//!
//! A byte order mark and blank lines may precede it. It is read line by line, with warnings for the
//! lines that are not understood.

use std::ops::Range;
use std::path::Path;

use crate::text::{join, line_number};
use crate::warning::{Parsed, Warning};

/// Maximum number of bytes read of it.
const MAX_LENGTH: usize = 1024 * 1024;

/// The front matter of a file.
#[derive(Debug)]
pub struct FrontMatter {
    /// The fields: a mapping, empty if the file has no front matter.
    pub fields: Node,
    /// Byte range, including the `---` lines; without them, that of the byte order mark, if any.
    pub range: Range<usize>,
}

impl FrontMatter {
    /// Parses the front matter of `text`, if it has one.
    pub fn parse(text: &str, path: &Path) -> Parsed<Self> {
        let mut warnings = Vec::new();
        let Some((range, inner)) = find_block(text) else {
            if let Some(line) = unclosed(text) {
                warnings.push(Warning::at(
                    path,
                    line,
                    "the front matter has no closing ---; read as text",
                ));
            }
            // A byte order mark is not part of the first line.
            let mark = text.len() - text.trim_start_matches('\u{feff}').len();
            let fields = Node { value: Value::Map(Vec::new()), line: 1 };
            return Parsed::new(Self { fields, range: 0..mark }, warnings);
        };
        let fields = read(text, inner, path, &mut warnings);
        Parsed::new(Self { fields, range }, warnings)
    }

    /// Returns the value of the first of `keys` that is present.
    pub fn get(&self, keys: &[&str]) -> Option<&Node> {
        self.fields.get(keys)
    }

    /// Returns the text of the first of `keys` that is present and not empty.
    pub fn text(&self, keys: &[&str]) -> Option<&str> {
        keys.iter().find_map(|key| self.get(&[key])?.as_text())
    }

    /// Returns whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.fields.pairs().is_empty()
    }
}

/// Returns the byte range between the `---` lines of the first block, for callers that need a single line of
/// it.
pub fn inner_range(text: &str) -> Option<Range<usize>> {
    find_block(text).map(|(_, inner)| inner)
}

/// Returns whether the text between two `---` lines at the start of a file may be front matter, even if it is not
/// valid YAML: it is empty, or one of the first lines looks like a field.
fn may_be_fields(inner: &str) -> bool {
    let text = inner.trim_start();
    // After a blank line, `#` begins a heading, not a YAML comment, and prose is likelier than a field.
    if inner.lines().next().is_some_and(|line| line.trim().is_empty()) && !text.is_empty() {
        return text.lines().next().is_some_and(has_plain_key);
    }
    let mut fields = text
        .lines()
        .take_while(|line| !line.trim().is_empty())
        .filter(|line| !line.starts_with('#'))
        .peekable();
    fields.peek().is_none_or(|first| first.starts_with('{')) || fields.any(is_field)
}

/// Returns whether a line is a field whose name has few words: `Phase name: Parser`.
fn is_field(line: &str) -> bool {
    let Some((key, value)) = line.split_once(':') else { return false };
    let is_value = value.is_empty() || value.starts_with([' ', '\t']);
    let is_word = |word: &str| word.starts_with(char::is_alphanumeric);
    has_plain_key(line) || is_value && key.split(' ').count() <= 3 && key.split(' ').all(is_word)
}

/// Returns whether a line is a field whose name is one word.
fn has_plain_key(line: &str) -> bool {
    let key = line.split_once(':').map_or("", |(key, _)| key);
    !key.trim().is_empty()
        && !key.trim().contains(char::is_whitespace)
        && !key.starts_with(['*', '#'])
}

/// Finds a block, with its `---` lines and without, that is preceded only by blank lines and a byte order mark; a rule at
/// the start of a document is not its beginning.
fn find_block(text: &str) -> Option<(Range<usize>, Range<usize>)> {
    let start = opening_offset(text)?;
    let inner = start + text[start..].find('\n')? + 1;
    let mut at = inner;
    for line in text[inner..].split_inclusive('\n') {
        let end = at + line.len();
        if matches!(line.trim_end(), "---" | "...") {
            return may_be_fields(&text[inner..at]).then_some((start..end, inner..at));
        }
        at = end;
    }
    None
}

/// Returns the byte offset of the opening `---` line.
fn opening_offset(text: &str) -> Option<usize> {
    let rest = text.trim_start_matches('\u{feff}').trim_start();
    let line = rest.lines().next()?;
    let at = text.len() - rest.len();
    let begins_line =
        text[..at].trim_end_matches([' ', '\t']).ends_with(['\n', '\u{feff}']) || at == 0;
    (line.trim_end() == "---" && begins_line).then_some(at)
}

/// Returns the line number of an opening `---` that is followed by fields but never closed.
fn unclosed(text: &str) -> Option<usize> {
    let start = opening_offset(text)?;
    let next = text[start..].lines().nth(1)?;
    has_plain_key(next).then(|| line_number(text, start))
}

fn read(text: &str, range: Range<usize>, path: &Path, warnings: &mut Vec<Warning>) -> Node {
    let (mut inner, start) = (&text[range.clone()], range.start);
    let first_line = line_number(text, start);
    if inner.len() > MAX_LENGTH {
        let end = inner.floor_char_boundary(MAX_LENGTH);
        let message = "the front matter is longer than 1 MiB; the rest is not read";
        warnings.push(Warning::at(path, line_number(text, start + end), message));
        inner = &inner[..end];
    }
    let (fields, unclear) = read_fields(inner, first_line);
    if let Some(first) = unclear.first() {
        let message = match unclear.len() {
            1 => "is not understood in the front matter".to_owned(),
            lines => {
                format!("{lines} lines of the front matter, from here on, are not understood")
            }
        };
        warnings.push(Warning::at(path, *first, message));
    }
    fields
}

/// Maximum nesting depth; deeper levels are read as text.
const MAX_DEPTH: usize = 32;

/// Parses `text`, whose first line is line `first_line` of the file; returns the lines that were not understood, too.
fn read_fields(text: &str, first_line: usize) -> (Node, Vec<usize>) {
    let lines = text.lines().enumerate().map(|(index, raw)| Line::new(raw, first_line + index));
    let mut reader = Reader { lines: lines.collect(), next: 0, unclear: Vec::new() };
    let mut pairs = Vec::new();
    while let Some(line) = reader.peek() {
        let start = reader.next;
        if let Value::Map(found) = reader.block(line.indent, 0) {
            pairs.extend(found);
        } else {
            // A list or bare text at the top level belongs to no field.
            reader.next = reader.next.max(start + 1);
            let ignored = reader.lines[start..reader.next].iter().filter(|line| !line.is_empty());
            reader.unclear.extend(ignored.map(|line| line.number));
        }
    }
    reader.unclear.sort_unstable();
    (Node { value: Value::Map(pairs), line: first_line }, reader.unclear)
}

#[derive(Clone, Copy)]
struct Line<'a> {
    raw: &'a str,
    indent: usize,
    content: &'a str,
    number: usize,
}

impl<'a> Line<'a> {
    fn new(raw: &'a str, number: usize) -> Self {
        let content = raw.trim_start();
        Self { raw, indent: raw.len() - content.len(), content: content.trim_end(), number }
    }

    /// Returns whether it has nothing or only a comment.
    fn is_empty(&self) -> bool {
        self.content.is_empty() || self.content.starts_with('#')
    }

    /// Returns the text after the dash of a list item.
    fn item(&self) -> Option<&'a str> {
        ends_mark(self.content.strip_prefix('-')?)
    }
}

struct Reader<'a> {
    lines: Vec<Line<'a>>,
    next: usize,
    unclear: Vec<usize>,
}

impl<'a> Reader<'a> {
    /// Returns the next line that is not empty.
    fn peek(&mut self) -> Option<Line<'a>> {
        while self.lines.get(self.next)?.is_empty() {
            self.next += 1;
        }
        self.lines.get(self.next).copied()
    }

    /// Parses the lines indented by `indent` or more, as a list or a mapping.
    fn block(&mut self, indent: usize, depth: usize) -> Value {
        let Some(line) = self.peek() else { return Value::Text(String::new()) };
        if line.item().is_some() {
            Value::List(self.list(line.indent, depth))
        } else if line.content.starts_with(['{', '[']) {
            self.next += 1;
            self.value(line.content, line, depth).value
        } else if split_key(line.content).is_some() {
            Value::Map(self.map(line.indent, depth))
        } else {
            Value::Text(self.continuation(String::new(), indent))
        }
    }

    fn list(&mut self, indent: usize, depth: usize) -> Vec<Node> {
        let mut nodes = Vec::new();
        while let Some(line) = self.peek().filter(|line| line.indent == indent) {
            let Some(rest) = line.item() else { break };
            self.next += 1;
            let key =
                split_key(rest).filter(|_| depth < MAX_DEPTH && !rest.starts_with(['[', '{']));
            nodes.push(match key {
                None => self.value(rest, line, depth),
                // A mapping whose first field stands behind the dash.
                Some((key, value)) => {
                    let own = line.indent + line.content.len() - rest.len();
                    let first = Line { indent: own, content: rest, ..line };
                    let mut pairs = vec![(key, self.value(value, first, depth + 1))];
                    if let Some(next) = self.peek().filter(|next| next.indent > line.indent) {
                        pairs.extend(self.map(next.indent, depth + 1));
                    }
                    Node { value: Value::Map(pairs), line: line.number }
                }
            });
        }
        nodes
    }

    fn map(&mut self, indent: usize, depth: usize) -> Vec<(String, Node)> {
        let mut pairs = Vec::new();
        let is_field = |line: &Line<'_>| line.indent == indent && line.item().is_none();
        while let Some(line) = self.peek().filter(is_field) {
            self.next += 1;
            match split_key(line.content) {
                Some((key, rest)) => pairs.push((key, self.value(rest, line, depth))),
                None => self.unclear.push(line.number),
            }
        }
        pairs
    }

    /// Parses the value that begins with `rest`, behind the key or the dash of a line.
    fn value(&mut self, rest: &'a str, line: Line<'a>, depth: usize) -> Node {
        let number = line.number;
        if rest.is_empty() || rest.starts_with('#') {
            // A list may have the same indent as its key.
            let is_below = |next: &Line<'_>| {
                let is_list = next.item().is_some() && line.item().is_none();
                next.indent > line.indent || next.indent == line.indent && is_list
            };
            let value = match self.peek().filter(is_below) {
                Some(next) if depth < MAX_DEPTH => self.block(next.indent, depth + 1),
                Some(next) => Value::Text(self.continuation(String::new(), next.indent)),
                None => Value::Text(String::new()),
            };
            return Node { value, line: number };
        }
        if let Some(separator) = block_text(rest) {
            return Node::text(self.block_lines(line.indent, separator), number);
        }
        if rest.starts_with(['"', '\'', '[', '{']) {
            if let Some(value) = self.enclosed(rest, line, depth) {
                return Node { value, line: number };
            }
            if rest.starts_with(['[', '{']) {
                self.unclear.push(number);
            }
        }
        let text = self.continuation(without_comment(rest).to_owned(), line.indent + 1);
        // Quotes that are not escaped inside of it.
        let inner = |quote: &char| text.strip_prefix(*quote)?.strip_suffix(*quote);
        let inner = ['"', '\''].iter().find_map(inner).map(str::to_owned);
        Node::text(inner.unwrap_or(text), number)
    }

    /// Parses text in quotes or brackets, which may go on in further lines.
    fn enclosed(&mut self, rest: &str, line: Line<'a>, depth: usize) -> Option<Value> {
        let goes_on =
            |more: &&Line<'_>| more.indent > line.indent || more.content.starts_with([']', '}']);
        let more = self.lines[self.next..].iter().take_while(goes_on).map(|more| more.content);
        let text = join(std::iter::once(rest).chain(more), "\n");
        let (value, after) = flow(&text, ']', line.number, depth)?;
        let tail = after.split('\n').next().unwrap_or_default().trim_start();
        if !tail.is_empty() && !tail.starts_with('#') {
            return None;
        }
        self.next += text[..text.len() - after.len()].matches('\n').count();
        Some(value)
    }

    /// Appends the following lines indented by `indent` or more to `text`.
    fn continuation(&mut self, mut text: String, indent: usize) -> String {
        while let Some(line) = self.peek().filter(|line| line.indent >= indent.max(1)) {
            text.push_str(if text.is_empty() { "" } else { " " });
            text.push_str(without_comment(line.content));
            self.next += 1;
        }
        text
    }

    /// Returns the lines of a literal or folded text, which are indented by more than `indent`.
    fn block_lines(&mut self, indent: usize, separator: &str) -> String {
        let is_own = |line: &&Line<'_>| line.content.is_empty() || line.indent > indent;
        let own: Vec<Line<'a>> =
            self.lines[self.next..].iter().take_while(is_own).copied().collect();
        self.next += own.len();
        let texts = own.iter().filter(|line| !line.content.is_empty());
        let margin = texts.map(|line| line.indent).min();
        let text = |line: &Line<'a>| line.raw.get(margin.unwrap_or(0)..).unwrap_or(line.content);
        join(own.iter().map(text), separator).trim_end().to_owned()
    }
}

/// Returns the rest behind a mark, which must be followed by white space or nothing.
fn ends_mark(rest: &str) -> Option<&str> {
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim())
}

/// Returns what joins the lines of a literal (`|`) or folded (`>`) text.
fn block_text(rest: &str) -> Option<&'static str> {
    let head = without_comment(rest);
    let (separator, marks) = match head.strip_prefix('|') {
        Some(marks) => ("\n", marks),
        None => (" ", head.strip_prefix('>')?),
    };
    // How to end the text, and a digit that says how far it is indented, which its lines show as well.
    let is_mark = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-');
    (marks.len() <= 2 && marks.chars().all(is_mark)).then_some(separator)
}

/// Splits `key: rest`; a key in quotes loses them.
fn split_key(content: &str) -> Option<(String, &str)> {
    if content.starts_with(['"', '\'']) {
        let (key, rest) = quoted(content)?;
        return Some((key, ends_mark(rest.trim_start().strip_prefix(':')?)?));
    }
    let mut colons = content.match_indices(':');
    let (key, rest) =
        colons.find_map(|(at, _)| Some((content[..at].trim(), ends_mark(&content[at + 1..])?)))?;
    let is_other = ['`', '*', '@', '%', '[', '{', '#', '&', '!', '|', '>', ','];
    let is_key = !key.is_empty() && !key.starts_with(is_other) && !key.contains(" #");
    is_key.then(|| (key.to_owned(), rest))
}

/// Returns a text without a trailing comment.
fn without_comment(text: &str) -> &str {
    let mut before = text.match_indices('#').map(|(at, _)| &text[..at]);
    match before.find(|before| before.ends_with(' ')) {
        Some(before) if !text.starts_with('`') => before.trim_end(),
        _ => text,
    }
}

/// Splits a value off a text; `close` is the bracket that may enclose both. One that is not complete is none.
fn flow(text: &str, close: char, line: usize, depth: usize) -> Option<(Value, &str)> {
    let text = text.trim_start();
    match text.chars().next()? {
        '[' => {
            let (nodes, rest) = elements(&text[1..], ']', line, depth)?;
            Some((Value::List(nodes), rest))
        }
        '{' => {
            let (nodes, rest) = elements(&text[1..], '}', line, depth)?;
            let pairs = nodes.into_iter().flat_map(|node| match node.value {
                Value::Map(pairs) => pairs,
                _ => vec![(node.flat(), Node::text("", line))],
            });
            Some((Value::Map(pairs.collect()), rest))
        }
        '"' | '\'' => quoted(text).map(|(text, rest)| (Value::Text(text), rest)),
        _ => plain(text, close),
    }
}

/// Splits the elements up to a bracket off a text; `a: b` is a mapping of its own.
fn elements(mut text: &str, close: char, line: usize, depth: usize) -> Option<(Vec<Node>, &str)> {
    let mut found = Vec::new();
    loop {
        text = without_comments_before(text);
        if let Some(rest) = text.strip_prefix(close) {
            return Some((found, rest));
        } else if let Some(rest) = text.strip_prefix(',') {
            text = rest;
            continue;
        } else if depth > MAX_DEPTH {
            return None;
        }
        let (value, rest) = flow(text, close, line, depth + 1)?;
        let mut node = Node { value, line };
        text = without_comments_before(rest);
        if let Some(rest) = text.strip_prefix(':').map(without_comments_before) {
            let is_bare = rest.starts_with([',', ']', '}']);
            let empty = (Value::Text(String::new()), rest);
            let (value, rest) = if is_bare { empty } else { flow(rest, close, line, depth + 1)? };
            node.value = Value::Map(vec![(node.flat(), Node { value, line })]);
            text = rest;
        }
        found.push(node);
    }
}

/// Returns a text in brackets without white space and comments before it; a comment follows white space.
fn without_comments_before(mut text: &str) -> &str {
    loop {
        let rest = text.trim_start();
        if rest.len() == text.len() || !rest.starts_with('#') {
            return rest;
        }
        text = &rest[rest.find('\n').unwrap_or(rest.len())..];
    }
}

/// Splits an unquoted text off, up to a comma, a bracket, a comment or the colon behind a key.
fn plain(text: &str, close: char) -> Option<(Value, &str)> {
    let ends = |(at, c): &(usize, char)| match c {
        ':' => text[at + 1..].chars().next().is_none_or(|next| " ,]}\n".contains(next)),
        ' ' | '\t' | '\n' => text[at + 1..].starts_with('#'),
        c => *c == ',' || *c == close,
    };
    let (end, _) = text.char_indices().find(ends)?;
    let words = join(text[..end].lines().map(str::trim), " ");
    let value = Value::Text(words.trim_end().to_owned());
    (end > 0).then(|| (value, &text[end..]))
}

/// Splits a text in quotes off.
fn quoted(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next()?;
    let mut chars = text.char_indices().skip(1);
    let end = loop {
        match chars.next()? {
            (_, '\\') if quote == '"' => drop(chars.next()),
            (at, c) if c == quote => match c == '\'' && text[at + 1..].starts_with(c) {
                true => drop(chars.next()),
                false => break at,
            },
            _ => {}
        }
    };
    let (inner, rest) = (text[1..end].replace('\n', " "), &text[end + 1..]);
    if quote == '\'' {
        return Some((inner.replace("''", "'"), rest));
    }
    if !inner.contains('\\') {
        return Some((inner, rest));
    }
    // Not every backslash is an escape: `"\d+"`.
    let read = serde_json::from_str(&format!("\"{inner}\""));
    let quotes = |_| inner.replace("\\\"", "\"").replace("\\\\", "\\");
    Some((read.unwrap_or_else(quotes), rest))
}

/// One value of the front matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A scalar without its quotes; empty if there is no value.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in file order.
    Map(Vec<(String, Node)>),
}

/// A value with its line number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Line number in the file, counted from 1.
    pub line: usize,
}

impl Node {
    /// Returns a scalar node.
    pub fn text(text: impl Into<String>, line: usize) -> Self {
        Self { value: Value::Text(text.into()), line }
    }

    /// Returns the value of the first of `keys` that is present in a mapping.
    ///
    /// Keys are compared case-insensitively, and `-` equals `_`: authors mix `key-files` and `key_files`.
    pub fn get(&self, keys: &[&str]) -> Option<&Self> {
        let Value::Map(pairs) = &self.value else {
            return None;
        };
        keys.iter().find_map(|key| {
            pairs.iter().find(|(name, _)| same_key(name, key)).map(|(_, node)| node)
        })
    }

    /// Returns a scalar's text, or `None` for a list, a mapping or an empty scalar.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text.trim()).filter(|text| !text.is_empty()),
            Value::List(_) | Value::Map(_) => None,
        }
    }

    /// Returns the elements of a list; a scalar or a mapping is its own single element, an empty scalar has
    /// none.
    pub fn elements(&self) -> Vec<&Self> {
        match &self.value {
            Value::List(nodes) => nodes.iter().collect(),
            Value::Text(text) if text.trim().is_empty() => Vec::new(),
            Value::Text(_) | Value::Map(_) => vec![self],
        }
    }

    /// Returns the pairs of a mapping, or an empty slice for any other value.
    pub fn pairs(&self) -> &[(String, Self)] {
        match &self.value {
            Value::Map(pairs) => pairs,
            Value::Text(_) | Value::List(_) => &[],
        }
    }

    /// Returns the node as one line of text, as its author would have written it.
    ///
    /// YAML reads a list item such as `- D-01: use X` as a mapping, but it is meant as a sentence.
    pub fn flat(&self) -> String {
        match &self.value {
            Value::Text(text) => text.trim().to_owned(),
            Value::List(nodes) => join(nodes.iter().map(Self::flat), ", "),
            Value::Map(pairs) => {
                join(pairs.iter().map(|(key, node)| format!("{key}: {}", node.flat())), ", ")
            }
        }
    }

    /// Returns each non-empty element as one line of text.
    pub fn texts(&self) -> Vec<String> {
        self.elements().into_iter().map(Self::flat).filter(|text| !text.is_empty()).collect()
    }
}

fn same_key(a: &str, b: &str) -> bool {
    let fold = |byte: u8| {
        if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() }
    };
    a.len() == b.len() && a.bytes().map(fold).eq(b.bytes().map(fold))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Parsed<FrontMatter> {
        FrontMatter::parse(text, Path::new("a.md"))
    }

    #[test]
    fn hashes_and_ids_stay_text() {
        let found =
            parse("---\nplan: 08\nhashes: [84e9493, 0753326, 8475544]\nx: null\n---\n").value;
        assert_eq!(found.text(&["plan"]), Some("08"));
        assert_eq!(found.get(&["hashes"]).unwrap().texts(), ["84e9493", "0753326", "8475544"]);
    }

    #[test]
    fn lines_that_are_not_understood_are_named() {
        let text = "---\nphase: 01\nadded:\n  - @types/x (dev)\n  - `npx tsc` exits\nwhat: made it with \"type\": \"module\"\n%%\nplan: 02\nitems:\n- name: a\n  commit: 1e5\n---\nbody";
        let found = parse(text);
        let fields = &found.value;
        assert_eq!(fields.text(&["phase"]), Some("01"));
        assert_eq!(fields.text(&["plan"]), Some("02"));
        assert_eq!(fields.get(&["added"]).unwrap().texts(), ["@types/x (dev)", "`npx tsc` exits"]);
        let item = fields.get(&["items"]).unwrap().elements()[0];
        assert_eq!(item.get(&["commit"]).unwrap().as_text(), Some("1e5"));
        assert_eq!(found.warnings.len(), 1);
        assert_eq!(found.warnings[0].place.line, Some(7));
        assert_eq!(&text[fields.range.end..], "body");
    }

    #[test]
    fn an_unquoted_value_with_a_colon_is_text() {
        let text = "---\nstopped_at: Phase 3 done: it's ready to plan\r\nnote: as agreed:\nprogress:\n  last: plan 2: tests\n  percent: \"40\"\n---\n";
        let found = parse(text);
        assert_eq!(found.warnings, []);
        let fields = found.value;
        let stopped = "Phase 3 done: it's ready to plan";
        assert_eq!(fields.text(&["stopped_at"]), Some(stopped));
        assert_eq!(fields.text(&["note"]), Some("as agreed:"));
        let progress = fields.get(&["progress"]).unwrap();
        assert_eq!(fields.get(&["note"]).unwrap().line, 3);
        assert_eq!(progress.get(&["last"]).unwrap().as_text(), Some("plan 2: tests"));
        assert_eq!(progress.get(&["percent"]).unwrap().as_text(), Some("40"));
    }

    #[test]
    fn it_may_follow_a_byte_order_mark_and_blank_lines() {
        let found = parse("\u{feff}\r\n\n---\r\nphase: 1\r\n---\r\n").value;
        assert_eq!(found.text(&["phase"]), Some("1"));
    }

    #[test]
    fn a_rule_is_not_front_matter() {
        assert!(parse("# A\n---\nb: c\n---\n").value.is_empty());
        assert!(parse("---\n\n# Title\n").warnings.is_empty());
        for text in [
            "---\n\n# Title\n\nStatus: done\n\n---\n\nMore\n",
            "---\n\nFirst part.\n\n---\n\nSecond: part.\n",
            "---\nThe first part of the text.\nIt has two lines.\n---\nMore\n",
        ] {
            let found = parse(text);
            assert_eq!(found.value.range, 0..0, "{text:?}");
            assert_eq!(found.warnings, [], "{text:?}");
        }
        for text in [
            "---\n---\n",
            "---\n# none yet\n---\n",
            "---\n# note\n\nphase: 1\n---\n",
            "---\n\nphase: 1\n---\n",
            "---\n@broken\nphase: 1\n---\n",
            "---\nPhase name: Parser\n---\n",
            "---\n{phase: 1}\n---\n",
            "---\n%%\n  - ]\nphase: [\n---\n",
        ] {
            assert_eq!(parse(text).value.range, 0..text.len(), "{text:?}");
        }
        assert_eq!(parse("---\nphase: 1\n\n# Title\n").warnings.len(), 1);
    }

    #[test]
    fn hostile_front_matter_is_read_in_part_and_named_once() {
        let deep = format!("---\na: {}\nb: 1\n---\n", "[".repeat(5000));
        assert_eq!(parse(&deep).value.text(&["b"]), Some("1"));
        let long = parse(&format!("---\na: 1\ntags:\n{}---\nbody", "- x\n".repeat(1 << 19)));
        assert_eq!(long.value.text(&["a"]), Some("1"));
        let told: Vec<String> = long.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            ["a.md:262145: the front matter is longer than 1 MiB; the rest is not read"]
        );
        let broken = parse(&format!("---\nphase: 4\n{}---\n", "]\n".repeat(1_000)));
        let told: Vec<String> = broken.warnings.iter().map(ToString::to_string).collect();
        let expected = "a.md:3: 1000 lines of the front matter, from here on, are not understood";
        assert_eq!(told, [expected]);
    }

    /// Returns the tree on one line, with the lines that were not understood.
    fn shown(text: &str) -> String {
        fn of(node: &Node) -> String {
            match &node.value {
                Value::Text(text) => text.clone(),
                Value::List(nodes) => {
                    format!("[{}]", nodes.iter().map(of).collect::<Vec<_>>().join("; "))
                }
                Value::Map(pairs) => {
                    let pair = |(key, node): &(String, Node)| format!("{key}={}", of(node));
                    format!("{{{}}}", pairs.iter().map(pair).collect::<Vec<_>>().join("; "))
                }
            }
        }
        let (node, unclear) = read_fields(text, 1);
        format!("{} {unclear:?}", of(&node))
    }

    #[test]
    fn what_yaml_means_is_read_as_yaml_does() {
        for (text, expected) in [
            ("a: 08 # plan\nb:\n- x\n- y: 1\n  z: 2\n", "{a=08; b=[x; {y=1; z=2}]} []"),
            ("a:\n  - b:\n    - c\n  - 'it''s'\n", "{a=[{b=[c]}; it's]} []"),
            (
                "a: [x, \"y, z\", {b: c, d: [e]},\n  f: g,\n]\nh: 1\n",
                "{a=[x; y, z; {b=c; d=[e]}; {f=g}]; h=1} []",
            ),
            (
                "\"a b\": \"q \\\"r\\\" \\u00e9\"\nPhase name: x\n",
                "{a b=q \"r\" é; Phase name=x} []",
            ),
            (
                "a: |\n  b\n    c\n\n  d\ne: >-\n  f\n  g\nh: i\n  j\n",
                "{a=b\n  c\n\nd; e=f g; h=i j} []",
            ),
            ("{a: 1, b: []}\n", "{a=1; b=[]} []"),
            ("a:\nb: \"\"\n", "{a=; b=} []"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_yaml_is_read_as_it_is_meant() {
        for (text, expected) in [
            (
                "a:\n  - @types/x (dev)\n  - `npx tsc` exits\n",
                "{a=[@types/x (dev); `npx tsc` exits]} []",
            ),
            ("a: made: \"x\": y\nb: \"c\" and d\n", "{a=made: \"x\": y; b=\"c\" and d} []"),
            ("a: [b: c: d\nb: [x {y} z, w]\n", "{a=[b: c: d; b=[x {y} z; w]} [1]"),
            ("\ta: 1\n%%\n- x\nb: 2\n", "{a=1; b=2} [2, 3]"),
            ("a: *x\nb: &x [1]\n", "{a=*x; b=&x [1]} []"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}
