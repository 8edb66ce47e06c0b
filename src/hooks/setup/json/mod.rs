//! Edits JSON by byte range: what was not asked for keeps every byte.

mod edit;
mod scan;
mod style;

pub(crate) use edit::Document;
pub(crate) use edit::is_blank;
pub(crate) use scan::Node;
