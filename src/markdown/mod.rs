//! Parses markdown as people write it, and edits it by byte range.
//!
//! A document is front matter and an [`Outline`]: headings with the byte ranges of their sections, and the
//! blocks in them. Texts are verbatim: inline markdown is kept; only list markers, heading marks, cell
//! borders and surrounding white space are removed. Every element has its byte range, so that an [`edit`] can
//! replace it and leave all other bytes unchanged.

pub mod edit;
pub mod front_matter;
mod outline;

pub use edit::Lines;
pub(crate) use edit::{
    Ranges, annals_marker, generated_block, is_fence, item_end, line_start, without_comments,
};
pub use front_matter::{FrontMatter, Node, Value};
pub(crate) use outline::without_bullet;
pub use outline::{Block, BlockContent, Label, ListItem, Outline, Section, Table, TableRow};
