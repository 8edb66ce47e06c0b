//! Lines that several commands print alike.

use std::io;
use std::io::Write;

use crate::audit::Level;
use crate::audit::Row;
use crate::error::Error;
use crate::error::Result;
use crate::lifecycle::ContextFiles;
use crate::text::quantity;

/// Prints a line for each context file.
pub(crate) fn context(files: &ContextFiles, to: &mut dyn Write) -> io::Result<()> {
    for file in &files.files {
        writeln!(
            to,
            "{} {} ({}).",
            file.file.display(),
            file.outcome.as_str(),
            quantity(file.lines, "line")
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
            let more = quantity(many.len() - NAMED, "more phase");
            writeln!(to, "{what}: {} and {more}.", many[..NAMED].join(", "))
        }
    }
}

/// How many findings of a check are shown; `--json` has more.
const SHOWN: usize = 3;

/// Prints a check on one line, and what it found below.
pub(crate) fn row(row: &Row, to: &mut dyn Write) -> io::Result<()> {
    let (store, check) = (row.store, row.check);
    if row.level == Level::Ok {
        return match row.details.first() {
            Some(detail) => writeln!(to, "{store:<9} {check:<14} ok         {}", detail.message),
            None => writeln!(to, "{store:<9} {check:<14} ok"),
        };
    }
    let mend = row.mend.as_deref().unwrap_or_default();
    let level = row.level.as_str();
    writeln!(
        to,
        "{store:<9} {check:<14} {level:<9} {:>4}  {mend}",
        row.count
    )?;
    for detail in row.details.iter().take(SHOWN) {
        match &detail.place {
            Some(place) => writeln!(to, "    {place}: {}", detail.message)?,
            None => writeln!(to, "    {}", detail.message)?,
        }
    }
    // A count without names is told by its one line.
    if row.details.len() > SHOWN {
        writeln!(to, "    and {} more", row.count - SHOWN)?;
    }
    Ok(())
}
