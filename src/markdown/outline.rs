//! Parses headings, with the byte ranges of their sections, and blocks with their labelled lines.

use std::ops::Range;
use std::path::Path;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::error::{Error, Result};
use crate::markdown::Lines;
use crate::warning::Warning;

/// Maximum number of lines of a document that are parsed: a line can be a heading or a block, which takes a
/// hundred times its size in memory, and callers scan all of them repeatedly.
const MAX_LINES: usize = 100_000;

/// Maximum number of [`MARKS`] in a document that are parsed: each may become a node of the parser's tree.
const MAX_MARKS: usize = 1_000_000;

/// Characters that can begin or end an inline element, a nested block or a table cell.
const MARKS: &[u8] = b"[]*_`<>&!~\\|-+.)";

/// A heading and the section under it.
#[derive(Clone, Debug)]
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
#[derive(Debug)]
pub struct Outline<'a> {
    text: &'a str,
    sections: Vec<Section>,
    blocks: Vec<Block>,
    lines: Lines,
    /// The part that is not parsed, if any.
    unread: Option<Unread>,
}

/// The rest of a document beyond a maximum: its offset, and what there is to say about it.
type Unread = (usize, String);

impl<'a> Outline<'a> {
    /// Parses `text` from byte `body`, the end of its front matter; offsets are relative to the whole text.
    ///
    /// The text after the first 100,000 lines or 1,000,000 marks is not parsed and belongs to the last section (see
    /// [`Self::warning`]).
    pub fn parse(text: &'a str, body: usize) -> Self {
        let unread = unread(text, body);
        let end = unread.as_ref().map_or(text.len(), |(start, _)| *start);
        let lines = Lines::new(text);
        let (headings, blocks) = OutlineBuilder::read(&text[..end], body, &lines);
        Self { text, sections: sections(text, body, &headings, &lines), blocks, lines, unread }
    }

    /// Parses `text` like [`Self::parse`], but without the rest, which is not part of [`Self::text`] either: for
    /// readers that do not change the file.
    pub(crate) fn parse_beginning(text: &'a str, body: usize) -> Self {
        let unread = unread(text, body);
        let end = unread.as_ref().map_or(text.len(), |(start, _)| *start);
        Self { unread, ..Self::parse(&text[..end], body) }
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
        Err(Error::refused(message).about(path).hint(hint))
    }

    /// Returns a warning if not all of the document is parsed.
    pub fn warning(&self, path: &Path) -> Option<Warning> {
        let (start, message) = self.unread.as_ref()?;
        Some(Warning::at(path, self.line(*start), message.clone()))
    }

    /// Returns the whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Returns the range of the whole text.
    pub fn all(&self) -> Range<usize> {
        0..self.text.len()
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
        self.blocks(range).iter().filter_map(Block::item)
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
fn plain_title(title: &str) -> &str {
    title.trim_matches(|c: char| matches!(c, '*' | '_' | '`' | ' ')).trim_end_matches(':').trim()
}

/// Returns the part of a text that has too many lines or marks before it to be parsed.
fn unread(text: &str, body: usize) -> Option<Unread> {
    let bytes = text.as_bytes().get(body..)?;
    // In a file of usual size there cannot be as many.
    if bytes.len() <= MAX_LINES {
        return None;
    }
    let (mut lines, mut marks, mut line_start) = (0, 0, 0);
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == b'\n' {
            (lines, line_start) = (lines + 1, at + 1);
        }
        marks += usize::from(MARKS.contains(byte));
        // Half a line could mean something else.
        let (maximum, counted) = if lines == MAX_LINES && line_start < bytes.len() {
            (MAX_LINES, "lines")
        } else if marks > MAX_MARKS {
            (MAX_MARKS, "marks of markdown")
        } else {
            continue;
        };
        let message = format!("has more than {maximum} {counted}; those from here on are not read");
        return Some((body + line_start, message));
    }
    None
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
    /// Byte range from its marker to the end of its nested items.
    pub whole: Range<usize>,
}

/// A row of a table.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TableRow {
    /// The cells, verbatim.
    pub cells: Vec<String>,
    /// Byte range of each cell's text.
    pub ranges: Vec<Range<usize>>,
    /// Line number in the file, counted from 1.
    pub line: usize,
}

