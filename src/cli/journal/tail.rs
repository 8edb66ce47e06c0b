//! `annals journal tail`

use std::io::Write;
use std::time::Duration;
use std::{io, thread};

use clap::Args;

use crate::cli::journal::JournalTarget;
use crate::cli::output::Output;
use crate::error::Result;
use crate::journal;
use crate::journal::{JournalEntry, OpenLine};
use crate::text::{Line, quantity};

/// Interval at which `--follow` checks for new records.
const PAUSE: Duration = Duration::from_millis(200);

/// Print the latest records, the latest last
///
/// One line per record; with --json, each exactly as it is in the journal.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals journal tail -n 3 --json | jq -r .content")]
pub(crate) struct TailArgs {
    /// Maximum number of records to print
    #[arg(short = 'n', long = "lines", value_name = "N", default_value_t = 10)]
    lines: usize,
    /// Keep printing records as they are added, until interrupted
    #[arg(short, long)]
    follow: bool,
}

pub(crate) fn run(args: &TailArgs, place: &JournalTarget, out: &mut Output) -> Result<()> {
    let mut at = journal::last(&place.file, args.lines)?;
    let open_line = if args.follow { OpenLine::Left } else { OpenLine::Read };
    let mut skipped = 0;
    loop {
        let reached = journal::read_from(&place.file, at, open_line, |entry| {
            out.streamed(entry, show);
            out.is_read()
        })?;
        skipped += reached.skipped;
        at = reached.at;
        if reached.stopped || !args.follow {
            break;
        }
        thread::sleep(PAUSE);
    }
    if skipped > 0 {
        out.note(&format!("{} without a JSON object.", quantity(skipped, "line")));
    }
    Ok(())
}

fn show(entry: &JournalEntry, to: &mut dyn Write) -> io::Result<()> {
    let (kind, content) = (Line::new(entry.kind()), Line::new(entry.content()));
    write!(to, "{}  {kind}  {content}", Line::new(entry.time()))?;
    let tags = entry.tags();
    if !tags.is_empty() {
        write!(to, "  [{}]", Line::new(&tags.join(", ")))?;
    }
    writeln!(to)
}
