//! `annals entry delete`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::error::Result;
use crate::knowledge;
use crate::knowledge::Deleted;
use crate::project::Project;

/// Delete an entry for good; prefer `supersede`, which keeps the history
///
/// The reason goes into log.md. Links to the entry stay, and `audit` reports them.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: annals entry delete --key old-runner --reason \"written by mistake\""
)]
pub(crate) struct DeleteArgs {
    /// The entry's key
    #[arg(long, value_name = "KEY")]
    key: String,
    /// Why it is deleted; required
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,
    /// Accept a reason even if it looks like a secret
    #[arg(long)]
    allow_secret: bool,
}

pub(crate) fn run(args: &DeleteArgs, project: &Project, out: &mut Output) -> Result<()> {
    let reason = args.reason.as_deref();
    let done = knowledge::delete(project, &args.key, reason, args.allow_secret.into())?;
    out.warnings(&done.warnings);
    out.result(&done, show)
}

fn show(done: &Deleted, to: &mut dyn Write) -> io::Result<()> {
    match &done.diff {
        Some(diff) => write!(to, "{diff}"),
        None => writeln!(to, "Deleted {}. Reason: {}.", done.key, done.reason),
    }
}
