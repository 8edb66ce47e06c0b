//! Reads the fields of front matter line by line.
//!
//! It is the YAML that people, tools and language models write: nested mappings and lists, quoted, folded and
//! literal texts, lists and mappings in brackets. Much of it is not valid YAML: `- @types/x`, unquoted `a: b: c`,
//! tabs and stray text. The indentation and the first `: ` of a line still show the intended structure; lines
//! that have neither are reported as not understood.

use std::borrow::Cow;

use crate::markdown::node::{Node, Value};

/// Maximum nesting depth; deeper levels are read as text.
const MAX_DEPTH: usize = 32;

/// What can end a text in quotes or brackets.
const CLOSERS: [char; 4] = ['"', '\'', ']', '}'];

/// Maximum number of times that a text in quotes or brackets is read again after a line that could be its last.
const MAX_ATTEMPTS: usize = 64;

/// Parses `text`, whose first line is line `first_line` of the file; returns the lines that were not understood, too.
pub(crate) fn read(text: &str, first_line: usize) -> (Node, Vec<usize>) {
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
            let ignored = reader.lines[start..reader.next].iter();
            let numbers = ignored.filter(|line| !line.is_empty()).map(|line| line.number);
            reader.unclear.extend(numbers);
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
        let white = raw[..raw.len() - content.len()].chars();
        let indent = white.map(|c| if c == '\t' { 2 } else { 1 }).sum();
        Self { raw, indent, content: content.trim_end(), number }
    }

    /// Returns whether it has nothing or only a comment.
    fn is_empty(&self) -> bool {
        self.content.is_empty() || self.content.starts_with('#')
    }

    /// Returns the text after the dash of a list item.
    fn item(&self) -> Option<&'a str> {
        let rest = self.content.strip_prefix('-')?;
        (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim())
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
        match self.peek() {
            Some(line) if line.item().is_some() => self.list(line.indent.max(indent), depth),
            Some(line) if line.content.starts_with(['{', '[']) => {
                self.next += 1;
                self.value(line.content, line, depth).value
            }
            Some(line) if split_key(line.content).is_some() => {
                Value::Map(self.map(line.indent.max(indent), depth))
            }
            _ => Value::Text(self.continuation(String::new(), indent)),
        }
    }

    fn list(&mut self, indent: usize, depth: usize) -> Value {
        let mut nodes = Vec::new();
        while let Some(line) = self.peek() {
            let Some(rest) = line.item().filter(|_| line.indent == indent) else {
                break;
            };
            self.next += 1;
            nodes.push(self.item(rest, line, depth));
        }
        Value::List(nodes)
    }

    /// Parses a list item, which may be a mapping whose first field stands behind the dash.
    fn item(&mut self, rest: &'a str, line: Line<'a>, depth: usize) -> Node {
        if depth >= MAX_DEPTH || rest.starts_with(['[', '{']) {
            return self.value(rest, line, depth);
        }
        let Some((key, value)) = split_key(rest) else {
            return self.value(rest, line, depth);
        };
        let indent = line.indent + line.content.len() - rest.len();
        let inner = Line { indent, content: rest, ..line };
        let mut pairs = vec![(key.into_owned(), self.value(value, inner, depth + 1))];
        if let Some(next) = self.peek().filter(|next| next.indent > line.indent) {
            pairs.extend(self.map(next.indent, depth + 1));
        }
        Node { value: Value::Map(pairs), line: line.number }
    }

    fn map(&mut self, indent: usize, depth: usize) -> Vec<(String, Node)> {
        let mut pairs = Vec::new();
        while let Some(line) = self.peek() {
            if line.indent != indent || line.item().is_some() {
                break;
            }
            self.next += 1;
            match split_key(line.content) {
                Some((key, rest)) => pairs.push((key.into_owned(), self.value(rest, line, depth))),
                None => self.unclear.push(line.number),
            }
        }
        pairs
    }

    /// Parses the value that begins with `rest`, behind the key or the dash of a line.
    fn value(&mut self, rest: &'a str, line: Line<'a>, depth: usize) -> Node {
        let number = line.number;
        if rest.is_empty() || rest.starts_with('#') {
            return match self.peek() {
                // A list may have the same indent as its key.
                Some(next)
                    if next.indent > line.indent
                        || next.indent == line.indent
                            && next.item().is_some()
                            && line.item().is_none() =>
                {
                    let value = match depth < MAX_DEPTH {
                        true => self.block(next.indent, depth + 1),
                        false => Value::Text(self.continuation(String::new(), next.indent)),
                    };
                    Node { value, line: number }
                }
                _ => Node::text("", number),
            };
        }
        if let Some(separator) = block_text(rest) {
            return Node::text(self.block_lines(line.indent, separator), number);
        }
        if rest.starts_with(['"', '\'', '[', '{']) {
            if let Some(node) = self.enclosed(rest, line, depth) {
                return node;
            }
            if rest.starts_with(['[', '{']) {
                self.unclear.push(number);
            }
        }
        let text = self.continuation(without_comment(rest).to_owned(), line.indent + 1);
        // Quotes that are not escaped inside of it.
        let inner = |quote: &char| text.strip_prefix(*quote)?.strip_suffix(*quote);
        match ['"', '\''].iter().find_map(inner) {
            Some(inner) => Node::text(inner, number),
            None => Node::text(text, number),
        }
    }

    /// Parses text in quotes or brackets, which may go on in further lines.
    fn enclosed(&mut self, rest: &str, line: Line<'a>, depth: usize) -> Option<Node> {
        let is_flow = rest.starts_with(['[', '{']);
        let mut text = Cow::Borrowed(if is_flow { without_flow_comment(rest) } else { rest });
        let mut attempts = 0;
        for (count, more) in self.lines[self.next..].iter().map(Some).chain([None]).enumerate() {
            let more = more
                .filter(|more| more.indent > line.indent || more.content.starts_with([']', '}']));
            if more.is_none() || count == 0 || text.ends_with(CLOSERS) {
                attempts += 1;
                let mut flow = Flow { text: &text, at: 0, line: line.number };
                let node = flow.node(b']', depth);
                let after = text[flow.at..].trim_start();
                if node.is_some() && (after.is_empty() || after.starts_with('#')) {
                    self.next += count;
                    return node;
                }
                if !after.is_empty() || attempts == MAX_ATTEMPTS {
                    return None;
                }
            }
            let more = more?;
            text.to_mut().push(' ');
            let more = more.content;
            text.to_mut().push_str(if is_flow { without_flow_comment(more) } else { more });
        }
        None
    }

    /// Appends the following lines indented by `indent` or more to `text`.
    fn continuation(&mut self, mut text: String, indent: usize) -> String {
        while let Some(line) = self.peek().filter(|line| line.indent >= indent && line.indent > 0) {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(without_comment(line.content));
            self.next += 1;
        }
        text
    }

    /// Returns the lines of a literal or folded text, which are indented by more than `indent`.
    fn block_lines(&mut self, indent: usize, separator: &str) -> String {
        let rest = self.lines[self.next..].iter();
        let own = rest.take_while(|line| line.content.is_empty() || line.indent > indent).count();
        let own = &self.lines[self.next..self.next + own];
        self.next += own.len();
        let white = |line: &Line<'_>| line.raw.len() - line.raw.trim_start().len();
        let margin = own.iter().filter(|line| !line.content.is_empty()).map(white).min();
        let texts =
            own.iter().map(|line| line.raw.get(margin.unwrap_or(0)..).unwrap_or(line.content));
        texts.collect::<Vec<_>>().join(separator).trim_end().to_owned()
    }
}

