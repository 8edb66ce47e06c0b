//! `annals patterns relevant`

use std::io;
use std::io::Write;
use std::num::NonZeroUsize;

use clap::Args;

use crate::cli::output::Output;
use crate::error::Result;
use crate::patterns;
use crate::patterns::RelevantPattern;
use crate::project::Project;

/// List the patterns most relevant to a phase, stale ones last
#[derive(Args, Debug)]
#[command(after_help = "Example: annals patterns relevant 4 --limit 3")]
pub(crate) struct RelevantArgs {
    /// The phase's number [default: the current one]
    #[arg(value_name = "PHASE")]
    phase: Option<String>,
    /// Maximum number of patterns to list
    #[arg(long, value_name = "N", default_value = "10")]
    limit: NonZeroUsize,
}

pub(crate) fn run(args: &RelevantArgs, project: &Project, out: &mut Output) -> Result<()> {
    let phase = args.phase.as_deref().map(str::parse).transpose()?;
    let mut found = patterns::relevant_patterns(project, phase.as_ref())?;
    found.value.truncate(args.limit.get());
    out.warnings(&found.warnings);
    out.list("patterns", &found.value, show)
}

fn show(patterns: &Vec<RelevantPattern>, to: &mut dyn Write) -> io::Result<()> {
    if patterns.is_empty() {
        writeln!(to, "No patterns to list: PATTERNS.md has no lessons.")?;
    }
    for pattern in patterns {
        writeln!(to, "{}", pattern.standalone().unwrap_or_else(|| pattern.text.clone()))?;
        if let Some(reason) = &pattern.stale {
            writeln!(to, "    possibly stale: {reason}")?;
        }
    }
    Ok(())
}
