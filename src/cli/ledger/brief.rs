//! `annals ledger brief`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::error::Result;
use crate::ledger;
use crate::ledger::Brief;
use crate::project::Project;

/// Print what a session has to know at its start
///
/// STATE.md whole; of CONSTRAINTS.md infrastructure, rules and hazards; of DECISIONS.md the rollup and
/// the entries of the last days; the newest commits that none of them takes account of. Writes nothing.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals ledger brief --days 14")]
pub(crate) struct BriefArgs {
    /// How many days back decisions are printed whole
    #[arg(long, value_name = "N", default_value_t = 7)]
    days: u64,
}

pub(crate) fn run(args: &BriefArgs, project: &Project, out: &mut Output) -> Result<()> {
    let brief = ledger::brief(project, args.days)?;
    out.warnings(&brief.warnings);
    out.result(&brief, show);
    Ok(())
}

fn show(brief: &Brief, to: &mut dyn Write) -> io::Result<()> {
    if let Some(action) = &brief.action_required {
        writeln!(to, "ACTION REQUIRED: {action}\n")?;
    }
    if let Some(state) = &brief.state {
        writeln!(to, "{state}\n")?;
    }
    if !brief.constraints.is_empty() {
        writeln!(to, "# Constraints\n\n{}\n", brief.constraints)?;
    }
    if !brief.rollup.is_empty() || !brief.recent_decisions.is_empty() {
        writeln!(to, "# Decisions\n")?;
    }
    for part in [&brief.rollup, &brief.recent_decisions] {
        if !part.is_empty() {
            writeln!(to, "{part}\n")?;
        }
    }
    if !brief.recent_commits.is_empty() {
        writeln!(to, "# Commits since\n")?;
        for commit in &brief.recent_commits {
            let day = commit.date.get(..10).unwrap_or(&commit.date);
            writeln!(
                to,
                "- {} {day} {}",
                &commit.hash[..commit.hash.len().min(7)],
                commit.subject
            )?;
        }
        let more = brief
            .coverage
            .pending
            .unwrap_or(0)
            .saturating_sub(brief.recent_commits.len());
        if more > 0 {
            writeln!(to, "- and {more} more")?;
        }
        writeln!(to)?;
    }
    writeln!(to, "Coverage: {}.", brief.coverage.line())
}
