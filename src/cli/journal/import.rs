//! `annals journal import`

use std::io;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use crate::cli::journal::JournalTarget;
use crate::cli::output::Output;
use crate::error::Result;
use crate::journal;
use crate::journal::{Imported, WriteOptions};
use crate::text::quantity;

/// Add the records of another journal that this one does not have
///
/// Reads JSON Lines as several tools write them: text in content, text, memory, fact, note, message and
/// the like, times in ts, timestamp, date and the like, and the entities and relations of a
/// knowledge graph. Everything else goes into meta. A record is identified by its content and time, so
/// a second import adds nothing.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals journal import old-memory.jsonl")]
pub(crate) struct ImportArgs {
    /// The file to read
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write text even if it looks like a secret
    #[arg(long)]
    allow_secret: bool,
}

pub(crate) fn run(args: &ImportArgs, place: &JournalTarget, out: &mut Output) -> Result<()> {
    let options = WriteOptions {
        secrets: args.allow_secret.into(),
        dry_run: place.dry_run,
        progress: place.progress.clone(),
        ..WriteOptions::new(place.clock)
    };
    let imported = journal::import(&place.file, &args.file, &options)?;
    if !out.is_json() {
        out.warnings(&imported.warnings);
    }
    out.result(&imported, show)
}

fn show(imported: &Imported, to: &mut dyn Write) -> io::Result<()> {
    let done = if let Some(diff) = &imported.diff {
        write!(to, "{diff}")?;
        "Would import"
    } else {
        "Imported"
    };
    writeln!(
        to,
        "{done} {} into {}; already there: {}, not understood: {}.",
        quantity(imported.imported, "record"),
        imported.file.display(),
        imported.duplicates,
        quantity(imported.skipped, "line")
    )
}
