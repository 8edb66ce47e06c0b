//! `annals demo`

use std::path::Path;

use clap::{Args, Parser};
use serde::Serialize;
use serde_json::json;

use crate::cli::Arguments;
use crate::cli::output::Output;
use crate::cli::text::text;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::lifecycle::{finish_example, write_example};
use crate::project::{Environment, OpenRequest, Project};
use crate::storage::Scratch;

/// The commands in the order in which they are run, with a description each.
const STEPS: &str = include_str!("../../templates/demo/steps.txt");

/// The step before which an agent executes the open plans.
const WORK_BEFORE: &str = "execute";

/// See what an agent reads, and a workflow, on a scratch copy of an example
///
/// Shows what an agent sees and one search, then runs init, plan, execute and ship, and shows what each prints and how
/// the files change.
/// The scratch folder is deleted at the end.
///
/// Example: annals demo --json
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {}

/// The JSON document of `annals demo --json`.
#[derive(Debug, Serialize)]
struct DemoReport {
    /// The steps, in order.
    steps: Vec<Step>,
}

/// A command and its effects.
#[derive(Debug, Serialize)]
struct Step {
    /// The command; null if an agent did the work.
    command: Option<String>,
    /// The description.
    about: String,
    /// The output.
    output: String,
    /// A diff of the changed files.
    diff: String,
}

pub(crate) fn run(_: &DemoArgs, out: &mut Output) -> Result<()> {
    let data = Scratch::create("annals-demo-data")?;
    let scratch = Scratch::create("annals-demo")?;
    let report = DemoReport { steps: walk(scratch.path(), &environment(data.path()))? };
    scratch.delete()?;
    data.delete()?;
    let files: Vec<_> = report.steps.iter().map(|step| files_of(&step.diff)).collect();
    out.show_with(&report, &json!({ "files": files }), text!("demo"))
}

/// Returns an environment with only the caller's clock and a data folder: their settings must not affect the
/// output.
fn environment(data: &Path) -> Environment {
    let now = Environment::new(std::env::vars_os()).get("ANNALS_NOW").map(str::to_owned);
    let data = data.to_string_lossy().into_owned();
    [("ANNALS_NOW", now), ("XDG_DATA_HOME", Some(data))]
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

fn walk(folder: &Path, environment: &Environment) -> Result<Vec<Step>> {
    let project = |dry_run| {
        Project::open(OpenRequest {
            directory: folder.to_owned(),
            project: Some(folder.to_owned()),
            environment: environment.clone(),
            dry_run,
            ..OpenRequest::default()
        })
    };
    let clock = Clock::new(environment.get("ANNALS_NOW"))?;
    write_example(folder, clock, environment.data_dir())?;
    let mut steps = Vec::new();
    for (command, about) in STEPS.lines().filter_map(|step| step.split_once(": ")) {
        if command == WORK_BEFORE {
            steps.push(Step {
                command: None,
                about: "An agent carries out plans 2 and 3 and writes a summary of each."
                    .to_owned(),
                output: String::new(),
                diff: finish_example(folder, clock, environment.data_dir())?,
            });
        }
        let before = project(true)?;
        let diff = printed(command, &before)?;
        let output = printed(command, &project(false)?)?;
        steps.push(Step {
            command: Some(format!("annals {command}")),
            about: about.to_owned(),
            // A command that only reads prints the same in a dry run.
            diff: if diff == output { String::new() } else { diff },
            output,
        });
    }
    Ok(steps)
}

/// Runs a command in the scratch project and returns its output.
fn printed(command: &str, project: &Project) -> Result<String> {
    let line = ["annals"].into_iter().chain(command.split(' '));
    let parsed =
        Arguments::try_parse_from(line).map_err(|error| Error::failed(error.to_string()))?;
    let mut captured = Output::captured();
    parsed.command.run_in(project, &mut captured)?;
    Ok(captured.into_text())
}

/// Splits a diff by file, without unchanged lines and the markers of annals.
fn files_of(diff: &str) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    let changed = |line: &&str| !line.starts_with([' ', '@']) && !line.contains("<!-- annals:");
    for line in diff.lines().filter(changed) {
        let starts = line.starts_with("--- ") || line.starts_with("rename from ");
        match files.last_mut() {
            Some(file) if !starts => file.push_str(&format!("\n{line}")),
            _ => files.push(line.to_owned()),
        }
    }
    files
}
