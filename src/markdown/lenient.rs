//! Reads front matter that is not valid YAML, line by line.
//!
//! Language models write `- @types/x`, unquoted `a: b: c`, tabs and stray text. Indentation and the first
//! `: ` of a line still show the intended structure; lines without any are reported as not understood.

use crate::markdown::node::{MAX_NODES, Node, Value};

/// Maximum nesting depth; deeper levels are read as text.
const MAX_DEPTH: usize = 32;

/// The parsed tree; lines are counted from 1 in the file.
pub(crate) struct Lenient {
    pub(crate) root: Node,
    /// The lines that were not understood.
    pub(crate) skipped_lines: Vec<usize>,
    /// The first line that was left out, or of which list items were, because there are more than [`MAX_NODES`].
    pub(crate) cut_at: Option<usize>,
}

/// Parses `text`, whose first line is line `first_line` of the file.
pub(crate) fn read(text: &str, first_line: usize) -> Lenient {
    let mut lines = text
        .lines()
        .enumerate()
        .filter_map(|(index, raw)| LenientLine::parse(raw, first_line + index));
    let mut reader = LenientReader {
        lines: lines.by_ref().take(MAX_NODES).collect(),
        next_line: 0,
        skipped_lines: Vec::new(),
        items_left: MAX_NODES,
        cut_at: None,
    };
    let mut pairs = Vec::new();
    while reader.next_line < reader.lines.len() {
        let start = reader.next_line;
        let indent = reader.lines[start].indent;
        if let Value::Map(found) = reader.block(indent, 0) {
            pairs.extend(found);
        } else {
            // A list or bare text at the top level belongs to no field.
            let skipped: Vec<usize> =
                reader.lines[start..reader.next_line].iter().map(|line| line.number).collect();
            reader.skipped_lines.extend(skipped);
        }
        if reader.next_line == start {
            reader.skipped_lines.push(reader.lines[start].number);
            reader.next_line += 1;
        }
    }
    reader.skipped_lines.sort_unstable();
    Lenient {
        root: Node { value: Value::Map(pairs), line: first_line },
        skipped_lines: reader.skipped_lines,
        cut_at: reader.cut_at.or(lines.next().map(|line| line.number)),
    }
}

#[derive(Clone, Copy)]
struct LenientLine<'a> {
    indent: usize,
    content: &'a str,
    number: usize,
}

impl<'a> LenientLine<'a> {
    /// Parses a line; returns `None` if it is empty or a comment.
    fn parse(raw: &'a str, number: usize) -> Option<Self> {
        let content = raw.trim_start();
        let indent =
            raw[..raw.len() - content.len()].chars().map(|c| if c == '\t' { 2 } else { 1 }).sum();
        let content = content.trim_end();
        (!content.is_empty() && !content.starts_with('#')).then_some(Self {
            indent,
            content,
            number,
        })
    }

    /// Returns the text after the dash of a list item.
    fn item(&self) -> Option<&'a str> {
        if self.content == "-" {
            return Some("");
        }
        self.content.strip_prefix("- ").map(str::trim)
    }
}

struct LenientReader<'a> {
    lines: Vec<LenientLine<'a>>,
    next_line: usize,
    skipped_lines: Vec<usize>,
    /// The number of items that single-line lists may still have.
    items_left: usize,
    cut_at: Option<usize>,
}

