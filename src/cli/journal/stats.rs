//! `annals journal stats`

use std::io;
use std::io::Write;

use crate::cli::journal::JournalTarget;
use crate::cli::output::Output;
use crate::error::Result;
use crate::journal;
use crate::journal::{Frequency, Statistics};
use crate::text::{Line, quantity};

pub(crate) fn run(place: &JournalTarget, out: &mut Output) -> Result<()> {
    let statistics = journal::statistics(&place.file)?;
    out.result(&statistics, show)
}

fn show(statistics: &Statistics, to: &mut dyn Write) -> io::Result<()> {
    writeln!(
        to,
        "{}: {}, {}",
        statistics.file.display(),
        quantity(statistics.records, "record"),
        quantity(statistics.bytes, "byte")
    )?;
    if let (Some(first), Some(last)) = (&statistics.first, &statistics.last) {
        writeln!(to, "From:   {first}\nTo:     {last}")?;
    }
    if statistics.skipped > 0 {
        writeln!(to, "Broken: {} without a JSON object", quantity(statistics.skipped, "line"))?;
    }
    list("Types:  ", &statistics.types, to)?;
    list("Tags:   ", &statistics.tags, to)
}

fn list(title: &str, counted: &[Frequency], to: &mut dyn Write) -> io::Result<()> {
    if counted.is_empty() {
        return Ok(());
    }
    let one = |one: &Frequency| format!("{} {}", Line::new(&one.name), one.records);
    let all: Vec<String> = counted.iter().map(one).collect();
    writeln!(to, "{title}{}", all.join(", "))
}
