//! `annals entry query`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::entry::filter::EntryFilterArgs;
use crate::cli::output::Output;
use crate::error::Result;
use crate::knowledge;
use crate::knowledge::{EntryQuery, EntryType, Hits, yaml};
use crate::project::Project;

/// Find entries by keyword, tag and type, the best first
///
/// Matches whole words, ignoring case; any of them is enough. An exact key scores 10, a tag and the type
/// 5 each, a word of the title 3, a word of the body 1. Entries that are not active are left out.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals entry query --text \"test runner\" --tags testing")]
pub(crate) struct QueryArgs {
    /// Words to look for
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, required_unless_present_any = ["tags", "kind"])]
    text: Option<String>,
    #[command(flatten)]
    filter: EntryFilterArgs,
}

pub(crate) fn run(args: &QueryArgs, project: &Project, out: &mut Output) -> Result<()> {
    let query =
        EntryQuery { text: args.text.clone().unwrap_or_default(), filter: args.filter.filter() };
    let found = knowledge::query(project, &query)?;
    out.warnings(&found.warnings);
    out.result(&found.value, show)
}

fn show(hits: &Hits, to: &mut dyn Write) -> io::Result<()> {
    if hits.hits.is_empty() {
        return writeln!(to, "hits: []");
    }
    writeln!(to, "hits:")?;
    for hit in &hits.hits {
        writeln!(to, "  - key: {}", yaml::scalar(&hit.key))?;
        writeln!(to, "    type: {}", hit.kind.map_or("null", EntryType::as_str))?;
        writeln!(to, "    snippet: {}", yaml::scalar(&hit.snippet))?;
        writeln!(to, "    score: {}", hit.score)?;
    }
    Ok(())
}
