//! Builds the outline in one pass over the parser's events.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::markdown::Lines;
use crate::markdown::outline::block::{Block, BlockContent, ListItem, Table, TableRow};

/// Maximum nesting depth of lists: a line that consists of list markers would yield as many blocks.
const MAX_DEPTH: usize = 64;

/// Collects headings (level and range of the line) and blocks.
pub(super) struct OutlineBuilder<'a> {
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
    pub(super) fn read(
        text: &'a str,
        body: usize,
        lines: &'a Lines,
    ) -> (Vec<(u8, Range<usize>)>, Vec<Block>) {
        let mut builder = OutlineBuilder {
            text,
            lines,
            body,
            headings: Vec::new(),
            blocks: Vec::new(),
            lists: Vec::new(),
            item: None,
            table: None,
            row: empty_row(),
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
                let table = Table { header: Vec::new(), rows: Vec::new() };
                self.table = Some((range, table));
            }
            Tag::TableHead | Tag::TableRow => {
                self.row = TableRow { line: self.lines.line(range.start), ..empty_row() };
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
                    table.header = std::mem::replace(&mut self.row, empty_row()).cells;
                }
            }
            TagEnd::TableRow => {
                if let Some((_, table)) = &mut self.table {
                    table.rows.push(std::mem::replace(&mut self.row, empty_row()));
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
        // Slice from the marker, and only if it matches: one line may start a million items.
        let text = self.text.get(start..)?;
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let marker = text.as_bytes().get(digits)?;
        let is_marker = match digits {
            0 => b"-*+".contains(marker),
            _ => b".)".contains(marker),
        };
        let after_marker = text.get(digits + 1..)?;
        let inner = after_marker.trim_start_matches([' ', '\t']);
        if !is_marker || !inner.starts_with('[') {
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

fn empty_row() -> TableRow {
    TableRow { cells: Vec::new(), ranges: Vec::new(), line: 0 }
}

/// Joins the lines of a text into one.
fn single_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |joined, line| if line.is_empty() { joined } else { joined + " " + line })
}
