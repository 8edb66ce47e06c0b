//! What each command of a planning workflow does to the stores.

mod archive;
mod execute;
mod init;
mod plan;
mod refresh;
mod ship;
mod sync;

pub use archive::Archived;
pub use execute::ExecuteReport;
pub use execute::ExecuteRequest;
pub use execute::execute;
pub use init::InitReport;
pub use init::InitRequest;
pub use init::init;
pub use plan::PlanBrief;
pub use plan::plan;
pub use refresh::ContextFiles;
pub use ship::ShipReport;
pub use ship::ShipRequest;
pub use ship::ship;
pub use sync::SyncReport;
pub use sync::SyncRequest;
pub use sync::sync;
