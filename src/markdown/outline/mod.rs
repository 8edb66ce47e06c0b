//! Parses headings, with the byte ranges of their sections, and blocks.

use std::ops::Range;
use std::path::Path;

use crate::error::{Error, Result};
use crate::markdown::outline::reader::OutlineBuilder;
use crate::markdown::{Label, Lines};
use crate::warning::Warning;

mod block;
mod reader;

pub use block::{Block, BlockContent, ListItem, Table, TableRow};

/// Maximum number of lines of a document that are parsed: a line can be a heading or a block, which takes a
/// hundred times its size in memory, and callers scan all of them repeatedly.
const MAX_LINES: usize = 100_000;

/// Maximum number of [`MARKS`] in a document that are parsed: each may become a node of the parser's tree.
const MAX_MARKS: usize = 1_000_000;

/// Characters that can begin or end an inline element, a nested block or a table cell.
const MARKS: &[u8] = b"[]*_`<>&!~\\|-+.)";

/// A heading and the section under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Level from 1 for `#` to 6; 0 for the text before the first heading.
    pub level: u8,
    /// Text of the heading, verbatim; empty at level 0.
    pub title: String,
    /// Byte range of the heading line.
    pub heading: Range<usize>,
    /// Byte range under the heading, up to the next heading of any level.
    pub own: Range<usize>,
    /// Byte range under the heading, including subsections.
    pub whole: Range<usize>,
    /// Line number of the heading, counted from 1.
    pub line: usize,
}

/// A parsed document: its sections and blocks in file order.
///
/// A line of dashes under a paragraph is a thematic break here, not a heading: planning files separate
/// sections with `---` and never mean the paragraph above it as a title.
#[derive(Clone, Debug)]
pub struct Outline<'a> {
    text: &'a str,
    sections: Vec<Section>,
    blocks: Vec<Block>,
    lines: Lines,
    /// The part that is not parsed, if any.
    unread: Option<Unread>,
}

/// The rest of a document beyond a maximum.
#[derive(Clone, Copy, Debug)]
struct Unread {
    /// Byte offset of the first of it.
    start: usize,
    maximum: usize,
    /// The name of the counted elements.
    counted: &'static str,
}

impl Unread {
    fn warning(self, path: &Path, line: usize) -> Warning {
        let Self { maximum, counted, .. } = self;
        let message = format!("has more than {maximum} {counted}; those from here on are not read");
        Warning::at(path, line, message)
    }
}

impl<'a> Outline<'a> {
    /// Parses `text` from byte `body`, the end of its front matter; offsets are relative to the whole text.
    ///
    /// The text after the first 100,000 lines or 1,000,000 marks is not parsed and belongs to the last section (see
    /// [`Self::warning`]).
    pub fn parse(text: &'a str, body: usize) -> Self {
        let unread = unread(text, body);
        let end = unread.map_or(text.len(), |rest| rest.start);
        Self::parse_until(text, body, end, unread)
    }

    /// Parses `text` like [`Self::parse`], but without the rest, which is not part of [`Self::text`] either: for
    /// readers that do not change the file.
    pub(crate) fn parse_beginning(text: &'a str, body: usize) -> Self {
        let unread = unread(text, body);
        let end = unread.map_or(text.len(), |rest| rest.start);
        Self::parse_until(&text[..end], body, end, unread)
    }

    fn parse_until(text: &'a str, body: usize, end: usize, unread: Option<Unread>) -> Self {
        let lines = Lines::new(text);
        let (headings, blocks) = OutlineBuilder::read(&text[..end], body, &lines);
        Self { text, sections: sections(text, body, &headings, &lines), blocks, lines, unread }
    }

    /// Returns whether all of a text would be parsed.
    pub(crate) fn is_whole(text: &str) -> bool {
        unread(text, 0).is_none()
    }

    /// Fails if only the beginning of a file is parsed, because a change could repeat text further down.
    pub(crate) fn check_whole(text: &str, path: &Path, hint: &str) -> Result<()> {
        if Self::is_whole(text) {
            return Ok(());
        }
        let message = "is too long to be read whole, so it is not changed";
        Err(Error::refused(message).at(path, None).hint(hint))
    }

    /// Returns a warning if not all of the document is parsed.
    pub fn warning(&self, path: &Path) -> Option<Warning> {
        let rest = self.unread?;
        Some(rest.warning(path, self.line(rest.start)))
    }

    /// Returns the warning about a text that would not be parsed whole, without parsing it.
    pub(crate) fn unread_warning(text: &str, path: &Path) -> Option<Warning> {
        let rest = unread(text, 0)?;
        Some(rest.warning(path, Lines::new(text).line(rest.start)))
    }

