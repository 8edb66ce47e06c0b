//! Adds our entries to a harness's settings, and removes them again; everything else remains unchanged.

pub mod git;
mod json;
mod run;
mod settings;
#[cfg(test)]
mod tests;
mod toml;

pub use run::{
    FileOutcome, SetupFile, SetupReport, SetupRequest, SetupState, session_start, setup,
    setup_state,
};
pub(crate) use run::{is_in_both_scopes, obstacles};
pub(crate) use settings::HarnessDir;
pub use settings::{SettingsForm, setup_round_trip};
