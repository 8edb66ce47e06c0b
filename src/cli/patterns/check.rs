//! `annals patterns check`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::cli::print;
use crate::error::{Error, Result};
use crate::patterns;
use crate::patterns::{Freshness, PathReport, PathStatus, Staleness};
use crate::project::Project;
use crate::text::quantity;

/// List the recorded patterns that refer to files that no longer exist
///
/// Looks for each path that an entry names, and follows a missing one through git's history. An
/// entry is called fresh only if a path that it names exists. Nothing is changed or deleted.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals patterns check --check")]
pub(crate) struct CheckArgs {
    /// Exit with 1 if an entry is stale
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &CheckArgs, project: &Project, out: &mut Output) -> Result<()> {
    let found = patterns::check(project)?;
    out.warnings(&found.warnings);
    let stale = found.value.entries.iter().filter(|entry| entry.is_stale).count();
    let end = if args.check && stale > 0 {
        Err(Error::failed(quantity(stale, "stale entry")).hint("annals patterns check"))
    } else {
        Ok(())
    };
    out.result_until(&found.value, show, end)
}

/// Returns the result for an entry: only an entry with paths that exist is known to be fresh.
fn mark(entry: &Freshness) -> String {
    let is_found = |path: &&PathReport| path.status == PathStatus::Ok;
    let found = entry.paths.iter().filter(is_found).count();
    match found {
        _ if entry.is_stale => "stale".to_owned(),
        0 if entry.paths.is_empty() => "not checked (names no known path)".to_owned(),
        0 => "not checked (its paths are ambiguous or outside of the project)".to_owned(),
        1 => "fresh (1 path exists)".to_owned(),
        found => format!("fresh ({found} paths exist)"),
    }
}

fn show(staleness: &Staleness, to: &mut dyn Write) -> io::Result<()> {
    if staleness.entries.is_empty() {
        writeln!(to, "{}", print::NO_PATTERNS)?;
    }
    for entry in &staleness.entries {
        writeln!(to, "{}  {}", mark(entry), entry.id)?;
        for reason in &entry.reasons {
            writeln!(to, "       {reason}")?;
        }
    }
    if let Some(skipped) = &staleness.skipped {
        writeln!(to, "{skipped}")?;
    }
    Ok(())
}
