//! `annals completions`

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::Arguments;
use crate::cli::output::Output;
use crate::error::Result;

/// Print a shell's completion script
#[derive(Args, Debug)]
#[command(
    after_help = "Example: annals completions bash > ~/.local/share/bash-completion/completions/annals"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, out: &mut Output) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), "annals", &mut script);
    out.verbatim(&script)
}
