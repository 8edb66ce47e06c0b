//! `annals patterns`

mod check;
mod insights;
mod list;
mod note;
mod relevant;
mod show;

use clap::Args;
use clap::Subcommand;

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
    List(list::ListArgs),
    Note(note::NoteArgs),
    Show(show::ShowArgs),
    Relevant(relevant::RelevantArgs),
    Insights(insights::InsightsArgs),
}

pub(crate) fn run(args: &PatternsArgs, project: &Project, out: &mut Output) -> Result<()> {
    match &args.command {
        PatternsCommand::Check(args) => check::run(args, project, out),
        PatternsCommand::Note(args) => note::run(args, project, out),
        PatternsCommand::List(args) => list::run(args, project, out),
        PatternsCommand::Show(args) => show::run(args, project, out),
        PatternsCommand::Relevant(args) => relevant::run(args, project, out),
        PatternsCommand::Insights(args) => insights::run(args, project, out),
    }
}
