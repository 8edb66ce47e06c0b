//! `annals merge-file`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::{io, path};

use clap::Args;
use serde::Serialize;

use crate::cli::output::Output;
use crate::cli::value_enum::value_enum;
use crate::error::{At, Error, Result};
use crate::merge::{Labels, MergeKind, Versions, merge};
use crate::project::Project;
use crate::storage::{Changes, read};

const AFTER_HELP: &str = "\
Example: annals merge-file patterns %O %A %B --path %P

`annals setup git` makes git call this for the files that annals writes.";

/// Merge versions of an annals file entry by entry, as git's merge driver
///
/// Writes the result over OURS. If both sides changed the same thing differently, it is marked as git marks
/// conflicts, and the exit code is 1.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct MergeFileArgs {
    /// The kind of file, which decides how it is split into entries
    #[arg(value_name = "KIND")]
    kind: MergeKind,
    /// The common ancestor
    #[arg(value_name = "BASE")]
    base: PathBuf,
    /// The version on the current branch; the result is written here
    #[arg(value_name = "OURS")]
    ours: PathBuf,
    /// The version on the branch being merged
    #[arg(value_name = "THEIRS")]
    theirs: PathBuf,
    /// Length of a conflict marker
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u8).range(1..=100))]
    marker_size: u8,
    /// The file's path in the project, for messages
    #[arg(long, value_name = "PATH")]
    path: Option<PathBuf>,
}

value_enum!(MergeKind);

/// The JSON document of `annals merge-file --json`.
#[derive(Debug, Serialize)]
struct Report {
    path: PathBuf,
    conflicts: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

pub(crate) fn run(args: &MergeFileArgs, project: &Project, out: &mut Output) -> Result<()> {
    let shown = args.path.as_deref().unwrap_or(&args.ours);
    let labels = Labels {
        marker_length: usize::from(args.marker_size),
        ours: "ours".to_owned(),
        theirs: "theirs".to_owned(),
    };
    let storage = project.storage().keep_history(false);
    let absolute = |file: &Path| path::absolute(file).at("find", file);
    let ours = absolute(&args.ours)?;
    let (conflicts, applied) = storage.transact("merge-file", &[args.kind.store()], || {
        let (base, own, theirs) = (
            text(&absolute(&args.base)?, shown)?,
            text(&ours, shown)?,
            text(&absolute(&args.theirs)?, shown)?,
        );
        let versions = Versions { base: &base, ours: &own, theirs: &theirs };
        let merged = merge(args.kind, versions, &labels);
        let mut changes = Changes::new();
        changes.write(&ours, merged.text)?;
        Ok((merged.conflicts, changes))
    })?;
    out.warnings(&applied.warnings);
    let report = Report { path: shown.to_owned(), conflicts, diff: applied.diff };
    let verdict = match conflicts {
        0 => Ok(()),
        _ => Err(Error::failed(conflicts_marked(conflicts)).at(shown, None)),
    };
    out.result_until(&report, show, verdict)
}

fn conflicts_marked(count: usize) -> String {
    match count {
        1 => "1 conflict is marked".to_owned(),
        count => format!("{count} conflicts are marked"),
    }
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
    if let Some(diff) = &report.diff {
        return write!(to, "{diff}");
    }
    match report.conflicts {
        0 => writeln!(to, "Merged {}.", report.path.display()),
        // The error states the number.
        _ => Ok(()),
    }
}
