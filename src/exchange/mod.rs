//! Imports other tools' memories, exports ours.
//!
//! A reader makes of a format what it holds: `Source`, pieces for entries, records for the journal, and
//! what it leaves out or does not understand, each with its place. [`import`] puts the pieces into the
//! stores and accounts for every one of them. No source is ever written to.

mod account;
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
mod refusal;
mod serena;
mod server_memory;
mod source;
mod statements;

pub use account::Account;
pub use account::ImportDestination;
pub use account::ImportedItem;
pub use account::ItemCounts;
pub use account::LeftOutItem;
pub use export::Export;
pub use export::export;
pub use format::Format;
pub use import::Import;
pub use import::import;
pub use manifest::Exported;
pub use manifest::ExportedFile;
