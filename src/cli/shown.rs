//! Lines that several commands print alike.

use std::io;
use std::io::Write;

use crate::error::Error;
use crate::error::Result;
use crate::lifecycle::ContextFiles;

/// Prints a line for each context file.
pub(crate) fn context(files: &ContextFiles, to: &mut dyn Write) -> io::Result<()> {
    for file in &files.files {
        writeln!(
            to,
            "{} {} ({} lines).",
            file.file.display(),
            file.outcome.as_str(),
            file.lines
        )?;
    }
    Ok(())
}

/// Fails where a rule kept a context file from being written.
pub(crate) fn refusal(files: &ContextFiles) -> Result<()> {
    let first = files.refused.first().cloned();
    first.map_or(Ok(()), |refusal| Err(Error::from(refusal)))
}

/// Prints one line that names phases; nothing where there are none.
pub(crate) fn phases(what: &str, phases: &[String], to: &mut dyn Write) -> io::Result<()> {
    const NAMED: usize = 4;
    match phases {
        [] => Ok(()),
        few if few.len() <= NAMED => writeln!(to, "{what}: {}.", few.join(", ")),
        many => {
            let more = many.len() - NAMED;
            writeln!(
                to,
                "{what}: {} and {more} more phases.",
                many[..NAMED].join(", ")
            )
        }
    }
}
