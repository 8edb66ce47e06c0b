//! `annals setup journal`

use std::io::Write;
use std::path;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::output::Output;
use crate::error::{At, Result};
use crate::hooks::setup::journal;
use crate::hooks::setup::journal::{JournalReport, JournalSetup};
use crate::project::Project;

/// Create `memory_write` and `memory_search`, links to annals that act as these tools
#[derive(Args, Debug)]
#[command(after_help = "Example: annals setup journal --dir memory/scripts")]
pub(crate) struct JournalArgs {
    /// The folder to create them in
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// Change nothing; exit with 1 if they do not exist
    #[arg(long, conflicts_with = "remove")]
    check: bool,
    /// Remove them
    #[arg(long)]
    remove: bool,
}

pub(crate) fn run(args: &JournalArgs, project: &Project, out: &mut Output) -> Result<()> {
    let request = JournalSetup {
        folder: path::absolute(&args.dir).at("find", &args.dir)?,
        program: std::env::current_exe().at("find this program", Path::new("annals"))?,
        check: args.check,
        remove: args.remove,
    };
    let mut report = journal::journal(project, &request)?;
    let verdict = if args.check { report.verdict() } else { Ok(()) };
    for tool in &mut report.files {
        tool.file = project.relative(&tool.file).to_owned();
    }
    let verb = if project.dry_run { "would be " } else { "" };
    let show = |report: &JournalReport, to: &mut dyn Write| {
        report.files.iter().try_for_each(|tool| {
            let outcome = tool.outcome.as_str();
            writeln!(to, "{} {verb}{outcome}.", tool.file.display())
        })
    };
    out.result_until(&report, show, verdict)
}