/// Returns what joins the lines of a literal (`|`) or folded (`>`) text.
fn block_text(rest: &str) -> Option<&'static str> {
    let head = without_comment(rest);
    let digits = head.get(1..).unwrap_or_default().trim_matches(['+', '-']);
    let is_digit = digits.len() == 1 && digits.as_bytes()[0].is_ascii_digit();
    let is_head = head.len() <= 3 && (digits.is_empty() || is_digit);
    match head.as_bytes().first() {
        Some(b'|') if is_head => Some("\n"),
        Some(b'>') if is_head => Some(" "),
        _ => None,
    }
}

/// Splits `key: rest`; a key in quotes loses them.
fn split_key(content: &str) -> Option<(Cow<'_, str>, &str)> {
    if content.starts_with(['"', '\'']) {
        let mut flow = Flow { text: content, at: 0, line: 0 };
        let key = flow.quoted()?;
        let rest = content[flow.at..].trim_start().strip_prefix(':')?;
        return (rest.is_empty() || rest.starts_with([' ', '\t']))
            .then(|| (key.into(), rest.trim()));
    }
    let ends = |at: &usize| matches!(content.as_bytes().get(at + 1), None | Some(b' ' | b'\t'));
    let colon = content.match_indices(':').map(|(at, _)| at).find(ends)?;
    let key = content[..colon].trim();
    let is_key = !key.is_empty()
        && !key.starts_with(['`', '*', '@', '%', '[', '{', '#', '&', '!', '|', '>', ',']);
    (is_key && !key.contains(" #")).then(|| (key.into(), content[colon + 1..].trim()))
}

