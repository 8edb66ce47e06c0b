//! `annals ledger pending`

use std::io;
use std::io::Write;

use clap::Args;
use serde_json::Value;

use crate::cli::output::Output;
use crate::error::Result;
use crate::git::Commit;
use crate::ledger;
use crate::ledger::{Pending, PendingRequest};
use crate::project::Project;
use crate::text::{Line, quantity};

/// Print the commits that the ledger does not cover yet, and all that an update needs
///
/// Oldest first, with the specs and plans they touch or name. If there is more than one batch, it says
/// where this one ends: after an update through that commit, the next batch begins after it. Before the
/// first update, the latest commits are listed; with --all, the whole history, batch by batch.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals ledger pending --json")]
pub(crate) struct PendingArgs {
    /// Maximum number of commits in a batch
    #[arg(long, value_name = "N", default_value_t = 50)]
    max_commits: usize,
    /// Before the first update, begin with the first commit
    #[arg(long)]
    all: bool,
    /// Print the JSON schema of the update document, and nothing else
    #[arg(long)]
    schema: bool,
}

pub(crate) fn run(args: &PendingArgs, project: &Project, out: &mut Output) -> Result<()> {
    if args.schema {
        return out.result(ledger::schema(), show_schema);
    }
    let pending =
        ledger::pending(project, PendingRequest { max_commits: args.max_commits, all: args.all })?;
    out.warnings(&pending.warnings);
    out.result(&pending, show)
}

fn show_schema(schema: &Value, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "{}", serde_json::to_string_pretty(schema).map_err(io::Error::from)?)
}

fn show(pending: &Pending, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "Coverage: {}.", pending.coverage.line())?;
    if let Some(advice) = &pending.coverage.advice {
        writeln!(to, "Note: {advice}.")?;
    }
    if pending.commits.is_empty() {
        return writeln!(to, "Nothing is pending.");
    }
    writeln!(to)?;
    for commit in &pending.commits {
        show_commit(commit, to)?;
    }
    for spec in &pending.specs.files {
        let cut = if spec.truncated { " (cut)" } else { "" };
        writeln!(to, "\nSpec {}{cut}:\n\n{}", spec.path, spec.text.trim_end())?;
    }
    if !pending.specs.left_out.is_empty() {
        writeln!(to, "\nSpecs left out: {}.", pending.specs.left_out.join(", "))?;
    }
    writeln!(to, "\n{}", pending.threshold)?;
    if let Some(end) = &pending.covered_through {
        writeln!(to, "\nThis batch ends at covered_through: {end}")?;
    }
    if pending.older > 0 {
        let older = quantity(pending.older, "older commit");
        writeln!(to, "{older} left out; `annals ledger pending --all` begins with the first.")?;
    }
    match pending.remaining {
        0 => writeln!(to, "No commits remain after it."),
        1 => writeln!(to, "1 commit remains after it."),
        more => writeln!(to, "{more} commits remain after it."),
    }
}

fn show_commit(commit: &Commit, to: &mut dyn Write) -> io::Result<()> {
    let hash = &commit.hash[..commit.hash.len().min(12)];
    writeln!(to, "{hash} {} {}: {}", commit.date, commit.author, commit.subject)?;
    for line in commit.body.lines() {
        writeln!(to, "    {line}")?;
    }
    for file in &commit.files {
        match &file.from {
            Some(from) => {
                let (from, path) = (Line::new(from), Line::new(&file.path));
                writeln!(to, "  {} {from} -> {path}", file.status)?;
            }
            None => writeln!(to, "  {} {}", file.status, Line::new(&file.path))?,
        }
    }
    Ok(())
}
