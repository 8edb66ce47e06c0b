//! Extracts the comments of a source text line by line, skipping strings.

use memchr::memmem;

use crate::knowledge::debt::language::{Language, Quote};

/// A line of a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommentLine<'a> {
    /// Line number in the file, from 1.
    pub(super) line: usize,
    /// Its text, without comment markers and decoration.
    pub(super) text: &'a str,
    /// Whether only white space precedes the comment on its line.
    pub(super) is_alone: bool,
}

/// Characters that decorate comments.
const DECORATION: [char; 8] = ['/', '!', '*', '#', '-', ';', '%', '|'];

/// Returns the comments of a text.
///
/// A string ends at its closing quote, on the same line unless the language allows line breaks. A quote that
/// is never closed is an ordinary character, so that an apostrophe does not hide comments.
pub(super) fn comments<'a>(text: &'a str, language: &Language) -> Vec<CommentLine<'a>> {
    let mut reader = CommentScanner {
        text,
        at: 0,
        line: 1,
        is_blank: true,
        unclosed: Vec::new(),
        pieces: Vec::new(),
    };
    let starts = starts(language);
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(reader.at) {
        if !starts[usize::from(*byte)] {
            reader.pass(1);
            continue;
        }
        let rest = &bytes[reader.at..];
        let begins = |mark: &str| rest.starts_with(mark.as_bytes());
        if let Some((open, close)) = language.block.iter().find(|(open, _)| begins(open)) {
            reader.block(open.len(), close);
        } else if let Some(open) = language.line.iter().find(|open| begins(open)) {
            reader.rest_of_line(open.len());
        } else if let Some(quote) = language.strings.iter().find(|quote| begins(quote.open)) {
            reader.string(quote);
        } else {
            reader.pass(1);
        }
    }
    reader.pieces
}

/// Returns which bytes can start a comment or a string.
fn starts(language: &Language) -> [bool; 256] {
    let opens = language.strings.iter().map(|quote| quote.open);
    let blocks = language.block.iter().map(|(open, _)| *open);
    let marks = language.line.iter().copied().chain(blocks).chain(opens);
    let mut starts = [false; 256];
    for mark in marks {
        starts[usize::from(mark.as_bytes()[0])] = true;
    }
    starts
}

/// Returns the length of a string including its quotes; as an error, the offset up to which it is not closed.
fn string(rest: &[u8], quote: &Quote) -> Result<usize, usize> {
    let close = quote.close.as_bytes();
    let mut at = quote.open.len();
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\\' if quote.escapes => at += 2,
            b'\n' if !quote.lines => return Err(at),
            _ if rest[at..].starts_with(close) => return Ok(at + close.len()),
            _ => at += 1,
        }
    }
    Err(rest.len())
}

struct CommentScanner<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    /// Whether the line so far contains only white space.
    is_blank: bool,
    /// Quotes that are not closed before a byte offset, so that each range is searched only once.
    unclosed: Vec<(&'static str, usize)>,
    pieces: Vec<CommentLine<'a>>,
}

impl<'a> CommentScanner<'a> {
    /// Advances by this many bytes, and counts the line breaks in them.
    fn pass(&mut self, length: usize) {
        let end = (self.at + length).min(self.text.len());
        for byte in &self.text.as_bytes()[self.at..end] {
            if *byte == b'\n' {
                self.line += 1;
                self.is_blank = true;
            } else if !byte.is_ascii_whitespace() {
                self.is_blank = false;
            }
        }
        self.at = end;
    }

    fn rest_of_line(&mut self, open: usize) {
        let rest = &self.text.as_bytes()[self.at..];
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        self.push(self.at + open, self.at + length);
        self.at += length;
    }

    fn block(&mut self, open: usize, close: &str) {
        let inner = self.at + open;
        let bytes = self.text.as_bytes();
        let found = memmem::find(&bytes[inner..], close.as_bytes());
        let end = found.map_or(bytes.len(), |found| inner + found);
        let mut start = inner;
        while let Some(length) = memchr::memchr(b'\n', &bytes[start..end]) {
            self.push(start, start + length);
            start += length + 1;
            self.line += 1;
            self.is_blank = true;
        }
        self.push(start, end);
        self.at = (end + close.len()).min(bytes.len());
        self.is_blank = false;
    }

    /// Advances past a string, or past a quote that is never closed.
    fn string(&mut self, quote: &Quote) {
        let at = self.at;
        let is_searched = |(open, until): &(&str, usize)| *open == quote.open && at < *until;
        let length = if self.unclosed.iter().any(is_searched) {
            None
        } else {
            let rest = &self.text.as_bytes()[at..];
            string(rest, quote)
                .map_err(|searched| {
                    self.unclosed.retain(|(open, _)| *open != quote.open);
                    self.unclosed.push((quote.open, at + searched));
                })
                .ok()
        };
        self.pass(length.unwrap_or(quote.open.len()));
    }

    fn push(&mut self, from: usize, to: usize) {
        let whole: &'a str = self.text;
        let Some(text) = whole.get(from..to) else {
            return;
        };
        let is_mark = |c: char| c.is_whitespace() || DECORATION.contains(&c);
        let text = text.trim_start_matches(is_mark);
        self.pieces.push(CommentLine {
            line: self.line,
            text: text.trim_end_matches(|c: char| c.is_whitespace() || "*#|".contains(c)),
            is_alone: self.is_blank,
        });
    }
}
