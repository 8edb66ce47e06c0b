//! `annals audit`

use std::io;
use std::io::Write;

use clap::Args;

use crate::audit;
use crate::audit::Audit;
use crate::cli::output::Output;
use crate::cli::print;
use crate::error::Result;
use crate::project::Project;

/// Check every store, and name the fix for each finding
///
/// Context files, drift, stale patterns, entries and notepad, ledger, journal, facts, and secrets in any of
/// them. Stores that are not in use are left out. Nothing is changed.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals audit --check")]
pub(crate) struct AuditArgs {
    /// Exit with 1 if something needs fixing
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &AuditArgs, project: &Project, out: &mut Output) -> Result<()> {
    let audit = audit::audit(project);
    if !out.is_json() {
        out.warnings(&audit.warnings);
    }
    let end = if args.check { audit.verdict() } else { Ok(()) };
    // With --json, the failure's document is printed instead of the table, so the hint names the command that
    // prints it.
    let end = end.map_err(|error| if out.is_json() { error.hint("annals audit") } else { error });
    out.result_until(&audit, show, end)
}

fn show(audit: &Audit, to: &mut dyn Write) -> io::Result<()> {
    if audit.rows.is_empty() {
        return writeln!(to, "Nothing to audit: no store is in use here.");
    }
    for row in &audit.rows {
        print::row(row, to)?;
    }
    Ok(())
}
