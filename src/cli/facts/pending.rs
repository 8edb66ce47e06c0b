//! `annals facts pending`

use std::io;
use std::io::Write;

use crate::cli::facts::{FactsContext, line};
use crate::error::Result;
use crate::facts;
use crate::facts::Pending;

pub(crate) fn run(context: &mut FactsContext<'_>) -> Result<()> {
    let user = context.user()?;
    let pending = facts::pending(&context.read()?, &user)?;
    context.out.list("pending", &pending, show)
}

fn show(pending: &Vec<Pending>, to: &mut dyn Write) -> io::Result<()> {
    if pending.is_empty() {
        return writeln!(to, "No facts await confirmation.");
    }
    for one in pending {
        line(&one.fact, to)?;
        if let Some(question) = &one.question {
            writeln!(to, "          {question}")?;
        }
    }
    Ok(())
}
