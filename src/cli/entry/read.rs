//! `annals entry read`

use clap::Args;

use crate::cli::output::Output;
use crate::error::Result;
use crate::knowledge;
use crate::project::Project;

/// Print an entry exactly as it is in its file
///
/// With --json, prints its fields, its body and the hash that `write --if-match` takes.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals entry read --key test-runner")]
pub(crate) struct ReadArgs {
    /// The entry's key
    #[arg(long, value_name = "KEY")]
    key: String,
}

pub(crate) fn run(args: &ReadArgs, project: &Project, out: &mut Output) -> Result<()> {
    let found = knowledge::read(project, &args.key)?;
    out.warnings(&found.problems);
    out.file(&found, &found.bytes)
}
