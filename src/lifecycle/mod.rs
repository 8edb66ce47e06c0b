//! What each command of a planning workflow does to the stores.

mod archive;
mod execute;
mod init;
mod inspect;
mod record;
mod refresh;
mod relevance;
mod ship;
mod shipped;
mod sync;
mod undo;

pub use archive::Archived;
pub use execute::ExecuteReport;
pub use execute::ExecuteRequest;
pub use execute::execute;
pub use init::InitDefaults;
pub use init::InitReport;
pub use init::InitRequest;
pub use init::init;
pub use init::init_defaults;
pub use inspect::Inspected;
pub use inspect::Model;
pub use inspect::inspect;
pub use refresh::ContextFiles;
pub use relevance::patterns;
pub use relevance::relevant_patterns;
pub use ship::ShipReport;
pub use ship::ShipRequest;
pub use ship::ship;
pub use sync::Preview;
pub use sync::SyncReport;
pub use sync::SyncRequest;
pub use sync::preview;
pub use sync::sync;
pub use undo::UndoReport;
pub use undo::undo;
