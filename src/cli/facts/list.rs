//! `annals facts list`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::facts::{FactsContext, line};
use crate::cli::value_enum::value_enum;
use crate::error::Result;
use crate::facts;
use crate::facts::{Category, FactFilter, FactListing, FactStatus};

/// List a user's facts by key: id, confidence, key and value
///
/// Active and pending facts, unless you ask for others.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals facts list --user ada --key preference.")]
pub(crate) struct ListArgs {
    /// Every status, including superseded and expired
    #[arg(long, conflicts_with = "status")]
    all: bool,
    /// Only this status
    #[arg(long, value_name = "STATUS")]
    status: Option<FactStatus>,
    /// Only this category
    #[arg(long, value_name = "CATEGORY")]
    category: Option<Category>,
    /// Only this key, or, if it ends in a dot, all keys with that prefix
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Only facts that belong to this project or to none
    #[arg(long, value_name = "NAME")]
    of_project: Option<String>,
}

value_enum!(FactStatus);

pub(crate) fn run(args: &ListArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let user = context.user()?;
    let statuses = match (args.all, args.status) {
        (true, _) => Vec::new(),
        (_, Some(status)) => vec![status],
        (_, None) => vec![FactStatus::Active, FactStatus::PendingConfirmation],
    };
    let filter = FactFilter {
        statuses,
        category: args.category,
        key: args.key.clone(),
        project: args.of_project.clone(),
    };
    let listing = facts::list(&context.read()?, &user, &filter)?;
    context.out.result(&listing, show)
}

fn show(listing: &FactListing, to: &mut dyn Write) -> io::Result<()> {
    if listing.facts.is_empty() {
        return writeln!(to, "No facts about {}.", listing.user);
    }
    listing.facts.iter().try_for_each(|fact| line(fact, to))
}
