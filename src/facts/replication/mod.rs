//! Replicates facts between devices as operations, whose merge determines the rows.
//!
//! Arbitration runs once, where something was said, and only its results are sent: each row of `fact_history`
//! written on this device becomes an operation, in the transaction that writes it. In a shared database, the
//! facts of a key are always the merge of its operations, so that equal operations give equal rows, in
//! whatever order they arrive. The rules are in `docs/share.md`.

mod device;
mod incoming;
mod merge;
mod operation;
mod tombstone;

pub(crate) use device::{
    Cursors, DEVICE, PRIVATE, by_device, cursors, join, joined, leave, next, pending_count, record,
    renew, required, synced, turn_id_prefix,
};
pub use device::{SetAside, SharingState, sharing};
pub(crate) use incoming::{Incoming, receive, set_aside};
pub(crate) use operation::{
    Address, Operation, VERSION, acknowledge, is_known_line, is_unchanged, line_id, mark_sent,
    pending, rewritten, withhold,
};
pub(crate) use tombstone::{clean_file, record_tombstone};

#[cfg(test)]
mod tests;
