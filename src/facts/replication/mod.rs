//! Replicates facts between devices as operations, whose merge determines the rows.
//!
//! Arbitration runs once, where something was said, and only its results are sent: each row of `fact_history`
//! written on this device becomes an operation, in the transaction that writes it. In a shared database, the
//! facts of a key are always the merge of its operations, so that equal operations give equal rows, in
//! whatever order they arrive. The rules are in `docs/share.md`.

mod incoming;
mod merge;
mod operation;

pub(crate) use incoming::{Incoming, clean_file, receive, record_tombstone, set_aside};
pub(crate) use operation::{
    Address, Cursors, DEVICE, Operation, PRIVATE, VERSION, acknowledge, by_device, cursors,
    is_known_line, is_unchanged, join, joined, leave, line_id, mark, next, pending, pending_count,
    record, renew, required, rewritten, synced, turn_id_prefix,
};
pub use operation::{SetAside, SharingState, sharing};

#[cfg(test)]
mod tests;
