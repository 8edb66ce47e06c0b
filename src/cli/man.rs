//! `annals man`

use std::path::Path;

use clap::{Args, CommandFactory};
use clap_mangen::Man;

use crate::cli::Arguments;
use crate::cli::output::Output;
use crate::error::{At, Error, Result};

/// Print the manual page of annals or of one of its commands
#[derive(Args, Debug)]
#[command(after_help = "Example: annals man sync | man -l -")]
pub(crate) struct ManArgs {
    /// The command, and a subcommand if any; without one, annals itself
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

pub(crate) fn run(args: &ManArgs, out: &mut Output) -> Result<()> {
    let mut annals = Arguments::command();
    annals.build();
    let mut command = annals;
    for name in &args.command {
        command = command.find_subcommand(name).cloned().ok_or_else(|| {
            Error::usage(format!("no such command: {name}")).hint("annals --help")
        })?;
    }
    let mut page = Vec::new();
    Man::new(command)
        .source(concat!("annals ", env!("CARGO_PKG_VERSION")))
        .render(&mut page)
        .at("write the manual page", Path::new("-"))?;
    out.verbatim(&page)
}
