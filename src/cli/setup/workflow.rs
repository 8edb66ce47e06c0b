//! `annals setup vbw|gsd`

use std::io;
use std::io::Write;

use clap::Args;
use serde::Serialize;

use crate::cli::output::Output;
use crate::cli::setup::harness;
use crate::error::Result;
use crate::hooks::setup::{SetupReport, SetupRequest};
use crate::hooks::{Harness, SetupOverrides, SetupScope, setup};
use crate::project::{Layout, LayoutName, Project};

/// Options of a workflow's setup
#[derive(Args, Debug)]
pub(crate) struct WorkflowArgs {
    /// Change nothing; exit with 1 if setup would change anything
    #[arg(long, conflicts_with = "remove")]
    check: bool,
    /// Remove the entries again
    #[arg(long)]
    remove: bool,
}

/// The outcome of a workflow's setup: that of its client, and what the workflow's commands may call.
#[derive(Serialize)]
struct WorkflowReport {
    #[serde(flatten)]
    client: SetupReport,
    /// The workflow's commands, and the line that each may run.
    calls: Vec<Call>,
}

/// A line that a command of the workflow may run.
#[derive(Serialize)]
struct Call {
    /// The command, or the moment.
    after: String,
    /// The line.
    run: &'static str,
}

/// Sets up Claude Code in this project, and says what the workflow's commands may call. The folder of the workflow's
/// plugin is never touched.
pub(crate) fn run(
    workflow: LayoutName,
    args: &WorkflowArgs,
    project: &Project,
    out: &mut Output,
) -> Result<()> {
    let request = SetupRequest {
        harness: Harness::Claude,
        scope: SetupScope::Project,
        check: args.check,
        remove: args.remove,
        options: SetupOverrides { notepad: None, breadcrumb: None },
    };
    let client = setup::setup(project, request)?;
    out.warnings(&client.warnings);
    let verdict = if args.check { client.verdict() } else { Ok(()) };
    let calls = if args.remove { Vec::new() } else { calls(workflow, project)? };
    out.result_until(&WorkflowReport { client, calls }, show, verdict)
}

/// Returns what the workflow's commands may call, in the words of the generation in use.
fn calls(workflow: LayoutName, project: &Project) -> Result<Vec<Call>> {
    let here = &project.planning_place().layout;
    let loaded = Layout::load(workflow)?;
    let commands =
        if here.name == workflow && here.is_in_use { &here.commands } else { &loaded.commands };
    let of = |command: &str| command.replace("{phase}", "N");
    let ship =
        if workflow.keeps_milestones() { "annals ship --cleanup-only" } else { "annals ship" };
    let calls = [
        ("a project was set up".to_owned(), "annals init"),
        (of(&commands.plan), "annals plan N"),
        ("a SUMMARY was written".to_owned(), "annals sync --fix-state"),
        (of(&commands.execute), "annals execute N --digest"),
        ("its lessons are known".to_owned(), "annals execute N --lessons -"),
        (of(&commands.ship), ship),
    ];
    Ok(calls.into_iter().map(|(after, run)| Call { after, run }).collect())
}

fn show(report: &WorkflowReport, to: &mut dyn Write) -> io::Result<()> {
    harness::show(&report.client, to)?;
    if !report.calls.is_empty() {
        writeln!(to, "\nThe workflow's commands may call:")?;
    }
    for call in &report.calls {
        writeln!(to, "  {:<32} # {}", call.run, call.after)?;
    }
    Ok(())
}
