//! `annals facts inject`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::facts::Place;
use crate::cli::output::Output;
use crate::error::Result;
use crate::facts;
use crate::facts::Injection;
use crate::project::Project;

/// Print what the next prompt should know about a user, within a budget of tokens
///
/// Constraints come first, then current tasks, then preferences; what is stale or unsure is left out
/// first. With a query, of tasks and preferences only what fits it.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: annals facts inject --user ada --budget 300 --query 'set up the editor'"
)]
pub(crate) struct InjectArgs {
    /// The most tokens of the text
    #[arg(long, value_name = "TOKENS", default_value_t = 500)]
    budget: usize,
    /// What belongs to this project, too
    #[arg(long, value_name = "NAME")]
    of_project: Option<String>,
}

pub(crate) fn run(
    args: &InjectArgs,
    place: &Place,
    project: &Project,
    out: &mut Output,
) -> Result<()> {
    let user = place.user(project)?;
    let store = place.read(project)?;
    let relevant: Option<Vec<String>> = None;
    let injection = facts::inject(
        &store,
        &user,
        args.of_project.as_deref(),
        args.budget,
        relevant.as_deref(),
    )?;
    out.result(&injection, show);
    out.note(&format!(
        "{} tokens of {}, {} facts left out",
        injection.tokens, injection.budget, injection.left_out
    ));
    Ok(())
}

fn show(injection: &Injection, to: &mut dyn Write) -> io::Result<()> {
    write!(to, "{}", injection.text)
}
