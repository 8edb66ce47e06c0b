//! Parses strict YAML through parser events, so that every scalar keeps its spelling.

use saphyr_parser::{Event, Parser};

use crate::markdown::node::{MAX_NODES, Node, Value};

/// Maximum nesting depth: deeper YAML is unrealistic, and malicious nesting would overflow the stack.
const MAX_DEPTH: usize = 32;

/// A YAML error: the line (counted from 1 within the text) and the reason.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct YamlError {
    pub(crate) line: usize,
    pub(crate) reason: String,
}

/// Parses one YAML document whose first line is line `first_line` of the file.
pub(crate) fn read(text: &str, first_line: usize) -> Result<Node, YamlError> {
    let mut reader = YamlReader { events: Parser::new_from_str(text), first_line, nodes: 0 };
    let root = loop {
        let (event, line) = reader.next()?;
        match event {
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) => {}
            Event::StreamEnd | Event::DocumentEnd => {
                break Node { value: Value::Map(Vec::new()), line: first_line };
            }
            event => break reader.node(event, line, 0)?,
        }
    };
    // Only the end may follow: a second document is not front matter.
    loop {
        match reader.next()? {
            (Event::StreamEnd, _) => return Ok(root),
            (Event::DocumentEnd | Event::Nothing, _) => {}
            (_, line) => return Err(reader.error(line, "a second YAML document")),
        }
    }
}

/// Maximum number of lines with an unquoted colon in their value that are read as text.
const MAX_COLONS: usize = 20;

/// Parses one YAML document like [`read`], but takes an unquoted value that contains `: ` as text: planning tools
/// write `stopped_at: Phase 3 complete: ready to plan` and read it so.
pub(crate) fn read_with_colons(text: &str, first_line: usize) -> Result<Node, YamlError> {
    let mut quoted: Option<String> = None;
    for _ in 0..MAX_COLONS {
        let text = quoted.as_deref().unwrap_or(text);
        match read(text, first_line) {
            Ok(node) => return Ok(node),
            Err(error) => match with_quotes(text, error.line - first_line) {
                Some(text) => quoted = Some(text),
                // The error in the text as written is the one to report.
                None => break,
            },
        }
    }
    read(text, first_line)
}

/// Returns the text with the value of a line in quotes, if that is plain text with a colon after its first word.
fn with_quotes(text: &str, line: usize) -> Option<String> {
    let start = text.split_inclusive('\n').take(line).map(str::len).sum();
    let content = text.get(start..)?.lines().next()?;
    let (key, value) = content.split_once(": ")?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let is_key = !key.is_empty() && key.trim_start().chars().all(is_word);
    let value = value.trim();
    let is_plain = value.starts_with(char::is_alphanumeric) && !value.contains(" #");
    let has_colon = value.contains(": ") || value.ends_with(':');
    (is_key && is_plain && has_colon).then_some(())?;
    let at = start + content.find(": ")? + 2;
    let end = start + content.len();
    let value = value.replace('\'', "''");
    Some(format!("{}'{value}'{}", &text[..at], &text[end..]))
}

struct YamlReader<'a> {
    events: Parser<'a, saphyr_parser::StrInput<'a>>,
    first_line: usize,
    nodes: usize,
}

impl<'a> YamlReader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, usize), YamlError> {
        match self.events.next_event() {
            Some(Ok((event, span))) => Ok((event, span.start.line())),
            Some(Err(error)) => Err(self.error(error.marker().line(), error.info())),
            None => Ok((Event::StreamEnd, 0)),
        }
    }

    fn error(&self, line: usize, reason: &str) -> YamlError {
        YamlError { line: self.file_line(line), reason: reason.to_owned() }
    }

    fn file_line(&self, line: usize) -> usize {
        self.first_line + line.max(1) - 1
    }

    fn node(&mut self, event: Event<'a>, line: usize, depth: usize) -> Result<Node, YamlError> {
        self.nodes += 1;
        if depth > MAX_DEPTH || self.nodes > MAX_NODES {
            return Err(self.error(line, "nested too deeply or too long"));
        }
        let value = match event {
            Event::Scalar(text, ..) => Value::Text(text.into_owned()),
            Event::SequenceStart(..) => Value::List(self.list(depth)?),
            Event::MappingStart(..) => Value::Map(self.map(depth)?),
            // Aliases can expand exponentially, and planning files do not need them.
            Event::Alias(_) => return Err(self.error(line, "an alias")),
            _ => return Err(self.error(line, "an unexpected end")),
        };
        Ok(Node { value, line: self.file_line(line) })
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>, YamlError> {
        let mut nodes = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(nodes),
                (event, line) => nodes.push(self.node(event, line, depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Vec<(String, Node)>, YamlError> {
        let mut pairs = Vec::new();
        loop {
            let (event, line) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                return Ok(pairs);
            }
            let key = self.node(event, line, depth + 1)?.flat();
            let (event, line) = self.next()?;
            pairs.push((key, self.node(event, line, depth + 1)?));
        }
    }
}
