//! `annals share init`

use std::io;
use std::io::Write;

use crate::cli::output::Output;
use crate::error::Result;
use crate::facts::Facts;
use crate::project::Project;
use crate::share;
use crate::share::Initialised;
use crate::text::quantity;

pub(crate) fn run(project: &Project, facts: &mut Facts, out: &mut Output) -> Result<()> {
    let done = share::init(project, facts)?;
    if project.dry_run {
        out.note("dry run: the server was reached, nothing was changed");
    }
    out.result(&done, show)
}

fn show(done: &Initialised, to: &mut dyn Write) -> io::Result<()> {
    if done.has_made_tables {
        writeln!(to, "created the tables at {}", done.server)?;
    }
    match &done.device {
        Some(device) => writeln!(
            to,
            "device {device} at {}; {} to send: annals share sync",
            done.server,
            quantity(done.pending, "operation")
        ),
        None => writeln!(to, "would be a new device at {}", done.server),
    }
}
