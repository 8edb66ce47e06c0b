//! `annals milestone`

use std::io;
use std::io::Write;

use clap::{Args, Subcommand};

use crate::cli::output::Output;
use crate::error::Result;
use crate::lifecycle;
use crate::lifecycle::{ListedMilestone, MilestoneReport, MilestoneState};
use crate::project::Project;
use crate::text::quantity;

/// Start, list and switch milestones
#[derive(Args, Debug)]
#[command(after_help = "Example: annals milestone new offline-mode")]
pub(crate) struct MilestoneArgs {
    #[command(subcommand)]
    command: MilestoneCommand,
}

#[derive(Debug, Subcommand)]
enum MilestoneCommand {
    New(NewArgs),
    /// List the milestones: the active one, the open ones, the archived ones
    #[command(after_help = "Example: annals milestone list --json")]
    List,
    Switch(SwitchArgs),
}

/// Start a milestone in a new folder and make it the active one
///
/// Work in the planning folder itself moves to default/ first.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals milestone new offline-mode --dry-run")]
struct NewArgs {
    /// Lower-case letters, digits and hyphens
    slug: String,
}

/// Make an open milestone the active one
#[derive(Args, Debug)]
#[command(after_help = "Example: annals milestone switch default")]
struct SwitchArgs {
    /// The milestone's slug
    slug: String,
}

pub(crate) fn run(args: &MilestoneArgs, project: &Project, out: &mut Output) -> Result<()> {
    let done = match &args.command {
        MilestoneCommand::List => {
            return out.list("milestones", &lifecycle::milestones(project)?, show_list);
        }
        MilestoneCommand::New(args) => lifecycle::new_milestone(project, &args.slug)?,
        MilestoneCommand::Switch(args) => lifecycle::switch_milestone(project, &args.slug)?,
    };
    out.outcome(&done, show, done.refusal())
}

fn show(report: &MilestoneReport, to: &mut dyn Write) -> io::Result<()> {
    if let Some(dir) = &report.migrated {
        writeln!(to, "Moved the work so far to {}.", dir.display())?;
    }
    let already = if report.was_active { " already" } else { "" };
    writeln!(to, "Active milestone{already}: {}.", report.active)
}

fn show_list(milestones: &Vec<ListedMilestone>, to: &mut dyn Write) -> io::Result<()> {
    if !milestones.iter().any(|one| one.standing == MilestoneState::Active) {
        writeln!(to, "no milestone is active")?;
    }
    for one in milestones {
        write!(to, "{}  {}", one.slug, one.standing.as_str())?;
        if let Some(phases) = one.phases {
            write!(to, ", {}", quantity(phases, "phase"))?;
        }
        match one.name.as_ref().filter(|name| **name != one.slug) {
            Some(name) => writeln!(to, " ({name})")?,
            None => writeln!(to)?,
        }
    }
    Ok(())
}
