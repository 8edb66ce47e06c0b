//! What each command of a planning workflow does to the stores.

mod init;
mod inspect;
mod plan;
mod refresh;
mod sync;
mod undo;

pub use init::InitDefaults;
pub use init::InitReport;
pub use init::InitRequest;
pub use init::init;
pub use init::init_defaults;
pub use inspect::Inspected;
pub use inspect::Model;
pub use inspect::inspect;
pub use plan::Dependency;
pub use plan::PhaseBrief;
pub use plan::PlanBrief;
pub use plan::PlanRequest;
pub use plan::plan;
pub use refresh::ContextFiles;
pub use sync::SyncReport;
pub use sync::SyncRequest;
pub use sync::preview;
pub use sync::sync;
pub use undo::UndoReport;
pub use undo::undo;
