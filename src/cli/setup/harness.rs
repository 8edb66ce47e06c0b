//! `annals setup claude|codex|gemini|opencode`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::error::Result;
use crate::hooks::setup::{FileOutcome, SetupReport, SetupRequest};
use crate::hooks::{Harness, SetupOverrides, SetupScope, setup};
use crate::project::Project;

/// Options that every harness takes
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct HarnessArgs {
    /// Use your own settings, for all projects [default: this project's settings]
    #[arg(long)]
    user: bool,
    /// Change nothing; exit with 1 if setup would change anything; flags given earlier are kept
    #[arg(long, conflicts_with = "remove")]
    check: bool,
    /// Remove the entries again
    #[arg(long)]
    remove: bool,
    /// Leave the notepad out of the text for a new session
    #[arg(long, overrides_with = "notepad")]
    no_notepad: bool,
    /// Put the notepad into the text for a new session again
    #[arg(long, overrides_with = "no_notepad")]
    notepad: bool,
    /// Add a line to the notepad before a session is compacted
    #[arg(long, overrides_with = "no_breadcrumb")]
    breadcrumb: bool,
    /// Stop adding that line
    #[arg(long, overrides_with = "breadcrumb")]
    no_breadcrumb: bool,
}

pub(crate) fn run(
    harness: Harness,
    args: &HarnessArgs,
    project: &Project,
    out: &mut Output,
) -> Result<()> {
    let request = SetupRequest {
        harness,
        scope: if args.user { SetupScope::User } else { SetupScope::Project },
        check: args.check,
        remove: args.remove,
        options: SetupOverrides {
            notepad: either_flag(args.notepad, args.no_notepad),
            breadcrumb: either_flag(args.breadcrumb, args.no_breadcrumb),
        },
    };
    let report = setup::setup(project, request)?;
    out.warnings(&report.warnings);
    let verdict = if args.check { report.verdict() } else { Ok(()) };
    out.result_until(&report, show, verdict)
}

/// Returns the value of two opposite flags, or `None` if neither is given.
fn either_flag(yes: bool, no: bool) -> Option<bool> {
    (yes || no).then_some(yes)
}

/// Prints the outcome for each file, and the steps that remain.
pub(crate) fn show(report: &SetupReport, to: &mut dyn Write) -> io::Result<()> {
    if let Some(diff) = report.diff.as_ref().filter(|diff| !diff.is_empty()) {
        return write!(to, "{diff}");
    }
    for file in &report.files {
        writeln!(to, "{} {}.", file.file.display(), file.outcome.as_str())?;
        let is_told = matches!(file.outcome, FileOutcome::Created | FileOutcome::Extended);
        for entry in file.entries.iter().filter(|_| is_told) {
            writeln!(to, "  {entry}")?;
        }
        for entry in &file.gone {
            writeln!(to, "Removed: {entry}")?;
        }
    }
    for backup in &report.backups {
        writeln!(to, "The file from before the first setup is kept as {}.", backup.display())?;
    }
    for note in &report.notes {
        writeln!(to, "Note: {note}.")?;
    }
    Ok(())
}
