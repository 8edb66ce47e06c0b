//! `annals entry supersede`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::error::Result;
use crate::knowledge;
use crate::knowledge::Superseded;
use crate::project::Project;

/// Mark an entry as superseded by another; both stay
///
/// From then on, searches leave out the old one; `--include-superseded` shows it. If the new one was
/// superseded by the old one, it becomes active again: that is the way back.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals entry supersede --old use-jest --new use-vitest")]
pub(crate) struct SupersedeArgs {
    /// The entry that is no longer valid
    #[arg(long, value_name = "KEY")]
    old: String,
    /// The entry that replaces it
    #[arg(long, value_name = "KEY")]
    new: String,
}

pub(crate) fn run(args: &SupersedeArgs, project: &Project, out: &mut Output) -> Result<()> {
    let done = knowledge::supersede(project, &args.old, &args.new)?;
    out.warnings(&done.warnings);
    out.result(&done, show)
}

fn show(done: &Superseded, to: &mut dyn Write) -> io::Result<()> {
    if let Some(diff) = &done.diff {
        return write!(to, "{diff}");
    }
    if done.unchanged {
        return writeln!(to, "Unchanged: {} is superseded by {}.", done.old, done.new);
    }
    let again = if done.holds_again { ", which is active again" } else { "" };
    writeln!(to, "Superseded {} by {}{again}.", done.old, done.new)
}
