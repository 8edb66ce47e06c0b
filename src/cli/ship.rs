//! `annals ship`

use std::io;
use std::io::Write;

use clap::Args;

use crate::cli::output::Output;
use crate::cli::print;
use crate::error::Result;
use crate::lifecycle;
use crate::lifecycle::{ShipReport, ShipRequest};
use crate::project::Project;
use crate::text::quantity;

/// Archive the active milestone and leave the folder ready for the next
///
/// Moves it to milestones/<slug>/ with a SHIPPED.md, keeps PATTERNS.md and shared files, carries
/// decisions, todos and blockers over into a fresh STATE.md, and removes RESUME.md.
/// Where the workflow archives milestones itself, only the clean-up is done.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals ship --dry-run")]
pub(crate) struct ShipArgs {
    /// The name to archive under, for a milestone that has no folder of its own
    #[arg(long, value_name = "SLUG")]
    milestone: Option<String>,
    /// Ship although plans are open or phases are not planned
    #[arg(long)]
    force: bool,
    /// Only clean up after a milestone that was archived in another way
    #[arg(long)]
    cleanup_only: bool,
}

pub(crate) fn run(args: &ShipArgs, project: &Project, out: &mut Output) -> Result<()> {
    let request = ShipRequest {
        milestone: args.milestone.clone(),
        force: args.force,
        cleanup_only: args.cleanup_only,
    };
    let done = lifecycle::ship(project, &request)?;
    out.outcome(&done, show, done.verdict())
}

fn show(report: &ShipReport, to: &mut dyn Write) -> io::Result<()> {
    match &report.archived {
        Some(archived) => writeln!(
            to,
            "Shipped {} to {}: {}, {} of {} complete.",
            archived.name,
            archived.dir.display(),
            quantity(archived.phases, "phase"),
            archived.plans.complete,
            quantity(archived.plans.total, "plan")
        )?,
        // The error already says so.
        None if report.left_to.is_some() => {}
        None => writeln!(to, "No milestone to archive.")?,
    }
    print::phases("Recorded", &report.recorded, to)?;
    for path in &report.removed {
        writeln!(to, "Removed {}.", path.display())?;
    }
    if let Some(slug) = &report.active {
        writeln!(to, "Active milestone: {slug}.")?;
    }
    if let Some(archived) = &report.archived {
        writeln!(to, "To mark it in git: git tag -a milestone/{0} -m 'Ship {0}'", archived.slug)?;
    }
    Ok(())
}
