//! `annals sync`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::cli::value_enum::value_enum;
use crate::error::Result;
use crate::lifecycle;
use crate::lifecycle::{SyncReport, SyncRequest};
use crate::project::{ContextTarget, Project};

/// Bring CLAUDE.md up to date with the planning folder
///
/// Only the block between the annals markers is written; everything around it stays as it is.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals sync --check")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct SyncArgs {
    /// Change nothing; if a file is out of date, show a diff and exit with 1
    #[arg(long)]
    check: bool,
    /// Print the file as it would be written, and write nothing
    #[arg(long, conflicts_with = "check")]
    stdout: bool,
    /// The files that get the block [default: those named in the settings, and those that have it]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    target: Vec<ContextTarget>,
    /// Discard hand edits inside the block instead of moving added lines below it
    #[arg(long)]
    force: bool,
    /// First repair STATE.md's position lines and the roadmap's checkboxes and progress rows
    ///
    /// Every other byte stays. Refused (exit 4) if the files are ambiguous; a status line that says more than
    /// the status is left and listed (exit 1).
    #[arg(long, conflicts_with = "stdout")]
    fix_state: bool,
}

value_enum!(ContextTarget, file);

impl SyncArgs {
    /// Returns whether the file is printed and not written.
    pub(crate) fn is_preview(&self) -> bool {
        self.stdout
    }
}

pub(crate) fn run(args: &SyncArgs, project: &Project, out: &mut Output) -> Result<()> {
    let targets = args.target.clone();
    if args.stdout {
        let target = targets.first().copied().unwrap_or(ContextTarget::Claude);
        let preview = lifecycle::preview(project, target)?;
        out.warnings(&preview.warnings);
        return out.file(&preview, &preview.bytes);
    }
    let request = SyncRequest {
        check: args.check,
        targets,
        force: args.force,
        fix_state: args.fix_state,
        present_only: false,
        shipped: None,
    };
    let done = lifecycle::sync(project, &request)?;
    out.outcome(&done, show, done.verdict(&request))
}

fn show(report: &SyncReport, to: &mut dyn Write) -> io::Result<()> {
    for one in &report.corrections {
        let (file, line) = (one.file.display(), one.line);
        writeln!(to, "{file}:{line}: {} \u{2192} {} ({})", one.stated, one.written, one.because)?;
    }
    Ok(())
}
