//! `annals patterns note`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::error::Result;
use crate::patterns;
use crate::patterns::{NoteReport, NoteRequest};
use crate::project::Project;

/// Note a lesson at any time, in the Notes section
#[derive(Args, Debug)]
#[command(
    after_help = "Example: annals patterns note \"`cargo test` needs the feature `fail-point`\" --file Cargo.toml"
)]
pub(crate) struct NoteArgs {
    /// What was learned, in a sentence
    #[arg(value_name = "TEXT")]
    text: String,
    /// The phase it belongs to
    #[arg(long, value_name = "N")]
    phase: Option<String>,
    /// A file it is about, relative to the project
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,
}

pub(crate) fn run(args: &NoteArgs, project: &Project, out: &mut Output) -> Result<()> {
    let request = NoteRequest {
        text: args.text.clone(),
        phase: args.phase.as_deref().map(str::parse).transpose()?,
        files: args.files.clone(),
    };
    let report = patterns::note(project, &request)?;
    out.result(&report, show)
}

fn show(report: &NoteReport, to: &mut dyn Write) -> io::Result<()> {
    if let Some(diff) = &report.diff {
        return write!(to, "{diff}");
    }
    let done = if report.is_new { "Noted" } else { "Already noted" };
    writeln!(to, "{done}: {}", report.line)
}
