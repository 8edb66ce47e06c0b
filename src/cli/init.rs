//! `annals init`

use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::output::Output;
use crate::cli::value_enum::value_enum;
use crate::error::Result;
use crate::lifecycle;
use crate::lifecycle::{InitReport, InitRequest};
use crate::project::{LayoutName, Project};
use crate::text::quantity;

/// Create a planning folder, and write CLAUDE.md for the first time
///
/// Creates PROJECT.md, REQUIREMENTS.md, ROADMAP.md, STATE.md, config.json and phases/ if they are
/// missing; what exists stays as it is. STATE.md records the installed skills and a profile of
/// existing code. On a terminal, asks for what is not given; otherwise takes it from the
/// manifest (Cargo.toml, package.json, …), git and the folder's name.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: annals init --core-value \"Never buy what is in the pantry\" \"A shared pantry\""
)]
pub(crate) struct InitArgs {
    /// What the project is, in one sentence
    #[arg(value_name = "DESCRIPTION")]
    description: Option<String>,
    /// The project's name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The one thing that must always work
    #[arg(long, value_name = "TEXT")]
    core_value: Option<String>,
    /// Which workflow's planning folder to create, if there is none [default: vbw]
    #[arg(long, value_name = "NAME")]
    layout: Option<LayoutName>,
}

value_enum!(LayoutName, dir);

pub(crate) fn run(args: &InitArgs, project: &Project, out: &mut Output) -> Result<()> {
    let mut request = InitRequest {
        name: args.name.clone(),
        description: args.description.clone(),
        core_value: args.core_value.clone(),
        layout: args.layout,
    };
    if out.can_ask() {
        ask(&mut request, project, out)?;
    }
    let done = lifecycle::init(project, &request)?;
    out.outcome(&done, show, done.refusal())
}

/// Asks for the values of a new PROJECT.md that are missing on the command line.
fn ask(request: &mut InitRequest, project: &Project, out: &mut Output) -> Result<()> {
    let Some(defaults) = lifecycle::init_defaults(project, request)? else {
        return Ok(());
    };
    if request.name.is_none() {
        request.name = out.ask(&format!("Project name [{}]: ", defaults.name))?;
    }
    if request.description.is_none() {
        let known = defaults.description.map(|text| format!(" [{text}]")).unwrap_or_default();
        request.description = out.ask(&format!("What it is, in a sentence{known}: "))?;
    }
    if request.core_value.is_none() {
        request.core_value = out.ask("Core value, the one thing that must work: ")?;
    }
    Ok(())
}

fn show(report: &InitReport, to: &mut dyn Write) -> io::Result<()> {
    let folder = report.planning_dir.display();
    if report.created.is_empty() {
        writeln!(to, "{folder} is complete already; nothing created.")?;
    } else {
        writeln!(to, "Created in {folder}: {}.", names(&report.created, &report.planning_dir))?;
        if !report.kept.is_empty() {
            writeln!(to, "Kept as they are: {}.", names(&report.kept, &report.planning_dir))?;
        }
    }
    if !report.skills.is_empty() {
        let skills = quantity(report.skills.len(), "installed skill");
        writeln!(to, "Recorded {skills}.")?;
    }
    if let Some(line) = report.profile.first() {
        writeln!(to, "Recorded existing code: {line}.")?;
    }
    Ok(())
}

/// Returns the file names, relative to the planning folder.
fn names(paths: &[PathBuf], folder: &Path) -> String {
    let below = |path: &PathBuf| path.strip_prefix(folder).unwrap_or(path).display().to_string();
    paths.iter().map(below).collect::<Vec<_>>().join(", ")
}
