//! Puts our entries into a harness's own settings, and takes them out again; everything else keeps its bytes.

pub mod claude;
mod codex;
mod config_toml;
mod entry;
mod gemini;
pub mod git;
pub mod journal;
mod json;
mod opencode;
mod place;
mod report;
mod round_trip;
mod run;
mod server;
mod settings;
mod wish;

pub use place::Scope;
pub(crate) use place::user_folder_of;
pub use report::FileOutcome;
pub use report::SetupFile;
pub use report::SetupReport;
pub use round_trip::Form;
pub use round_trip::set_up_and_removed;
pub use run::SetupRequest;
pub use run::setup;