/// A table.
#[derive(Debug, Default, PartialEq, Eq)]
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
#[derive(Debug, PartialEq, Eq)]
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
#[derive(Debug)]
pub struct Block {
    /// Its kind and content.
    pub content: BlockContent,
    /// Byte range; for a list item the range of its own text, without nested blocks.
    pub range: Range<usize>,
    /// Number of its first line, counted from 1.
    pub line: usize,
}

impl Block {
    /// Returns the block with its list item, if it is one.
    pub(crate) fn item(&self) -> Option<(&Self, &ListItem)> {
        match &self.content {
            BlockContent::Item(item) => Some((self, item)),
            _ => None,
        }
    }
}

/// Maximum nesting depth of lists: a line that consists of list markers would yield as many blocks.
const MAX_DEPTH: usize = 64;

/// Collects headings (level and range of the line) and blocks.
struct OutlineBuilder<'a> {
    text: &'a str,
    lines: &'a Lines,
    body: usize,
    headings: Vec<(u8, Range<usize>)>,
    blocks: Vec<Block>,
    /// The next number of each open list; `None` for a list with bullets.
    lists: Vec<Option<u64>>,
    item: Option<OpenItem>,
    table: Option<(Range<usize>, Table)>,
    row: TableRow,
}

/// A list item whose own text is not complete yet.
struct OpenItem {
    item: ListItem,
    own: Option<Range<usize>>,
}

impl<'a> OutlineBuilder<'a> {
    fn read(text: &'a str, body: usize, lines: &'a Lines) -> (Vec<(u8, Range<usize>)>, Vec<Block>) {
        let mut builder = OutlineBuilder {
            text,
            lines,
            body,
            headings: Vec::new(),
            blocks: Vec::new(),
            lists: Vec::new(),
            item: None,
            table: None,
            row: TableRow::default(),
        };
        let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
        let source = text.get(body..).unwrap_or_default();
        for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
            builder.handle(&event, range.start + body..range.end + body);
        }
        // A list item is pushed when it ends, after its nested items.
        builder.blocks.sort_by_key(|block| block.range.start);
        (builder.headings, builder.blocks)
    }

    fn handle(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(end) => self.end(*end, &range),
            Event::TaskListMarker(checked) => {
                if let Some(open) = &mut self.item {
                    open.item.checked = Some(*checked);
                }
            }
            Event::Rule => self.close_item(),
            _ => self.inline(range),
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.close_item();
                self.heading(*level as u8, range);
            }
            Tag::Paragraph => {
                // The first paragraph of a loose item is the item's own text.
                if self.item.as_ref().is_none_or(|open| open.own.is_some()) {
                    self.close_item();
                    self.push(BlockContent::Paragraph, range);
                }
            }
            Tag::List(first) => {
                self.close_item();
                self.lists.push(*first);
            }
            Tag::Item => self.open_item(range),
            Tag::CodeBlock(kind) => {
                // Text indented by four spaces is a wrapped paragraph in files that models indent.
                let content = match kind {
                    CodeBlockKind::Fenced(_) => BlockContent::Code,
                    CodeBlockKind::Indented => BlockContent::Paragraph,
                };
                self.close_item();
                self.push(content, range);
            }
            Tag::HtmlBlock => {
                self.close_item();
                self.push(BlockContent::Html, range);
            }
            Tag::Table(_) => {
                self.close_item();
                self.table = Some((range, Table::default()));
            }
            Tag::TableHead | Tag::TableRow => {
                self.row.line = self.lines.line(range.start);
            }
            Tag::TableCell => self.cell(range),
            Tag::BlockQuote(_) => self.close_item(),
            _ => self.inline(range),
        }
    }

    fn end(&mut self, end: TagEnd, range: &Range<usize>) {
        match end {
            TagEnd::List(_) => {
                self.close_item();
                self.lists.pop();
            }
            TagEnd::Item => self.close_item(),
            TagEnd::TableHead => {
                if let Some((_, table)) = &mut self.table {
                    table.header = std::mem::take(&mut self.row).cells;
                }
            }
            TagEnd::TableRow => {
                if let Some((_, table)) = &mut self.table {
                    table.rows.push(std::mem::take(&mut self.row));
                }
            }
            TagEnd::Table => {
                if let Some((range, table)) = self.table.take() {
                    self.push(BlockContent::Table(table), range);
                }
            }
            // A link or an image extends beyond the events of its text.
            TagEnd::Link | TagEnd::Image => self.inline(range.clone()),
            _ => {}
        }
    }

    /// Records a `#` heading; a paragraph underlined with dashes stays a paragraph.
    fn heading(&mut self, level: u8, range: Range<usize>) {
        if !self.text[range.clone()].trim_start().starts_with('#') {
            let trimmed = self.text[range.clone()].trim_end();
            let rule_start = trimmed.rfind('\n').map_or(trimmed.len(), |at| at + 1);
            self.push(BlockContent::Paragraph, range.start..range.start + rule_start);
            return;
        }
        // A heading inside a list or quote starts after the marker; the start of its line is irrelevant.
        self.headings.push((level, range));
    }

    fn open_item(&mut self, whole: Range<usize>) {
        self.close_item();
        let number = self.lists.last_mut().and_then(|next| {
            let number = *next;
            *next = next.map(|n| n.saturating_add(1));
            number
        });
        self.item = Some(OpenItem {
            item: ListItem {
                text: String::new(),
                checked: None,
                depth: self.lists.len().saturating_sub(1),
                number,
                whole,
            },
            own: None,
        });
    }

    /// Extends the open item's own text to an inline element.
    fn inline(&mut self, range: Range<usize>) {
        if let Some(open) = &mut self.item {
            open.own = Some(match open.own.take() {
                Some(own) => own.start.min(range.start)..own.end.max(range.end),
                None => range,
            });
        }
    }

    fn close_item(&mut self) {
        let Some(OpenItem { mut item, own }) = self.item.take() else {
            return;
        };
        let start = item.whole.start;
        let range = own
            .map(|own| self.with_leading_escape(own, start))
            .or_else(|| self.link_definition_range(start))
            .unwrap_or(start..start);
        item.text = single_line(&self.text[range.clone()]);
        self.push(BlockContent::Item(item), range);
    }

    /// Returns an item's range with a leading backslash, which the parser omits from its events.
    fn with_leading_escape(&self, own: Range<usize>, start: usize) -> Range<usize> {
        let before = self.text.get(start..own.start).unwrap_or_default();
        own.start - usize::from(before.ends_with('\\'))..own.end
    }

    /// Returns the text of an item that the parser read as a link definition, for which it emits no events:
    /// `- [02-03]: Postgres` is a decision with its tag.
    fn link_definition_range(&self, start: usize) -> Option<Range<usize>> {
        let text = self.text.get(start..)?;
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let inner = text.get(digits + 1..)?.trim_start_matches([' ', '\t']);
        // Before the end of the line is searched for: one line may start a million items.
        if !inner.starts_with('[') {
            return None;
        }
        let line = inner.lines().next()?.trim_end();
        let at = self.text.len() - inner.len();
        line.contains("]:").then_some(at..at + line.len())
    }

    fn cell(&mut self, range: Range<usize>) {
        let raw = &self.text[range.clone()];
        let start = range.start + (raw.len() - raw.trim_start().len());
        let text = raw.trim();
        self.row.cells.push(text.to_owned());
        self.row.ranges.push(start..start + text.len());
    }

    fn push(&mut self, content: BlockContent, range: Range<usize>) {
        debug_assert!(range.start >= self.body, "a block starts inside the body");
        if self.lists.len() > MAX_DEPTH {
            return;
        }
        self.blocks.push(Block { line: self.lines.line(range.start), content, range });
    }
}

