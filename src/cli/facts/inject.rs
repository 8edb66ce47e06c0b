//! `annals facts inject`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::facts::FactsContext;
use crate::error::Result;
use crate::facts;
use crate::facts::Injection;
use crate::text::quantity;

/// Print a user's facts for the next prompt, within a budget of tokens
///
/// Constraints come first, then current tasks, then preferences; stale and uncertain facts are left out
/// first. With a query, prints only facts relevant to it, hard preferences, and facts about health.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: annals facts inject --user ada --budget 300 --query 'set up the editor'"
)]
pub(crate) struct InjectArgs {
    /// Maximum number of tokens to print
    #[arg(long, value_name = "TOKENS", default_value_t = 500)]
    budget: usize,
    /// What the next prompt is about
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,
    /// Include facts that belong to this project
    #[arg(long, value_name = "NAME")]
    of_project: Option<String>,
}

pub(crate) fn run(args: &InjectArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let user = context.user()?;
    let mut store = context.read()?;
    let (scope, query) = (args.of_project.as_deref(), args.query.as_deref());
    let injection = facts::inject(&store, &user, scope, args.budget, query)?;
    context.out.result(&injection, show)?;
    // The text is printed in any case; a failure to count it is only reported.
    if let Err(error) = facts::count_injection(&mut store, &user, injection.tokens) {
        context.out.note(&format!("not counted in `annals facts metrics`: {error}"));
    }
    let unrelated = match injection.unrelated {
        0 => String::new(),
        unrelated => format!(" ({unrelated} unrelated to the query)"),
    };
    context.out.note(&format!(
        "{} of {} tokens, {} left out{unrelated}",
        injection.tokens,
        injection.budget,
        quantity(injection.left_out, "fact")
    ));
    Ok(())
}

fn show(injection: &Injection, to: &mut dyn Write) -> io::Result<()> {
    write!(to, "{}", injection.text)
}
