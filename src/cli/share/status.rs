//! `annals share status`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::error::Result;
use crate::facts::Facts;
use crate::project::Project;
use crate::share;
use crate::share::{ShareStatus, SharedDevice};
use crate::text::quantity;

/// Show the operations to be sent or set aside, and all devices
///
/// Devices that have received nothing since facts were forgotten are marked: they may still have them.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals share status --offline")]
pub(crate) struct StatusArgs {
    /// Show only what this device knows; ask no server
    #[arg(long)]
    offline: bool,
}

pub(crate) fn run(
    args: &StatusArgs,
    project: &Project,
    facts: &Facts,
    out: &mut Output,
) -> Result<()> {
    let status = share::status(project, facts, args.offline)?;
    if let Some(why) = &status.unreachable {
        out.note(&format!("{why}; everything on this device works without it"));
    }
    out.result(&status, show)
}

fn show(status: &ShareStatus, to: &mut dyn Write) -> io::Result<()> {
    let server = status.server.as_deref().unwrap_or("no server is set; set share.url");
    let Some(here) = &status.here else {
        return writeln!(to, "not shared ({server}); run annals share init");
    };
    let left = if here.has_left { ", which no longer shares" } else { "" };
    writeln!(to, "device {}{left}: {server}", here.device)?;
    let since = here.pending_since.as_deref();
    let since = since.map(|since| format!(" since {since}")).unwrap_or_default();
    writeln!(to, "to send: {}{since}", quantity(here.pending, "operation"))?;
    writeln!(to, "last sync: {}", here.synced_at.as_deref().unwrap_or("never"))?;
    if let (Some(at), Some(why)) = (&here.failed_at, &here.last_error) {
        writeln!(to, "failed at {at}: {why}")?;
    }
    if here.withheld > 0 {
        writeln!(to, "not sent, looks like a secret: {}", quantity(here.withheld, "operation"))?;
    }
    for aside in &here.set_aside {
        writeln!(to, "set aside: {} of {}: {}", aside.number, aside.device, aside.reason)?;
    }
    if here.is_unclean {
        writeln!(
            to,
            "facts forgotten on other devices may remain in free pages: the next sync with exclusive access to the file clears them"
        )?;
    }
    status.devices.iter().try_for_each(|device| line(device, to))
}

fn line(device: &SharedDevice, to: &mut dyn Write) -> io::Result<()> {
    let pulled = device.pulled_at.as_deref().unwrap_or("never");
    let behind =
        if device.is_behind_a_forget { ", nothing since facts were forgotten" } else { "" };
    writeln!(
        to,
        "{}  {}  {}  {} sent, last received: {pulled}{behind}",
        device.scope,
        device.device,
        device.member,
        quantity(device.operations.unsigned_abs(), "operation")
    )
}
