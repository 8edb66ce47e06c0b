//! `annals facts add`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::facts::Place;
use crate::cli::facts::line;
use crate::cli::output::Output;
use crate::error::Result;
use crate::facts;
use crate::facts::Category;
use crate::facts::Fact;
use crate::facts::Statement;
use crate::project::Project;

/// State a fact outright
#[derive(Args, Debug)]
#[command(
    after_help = "Example: annals facts add --key preference.editor --value helix --user ada"
)]
pub(crate) struct AddArgs {
    /// What it says something about: dotted, lower case; `likes[]` holds several values
    #[arg(long, value_name = "KEY")]
    key: String,
    /// What it says
    #[arg(long, value_name = "TEXT")]
    value: String,
    /// Its category, where it is not the key's own
    #[arg(long, value_name = "CATEGORY")]
    category: Option<Category>,
}

pub(crate) fn run(
    args: &AddArgs,
    place: &Place,
    project: &Project,
    out: &mut Output,
) -> Result<()> {
    let user = place.user(project)?;
    let statement = Statement {
        key: args.key.clone(),
        value: args.value.clone(),
        category: args.category,
    };
    let fact = facts::add(&mut place.write(project)?, &user, &statement)?;
    out.result(&fact, show);
    Ok(())
}

fn show(fact: &Fact, to: &mut dyn Write) -> io::Result<()> {
    line(fact, to)
}
