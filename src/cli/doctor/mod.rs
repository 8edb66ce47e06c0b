//! `annals doctor`

mod harnesses;
mod machine;
mod project;

use std::io;
use std::io::Write;

use clap::Args;
use serde::Serialize;

use crate::audit::{AuditRow, Level};
use crate::cli::output::Output;
use crate::cli::print;
use crate::error::{Error, Result};
use crate::project::Project;

/// Check the installation: what is set up, what is wrong, and how to fix it
///
/// The program itself and git, the settings and where they come from, what can be written, the caches, the
/// database of facts, and each harness. Nothing is changed.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals doctor --check")]
pub(crate) struct DoctorArgs {
    /// Exit with 1 if something needs fixing
    #[arg(long)]
    check: bool,
}

/// The document of `annals doctor --json`.
#[derive(Debug, Serialize)]
struct Diagnosis {
    version: &'static str,
    level: Level,
    rows: Vec<AuditRow>,
}

pub(crate) fn run(args: &DoctorArgs, project: &Project, out: &mut Output) -> Result<()> {
    let project = &project.dry_run(true);
    let parts = [machine::rows(project), project::rows(project), harnesses::rows(project)];
    let rows = parts.concat();
    let diagnosis = Diagnosis {
        version: env!("CARGO_PKG_VERSION"),
        level: rows.iter().map(|row| row.level).max().unwrap_or(Level::Ok),
        rows,
    };
    let end = match diagnosis.level {
        Level::Ok => Ok(()),
        _ if !args.check => Ok(()),
        _ => Err(Error::failed("something needs fixing").hint("annals doctor")),
    };
    out.result_until(&diagnosis, show, end)
}

fn show(diagnosis: &Diagnosis, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "annals {}", diagnosis.version)?;
    for row in &diagnosis.rows {
        print::row(row, to)?;
    }
    Ok(())
}
