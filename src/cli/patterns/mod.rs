//! `annals patterns`

mod check;
mod insights;
mod list;
mod note;
mod relevant;
mod show;

use clap::{Args, Subcommand};

use crate::cli::output::Output;
use crate::error::Result;
use crate::project::Project;

/// Read the lessons of finished phases
#[derive(Args, Debug)]
#[command(after_help = "Example: annals patterns relevant 4")]
pub(crate) struct PatternsArgs {
    #[command(subcommand)]
    command: PatternsCommand,
}

#[derive(Debug, Subcommand)]
enum PatternsCommand {
    Check(check::CheckArgs),
    /// List the entries of PATTERNS.md, oldest first
    #[command(after_help = "Example: annals patterns list")]
    List,
    Note(note::NoteArgs),
    Show(show::ShowArgs),
    Relevant(relevant::RelevantArgs),
    /// Show what the project's whole history teaches
    ///
    /// Over all summaries, archived milestones included; for each comparison, summaries that do not mention
    /// it are left out. A difference is significant if both groups have at least five plans and it holds
    /// among all comparisons of the run (two-sided: Fisher's exact test of rates, Mann-Whitney of durations;
    /// Benjamini-Hochberg at 0.1).
    #[command(
        after_help = "Example: annals patterns insights --json | jq -r '.comparisons[].statement'"
    )]
    Insights,
}

pub(crate) fn run(args: &PatternsArgs, project: &Project, out: &mut Output) -> Result<()> {
    match &args.command {
        PatternsCommand::Check(args) => check::run(args, project, out),
        PatternsCommand::Note(args) => note::run(args, project, out),
        PatternsCommand::List => list::run(project, out),
        PatternsCommand::Show(args) => show::run(args, project, out),
        PatternsCommand::Relevant(args) => relevant::run(args, project, out),
        PatternsCommand::Insights => insights::run(project, out),
    }
}
