//! `annals ledger`

mod brief;
mod check;
mod init;
mod pending;
mod skill;
mod update;

use clap::{Args, Subcommand};
pub(crate) use update::document;

use crate::cli::output::Output;
use crate::error::Result;
use crate::project::Project;

/// Keep docs/memory: what is true now, what must not change, what was decided
///
/// In three files: STATE.md, CONSTRAINTS.md and DECISIONS.md.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals ledger brief")]
pub(crate) struct LedgerArgs {
    #[command(subcommand)]
    command: LedgerCommand,
}

#[derive(Debug, Subcommand)]
enum LedgerCommand {
    Init(init::InitArgs),
    Brief(brief::BriefArgs),
    Pending(pending::PendingArgs),
    Update(update::UpdateArgs),
    Check(check::CheckArgs),
    /// Print how to update the ledger, as a SKILL.md for agents
    #[command(after_help = "Example: annals ledger skill > .claude/skills/update-ledger/SKILL.md")]
    Skill,
}

pub(crate) fn run(args: &LedgerArgs, project: &Project, out: &mut Output) -> Result<()> {
    match &args.command {
        LedgerCommand::Init(args) => init::run(args, project, out),
        LedgerCommand::Brief(args) => brief::run(args, project, out),
        LedgerCommand::Pending(args) => pending::run(args, project, out),
        LedgerCommand::Update(args) => update::run(args, project, out),
        LedgerCommand::Check(args) => check::run(args, project, out),
        LedgerCommand::Skill => skill::run(project, out),
    }
}
