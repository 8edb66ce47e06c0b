//! Separates annals' block in a context file from the user's text.
//!
//! Works on bytes: text outside the block may have any encoding and any line endings, and is kept unchanged.

use std::borrow::Cow;
use std::path::Path;

use crate::claude_md::generated::Recorded;
use crate::claude_md::marker::{Span, readable};
use crate::claude_md::{generated, marker};
use crate::error::{Error, Result};
use crate::markdown::FrontMatter;
use crate::text::{BYTE_ORDER_MARK, line_end};
use crate::warning::Warning;

/// A context file, split into the block and the user's text.
#[derive(Clone, Debug)]
pub(crate) struct ContextFile<'a> {
    path: &'a Path,
    existing: &'a [u8],
    /// Byte offset at which the user's text starts, after a byte order mark and front matter.
    start: usize,
    /// The user's bytes before the block.
    before: Cow<'a, [u8]>,
    block: Option<Span>,
    /// The user's bytes after the block.
    after: Cow<'a, [u8]>,
    newline: &'static str,
    /// What there is to say about sections that another generator wrote.
    pub(crate) warnings: Vec<Warning>,
}

impl<'a> ContextFile<'a> {
    /// Splits a file; an error if its markers are ambiguous.
    ///
    /// Sections outside the block that a planning tool's own generator wrote, and that say what is `known`, are taken
    /// out.
    pub(crate) fn parse(existing: &'a [u8], path: &'a Path, known: &Recorded<'_>) -> Result<Self> {
        let text = readable(existing);
        let start = start(&text, path);
        let block = Span::find(&text, path)?;
        let range = block.as_ref().map(|span| span.whole.clone());
        let found = generated::find(&text, start, range.as_ref(), path, known);
        let range = range.unwrap_or(start..start);
        Ok(Self {
            path,
            existing,
            start,
            before: generated::without(&existing[..range.start], 0, &found.ranges),
            block,
            after: generated::without(&existing[range.end..], range.end, &found.ranges),
            newline: line_end(existing),
            warnings: found.warnings,
        })
    }

    /// Returns the title at the start of the user's own text, if it has one.
    pub(crate) fn title(&self) -> Option<String> {
        let before = self.before.get(self.start..).unwrap_or_default();
        match first_line(&readable(before)) {
            Some(line) => title_of(line),
            None => title_of(first_line(&readable(&self.after))?),
        }
    }

    /// Returns the number of lines of the file with this block in it, including markers.
    pub(crate) fn lines_with(&self, block: &str) -> usize {
        let bytes = self.assemble(&marker::normalised_lines(block.as_bytes()));
        readable(&bytes).lines().count()
    }

    /// Returns the file with the new block; the same bytes if it has that block.
    pub(crate) fn with_block(&self, block: &str) -> Result<Vec<u8>> {
        let lines = marker::normalised_lines(block.as_bytes());
        let bytes = self.assemble(&lines);
        let span = Span::find(&readable(&bytes), self.path).ok().flatten();
        if span.is_some_and(|span| marker::normalised_lines(&bytes[span.inside]) == lines) {
            return Ok(bytes);
        }
        let message = "the block would not be found again here, so it is not written";
        Err(Error::failed(message).at(self.path, None))
    }

    /// Returns the file without the block and the blank lines that separated it.
    pub(crate) fn without_block(&self) -> Vec<u8> {
        let is_first = self.before.len() == self.start;
        let after = if is_first { self.after.trim_ascii_start() } else { &self.after };
        [&self.before, after].concat()
    }

    fn assemble(&self, lines: &[&[u8]]) -> Vec<u8> {
        let new = marker::marked(lines, self.newline);
        let Some(span) = &self.block else {
            let ends_line = self.before.is_empty()
                || self.before.ends_with(b"\n")
                || *self.before == *BYTE_ORDER_MARK;
            let gap = if ends_line { "" } else { self.newline };
            return [&self.before, gap.as_bytes(), &new, self.separator().as_bytes(), &self.after]
                .concat();
        };
        let inside = marker::normalised_lines(&self.existing[span.inside.clone()]);
        let is_current = inside == lines && !span.is_edited(self.existing);
        let block = if is_current { &self.existing[span.whole.clone()] } else { &new };
        [&self.before, block, &self.after].concat()
    }

    /// Returns the separator between a new block and the text below it; the file ends as before.
    fn separator(&self) -> String {
        if self.after.is_empty() {
            let lacks_newline = !self.existing.is_empty() && !self.existing.ends_with(b"\n");
            return if lacks_newline { "" } else { self.newline }.to_owned();
        }
        let starts_with_blank = self.after.starts_with(b"\n") || self.after.starts_with(b"\r\n");
        self.newline.repeat(if starts_with_blank { 1 } else { 2 })
    }
}

/// Returns the offset of the user's text: front matter must stay at the start of the file.
fn start(text: &str, path: &Path) -> usize {
    let head = BYTE_ORDER_MARK.len() * usize::from(text.starts_with('\u{feff}'));
    let front_matter = FrontMatter::parse(text, path).value;
    if front_matter.range.start == head && !front_matter.is_empty() {
        front_matter.range.end
    } else {
        head
    }
}

/// Returns the first visible line: neither blank nor a comment.
fn first_line(text: &str) -> Option<&str> {
    let is_comment = |line: &str| line.starts_with("<!--") && line.ends_with("-->");
    text.lines().map(str::trim).find(|line| !line.is_empty() && !is_comment(line))
}

fn title_of(line: &str) -> Option<String> {
    Some(line.strip_prefix("# ")?.trim().to_owned())
}

#[cfg(test)]
mod tests;
