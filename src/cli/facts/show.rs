//! `annals facts show`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::facts::FactsContext;
use crate::error::Result;
use crate::facts;
use crate::facts::Fact;

/// Show everything about one fact
#[derive(Args, Debug)]
#[command(after_help = "Example: annals facts show 4f2c81d0 --user ada")]
pub(crate) struct ShowArgs {
    /// The fact's id, or the beginning of it
    #[arg(value_name = "ID")]
    id: String,
}

pub(crate) fn run(args: &ShowArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let user = context.user()?;
    let fact = facts::find(&context.read()?, &user, &args.id)?;
    context.out.result(&fact, show)
}

fn show(fact: &Fact, to: &mut dyn Write) -> io::Result<()> {
    let end = fact.valid_to.as_deref().unwrap_or("further notice");
    let rows = [
        ("id", fact.fact_id.clone()),
        ("category", fact.category.as_str().to_owned()),
        ("status", fact.status.as_str().to_owned()),
        ("confidence", format!("{:.2}", fact.confidence)),
        ("valid", format!("{} until {end}", fact.valid_from)),
        ("mentioned", fact.last_mentioned_at.clone()),
        ("changed", fact.updated_at.clone()),
        ("turn", fact.source_turn_id.clone()),
        ("said", fact.source_excerpt.clone()),
    ];
    writeln!(to, "{fact}")?;
    for (name, value) in rows {
        writeln!(to, "  {name:<11} {value}")?;
    }
    Ok(())
}
