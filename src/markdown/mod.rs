//! Parses markdown as people write it, and edits it by byte range.
//!
//! A document is front matter and an [`Outline`]: headings with the byte ranges of their sections, and the
//! blocks in them. Texts are verbatim: inline markdown is kept; only list markers, heading marks, cell
//! borders and surrounding white space are removed. Every element has its byte range, so that an [`edit`] can
//! replace it and leave all other bytes unchanged.

pub(crate) mod comments;
pub mod edit;
mod fields;
pub mod front_matter;
mod label;
mod lines;
pub mod node;
mod outline;

pub use front_matter::FrontMatter;
pub use label::Label;
pub(crate) use label::without_bullet;
pub use lines::Lines;
pub(crate) use lines::{Ranges, item_end, line_start};
pub use node::{Node, Value};
pub use outline::{Block, BlockContent, ListItem, Outline, Section, Table, TableRow};
