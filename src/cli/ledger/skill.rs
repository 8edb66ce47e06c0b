//! `annals ledger skill`

use clap::Args;

use crate::cli::output::Output;
use crate::error::Result;
use crate::ledger;
use crate::project::Project;

/// Print how to update the ledger, as a SKILL.md for agents
#[derive(Args, Debug)]
#[command(after_help = "Example: annals ledger skill > .claude/skills/update-ledger/SKILL.md")]
pub(crate) struct SkillArgs {}

pub(crate) fn run(_: &SkillArgs, project: &Project, out: &mut Output) -> Result<()> {
    out.verbatim(ledger::skill(project)?.as_bytes())
}