/// Returns a line of a text in brackets without a trailing comment; `#` in quotes begins none.
fn without_flow_comment(line: &str) -> &str {
    let (mut quote, mut before) = (None, ' ');
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) if c == open && before != '\\' => quote = None,
            None if c == '#' && before.is_whitespace() => return line[..at].trim_end(),
            None if "\"'".contains(c) && " \t[{,:".contains(before) => quote = Some(c),
            _ => {}
        }
        before = c;
    }
    line
}

/// Returns a text without a trailing comment.
fn without_comment(text: &str) -> &str {
    match text.find(" #") {
        Some(at) if !text.starts_with('`') => text[..at].trim_end(),
        _ => text,
    }
}

/// Reads a text in quotes or brackets; one that is not complete is read to its end.
struct Flow<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl Flow<'_> {
    fn peek(&mut self) -> Option<u8> {
        self.at = self.text.len() - self.text[self.at..].trim_start().len();
        self.text.as_bytes().get(self.at).copied()
    }

    /// Reads a value that may be enclosed by a bracket.
    fn node(&mut self, close: u8, depth: usize) -> Option<Node> {
        let line = self.line;
        let value = match self.peek()? {
            b'[' => Value::List(self.elements(b']', depth)?),
            b'{' => {
                let pairs = |node: Node| match node.value {
                    Value::Map(pairs) => pairs,
                    _ => vec![(node.flat(), Node::text("", line))],
                };
                Value::Map(self.elements(b'}', depth)?.into_iter().flat_map(pairs).collect())
            }
            b'"' | b'\'' => Value::Text(self.quoted()?),
            _ => Value::Text(self.plain(close)?),
        };
        Some(Node { value, line })
    }

    /// Reads the elements up to a bracket; `a: b` is a mapping of its own.
    fn elements(&mut self, close: u8, depth: usize) -> Option<Vec<Node>> {
        let mut found = Vec::new();
        self.at += 1;
        loop {
            match self.peek()? {
                b',' => self.at += 1,
                byte if byte == close => {
                    self.at += 1;
                    return Some(found);
                }
                _ if depth > MAX_DEPTH => return None,
                _ => {
                    let mut node = self.node(close, depth + 1)?;
                    if self.peek()? == b':' {
                        self.at += 1;
                        let value = match self.peek()? {
                            b',' | b']' | b'}' => Node::text("", self.line),
                            _ => self.node(close, depth + 1)?,
                        };
                        node.value = Value::Map(vec![(node.flat(), value)]);
                    }
                    found.push(node);
                }
            }
        }
    }

    fn plain(&mut self, close: u8) -> Option<String> {
        let rest = &self.text[self.at..];
        let bytes = rest.as_bytes();
        let ends = |at: &usize| match bytes[*at] {
            b':' => bytes.get(at + 1).is_none_or(|next| b" ,]}".contains(next)),
            byte => byte == b',' || byte == close,
        };
        let length = (0..bytes.len()).find(ends);
        self.at += length.unwrap_or(bytes.len());
        Some(rest[..length?].trim_end().to_owned()).filter(|text| !text.is_empty())
    }

    fn quoted(&mut self) -> Option<String> {
        let mut found = String::new();
        let mut chars = self.text[self.at..].char_indices().peekable();
        let (_, quote) = chars.next()?;
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' if quote == '"' => match chars.next()?.1 {
                    'n' => found.push('\n'),
                    't' => found.push('\t'),
                    'r' => found.push('\r'),
                    'u' => {
                        let digits: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                        let code = u32::from_str_radix(&digits, 16).ok();
                        match code.and_then(char::from_u32) {
                            Some(c) => found.push(c),
                            None => found.push_str(&format!("\\u{digits}")),
                        }
                    }
                    c @ ('"' | '\\' | '/' | ' ') => found.push(c),
                    c => found.extend(['\\', c]),
                },
                '\'' if quote == c && chars.next_if(|(_, c)| *c == '\'').is_some() => found.push(c),
                c if c == quote => {
                    self.at += at + 1;
                    return Some(found);
                }
                c => found.push(c),
            }
        }
        self.at = self.text.len();
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let (node, unclear) = read(text, 1);
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
