//! Adds our entries to a harness's settings, and removes them again; everything else remains unchanged.

mod command;
pub mod git;
mod harness_dir;
mod hook_command;
pub mod journal;
mod json;
mod report;
mod round_trip;
mod run;
mod server;
mod settings;
mod state;
mod target;
mod toml;

pub(crate) use harness_dir::user_folder_of;
pub use report::FileOutcome;
pub use report::SetupFile;
pub use report::SetupReport;
pub use round_trip::SettingsForm;
pub use round_trip::setup_round_trip;
pub use run::SetupRequest;
pub use run::session_start;
pub use run::setup;
pub use state::SetupState;
pub(crate) use state::is_in_both_scopes;
pub use state::obstacles;
pub use state::setup_state;