impl<'a> LenientReader<'a> {
    fn peek(&self) -> Option<LenientLine<'a>> {
        self.lines.get(self.next_line).copied()
    }

    /// Parses the lines indented by `indent` or more, as a list or a mapping.
    fn block(&mut self, indent: usize, depth: usize) -> Value {
        match self.peek() {
            Some(line) if line.item().is_some() => {
                Value::List(self.list(line.indent.max(indent), depth))
            }
            Some(line) if split_key(line.content).is_some() => {
                Value::Map(self.map(line.indent.max(indent), depth))
            }
            _ => Value::Text(self.continuation(String::new(), indent)),
        }
    }

    fn list(&mut self, indent: usize, depth: usize) -> Vec<Node> {
        let mut nodes = Vec::new();
        while let Some(line) = self.peek() {
            let Some(rest) = line.item().filter(|_| line.indent == indent) else {
                break;
            };
            self.next_line += 1;
            nodes.push(self.item(rest, line, depth));
        }
        nodes
    }

    /// Parses a list item: a mapping if more indented lines with keys follow, otherwise text.
    fn item(&mut self, rest: &'a str, line: LenientLine<'a>, depth: usize) -> Node {
        let inner = self.peek().filter(|next| next.indent > line.indent);
        if let (Some((key, value)), Some(next)) = (split_key(rest), inner)
            && next.item().is_none()
            && split_key(next.content).is_some()
            && depth < MAX_DEPTH
        {
            let mut pairs = vec![(key.to_owned(), self.scalar(value, line.number))];
            pairs.extend(self.map(next.indent, depth + 1));
            return Node { value: Value::Map(pairs), line: line.number };
        }
        let text = self.continuation(rest.to_owned(), line.indent + 1);
        self.scalar(&text, line.number)
    }

    fn map(&mut self, indent: usize, depth: usize) -> Vec<(String, Node)> {
        let mut pairs = Vec::new();
        while let Some(line) = self.peek() {
            if line.indent != indent || line.item().is_some() {
                break;
            }
            self.next_line += 1;
            match split_key(line.content) {
                Some((key, rest)) => {
                    let value = self.value(rest, line, depth);
                    pairs.push((key.to_owned(), value));
                }
                None => self.skipped_lines.push(line.number),
            }
        }
        pairs
    }

    fn value(&mut self, rest: &'a str, line: LenientLine<'a>, depth: usize) -> Node {
        let is_block_text = matches!(rest, "|" | ">" | "|-" | ">-" | "|+" | ">+");
        if is_block_text || (!rest.is_empty() && !rest.starts_with('#')) {
            let start = if is_block_text { String::new() } else { rest.to_owned() };
            let text = self.continuation(start, line.indent + 1);
            return self.scalar(&text, line.number);
        }
        match self.peek() {
            // A list may have the same indent as its key.
            Some(next)
                if next.indent > line.indent
                    || (next.indent == line.indent && next.item().is_some()) =>
            {
                let value = if depth < MAX_DEPTH {
                    self.block(next.indent, depth + 1)
                } else {
                    Value::Text(self.continuation(String::new(), next.indent))
                };
                Node { value, line: line.number }
            }
            _ => Node::text("", line.number),
        }
    }

    /// Appends the following lines indented by `indent` or more to `text`.
    fn continuation(&mut self, mut text: String, indent: usize) -> String {
        while let Some(line) = self.peek().filter(|line| line.indent >= indent && line.indent > 0) {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(line.content);
            self.next_line += 1;
        }
        text
    }

    /// Parses a scalar or a single-line flow list.
    fn scalar(&mut self, text: &str, line: usize) -> Node {
        let text = text.trim();
        let inner = text.strip_prefix('[');
        let Some(inner) = inner.and_then(|rest| rest.strip_suffix(']')) else {
            return Node::text(unquoted(text), line);
        };
        let parts = split_flow(inner, self.items_left).unwrap_or_else(|first| {
            self.cut_at.get_or_insert(line);
            first
        });
        self.items_left -= parts.len();
        let nodes = parts.iter().filter(|part| !part.trim().is_empty());
        let nodes = nodes.map(|part| Node::text(unquoted(part), line));
        Node { value: Value::List(nodes.collect()), line }
    }
}

/// Splits `key: rest`; a key is a single word, so that sentences with a colon are not fields.
fn split_key(content: &str) -> Option<(&str, &str)> {
    let (key, rest) = content.split_once(':')?;
    if !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let key = key.trim().trim_matches(['"', '\'']);
    let is_word = key.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    is_word.then(|| (key, rest.trim()))
}

/// Splits at commas outside quotes and brackets; if there are more than `most` parts, returns the first as the
/// error.
fn split_flow(inner: &str, most: usize) -> Result<Vec<&str>, Vec<&str>> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut quote = None;
    let mut depth = 0_usize;
    for (index, c) in inner.char_indices() {
        match (quote, c) {
            (None, ',') if depth == 0 => {
                if parts.len() == most {
                    return Err(parts);
                }
                parts.push(&inner[start..index]);
                start = index + 1;
            }
            (None, '"') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    let last = &inner[start..];
    if last.trim().is_empty() {
        return Ok(parts);
    }
    if parts.len() == most {
        return Err(parts);
    }
    parts.push(last);
    Ok(parts)
}

/// Returns the text without its quotes, or without a trailing comment.
fn unquoted(text: &str) -> String {
    let text = text.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner.to_owned();
        }
    }
    match text.split_once(" #") {
        Some((before, _)) if !text.starts_with(['"', '\'', '`']) => before.trim_end().to_owned(),
        _ => text.to_owned(),
    }
}
