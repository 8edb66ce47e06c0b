//! Shares facts and journal between devices, through the user's own PostgreSQL database.
//!
//! SQLite and the journal file remain the stores that are read and written; the server only passes operations
//! on. `docs/share.md` describes what is sent, and `facts::replication` how it is merged.

mod address;
mod forgetting;
mod identity;
mod lines;
mod membership;
mod run;
mod server;
mod status;

pub use forgetting::forget;
pub use membership::{Initialised, LeaveReport, init, leave};
pub use run::{Direction, Synced, is_active, is_configured, sync};
pub use server::SharedDevice;
pub use status::{ShareStatus, status};
