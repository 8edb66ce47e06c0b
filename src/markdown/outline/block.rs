//! The blocks of a document.

use std::ops::Range;

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
    /// Byte range; for a list item the range of its own text, without nested blocks.
    pub range: Range<usize>,
    /// Number of its first line, counted from 1.
    pub line: usize,
}
