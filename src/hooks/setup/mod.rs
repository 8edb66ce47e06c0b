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
pub use report::{FileOutcome, SetupFile, SetupReport};
pub use round_trip::{SettingsForm, setup_round_trip};
pub use run::{SetupRequest, session_start, setup};
pub(crate) use state::is_in_both_scopes;
pub use state::{SetupState, obstacles, setup_state};
