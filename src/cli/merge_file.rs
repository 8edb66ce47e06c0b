//! `annals merge-file`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::{io, path};

use clap::Args;
use serde::Serialize;

use crate::cli::output::Output;
use crate::error::{At, Error, Result};
use crate::merge::merge;
use crate::project::Project;
use crate::storage::{Changes, Store, read};

const AFTER_HELP: &str = "\
Example: annals merge-file %O %A %B --path %P

`annals setup git` says how git is told to call this.";

/// Merge versions of a file of appended entries, as git's merge driver
///
/// Writes the result over OURS: the entries of both sides, whole, in the order of their dates. If both sides
/// changed the same entry, nothing is written and the exit code is 1, so that git can merge it and mark the conflict.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct MergeFileArgs {
    /// The common ancestor
    #[arg(value_name = "BASE")]
    base: PathBuf,
    /// The version on the current branch; the result is written here
    #[arg(value_name = "OURS")]
    ours: PathBuf,
    /// The version on the branch being merged
    #[arg(value_name = "THEIRS")]
    theirs: PathBuf,
    /// The file's path in the project, for messages
    #[arg(long, value_name = "PATH")]
    path: Option<PathBuf>,
}

/// The JSON document of `annals merge-file --json`.
#[derive(Debug, Serialize)]
struct Report {
    path: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

pub(crate) fn run(args: &MergeFileArgs, project: &Project, out: &mut Output) -> Result<()> {
    let shown = args.path.as_deref().unwrap_or(&args.ours);
    let absolute = |file: &Path| path::absolute(file).at("find", file);
    let ours = absolute(&args.ours)?;
    let storage = project.storage().keep_history(false);
    let ((), applied) =
        storage.transact("merge-file", &[Store::Patterns, Store::Ledger], || {
            let base = text(&absolute(&args.base)?, shown)?;
            let theirs = text(&absolute(&args.theirs)?, shown)?;
            let merged = merge(&base, &text(&ours, shown)?, &theirs).ok_or_else(|| {
                Error::failed("both sides changed the same entry")
                    .at(shown, None)
                    .hint("git marks the conflict; resolve it by hand")
            })?;
            let mut changes = Changes::new();
            changes.write(&ours, merged)?;
            Ok(((), changes))
        })?;
    out.warnings(&applied.warnings);
    out.result(&Report { path: shown.to_owned(), diff: applied.diff }, show)
}

/// Reads one version. Invalid UTF-8 is refused, since decoding it would change the bytes.
fn text(file: &Path, path: &Path) -> Result<String> {
    let bytes = read::users_bytes(file)?
        .ok_or_else(|| Error::not_found("there is no such file to merge").at(file, None))?;
    String::from_utf8(bytes).map_err(|_| {
        Error::refused("is not UTF-8 text, so it cannot be split into entries")
            .at(path, None)
            .hint("merge it by hand: git left our side in place")
    })
}

fn show(report: &Report, to: &mut dyn Write) -> io::Result<()> {
    match &report.diff {
        Some(diff) => write!(to, "{diff}"),
        None => writeln!(to, "Merged {}.", report.path.display()),
    }
}
