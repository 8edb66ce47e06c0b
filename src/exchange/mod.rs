//! Imports the memories of other tools, and exports ours.
//!
//! A reader converts a format to an `ImportSource`: notes for the entries, records for the journal, and the
//! items that are left out or not understood, each with its location. [`import`] adds them to the stores and
//! reports the outcome of every item. Sources are never written to.

mod basic_memory;
mod claude_code;
mod claude_mem;
mod database;
mod export;
mod folder;
mod format;
mod import;
mod kind;
mod manifest;
mod note;
mod report;
mod serena;
mod server_memory;
mod source;
mod statements;

pub use export::export;
pub use format::Format;
pub use import::{Import, import};
pub use manifest::{Exported, ExportedFile, LeftOut};
pub use report::{ImportDestination, ImportReport, ImportedItem, ItemCounts};
pub use source::{LeftOutItem, SourceItem};
