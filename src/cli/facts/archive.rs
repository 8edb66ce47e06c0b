//! `annals facts archive`

use std::io;
use std::io::Write;

use chrono::TimeDelta;
use clap::Args;
use serde::Serialize;

use crate::cli::facts::FactsContext;
use crate::error::{Error, Result};
use crate::facts;

/// Archive superseded and expired facts that were last changed long ago
///
/// They leave the searched table; `export` and `history` still have them. The worker does the same after
/// 90 days.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals facts archive --older-than 30")]
pub(crate) struct ArchiveArgs {
    /// Minimum age in days
    #[arg(long, value_name = "DAYS", default_value_t = 90)]
    older_than: u32,
}

#[derive(Serialize)]
struct Archived {
    archived: usize,
}

pub(crate) fn run(args: &ArchiveArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let now = context.project.clock.now();
    let cut_off = now
        .checked_sub_signed(TimeDelta::days(i64::from(args.older_than)))
        .ok_or_else(|| Error::usage("--older-than goes back too far"))?;
    let archived = facts::archive(&mut context.write()?, cut_off)?;
    context.out.result(&Archived { archived }, show)
}

fn show(done: &Archived, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "{} archived", done.archived)
}