/// Joins the lines of a text into one.
fn single_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |joined, line| if line.is_empty() { joined } else { joined + " " + line })
}

/// A labelled value on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The label, without emphasis and colon.
    pub name: String,
    /// The value, verbatim; empty if there is none.
    pub value: String,
    /// Byte range of the value.
    pub range: Range<usize>,
    /// Line number in the file, counted from 1.
    pub line: usize,
    /// Whether the label is bold.
    pub is_bold: bool,
}

/// Maximum length of a label, in bytes: a longer one is a sentence with a colon in it.
const MAX_NAME_LENGTH: usize = 48;

impl Label {
    /// Parses a line that starts at byte `offset` of the text: `**Name:** value`, `**Name**: value`,
    /// `*Name:* value` or `Name: value`, with an optional list marker before it.
    pub(crate) fn parse(raw: &str, offset: usize, line: usize) -> Option<Self> {
        let content = strip_marker(raw);
        let (name, rest, is_bold) = parse_bold(content).or_else(|| parse_plain(content))?;
        let value = rest.trim();
        let start = offset + (raw.len() - rest.len()) + (rest.len() - rest.trim_start().len());
        Some(Self {
            name: name.to_owned(),
            value: value.to_owned(),
            range: start..start + value.len(),
            line,
            is_bold,
        })
    }
}

