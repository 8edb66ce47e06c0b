//! `annals patterns list`

use std::io;
use std::io::Write;

use crate::cli::output::Output;
use crate::cli::print;
use crate::error::Result;
use crate::patterns::Patterns;
use crate::project::Project;
use crate::text::quantity;
use crate::{lifecycle, patterns};

pub(crate) fn run(project: &Project, out: &mut Output) -> Result<()> {
    let found = patterns::traced(project)?;
    out.warnings(&found.warnings);
    let unrecorded = if found.value.entries.is_empty() && !out.is_json() {
        lifecycle::unrecorded(project)?.len()
    } else {
        0
    };
    out.result(&found.value, |patterns, to| {
        show(patterns, to)?;
        match unrecorded {
            0 => Ok(()),
            count => writeln!(
                to,
                "Finished and not recorded: {}; annals execute --all records them.",
                quantity(count, "phase")
            ),
        }
    })
}

fn show(patterns: &Patterns, to: &mut dyn Write) -> io::Result<()> {
    for (index, entry) in patterns.entries.iter().enumerate() {
        let phase =
            entry.phase.as_ref().map(|phase| format!("Phase {phase}: ")).unwrap_or_default();
        let date = entry.date.map(|date| format!(" ({date})")).unwrap_or_default();
        let (worked, failed) = (entry.worked.len(), entry.failed.len());
        writeln!(
            to,
            "{:>3}  {phase}{}{date}: {worked} worked, {failed} failed",
            index + 1,
            entry.name
        )?;
    }
    match (patterns.entries.len(), patterns.loose.len()) {
        (0, 0) => writeln!(to, "{}", print::NO_PATTERNS),
        (_, 0) => Ok(()),
        (_, loose) => writeln!(to, "     {loose} more outside of any entry"),
    }
}
