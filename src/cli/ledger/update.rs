//! `annals ledger update`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::{io, path};

use clap::Args;

use crate::cli::output::Output;
use crate::cli::stdin;
use crate::error::{At, Error, Result};
use crate::ledger;
use crate::ledger::{UpdateReport, UpdateRequest, UpdateResult};
use crate::project::Project;
use crate::storage::read;

/// Apply an update document: all of it, or nothing
///
/// Reads JSON from standard input. STATE.md is rewritten, CONSTRAINTS.md merged into,
/// DECISIONS.md appended to. Refused (exit 4) with every problem at once, each with its
/// JSON pointer. A document that is already applied changes nothing.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals ledger update < update.json")]
pub(crate) struct UpdateArgs {
    /// Read the document from a file
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Accept text that looks like a key or a password
    #[arg(long)]
    allow_secret: bool,
}

pub(crate) fn run(args: &UpdateArgs, project: &Project, out: &mut Output) -> Result<()> {
    let text = document(args.file.as_deref(), "the update")?;
    let is_stdin = args.file.as_deref().is_none_or(|file| file == Path::new("-"));
    if is_stdin && text.trim().is_empty() {
        return Err(Error::refused("standard input is empty")
            .hint("`annals ledger pending --schema` prints the schema of an update"));
    }
    let request = UpdateRequest { secrets: args.allow_secret.into() };
    let report = ledger::update(project, &text, &request)?;
    out.warnings(&report.warnings);
    out.result(&report, show)
}

/// Reads a text from a file, or from standard input if the file is `-` or `None`; `what` names it in errors.
pub(crate) fn document(file: Option<&Path>, what: &str) -> Result<String> {
    let bytes = if let Some(file) = file.filter(|file| *file != Path::new("-")) {
        let file = path::absolute(file).at("find", file)?;
        read::users_bytes(&file)?.ok_or_else(|| Error::not_found("no such file").at(&file, None))?
    } else {
        stdin::read(read::MAX_FILE + 1, &format!("read {what}"))?
    };
    if bytes.len() as u64 > read::MAX_FILE {
        return Err(Error::refused(format!("{what} is larger than 8 MiB")));
    }
    String::from_utf8(bytes).map_err(|_| Error::refused(format!("{what} is not UTF-8 text")))
}

fn show(report: &UpdateReport, to: &mut dyn Write) -> io::Result<()> {
    if let Some(diff) = report.diff.as_ref().filter(|diff| !diff.is_empty()) {
        return write!(to, "{diff}");
    }
    match report.outcome {
        UpdateResult::AlreadyApplied => writeln!(to, "Already applied; nothing changed.")?,
        UpdateResult::Applied => {
            let names: Vec<_> =
                report.changed.iter().map(|path| path.display().to_string()).collect();
            writeln!(to, "Updated {}.", names.join(", "))?;
        }
    }
    if let Some(hash) = &report.covered_through {
        writeln!(to, "Covered through {}.", &hash[..hash.len().min(12)])?;
    }
    let folder = report.changed.first().and_then(|path| path.parent());
    if let Some(folder) = folder.filter(|_| report.covered_through.is_some()) {
        let folder = folder.display();
        writeln!(to, "Next: git add {folder} && git commit -m \"Update the ledger\" {folder}")?;
    }
    Ok(())
}
