//! `annals facts check`

use std::io;
use std::io::Write;

use crate::cli::facts::{FactsContext, remaining_vectors};
use crate::error::{Error, Result};
use crate::facts;
use crate::facts::Integrity;
use crate::text::quantity;

pub(crate) fn run(context: &mut FactsContext<'_>) -> Result<()> {
    let found = facts::check(&context.read()?)?;
    let end = match found.problems.len() {
        0 => Ok(()),
        some => {
            Err(Error::failed(format!("{} in the database of facts", quantity(some, "problem"))))
        }
    };
    context.out.result_until(&found, show, end)
}

fn show(found: &Integrity, to: &mut dyn Write) -> io::Result<()> {
    for problem in &found.problems {
        writeln!(to, "problem: {problem}")?;
    }
    for remaining in &found.remaining {
        writeln!(to, "forgotten, but not erased yet: {}", remaining_vectors(remaining))?;
    }
    writeln!(
        to,
        "{}: {}, {} waiting, {} dead, {} not synced",
        found.db,
        quantity(found.facts, "fact"),
        quantity(found.waiting_turns, "turn"),
        found.dead_turns,
        quantity(found.unsynced_vectors, "vector")
    )
}