/// Returns a line without the bullet `-`, `*` or `+` and the space after it.
pub(crate) fn without_bullet(line: &str) -> &str {
    line.strip_prefix(['-', '*', '+']).and_then(|rest| rest.strip_prefix(' ')).unwrap_or(line)
}

fn strip_marker(raw: &str) -> &str {
    let content = without_bullet(raw.trim_start().trim_start_matches("> "));
    ["[ ] ", "[x] ", "[X] "]
        .iter()
        .find_map(|marker| content.strip_prefix(marker))
        .unwrap_or(content)
        .trim_start()
}

/// The colon, and that of Chinese and Japanese texts.
const COLONS: [char; 2] = [':', '：'];

fn parse_bold(content: &str) -> Option<(&str, &str, bool)> {
    let mark = ["**", "__", "*", "_"].into_iter().find(|mark| content.starts_with(mark))?;
    let (name, rest) = content[mark.len()..].split_once(mark)?;
    match name.trim_end().strip_suffix(COLONS) {
        Some(name) => Some((name.trim(), rest, true)),
        None => Some((name.trim(), rest.trim_start().strip_prefix(COLONS)?, true)),
    }
    .filter(|(name, ..)| is_name(name))
}

fn parse_plain(content: &str) -> Option<(&str, &str, bool)> {
    // Most lines have no other letters, in which one byte is found faster.
    let is_ascii = content.is_ascii();
    let found = if is_ascii { content.split_once(':') } else { content.split_once(COLONS) };
    let (name, rest) = found?;
    let is_wide = content[name.len()..].starts_with(COLONS[1]);
    let ends_label = rest.is_empty() || is_wide || rest.starts_with(char::is_whitespace);
    (ends_label && is_name(name)).then_some((name.trim(), rest, false))
}

