//! `annals journal search`

use clap::Args;

use crate::cli::journal::{JournalTarget, standard_input};
use crate::cli::output::Output;
use crate::cli::value_enum::value_enum;
use crate::error::Result;
use crate::journal;
use crate::journal::{JournalQuery, MAX_LINE, Mode};

/// Search the journal from its end
///
/// Reads its options as one JSON object from the standard input, unless Q is given: q, and limit,
/// `window_lines`, mode, type, tags, since and until as needed. Prints a JSON object with
/// the results, the latest first.
///
/// Searches the last `window_lines` lines. While that finds fewer results than the limit, the window grows
/// fourfold, up to 1,000,000 lines.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: printf '%s' '{\"q\":\"Python\",\"limit\":5}' | annals journal search\n\
                  Example: annals journal search '/prefers? py/i' --type note --since 2026-02-01"
)]
pub(crate) struct SearchArgs {
    /// Literal text, or /…/ or /…/i for a regular expression; '' matches every record
    #[arg(value_name = "Q")]
    q: Option<String>,
    /// Maximum number of results [default: 20]
    #[arg(long, value_name = "N", requires = "q")]
    limit: Option<usize>,
    /// Number of lines at the end to search first [default: 50000]
    #[arg(long, value_name = "N", requires = "q")]
    window_lines: Option<usize>,
    /// Search the raw lines (rg), their decoded texts (jq), or both where a line may escape Q (hybrid)
    /// [default: hybrid]
    #[arg(long, value_name = "MODE", requires = "q")]
    mode: Option<Mode>,
    /// The type that a record must have
    #[arg(long = "type", value_name = "TYPE", requires = "q")]
    kind: Option<String>,
    /// A tag that a record must have; may be given several times
    #[arg(long = "tag", value_name = "TAG", requires = "q")]
    tags: Vec<String>,
    /// Only records from this day or time on
    #[arg(long, value_name = "TIME", requires = "q")]
    since: Option<String>,
    /// Only records up to this day or time
    #[arg(long, value_name = "TIME", requires = "q")]
    until: Option<String>,
}

value_enum!(Mode);

pub(crate) fn run(args: &SearchArgs, place: &JournalTarget, out: &mut Output) -> Result<()> {
    let query = match &args.q {
        Some(q) => query(args, q),
        None => JournalQuery::parse(&standard_input(MAX_LINE)?)?,
    };
    let mut found = journal::search(&place.file, &query)?;
    if !place.verbose {
        found.skipped = None;
    }
    out.json_line(&found);
    Ok(())
}

fn query(args: &SearchArgs, q: &str) -> JournalQuery {
    let default = JournalQuery::new(q);
    JournalQuery {
        limit: args.limit.unwrap_or(default.limit),
        window_lines: args.window_lines.unwrap_or(default.window_lines),
        mode: args.mode.unwrap_or_default(),
        kind: args.kind.clone(),
        tags: (!args.tags.is_empty()).then(|| args.tags.clone()),
        since: args.since.clone(),
        until: args.until.clone(),
        ..default
    }
}
