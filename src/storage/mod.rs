//! Reads bounded files, applies a set of changes atomically, and can undo it.
//!
//! There are three ways to write; apart from them, only `facts` and `recall::index` write files:
//!
//! - **changes**: [`Storage::transact`] locks the stores, lets the caller read and plan [`Changes`], and
//!   applies them. Used for markdown, settings and every other file that people read.
//! - **append**: [`Log`] adds lines to a log with one write, under its lock. Used for the journal.
//! - **caches and logs** in `.annals/`: [`Storage::write_cache`], [`Storage::log`].
//!
//! # Guarantees of a transaction
//!
//! 1. It holds the locks of its stores while it reads, plans and applies (`locks/` in `.annals/`, one file
//!    per store, always locked in the same order). A second process waits and then sees the changes.
//! 2. Operations that were interrupted by a killed process are completed first.
//! 3. A record of all old and new bytes is written to disk before the first change (see `record.rs`). It is
//!    signed with the user's own key, and records that this user did not sign are never executed (see
//!    `record.rs`). Without a key, a single file is written without a record, and anything else is refused.
//! 4. A change is applied only if the file still has the content it had when the change was planned: a
//!    temporary file beside it, flushed, is exchanged with it, and the replaced content is compared (see
//!    `apply.rs`). Then each directory is flushed once.
//! 5. If a change fails (the disk is full), the earlier ones are reverted, and the error says so. If another
//!    program saved a file in the meantime, its version is kept and the work is retried, up to three times.
//!    If reverting fails, the next transaction does it; nothing is lost, because the record has all bytes.
//! 6. If the process is killed, every file has either its old or its new content, and the next transaction
//!    completes the rest. A file that has neither by then is skipped with a warning.
//! 7. If it is repeated with the same request id, it returns the first answer and changes nothing
//!    ([`Storage::transact_once`]).
//! 8. The record is kept in the history (200 operations or 64 MiB) for [`History::undo`], with the answer to a request.
//!
//! When a change is planned, symbolic links are followed; a target outside the root (and the user's
//! `linked_roots`), or in `.git`, is refused. When a change is applied, no link is followed: it goes through a
//! handle of its directory (see `disk.rs`).
//! A replaced file keeps its permissions and owner. Other hard links to it keep the old content. A change to
//! one file costs three flushes: record, content, directory.
//!
//! # Use
//!
//! ```no_run
//! # use std::path::Path;
//! # use annals::clock::Clock;
//! # use annals::storage::{Changes, Storage, Store};
//! # fn main() -> annals::error::Result<()> {
//! let storage = Storage::new(Path::new("."), Clock::new(None)?);
//! let notes = storage.root().join("NOTES.md");
//! let (lines, applied) = storage.transact("note", &[Store::Entries], || {
//!     let mut changes = Changes::new();
//!     let mut text = changes.current(&notes)?.unwrap_or_default();
//!     text.extend_from_slice(b"- one more\n");
//!     let lines = text.split(|byte| *byte == b'\n').count() - 1;
//!     changes.write(&notes, text)?;
//!     Ok((lines, changes))
//! })?;
//! # assert_eq!(lines, applied.changed.len());
//! # Ok(())
//! # }
//! ```

#![expect(
    clippy::disallowed_methods,
    reason = "this is the module that the bans on reading and writing refer to"
)]

mod append;
mod apply;
mod boundary;
mod changes;
mod disk;
mod history;
pub(crate) mod listing;
mod lock;
mod own_files;
pub mod read;
mod record;
mod transaction;

pub use append::{Log, rotate, rotated};
pub(crate) use boundary::{Boundary, real_path};
pub use changes::Changes;
pub use disk::fail_point;
pub use history::{ChangeKind, FileChange, History, Operation, OperationId};
pub use lock::Store;
pub use own_files::Scratch;
pub(crate) use own_files::{companions, database_uri, has_pending, is_plain_database};
pub use transaction::{Applied, Storage};
