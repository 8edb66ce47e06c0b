//! What each command of a planning workflow does to the stores.

mod inspect;
mod refresh;
mod sync;
mod undo;

pub use inspect::Inspected;
pub use inspect::Model;
pub use inspect::inspect;
pub use refresh::ContextFiles;
pub use sync::Preview;
pub use sync::SyncReport;
pub use sync::SyncRequest;
pub use sync::preview;
pub use sync::sync;
pub use undo::UndoReport;
pub use undo::undo;
