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

pub(crate) use device::{
    DEVICE, PRIVATE, Scopes, cursors, join, leave, next_number, of_fact, pending_count, record,
    renew, synced, turn_id_prefix,
};
pub use device::{Device, SetAside, SharingState, sharing};
pub(crate) use incoming::{
    Incoming, Tombstone, clean_file, receive, record_tombstone, retry, set_aside,
};
pub(crate) use operation::{
    Address, Operation, VERSION, acknowledge, is_known_line, is_unchanged, line_id, mark_sent,
    pending, rewritten, withhold,
};

#[cfg(test)]
mod tests;
