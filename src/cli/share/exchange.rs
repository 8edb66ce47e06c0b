//! `annals share push`, `pull` and `sync`

use std::io;
use std::io::Write;

use crate::cli::output::Output;
use crate::error::Result;
use crate::facts::Facts;
use crate::project::Project;
use crate::share;
use crate::share::{Direction, Synced};
use crate::text::quantity;

/// Synchronises this device with the server, and reports what was sent and received.
pub(crate) fn run(
    project: &Project,
    facts: &mut Facts,
    direction: Direction,
    out: &mut Output,
) -> Result<()> {
    let synced = share::sync(project, facts, direction, None)?;
    if synced.is_renamed {
        out.note(&format!(
            "this database is a copy of another device's; its device is now {}",
            synced.device
        ));
    }
    if synced.set_aside > 0 {
        out.note(&format!(
            "{} not understood and set aside; `annals share status` says why",
            quantity(synced.set_aside, "operation")
        ));
    }
    for device in &synced.stuck {
        out.note(&format!(
            "the server lacks an operation of device {device}: its later operations are on hold"
        ));
    }
    if synced.withheld > 0 {
        out.note(&format!(
            "{} not sent: looks like a secret",
            quantity(synced.withheld, "operation")
        ));
    }
    if synced.missing_lines > 0 {
        out.note(&format!(
            "{} not sent: no longer in any journal",
            quantity(synced.missing_lines, "journal line")
        ));
    }
    if synced.is_unclean {
        out.note("facts forgotten on other devices are erased, but may remain in free pages of the file: the next sync with exclusive access to it clears them");
    }
    out.result(&synced, |synced, to| show(synced, direction, project.dry_run, to))
}

fn show(
    synced: &Synced,
    direction: Direction,
    is_dry_run: bool,
    to: &mut dyn Write,
) -> io::Result<()> {
    let would = if is_dry_run { "would have " } else { "" };
    let mut parts = Vec::new();
    if direction != Direction::Pull {
        let sent = quantity(synced.pushed, "operation");
        parts.push(format!("{would}sent {sent}"));
    }
    if direction != Direction::Push {
        let taken = quantity(synced.pulled, "operation");
        parts.push(format!("{would}received {taken}"));
    }
    writeln!(to, "{}", parts.join(", "))
}
