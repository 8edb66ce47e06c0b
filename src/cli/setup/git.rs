//! `annals setup git`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::error::Result;
use crate::hooks::setup::git;
use crate::hooks::setup::git::{GitReport, GitSetup};
use crate::project::Project;

/// Make git merge annals files entry by entry
///
/// Lists the files in .gitattributes, and prints the command that tells this clone's git how to merge them: each
/// clone is set up separately, and one that is not merges them line by line as before.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals setup git --check")]
pub(crate) struct GitArgs {
    /// Change nothing; exit with 1 if it is not set up
    #[arg(long, conflicts_with = "remove")]
    check: bool,
    /// Remove it
    #[arg(long)]
    remove: bool,
}

pub(crate) fn run(args: &GitArgs, project: &Project, out: &mut Output) -> Result<()> {
    let request = GitSetup { check: args.check, remove: args.remove };
    let report = git::git(project, request)?;
    out.warnings(&report.warnings);
    let verdict = if args.check { report.verdict() } else { Ok(()) };
    out.result_until(&report, show, verdict)
}

fn show(report: &GitReport, to: &mut dyn Write) -> io::Result<()> {
    if let Some(diff) = &report.diff {
        write!(to, "{diff}")?;
    } else {
        let outcome = report.outcome.as_str();
        writeln!(to, "{} {outcome}.", report.file.display())?;
    }
    if let Some(command) = &report.command {
        writeln!(to, "Run once in this clone: {command}")?;
    }
    Ok(())
}
