//! `annals facts history`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::facts::{FactsContext, short};
use crate::error::Result;
use crate::facts;
use crate::facts::{Change, Fact};

/// List every change of a user's facts, with the fact before and after
#[derive(Args, Debug)]
#[command(after_help = "Example: annals facts history preference.editor --user ada")]
pub(crate) struct HistoryArgs {
    /// Only this key, or the fact whose id starts with this
    #[arg(value_name = "KEY_OR_ID")]
    of: Option<String>,
}

pub(crate) fn run(args: &HistoryArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let user = context.user()?;
    let changes = facts::history(&context.read()?, &user, args.of.as_deref())?;
    context.out.list("changes", &changes, show)
}

fn show(changes: &Vec<Change>, to: &mut dyn Write) -> io::Result<()> {
    if changes.is_empty() {
        return writeln!(to, "No changes.");
    }
    let state = |fact: &Fact| {
        format!("{} ({}, {:.2})", fact.value_text, fact.status.as_str(), fact.confidence)
    };
    for change in changes {
        writeln!(
            to,
            "{}  {}  {}  {}: {}",
            change.at,
            short(&change.fact_id),
            change.action,
            change.key,
            change.reason
        )?;
        for (mark, fact) in [("from", &change.before), ("to", &change.after)] {
            if let Some(fact) = fact {
                writeln!(to, "      {mark:<4} {}", state(fact))?;
            }
        }
    }
    Ok(())
}
