//! `annals facts add`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::facts::{FactsContext, line};
use crate::cli::value_enum::value_enum;
use crate::error::Result;
use crate::facts;
use crate::facts::{ActionEffect, Category, Statement};

/// Add a fact directly
///
/// The same value confirms the existing fact, a new key inserts one, a value that contains the whole old
/// one refines it, and any other contradicts it: then the old fact is superseded, or, if it is established
/// or high-risk, the new one waits for `annals facts confirm`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: annals facts add --key preference.editor --value helix --user ada"
)]
pub(crate) struct AddArgs {
    /// What the fact is about: dotted, lower case; `likes[]` has several values
    #[arg(long, value_name = "KEY")]
    key: String,
    /// The value
    #[arg(long, value_name = "TEXT")]
    value: String,
    /// The value as structured data, in JSON
    #[arg(long, value_name = "JSON")]
    value_json: Option<String>,
    /// Its category, if it is not the key's default
    #[arg(long, value_name = "CATEGORY")]
    category: Option<Category>,
    /// The project that it belongs to
    #[arg(long, value_name = "NAME")]
    of_project: Option<String>,
    /// When the event that it describes happened
    #[arg(long, value_name = "TIME")]
    event_time: Option<String>,
    /// Start of its validity [default: now]
    #[arg(long, value_name = "TIME")]
    valid_from: Option<String>,
    /// End of its validity [default: none]
    #[arg(long, value_name = "TIME")]
    valid_to: Option<String>,
    /// The user was asked and confirmed it: it is certain, and overwrites any existing fact
    #[arg(long)]
    confirmed: bool,
    /// Keep a value that looks like a secret
    #[arg(long)]
    allow_secret: bool,
    /// An id of your choice: repeating it returns the first answer and writes nothing
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
    /// Who sees it if the database is shared: device, private, or a name that others share
    #[arg(long, value_name = "SCOPE")]
    scope: Option<String>,
}

value_enum!(Category);

pub(crate) fn run(args: &AddArgs, context: &mut FactsContext<'_>) -> Result<()> {
    let user = context.user()?;
    let statement = Statement {
        key: args.key.clone(),
        value: args.value.clone(),
        json: args.value_json.clone(),
        category: args.category,
        project: args.of_project.clone(),
        event_time: args.event_time.clone(),
        valid_from: args.valid_from.clone(),
        valid_to: args.valid_to.clone(),
        is_confirmed: args.confirmed,
        secrets: args.allow_secret.into(),
        request_id: args.request_id.clone(),
        scope: args.scope.clone(),
    };
    let added = facts::add(&mut context.write()?, &user, &statement)?;
    context.out.result(&added, show)
}

pub(crate) fn show(effect: &ActionEffect, to: &mut dyn Write) -> io::Result<()> {
    write!(to, "{}  ", effect.outcome.as_str())?;
    match &effect.fact {
        Some(fact) => line(fact, to),
        None => writeln!(to, "-"),
    }
}
