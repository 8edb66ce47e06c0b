//! `annals ledger init`

use std::io;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use crate::cli::output::Output;
use crate::error::Result;
use crate::hooks::setup;
use crate::ledger;
use crate::ledger::InitReport;
use crate::project::Project;
use crate::storage::{Applied, Store};

/// Create those of the three files that are missing
///
/// What exists stays as it is. The commit that is checked out becomes the anchor, which covers nothing
/// yet: before the first update, `pending` lists the latest commits.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals ledger init --hook")]
pub(crate) struct InitArgs {
    /// Make Claude Code add the brief to each new session (.claude/settings.json)
    ///
    /// The same hook as that of `annals setup claude`; every other byte of the file stays.
    #[arg(long)]
    hook: bool,
}

/// The JSON document of `annals ledger init --json`.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    ledger: InitReport,
    /// The settings file that the hook was added to; `None` if it is already there, or was not requested.
    hook: Option<PathBuf>,
}

pub(crate) fn run(args: &InitArgs, project: &Project, out: &mut Output) -> Result<()> {
    // The hook is installed first, since it may be refused.
    let hook = if args.hook { Some(install(project)?) } else { None };
    let mut report = Report { ledger: ledger::init(project)?, hook: None };
    out.warnings(&report.ledger.warnings);
    if let Some(applied) = hook {
        out.warnings(&project.named(applied.warnings));
        let is_settings = |path: &&PathBuf| path.extension().is_some_and(|end| end == "json");
        let settings = applied.changed.iter().find(is_settings);
        report.hook = settings.cloned();
        if let (Some(diff), Some(more)) = (&mut report.ledger.diff, applied.diff) {
            diff.push_str(&more);
        }
    }
    out.result(&report, show)
}

fn install(project: &Project) -> Result<Applied> {
    let stores = [Store::Context];
    let ((), applied) = project
        .transact("ledger init --hook", &stores, || Ok(((), setup::session_start(project)?)))?;
    Ok(applied)
}

fn show(report: &Report, to: &mut dyn Write) -> io::Result<()> {
    let Report { ledger: report, hook } = report;
    if let Some(diff) = report.diff.as_ref().filter(|diff| !diff.is_empty()) {
        return write!(to, "{diff}");
    }
    let folder = report.folder.display();
    if let Some(settings) = hook {
        writeln!(to, "Added the SessionStart hook to {}.", settings.display())?;
    }
    if report.created.is_empty() {
        return writeln!(to, "{folder} is complete already; nothing created.");
    }
    let names = report.created.iter().filter_map(|path| path.file_name());
    let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
    writeln!(to, "Created in {folder}: {}.", names.join(", "))?;
    writeln!(to, "Next: annals ledger skill")
}
