//! `annals config`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::error::Result;
use crate::project::{Project, Setting};

/// Show the settings in force and where each value comes from
///
/// Weakest first: defaults, the user file (`$XDG_CONFIG_HOME/annals/config.toml`), the project's
/// annals.toml, the environment (`ANNALS_*`), flags.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals config --json")]
pub(crate) struct ConfigArgs {}

pub(crate) fn run(_: &ConfigArgs, project: &Project, out: &mut Output) -> Result<()> {
    out.list("settings", &project.settings.list(), show)
}

fn show(settings: &Vec<Setting>, to: &mut dyn Write) -> io::Result<()> {
    for setting in settings {
        writeln!(
            to,
            "{} = {}  # {}; {}",
            setting.key, setting.value, setting.origin, setting.about
        )?;
    }
    Ok(())
}
