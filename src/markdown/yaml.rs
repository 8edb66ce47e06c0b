//! Parses strict YAML through parser events, so that every scalar keeps its spelling.

use saphyr_parser::Event;
use saphyr_parser::Parser;

use crate::markdown::node::MAX_NODES;
use crate::markdown::node::Node;
use crate::markdown::node::Value;

/// Maximum nesting depth: nobody writes deeper YAML, and malicious nesting would overflow the stack.
const MAX_DEPTH: usize = 32;

/// A YAML error: the line (counted from 1 within the text) and the reason.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct YamlError {
    pub(crate) line: usize,
    pub(crate) reason: String,
}

/// Parses one YAML document whose first line is line `first_line` of the file.
pub(crate) fn read(text: &str, first_line: usize) -> Result<Node, YamlError> {
    let mut reader = YamlReader {
        events: Parser::new_from_str(text),
        first_line,
        nodes: 0,
    };
    let root = loop {
        let (event, line) = reader.next()?;
        match event {
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) => {}
            Event::StreamEnd | Event::DocumentEnd => {
                break Node {
                    value: Value::Map(Vec::new()),
                    line: first_line,
                };
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
        YamlError {
            line: self.file_line(line),
            reason: reason.to_owned(),
        }
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
        Ok(Node {
            value,
            line: self.file_line(line),
        })
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
