//! `annals patterns show`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::error::{Error, Result};
use crate::patterns;
use crate::patterns::PatternEntry;
use crate::project::Project;

/// Show one entry of PATTERNS.md verbatim
#[derive(Args, Debug)]
#[command(after_help = "Example: annals patterns show 3")]
pub(crate) struct ShowArgs {
    /// The entry's number in `annals patterns list`
    #[arg(value_name = "N")]
    number: usize,
}

pub(crate) fn run(args: &ShowArgs, project: &Project, out: &mut Output) -> Result<()> {
    let found = patterns::traced(project)?;
    let entry = args.number.checked_sub(1).and_then(|index| found.value.entries.get(index));
    let entry = entry.ok_or_else(|| {
        Error::not_found(format!("there is no entry {}", args.number))
            .hint(format!("annals patterns list shows {}", found.value.entries.len()))
    })?;
    out.result(entry, show)
}

fn show(entry: &PatternEntry, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "{}", entry.text.trim_end())
}
