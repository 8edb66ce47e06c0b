//! `annals facts inject`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::facts::Place;
use crate::cli::output::Output;
use crate::error::Result;
use crate::facts;
use crate::facts::Facts;
use crate::facts::Injection;
use crate::facts::Method;
use crate::facts::Query;
use crate::facts::Scope;
use crate::facts::UserId;
use crate::project::Project;
use crate::text::quantity;

/// How many facts a query may pick.
const FITTING: usize = 20;

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
    /// What the next prompt is about
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,
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
    let mut store = place.read(project)?;
    let relevant = match &args.query {
        Some(text) => Some(args.relevant(text, &mut store, &user, project)?),
        None => None,
    };
    let injection = facts::inject(
        &store,
        &user,
        args.of_project.as_deref(),
        args.budget,
        relevant.as_deref(),
    )?;
    out.result(&injection, show);
    // The text is given out in any case; that it could not be counted is told.
    if let Err(error) = facts::count_injection(&mut store, &user, injection.tokens) {
        out.note(&format!("not counted in `annals facts metrics`: {error}"));
    }
    out.note(&format!(
        "{} of {} tokens, {} left out",
        injection.tokens,
        injection.budget,
        quantity(injection.left_out, "fact")
    ));
    Ok(())
}

impl InjectArgs {
    /// Returns the ids of the facts that fit the query, the best first.
    fn relevant(
        &self,
        text: &str,
        store: &mut Facts,
        user: &UserId,
        project: &Project,
    ) -> Result<Vec<String>> {
        let scope = self
            .of_project
            .clone()
            .map_or(Scope::General, Scope::Project);
        let query = Query {
            text: text.to_owned(),
            limit: FITTING,
            scope,
            method: Method::from(project.settings.facts.fusion),
        };
        let found = facts::retrieve(store, user, &query, &facts::embedder(project)?)?;
        Ok(found.hits.into_iter().map(|hit| hit.fact.fact_id).collect())
    }
}

fn show(injection: &Injection, to: &mut dyn Write) -> io::Result<()> {
    write!(to, "{}", injection.text)
}
