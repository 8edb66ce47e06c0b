//! `annals facts retrieve`

use std::io;
use std::io::Write;
use std::num::NonZeroUsize;

use clap::Args;

use crate::cli::facts::{FactsContext, line};
use crate::cli::print::NOTHING_RELEVANT;
use crate::cli::stdin;
use crate::error::{Error, Result};
use crate::facts;
use crate::facts::{Components, FactQuery, Method, ProjectScope, Retrieved, Selection};
use crate::ranking::Relevance;

/// Maximum length of a query from standard input, in bytes; the rest is ignored.
const MAX_QUESTION_BYTES: u64 = 1 << 20;

/// Find a user's facts by words and by meaning, the best first
///
/// The query is plain text: no character has a special meaning. The three nearest facts are always shown,
/// marked `low relevance` where little speaks for them; further ones only if they have to do with the query. If vectors are not available, the search uses words alone and the answer is marked `degraded`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: annals facts retrieve --user ada --query \"which editor\" --explain"
)]
pub(crate) struct RetrieveArgs {
    /// Search query [default: standard input]
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,
    /// Maximum number of facts to print
    #[arg(long, value_name = "N", default_value = "10")]
    limit: NonZeroUsize,
    /// Also show less relevant facts, each marked with its relevance
    #[arg(long)]
    all: bool,
    /// Do not have the encoder read the best facts
    #[arg(long)]
    no_encoder: bool,
    /// Show the components of each score
    #[arg(long)]
    explain: bool,
    /// Include facts that belong to this project
    #[arg(long, value_name = "NAME", conflicts_with = "all_projects")]
    of_project: Option<String>,
    /// Include facts that belong to any project
    #[arg(long)]
    all_projects: bool,
}

pub(crate) fn run(args: &RetrieveArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let user = context.user()?;
    let scope = match &args.of_project {
        Some(name) => ProjectScope::Project(name.clone()),
        None if args.all_projects => ProjectScope::All,
        None => ProjectScope::General,
    };
    let query = FactQuery {
        text: args.text()?,
        limit: args.limit.get(),
        scope,
        method: Method::from(context.project.settings.facts.fusion),
        selection: if args.all { Selection::All } else { Selection::Relevant },
        uses_encoder: !args.no_encoder,
    };
    let embedder = facts::embedder(context.project)?;
    let found = facts::retrieve(&mut context.read()?, &user, &query, &embedder)?;
    if let Some(because) = &found.degraded_because {
        context.out.note(&format!("searched by words only: {because}"));
    }
    context.out.result(&found, if args.explain { explain } else { show })
}

impl RetrieveArgs {
    fn text(&self) -> Result<String> {
        if let Some(text) = &self.query {
            return Ok(text.clone());
        }
        let bytes = stdin::read(MAX_QUESTION_BYTES, "read the query")?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if text.trim().is_empty() {
            return Err(
                Error::usage("there is no query").hint("pass it as --query or on standard input")
            );
        }
        Ok(text)
    }
}

fn show(found: &Retrieved, to: &mut dyn Write) -> io::Result<()> {
    if found.hits.is_empty() {
        return none(found, to);
    }
    for hit in &found.hits {
        if hit.relevance == Some(Relevance::Low) {
            write!(to, "low relevance: ")?;
        }
        line(&hit.fact, to)?;
    }
    Ok(())
}

fn none(found: &Retrieved, to: &mut dyn Write) -> io::Result<()> {
    match found.withheld {
        0 => writeln!(to, "No matching facts about {}.", found.user),
        _ => writeln!(to, "{NOTHING_RELEVANT}"),
    }
}

fn explain(found: &Retrieved, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "method: {}", found.method)?;
    if found.hits.is_empty() {
        return none(found, to);
    }
    for hit in &found.hits {
        line(&hit.fact, to)?;
        let Components {
            bm25,
            cosine,
            lexical,
            vector,
            late,
            encoder,
            neighbours,
            question,
            recency,
            ..
        } = hit.components;
        let cosine = cosine.map_or("none".to_owned(), |cosine| format!("{cosine:.3}"));
        writeln!(
            to,
            "    score {:.3} = words {lexical:.3} + meaning {vector:.3} + late {late:.3} + encoder {encoder:.3} \
             + neighbours {neighbours:.3} - question {question:.3} + recency {recency:.3}  (BM25 {bm25:.2}, cosine {cosine}, relevance {})",
            hit.score,
            hit.relevance.map_or("unknown", Relevance::as_str)
        )?;
    }
    Ok(())
}
