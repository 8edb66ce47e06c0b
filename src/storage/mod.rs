//! Reads bounded files, applies a set of changes whole or not at all, and can take it back.
//!
//! There are three ways to write, and nothing else in the crate writes files but `facts` and
//! `recall::index`:
//!
//! - **changes**: [`Storage::transact`] locks the stores, lets the caller read and plan [`Changes`], and
//!   applies them. For markdown, settings and every other file that people read.
//! - **append**: [`append()`] adds lines to a log with one write, [`Log`] under one lock. For the journal.
//! - **caches and logs** in `.annals/`: [`Storage::write_cache`], [`Storage::log`].
//!
//! # What a transaction promises
//!
//! 1. The locks of its stores are held over reading, planning and applying (`locks/` in `.annals/`, one
//!    file a store, always in the same order). Whoever comes second waits, then sees what was written.
//! 2. What a killed process left half done in these stores is finished first.
//! 3. A record of all old and new bytes goes to the disk before the first change (see `format.rs`), signed
//!    with the user's own key: what is not this user's is never acted on (see `signature.rs`). Without a key
//!    a single file is written unrecorded, and anything else is refused.
//! 4. Each change is made only where the place holds what it held when it was planned: a temporary file
//!    beside it, flushed, trades places with it, and what comes out is compared (see `replace.rs`). Then the
//!    directories are flushed, each once.
//! 5. If a change cannot be made (the disk is full), those before it are taken back, and the error says so.
//!    Where somebody without our locks saved a file meanwhile, their save stays and the work starts again
//!    on it, three times at most. What cannot be taken back at once, the next transaction takes back;
//!    nothing is lost, because the record has all bytes.
//! 6. Killed at any instant, every file holds its old content or its new, and the next transaction on
//!    one of the stores completes the rest. A file that holds neither by then is left alone and reported.
//! 7. Asked once more with the same [`WriteRequest`], it answers as the first time and changes nothing
//!    ([`Storage::transact_once`]).
//! 8. The record stays as history (200 operations or 64 MiB), from which [`History::undo`] works.
//!
//! Symbolic links are followed to where they lead when a change is planned; what would land outside of the
//! root (or of the user's `linked_roots`) or in `.git` is refused, and when it is made, no link is followed: it
//! goes through a handle of its directory (see `dir.rs`).
//! Permissions and owner of a replaced file are kept, other hard links to it are not: they keep the old
//! content. One change to one file costs three flushes: record, content, directory.
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
    reason = "the bans on reading and writing send everybody else here"
)]

mod append;
mod apply;
mod boundary;
mod change;
mod changes;
mod derived;
mod diff;
mod dir;
mod disk;
pub mod fail_point;
mod fingerprint;
mod folder;
mod foreign;
mod format;
mod history;
mod link;
pub(crate) mod listing;
mod lock;
mod open;
mod own_files;
mod preview;
pub mod read;
mod record;
mod recovery;
mod replace;
mod requests;
mod root;
mod scratch;
mod signature;
pub(crate) mod stat;
mod transaction;
mod unfinished;
pub(crate) mod walk;

pub use append::Log;
pub use append::append;
pub use append::rotate;
pub use append::rotated;
pub(crate) use boundary::Boundary;
pub(crate) use boundary::MAX_BYTES as MAX_READ_BYTES;
pub(crate) use boundary::MAX_FILES as MAX_READ_FILES;
pub use changes::Changes;
pub use dir::Visibility;
pub(crate) use fingerprint::of_bytes as digest;
pub(crate) use folder::has_pending;
pub use history::ChangeKind;
pub use history::FileChange;
pub use history::History;
pub use history::Operation;
pub use history::OperationId;
pub use link::LinkState;
pub use link::link;
pub use link::linked;
pub use link::remove_empty_folders;
pub use link::unlink;
pub use lock::Store;
pub(crate) use own_files::remove_beside;
pub use requests::WriteRequest;
pub(crate) use root::real_path;
pub use scratch::Scratch;
pub use scratch::create_empty;
pub use transaction::Applied;
pub use transaction::Storage;
pub use unfinished::Unfinished;
