//! Prints lines that several commands share.

use std::io;
use std::io::Write;

use crate::audit::{AuditRow, Level};
use crate::lifecycle::CommandOutcome;
use crate::ranking::Silence;
use crate::text::quantity;

/// Prints the end of the report of a writing command: a line per context file, and the next command.
pub(crate) fn ending<T>(outcome: &CommandOutcome<T>, to: &mut dyn Write) -> io::Result<()> {
    for file in outcome.context.iter().flat_map(|context| &context.files) {
        writeln!(
            to,
            "{} {} ({}).",
            file.file.display(),
            file.outcome.as_str(),
            quantity(file.lines, "line")
        )?;
    }
    if let Some(next) = &outcome.next {
        writeln!(to, "Next: {next}")?;
    }
    match &outcome.contested {
        Some(contested) => writeln!(to, "Contested: {contested}"),
        None => Ok(()),
    }
}

/// Message printed instead of patterns.
pub(crate) const NO_PATTERNS: &str =
    "No patterns recorded yet; annals execute records a finished phase.";

/// Message printed instead of hits, with a hint on how to see the nearest.
pub(crate) const NOTHING_RELEVANT: &str = "nothing relevant; --all shows the nearest";

/// Prints the trade-off of withholding low-relevance hits: for the current threshold, then for the whole
/// curve.
pub(crate) fn show_silence(silence: &Silence, to: &mut dyn Write) -> io::Result<()> {
    let percent = |share: f64| share * 100.0;
    let Silence { answerable, unanswerable, in_force, .. } = silence;
    writeln!(
        to,
        "silence: {answerable} answerable and {unanswerable} unanswerable questions; percent"
    )?;
    writeln!(
        to,
        "  in force: false surfacing {:.1}, R@10 lost {:.1} of {:.1}",
        percent(in_force.false_surfacing),
        percent(in_force.loss),
        percent(silence.r_at_10_all)
    )?;
    writeln!(to, "  {:>9}{:>17}{:>11}", "threshold", "false surfacing", "R@10 lost")?;
    for point in &silence.curve {
        writeln!(
            to,
            "  {:>9.2}{:>17.1}{:>11.1}",
            point.threshold,
            percent(point.false_surfacing),
            percent(point.loss)
        )?;
    }
    Ok(())
}

/// Prints a line that lists phases, unless there are none.
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

/// Maximum number of findings printed per check; `--json` has more.
const SHOWN: usize = 3;

/// Prints a check on one line, followed by its findings.
pub(crate) fn row(row: &AuditRow, to: &mut dyn Write) -> io::Result<()> {
    let (store, check) = (row.store, row.check);
    if row.level == Level::Ok {
        return match row.details.first() {
            Some(detail) => writeln!(to, "{store:<9} {check:<14} ok         {}", detail.message),
            None => writeln!(to, "{store:<9} {check:<14} ok"),
        };
    }
    let fix = row.fix.as_deref().unwrap_or_default();
    let level = row.level.as_str();
    writeln!(to, "{store:<9} {check:<14} {level:<9} {:>4}  {fix}", row.count)?;
    for detail in row.details.iter().take(SHOWN) {
        match &detail.place {
            Some(place) => writeln!(to, "    {place}: {}", detail.message)?,
            None => writeln!(to, "    {}", detail.message)?,
        }
    }
    // A count without individual findings is complete on its line.
    if row.details.len() > SHOWN {
        writeln!(to, "    and {} more", row.count - SHOWN)?;
    }
    Ok(())
}
