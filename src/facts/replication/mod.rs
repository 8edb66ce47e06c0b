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
pub(crate) use device::join;
pub(crate) use device::leave;
pub(crate) use device::synced;
pub(crate) use device::turn_id_prefix;
pub(crate) use incoming::Incoming;
pub(crate) use incoming::cursors;
pub(crate) use incoming::receive;
pub(crate) use incoming::retry_set_aside;
pub(crate) use journal_lines::JournalCursor;
pub(crate) use journal_lines::drop_missing_lines;
pub(crate) use journal_lines::journal_cursor;
pub(crate) use journal_lines::journals;
pub(crate) use journal_lines::line_id;
pub(crate) use journal_lines::note_foreign_line;
pub(crate) use journal_lines::note_line;
pub(crate) use journal_lines::set_journal_cursor;
pub(crate) use operation::DeviceOperation;
pub(crate) use operation::OperationAddress;
pub(crate) use operation::OperationKind;
pub(crate) use outgoing::acknowledge;
pub(crate) use outgoing::is_unchanged;
pub(crate) use outgoing::mark_sent;
pub(crate) use outgoing::pending;
pub(crate) use outgoing::renew;
pub(crate) use outgoing::rewritten;
pub(crate) use outgoing::withhold;
pub(crate) use received::Received;
pub(crate) use received::has_lines_set_aside;
pub(crate) use recorded::record;
pub(crate) use scope::DEVICE;
pub(crate) use scope::PRIVATE;
pub(crate) use scope::Scopes;
pub(crate) use scope::of_fact;
pub use sharing_state::SetAside;
pub use sharing_state::SharingState;
pub(crate) use sharing_state::pending_count;
pub use sharing_state::sharing;
pub(crate) use tombstone::Tombstone;
pub(crate) use tombstone::clean_file;
pub(crate) use tombstone::decode as decode_tombstone;
pub(crate) use tombstone::record_tombstone;
pub(crate) use wire::VERSION;
pub(crate) use wire::secret;

#[cfg(test)]
mod tests;