    /// Returns the whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Returns the text of a range, trimmed.
    pub fn slice(&self, range: &Range<usize>) -> &'a str {
        self.text.get(range.clone()).unwrap_or_default().trim()
    }

    /// Returns the line number (counted from 1) of a byte offset.
    pub fn line(&self, offset: usize) -> usize {
        self.lines.line(offset)
    }

    /// Returns the sections in file order; the first is the text before any heading.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Returns the first section whose title is one of `titles`, ignoring case, emphasis and a trailing
    /// colon.
    pub fn section(&self, titles: &[&str]) -> Option<&Section> {
        titles.iter().find_map(|title| {
            self.sections.iter().find(|section| {
                section.level > 0 && plain_title(&section.title).eq_ignore_ascii_case(title)
            })
        })
    }

    /// Returns the sections whose headings start inside `range`, in file order.
    pub fn sections_in(&self, range: &Range<usize>) -> &[Section] {
        let before =
            |at: usize| self.sections.partition_point(|section| section.heading.start < at);
        self.sections.get(before(range.start)..before(range.end)).unwrap_or_default()
    }

    /// Returns the subsections of `section`, at any depth.
    pub fn subsections(&self, section: &Section) -> impl Iterator<Item = &Section> {
        self.sections_in(&section.whole).iter()
    }

    /// Returns the title of the first `#` heading.
    pub fn title(&self) -> Option<&str> {
        self.sections
            .iter()
            .find(|section| section.level == 1)
            .map(|section| section.title.as_str())
    }

    /// Returns the blocks that start inside `range`, in file order.
    pub fn blocks(&self, range: &Range<usize>) -> &[Block] {
        let from = self.blocks.partition_point(|block| block.range.start < range.start);
        let to = self.blocks.partition_point(|block| block.range.start < range.end);
        self.blocks.get(from..to).unwrap_or_default()
    }

    /// Returns the list items that start inside `range`.
    pub fn items(&self, range: &Range<usize>) -> impl Iterator<Item = (&Block, &ListItem)> {
        self.blocks(range).iter().filter_map(|block| match &block.content {
            BlockContent::Item(item) => Some((block, item)),
            _ => None,
        })
    }

    /// Returns the tables that start inside `range`.
    pub fn tables(&self, range: &Range<usize>) -> impl Iterator<Item = &Table> {
        self.blocks(range).iter().filter_map(|block| match &block.content {
            BlockContent::Table(table) => Some(table),
            _ => None,
        })
    }

    /// Returns the paragraphs that start inside `range`, verbatim.
    pub fn paragraphs(&self, range: &Range<usize>) -> impl Iterator<Item = (&Block, &'a str)> {
        self.blocks(range).iter().filter_map(|block| match block.content {
            BlockContent::Paragraph => Some((block, self.slice(&block.range))),
            _ => None,
        })
    }

    /// Returns the labelled lines of paragraphs and list items inside `range`.
    pub fn labels(&self, range: &Range<usize>) -> Vec<Label> {
        let mut labels = Vec::new();
        for block in self.blocks(range) {
            if !matches!(block.content, BlockContent::Paragraph | BlockContent::Item(_)) {
                continue;
            }
            let mut offset = block.range.start;
            for raw in self.text[block.range.clone()].split_inclusive('\n') {
                labels.extend(Label::parse(raw.trim_end(), offset, self.line(offset)));
                offset += raw.len();
            }
        }
        labels
    }
}

/// Returns a title without surrounding emphasis and trailing colon.
pub(crate) fn plain_title(title: &str) -> &str {
    title.trim_matches(|c: char| matches!(c, '*' | '_' | '`' | ' ')).trim_end_matches(':').trim()
}

/// Returns the part of a text that has too many lines or marks before it to be parsed.
fn unread(text: &str, body: usize) -> Option<Unread> {
    let bytes = text.as_bytes().get(body..)?;
    // In a file of usual size there cannot be as many.
    if bytes.len() <= MAX_LINES {
        return None;
    }
    let rest = |at: usize, maximum, counted| Unread { start: body + at, maximum, counted };
    let line = memchr::memchr_iter(b'\n', bytes).nth(MAX_LINES - 1);
    let line = line.filter(|end| end + 1 < bytes.len());
    let line = line.map(|end| rest(end + 1, MAX_LINES, "lines"));
    let within = line.map_or(bytes.len(), |line| line.start - body);
    let is_mark: [bool; 256] =
        std::array::from_fn(|byte| MARKS.iter().any(|mark| usize::from(*mark) == byte));
    let mut marks =
        bytes[..within].iter().enumerate().filter(|(_, byte)| is_mark[usize::from(**byte)]);
    let mark = marks.nth(MAX_MARKS);
    // Half a line could mean something else.
    let line_start = |at: usize| memchr::memrchr(b'\n', &bytes[..at]).map_or(at, |end| end + 1);
    mark.map(|(at, _)| rest(line_start(at), MAX_MARKS, "marks of markdown")).or(line)
}

/// Returns the sections, with the ranges of each heading.
fn sections(
    text: &str,
    body: usize,
    headings: &[(u8, Range<usize>)],
    lines: &Lines,
) -> Vec<Section> {
    let mut sections = vec![Section {
        level: 0,
        title: String::new(),
        heading: body..body,
        own: body..headings.first().map_or(text.len(), |(_, range)| range.start),
        whole: body..text.len(),
        line: lines.line(body),
    }];
    for (index, (level, range)) in headings.iter().enumerate() {
        let following = &headings[index + 1..];
        let own_end = following.first().map_or(text.len(), |(_, next)| next.start);
        let whole_end = following
            .iter()
            .find(|(other, _)| other <= level)
            .map_or(text.len(), |(_, next)| next.start);
        sections.push(Section {
            level: *level,
            title: heading_text(&text[range.clone()]).to_owned(),
            heading: range.clone(),
            own: range.end..own_end,
            whole: range.end..whole_end,
            line: lines.line(range.start),
        });
    }
    sections
}

/// Returns the text of a heading line, without opening and closing `#` marks.
fn heading_text(line: &str) -> &str {
    let inner = line.trim().trim_start_matches('#').trim();
    let without_closing = inner.trim_end_matches('#');
    if without_closing.is_empty() || without_closing.ends_with([' ', '\t']) {
        without_closing.trim_end()
    } else {
        inner
    }
}

#[cfg(test)]
mod tests;
