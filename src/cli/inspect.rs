//! `annals inspect`

use std::io::Write;
use std::path::PathBuf;
use std::{io, path};

use clap::Args;

use crate::cli::output::Output;
use crate::error::{At, Result};
use crate::lifecycle::{InspectScope, Inspected, inspect};
use crate::project::Project;

/// Show how planning files are understood
///
/// One JSON object for each FILE, indented, or one per line with --json: the kind of file, its fields,
/// and a warning for whatever was not understood, with its line.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: annals inspect --json .vbw-planning/phases/01-core/01-01-SUMMARY.md"
)]
pub(crate) struct InspectArgs {
    /// STATE, ROADMAP, PROJECT, PLAN, SUMMARY or PATTERNS files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Read files outside of the project, too
    #[arg(long)]
    outside: bool,
}

pub(crate) fn run(args: &InspectArgs, project: &Project, out: &mut Output) -> Result<()> {
    let scope = if args.outside { InspectScope::Anywhere } else { InspectScope::Project };
    for file in &args.files {
        let file = path::absolute(file).at("find", file)?;
        match inspect(project, &file, scope) {
            Ok(found) if out.is_json() => out.json_line(&found),
            Ok(found) => {
                out.warnings(&found.warnings);
                out.result(&found, show)?;
            }
            // An unreadable file must not prevent printing the others; the last failure determines the exit
            // code.
            Err(error) => out.failure(&error),
        }
    }
    Ok(())
}

fn show(found: &Inspected, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "{}", serde_json::to_string_pretty(found).map_err(io::Error::from)?)
}
