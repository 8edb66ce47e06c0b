//! `annals ledger brief`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::error::Result;
use crate::ledger;
use crate::ledger::Brief;
use crate::project::Project;

/// Print what a session needs to know at its start
///
/// All of STATE.md; infrastructure, rules and hazards from CONSTRAINTS.md; the rollup and the latest
/// entries from DECISIONS.md; and the newest commits that the ledger does not cover yet. Writes nothing.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals ledger brief --days 14")]
pub(crate) struct BriefArgs {
    /// Number of days whose decisions are printed in full
    #[arg(long, value_name = "N", default_value_t = 7)]
    days: u64,
}

pub(crate) fn run(args: &BriefArgs, project: &Project, out: &mut Output) -> Result<()> {
    let brief = ledger::brief(project, args.days)?;
    out.warnings(&brief.warnings);
    out.result(&brief, show)
}

fn show(brief: &Brief, to: &mut dyn Write) -> io::Result<()> {
    write!(to, "{brief}")
}
