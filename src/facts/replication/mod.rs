//! Replicates facts between devices as operations, whose merge determines the rows.
//!
//! Arbitration runs once, where something was said, and only its results are sent: each row of `fact_history`
//! written on this device becomes an operation, in the transaction that writes it. In a shared database, the
//! facts of a key are always the [`merge`] of its operations, so that equal operations give equal rows, in
//! whatever order they arrive. The rules are in `docs/share.md`.

mod conflict;
mod device;
mod incoming;
mod journal_lines;
mod merge;
mod merged;
mod operation;
mod outgoing;
mod received;
mod recorded;
mod rows;
mod scope;
mod sharing_state;
mod surviving_history;
mod tombstone;
mod wire;

pub use device::Device;
pub(crate) use device::{join, leave, synced, turn_id_prefix};
pub(crate) use incoming::{Incoming, cursors, receive, retry_set_aside};
pub(crate) use journal_lines::{
    JournalCursor, drop_missing_lines, journal_cursor, journals, line_id, note_foreign_line,
    note_line, set_journal_cursor,
};
pub(crate) use operation::{DeviceOperation, OperationAddress, OperationKind};
pub(crate) use outgoing::{
    acknowledge, is_unchanged, mark_sent, pending, renew, rewritten, withhold,
};
pub(crate) use received::{Received, has_lines_set_aside};
pub(crate) use recorded::record;
pub(crate) use scope::{DEVICE, PRIVATE, Scopes, of_fact};
pub(crate) use sharing_state::pending_count;
pub use sharing_state::{SetAside, SharingState, sharing};
pub(crate) use tombstone::{Tombstone, clean_file, decode as decode_tombstone, record_tombstone};
pub(crate) use wire::{VERSION, secret};

#[cfg(test)]
mod tests;
