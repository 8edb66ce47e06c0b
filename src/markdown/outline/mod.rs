//! Parses headings, with the byte ranges of their sections, and blocks.

use std::ops::Range;
use std::path::Path;

use crate::markdown::Label;
use crate::markdown::Lines;
use crate::markdown::outline::reader::OutlineBuilder;
use crate::warning::Warning;

mod reader;

/// Maximum number of sections of a document: callers scan all of them repeatedly.
const MAX_SECTIONS: usize = 100_000;

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

/// A list item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListItem {
    /// The item's own text, without marker and checkbox, as one line.
    pub text: String,
    /// The state of its checkbox, if it has one.
    pub checked: Option<bool>,
    /// Nesting depth; 0 for a top-level list.
    pub depth: usize,
    /// Its number in a numbered list.
    pub number: Option<u64>,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// The cells, verbatim.
    pub cells: Vec<String>,
    /// Byte range of each cell's text.
    pub ranges: Vec<Range<usize>>,
    /// Line number in the file, counted from 1.
    pub line: usize,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The header's cells.
    pub header: Vec<String>,
    /// The body rows.
    pub rows: Vec<TableRow>,
}

impl Table {
    /// Returns the index of the first column whose header is one of `names`, ignoring case.
    pub fn column(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| {
            self.header
                .iter()
                .position(|cell| cell.trim_matches(['*', ' ']).eq_ignore_ascii_case(name))
        })
    }
}

/// The kind of a block, with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockContent {
    /// A paragraph; its text is the block's byte range.
    Paragraph,
    /// A list item.
    Item(ListItem),
    /// A table.
    Table(Table),
    /// A code block, fences included.
    Code,
    /// A block of HTML, comments included.
    Html,
}

/// A block of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its kind and content.
    pub content: BlockContent,
    /// Byte range; for a list item that of its own text, without nested blocks.
    pub range: Range<usize>,
    /// Number of its first line, counted from 1.
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
    /// Byte offset of the first heading beyond [`MAX_SECTIONS`].
    first_ignored_heading: Option<usize>,
}

impl<'a> Outline<'a> {
    /// Parses `text` from byte `body`, the end of its front matter; offsets are relative to the whole text.
    ///
    /// Headings beyond the first 100,000 do not start a section (see [`Self::warning`]).
    pub fn parse(text: &'a str, body: usize) -> Self {
        let lines = Lines::new(text);
        let (mut headings, blocks) = OutlineBuilder::read(text, body, &lines);
        let first_ignored_heading = headings.get(MAX_SECTIONS).map(|(_, range)| range.start);
        headings.truncate(MAX_SECTIONS);
        Self {
            text,
            sections: sections(text, body, &headings, &lines),
            blocks,
            lines,
            first_ignored_heading,
        }
    }

    /// Returns a warning if the document has more headings than the maximum.
    pub fn warning(&self, path: &Path) -> Option<Warning> {
        let line = self.line(self.first_ignored_heading?);
        let message =
            format!("has more than {MAX_SECTIONS} headings; those from here on are not read");
        Some(Warning::at(path, line, message))
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
        let before = |at: usize| {
            self.sections
                .partition_point(|section| section.heading.start < at)
        };
        self.sections
            .get(before(range.start)..before(range.end))
            .unwrap_or_default()
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
        let from = self
            .blocks
            .partition_point(|block| block.range.start < range.start);
        let to = self
            .blocks
            .partition_point(|block| block.range.start < range.end);
        self.blocks.get(from..to).unwrap_or_default()
    }

    /// Returns the list items that start inside `range`.
    pub fn items(&self, range: &Range<usize>) -> impl Iterator<Item = (&Block, &ListItem)> {
        self.blocks(range)
            .iter()
            .filter_map(|block| match &block.content {
                BlockContent::Item(item) => Some((block, item)),
                _ => None,
            })
    }

    /// Returns the tables that start inside `range`.
    pub fn tables(&self, range: &Range<usize>) -> impl Iterator<Item = &Table> {
        self.blocks(range)
            .iter()
            .filter_map(|block| match &block.content {
                BlockContent::Table(table) => Some(table),
                _ => None,
            })
    }

    /// Returns the paragraphs that start inside `range`, verbatim.
    pub fn paragraphs(&self, range: &Range<usize>) -> impl Iterator<Item = (&Block, &'a str)> {
        self.blocks(range)
            .iter()
            .filter_map(|block| match block.content {
                BlockContent::Paragraph => Some((block, self.slice(&block.range))),
                _ => None,
            })
    }

    /// Returns the labelled lines of paragraphs and list items inside `range`.
    pub fn labels(&self, range: &Range<usize>) -> Vec<Label> {
        let mut labels = Vec::new();
        for block in self.blocks(range) {
            if !matches!(
                block.content,
                BlockContent::Paragraph | BlockContent::Item(_)
            ) {
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
    title
        .trim_matches(|c: char| matches!(c, '*' | '_' | '`' | ' '))
        .trim_end_matches(':')
        .trim()
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
        own: body..headings
            .first()
            .map_or(text.len(), |(_, range)| range.start),
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
