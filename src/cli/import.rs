//! `annals import`

use std::io;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use crate::cli::absolute;
use crate::cli::output::Output;
use crate::cli::value_enum::value_enum;
use crate::error::{Error, Result};
use crate::exchange::{Format, Import, ImportDestination, ImportReport, SourceItem};
use crate::facts::{Facts, Purpose};
use crate::project::Project;
use crate::{exchange, facts};

/// Maximum number of items of a kind that are printed; `--json` lists all.
const SHOWN: usize = 100;

/// Import another tool's memory, and account for every item
///
/// Notes become knowledge entries, dated observations become journal records. FORMAT is server-memory
/// (the MCP reference server's memory.jsonl), serena (`.serena/memories`), basic-memory (a folder of
/// notes), claude-code (MEMORY.md and its topic files) or claude-mem (its database). The source is only
/// read. A second import changes nothing.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals import serena .serena/memories --dry-run")]
pub(crate) struct ImportArgs {
    /// Format of the source
    #[arg(value_name = "FORMAT")]
    format: Format,
    /// The file or folder
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Import only single statements, as facts about the user that --user names
    #[arg(long = "as", value_name = "facts", requires = "user", value_parser = ["facts"])]
    target: Option<String>,
    /// The user whom the facts are about
    #[arg(long, value_name = "ID", requires = "target")]
    user: Option<String>,
    /// The database of the facts [default: the setting `db`, else mem.db in the data folder]
    #[arg(long, value_name = "FILE", requires = "target")]
    db: Option<PathBuf>,
    /// Import text even if it looks like a secret
    #[arg(long)]
    allow_secret: bool,
}

value_enum!(Format);

pub(crate) fn run(args: &ImportArgs, project: &Project, out: &mut Output) -> Result<()> {
    let import = Import {
        format: args.format,
        from: absolute(&args.path)?,
        secrets: args.allow_secret.into(),
    };
    let report = if args.target.is_some() {
        let user = facts::user(project, args.user.as_deref())?;
        let mut store = Facts::open(project, args.db.as_deref(), Purpose::Write)?;
        exchange::import(project, &import, Some((&mut store, &user)))?
    } else {
        exchange::import(project, &import, None)?
    };
    out.warnings(&report.warnings);
    out.result_until(&report, show, ending(&report))
}

/// Returns an error if nothing of the source was understood.
fn ending(report: &ImportReport) -> Result<()> {
    let nothing = report.counts.imported + report.counts.known == 0;
    if !nothing || report.counts.not_understood == 0 {
        return Ok(());
    }
    Err(Error::failed("contains nothing that annals understands")
        .at(&report.from, None)
        .hint(format!("is it a memory of {}?", report.format.as_str())))
}

fn show(report: &ImportReport, to: &mut dyn Write) -> io::Result<()> {
    if let Some(diff) = &report.diff {
        write!(to, "{diff}")?;
    }
    let counts = report.counts;
    let done = if report.diff.is_some() { "would be imported" } else { "imported" };
    let into = match report.target {
        ImportDestination::Memory => "",
        ImportDestination::Facts => " as facts",
    };
    writeln!(
        to,
        "{} {done}{into}, {} already there, {} skipped, {} not understood",
        counts.imported, counts.known, counts.skipped, counts.not_understood
    )?;
    let taken = report.imported.iter();
    let lines = taken.map(|one| format!("{} -> {}", located(&one.item), one.becomes));
    list(to, "imported", counts.imported, lines)?;
    let left = report.skipped.iter();
    let lines = left.map(|one| format!("{}: {}", located(&one.item), one.reason));
    list(to, "skipped", counts.skipped, lines)?;
    let unknown = report.not_understood.iter();
    list(to, "not understood", counts.not_understood, unknown.map(ToString::to_string))
}

fn located(item: &SourceItem) -> String {
    format!("{}: {}", item.place, item.name)
}

fn list(
    to: &mut dyn Write,
    title: &str,
    count: usize,
    lines: impl Iterator<Item = String>,
) -> io::Result<()> {
    if count == 0 {
        return Ok(());
    }
    writeln!(to, "\n{title}")?;
    for line in lines.take(SHOWN) {
        writeln!(to, "  {}", line.replace('\n', " "))?;
    }
    if count > SHOWN {
        writeln!(to, "  … and {} more; --json lists all", count - SHOWN)?;
    }
    Ok(())
}