fn is_name(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= MAX_NAME_LENGTH && !name.contains(['`', '|', '[', '*'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(outline: &Outline<'_>) -> Vec<String> {
        outline.sections().iter().map(|section| section.title.clone()).collect()
    }

    #[test]
    fn headings_inside_fences_are_text() {
        let outline =
            Outline::parse("# A\n```sh\n## Active Context\n```\n## B ##\nx\n### C\n## D", 0);
        assert_eq!(titles(&outline), ["", "A", "B", "C", "D"]);
        let b = outline.section(&["b"]).unwrap();
        assert_eq!(outline.slice(&b.own), "x");
        assert_eq!(outline.slice(&b.whole), "x\n### C");
        assert_eq!(b.line, 5);
    }

    #[test]
    fn dashes_under_a_paragraph_are_not_a_heading() {
        let outline = Outline::parse("**Status:** complete\n---\n## A\n", 0);
        assert_eq!(titles(&outline), ["", "A"]);
        let labels = outline.labels(&(0..100));
        assert_eq!((labels[0].name.as_str(), labels[0].value.as_str()), ("Status", "complete"));
    }

    #[test]
    fn items_are_verbatim_without_marker_and_nested_items() {
        let text = "- [x] **Phase 1:** do\n  more `of` it\n  - nested\n- plain\n\n1. one\n2. two\n";
        let outline = Outline::parse(text, 0);
        let all = 0..text.len();
        let items: Vec<_> = outline.items(&all).map(|(_, item)| item.clone()).collect();
        assert_eq!(items[0].text, "**Phase 1:** do more `of` it");
        assert_eq!(items[0].checked, Some(true));
        assert_eq!((items[1].text.as_str(), items[1].depth), ("nested", 1));
        assert_eq!((items[2].text.as_str(), items[2].depth), ("plain", 0));
        assert_eq!(items[4].number, Some(2));
    }

    #[test]
    fn cells_have_byte_ranges() {
        let text = "| Decision | Date |\n|---|---|\n| Use `a \\| b` | 2026 |\n| x | |\n";
        let outline = Outline::parse(text, 0);
        let all = 0..text.len();
        let table = outline.tables(&all).next().unwrap();
        assert_eq!(table.header, ["Decision", "Date"]);
        assert_eq!(table.rows[0].cells, ["Use `a \\| b`", "2026"]);
        assert_eq!(&text[table.rows[0].ranges[1].clone()], "2026");
        assert_eq!(table.rows[1].cells, ["x", ""]);
        assert_eq!(table.column(&["when", "date"]), Some(1));
    }

    #[test]
    fn labels_of_every_form_are_read() {
        let text = "**Phase**: 2\n**Plan:** 3\nStatus: ok\n\n- **Duration:** 4 min\n- no label here\n状态：完成\nTasks:\u{a0}2\n\n```\nFake: 1\n```\n";
        let outline = Outline::parse(text, 0);
        let found: Vec<_> = outline
            .labels(&(0..text.len()))
            .into_iter()
            .map(|label| (label.name, label.value))
            .collect();
        let expected = [
            ("Phase", "2"),
            ("Plan", "3"),
            ("Status", "ok"),
            ("Duration", "4 min"),
            ("状态", "完成"),
            ("Tasks", "2"),
        ];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn label_ranges_point_at_the_value() {
        let text = "- **Phase:**  2 of 5 \n";
        let label = &Outline::parse(text, 0).labels(&(0..text.len()))[0];
        assert_eq!(&text[label.range.clone()], "2 of 5");
    }

    #[test]
    fn a_leading_backslash_belongs_to_the_item() {
        let text = "- \\# not a title\n- [x] \\@a.md\n- a \\* b\n";
        let outline = Outline::parse(text, 0);
        let all = 0..text.len();
        let items: Vec<_> = outline.items(&all).map(|(_, item)| item.text.clone()).collect();
        assert_eq!(items, ["\\# not a title", "\\@a.md", "a \\* b"]);
    }

    #[test]
    fn an_item_that_looks_like_a_link_definition_is_an_item() {
        let text = "- [02-03]: Postgres\n- [a]: b c\n1. [x]: y\n";
        let outline = Outline::parse(text, 0);
        let items: Vec<_> =
            outline.items(&(0..text.len())).map(|(_, item)| item.text.clone()).collect();
        assert_eq!(items, ["[02-03]: Postgres", "[a]: b c", "[x]: y"]);
    }

    #[test]
    fn lines_beyond_the_maximum_are_not_read_and_yield_a_warning() {
        let warning = |text: &str| Outline::parse(text, 0).warning(Path::new("a.md"));
        let text = "- a\n".repeat(MAX_LINES);
        assert_eq!(warning(&text), None);
        let text = format!("# T\n{text}# U\n");
        let outline = Outline::parse(&text, 0);
        assert_eq!(outline.blocks(&(0..text.len())).len(), MAX_LINES - 1);
        assert_eq!(outline.sections().len(), 2);
        assert_eq!(outline.sections()[1].whole.end, text.len());
        let beginning = Outline::parse_beginning(&text, 0);
        assert!(text.starts_with(beginning.text()) && beginning.text().ends_with("- a\n"));
        assert_eq!(beginning.warning(Path::new("a.md")), outline.warning(Path::new("a.md")));
        let warning = warning(&text).unwrap();
        assert_eq!(warning.place.line, Some(MAX_LINES + 1));
        assert!(warning.message.contains("lines"), "{}", warning.message);
    }

    #[test]
    fn marks_beyond_the_maximum_are_not_read_and_yield_a_warning() {
        let text = format!("# T\n\n{}\n\n- a\n", "[".repeat(MAX_MARKS));
        let outline = Outline::parse(&text, 0);
        let warning = outline.warning(Path::new("a.md")).unwrap();
        assert_eq!(warning.place.line, Some(5));
        assert!(warning.message.contains("marks"), "{}", warning.message);
        assert_eq!(outline.items(&(0..text.len())).count(), 0);
        let whole_lines = format!("# T\n\n{}\n", "[".repeat(MAX_MARKS - 1));
        let text = format!("{whole_lines}- Phase 3.1\n");
        assert_eq!(Outline::parse_beginning(&text, 0).text(), whole_lines);
        let text = format!("---\n{}\n---\n# T\n\n- a\n", "[".repeat(MAX_MARKS));
        let outline = Outline::parse(&text, text.find("# T").unwrap());
        assert!(outline.warning(Path::new("a.md")).is_none(), "front matter is not counted");
        assert_eq!(outline.items(&(0..text.len())).count(), 1);
    }

    #[test]
    fn a_line_of_only_markers_yields_few_blocks() {
        let text = format!("- a\n\n{}b\n\n- c\n", "- ".repeat(100_000));
        let outline = Outline::parse(&text, 0);
        let blocks = outline.blocks(&(0..text.len()));
        assert!(blocks.len() < 100, "{}", blocks.len());
        assert_eq!(outline.items(&(0..text.len())).last().unwrap().1.text, "c");
    }
}
