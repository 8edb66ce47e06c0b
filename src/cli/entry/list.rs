//! `annals entry list`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::entry::filter::EntryFilterArgs;
use crate::cli::output::Output;
use crate::clock::parse_date;
use crate::error::Result;
use crate::knowledge;
use crate::knowledge::{EntryListing, EntryType, yaml};
use crate::project::Project;

/// List entries from INDEX.md: key, title, type and the day of the last update
///
/// Entries that are not active are left out.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals entry list --type gotcha")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    filter: EntryFilterArgs,
}

pub(crate) fn run(args: &ListArgs, project: &Project, out: &mut Output) -> Result<()> {
    let found = knowledge::list(project, &args.filter.filter())?;
    out.warnings(&found.warnings);
    out.result(&found.value, show)
}

fn show(listing: &EntryListing, to: &mut dyn Write) -> io::Result<()> {
    if listing.entries.is_empty() {
        return writeln!(to, "entries: []");
    }
    writeln!(to, "entries:")?;
    for entry in &listing.entries {
        writeln!(to, "  - key: {}", yaml::scalar(&entry.key))?;
        writeln!(to, "    title: {}", yaml::scalar(&entry.title))?;
        let kind = entry.kind.map_or("null", EntryType::as_str);
        writeln!(to, "    type: {kind}")?;
        let updated = entry.updated.as_deref().map_or("null".to_owned(), day);
        writeln!(to, "    updated: {updated}")?;
    }
    Ok(())
}

/// Returns a date unquoted, and any other text as a YAML scalar.
fn day(text: &str) -> String {
    let is_day = text.len() == 10 && parse_date(text).is_some();
    if is_day { text.to_owned() } else { yaml::scalar(text) }
}
