//! `annals report`, `log`, `undo`, `config`, `man`, `mcp`, `merge-file` and `demo`

use std::num::NonZeroUsize;
use std::path;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory, Parser};
use clap_mangen::Man;
use serde::Serialize;
use serde_json::json;

use crate::cli::output::Output;
use crate::cli::render::text;
use crate::cli::style::head_style;
use crate::cli::{Arguments, entry};
use crate::clock::Clock;
use crate::error::{At, Error, Result};
use crate::hooks::Harness;
use crate::lifecycle::{finish_example, write_example};
use crate::merge::merge;
use crate::project::{Environment, OpenRequest, Project};
use crate::storage::{Changes, OperationId, Scratch, Store, read};
use crate::text::estimate_tokens;
use crate::{hooks, lifecycle, mcp, report};

/// Create one page for people from what the project remembers
///
/// One HTML file without scripts, fonts or network: where the work stands, what is open, the phases with their
/// plans, what finished phases taught, decisions, knowledge entries and their links, facts that wait for
/// confirmation (if a user is set), and what the start of a session costs.
///
/// Example: annals report --open
#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// Write it to this file of the project, new or an earlier report; `-` prints it [default: .annals/report.html]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Open it in the browser
    #[arg(long)]
    open: bool,
}

/// List the changes that annals made, newest first
///
/// The last 200 operations are kept, or 64 MiB of them, in .annals/history/.
///
/// Example: annals log --limit 5
#[derive(Args, Debug)]
pub(crate) struct LogArgs {
    /// Maximum number of changes to list
    #[arg(long, value_name = "N", default_value = "20")]
    limit: NonZeroUsize,
    /// Delete the record of one operation, with the old and new text in it
    #[arg(long, value_name = "ID")]
    forget: Option<OperationId>,
}

/// Undo the last change, or the one with ID
///
/// Restores the exact bytes from before it; lines in log.md stay. Refused if a file was changed since. An
/// undo is itself a change, so a second `annals undo` reverts it.
///
/// Example: annals undo 17
#[derive(Args, Debug)]
pub(crate) struct UndoArgs {
    /// The operation, as `annals log` numbers it
    id: Option<OperationId>,
}

/// Show the settings in force and where each value comes from
///
/// Weakest first: defaults, the user file (`$XDG_CONFIG_HOME/annals/config.toml`), the project's
/// annals.toml, the environment (`ANNALS_*`), flags.
///
/// Example: annals config --json
#[derive(Args, Debug)]
pub(crate) struct ConfigArgs {}

/// Print the manual page of annals or of one of its commands
///
/// Example: annals man sync | man -l -
#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// The command, and a subcommand if any; without one, annals itself
    command: Vec<String>,
}

/// Serve the project's memory to agents as MCP tools on stdin and stdout
///
/// Nine tools; `--tools all` adds `record_phase` and `fact_retrieve`. Ends when the client disconnects.
///
/// Example: annals mcp --tools all
///
/// `annals setup` writes the server into a client's settings.
#[derive(Args, Debug)]
pub(crate) struct McpArgs {
    /// Offer all tools
    #[arg(long, value_name = "SET", value_parser = ["all"])]
    tools: Option<String>,
}

/// Merge versions of a file of appended entries, as git's merge driver
///
/// Writes the result over OURS: the entries of both sides, whole, in the order of their dates. If both sides
/// changed the same entry, nothing is written and the exit code is 1, so that git can merge it and mark the conflict.
///
/// Example: annals merge-file %O %A %B --path %P
///
/// `annals setup git` says how git is told to call this.
#[derive(Args, Debug)]
pub(crate) struct MergeFileArgs {
    /// The common ancestor
    base: PathBuf,
    /// The version on the current branch; the result is written here
    ours: PathBuf,
    /// The version on the branch being merged
    theirs: PathBuf,
    /// The file's path in the project, for messages
    #[arg(long)]
    path: Option<PathBuf>,
}

pub(crate) fn report(args: &ReportArgs, project: &Project, out: &mut Output) -> Result<()> {
    let (files, answer) = hooks::start_tokens(project, Harness::Claude);
    let tools = estimate_tokens(&mcp::advertised());
    let costs = [("context files", files), ("answer of the hook", answer), ("tools of MCP", tools)];
    let own = project.storage().own_file("report.html");
    let file = args.out.as_deref().unwrap_or_else(|| project.relative(&own));
    let written =
        report::report(project, &costs, Some(file).filter(|file| *file != Path::new("-")))?;
    out.warnings(&written.warnings);
    if let Some(html) = &written.html {
        return out.file(&written, html.as_bytes());
    }
    let opened =
        if args.open && !project.dry_run { open(&project.root.join(file)) } else { Ok(()) };
    let template = "{% if diff is string %}{{ diff }}{% else %}{{ file }}\n{% endif %}";
    out.show_until(&written, &(), template, opened)
}

/// Opens a page in the browser.
#[expect(clippy::disallowed_methods, reason = "the user asked for it with --open")]
fn open(page: &Path) -> Result<()> {
    let (program, first) = match std::env::consts::OS {
        "macos" => ("open", None),
        "windows" => ("cmd", Some(["/C", "start", ""])),
        _ => ("xdg-open", None),
    };
    let null = std::process::Stdio::null;
    let mut command = std::process::Command::new(program);
    command.args(first.into_iter().flatten()).arg(page);
    // What it says of each browser that it looks for helps nobody.
    let status = command.stdin(null()).stdout(null()).stderr(null()).status();
    if status.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(Error::failed(format!("was written, but {program} found no browser to open it"))
        .about(page)
        .hint("open the file in a browser yourself"))
}

pub(crate) fn log(args: &LogArgs, project: &Project, out: &mut Output) -> Result<()> {
    let history = project.storage().history();
    if let Some(id) = args.forget {
        let forgot = if project.dry_run {
            history.find(Some(id))?;
            "Would forget"
        } else {
            history.forget(id)?;
            "Forgot"
        };
        out.note(&format!("{forgot} operation {id}."));
    }
    let mut newest = out.understood(history.list()?);
    newest.truncate(args.limit.get());
    out.paint = head_style;
    out.show(&json!({ "operations": newest }), text!("log"))
}

pub(crate) fn undo(args: &UndoArgs, project: &Project, out: &mut Output) -> Result<()> {
    let report = lifecycle::undo(project, args.id)?;
    out.warnings(&report.warnings);
    // A block about entries must not say what was undone.
    entry::refresh(project, out);
    out.show(&report, text!("undo"))
}

pub(crate) fn config(_: &ConfigArgs, project: &Project, out: &mut Output) -> Result<()> {
    out.show(&json!({ "settings": project.settings.list() }), text!("config"))
}

pub(crate) fn man(args: &ManArgs, out: &mut Output) -> Result<()> {
    let mut command = Arguments::command();
    command.build();
    for name in &args.command {
        command = command.find_subcommand(name).cloned().ok_or_else(|| {
            Error::usage(format!("no such command: {name}")).hint("annals --help")
        })?;
    }
    let mut page = Vec::new();
    Man::new(command)
        .source(concat!("annals ", env!("CARGO_PKG_VERSION")))
        .render(&mut page)
        .at("write the manual page", Path::new("-"))?;
    out.verbatim(&page)
}

pub(crate) fn mcp(args: &McpArgs, directory: PathBuf) -> Result<()> {
    mcp::serve(Environment::new(std::env::vars_os()), directory, args.tools.is_some())
}

pub(crate) fn merge_file(args: &MergeFileArgs, project: &Project, out: &mut Output) -> Result<()> {
    let shown = args.path.as_deref().unwrap_or(&args.ours);
    let absolute = |file: &Path| path::absolute(file).at("find", file);
    let ours = absolute(&args.ours)?;
    let ((), applied) = project.storage().keep_history(false).transact(
        "merge-file",
        &[Store::Patterns, Store::Ledger],
        || {
            let base = text(&absolute(&args.base)?, shown)?;
            let theirs = text(&absolute(&args.theirs)?, shown)?;
            let merged = merge(&base, &text(&ours, shown)?, &theirs).ok_or_else(|| {
                Error::failed("both sides changed the same entry")
                    .about(shown)
                    .hint("git marks the conflict; resolve it by hand")
            })?;
            let mut changes = Changes::new();
            changes.write(&ours, merged)?;
            Ok(((), changes))
        },
    )?;
    out.warnings(&applied.warnings);
    let mut report = json!({ "path": shown.display().to_string() });
    if let Some(diff) = applied.diff {
        report["diff"] = diff.into();
    }
    out.show(&report, "{% if diff is defined %}{{ diff }}{% else %}Merged {{ path }}.\n{% endif %}")
}

/// Reads one version. Invalid UTF-8 is refused, since decoding it would change the bytes.
fn text(file: &Path, path: &Path) -> Result<String> {
    let bytes = read::users_bytes(file)?
        .ok_or_else(|| Error::not_found("there is no such file to merge").about(file))?;
    String::from_utf8(bytes).map_err(|_| {
        Error::refused("is not UTF-8 text, so it cannot be split into entries")
            .about(path)
            .hint("merge it by hand: git left our side in place")
    })
}

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

pub(crate) fn demo(_: &DemoArgs, out: &mut Output) -> Result<()> {
    let data = Scratch::create("annals-demo-data")?;
    let scratch = Scratch::create("annals-demo")?;
    let steps = walk(scratch.path(), &environment(data.path()))?;
    scratch.delete()?;
    data.delete()?;
    let files: Vec<_> = steps.iter().map(|step| files_of(&step.diff)).collect();
    out.show_with(&json!({ "steps": steps }), &json!({ "files": files }), text!("demo"))
}

/// Returns an environment with only the caller's clock and a data folder: their settings must not affect the
/// output.
fn environment(data: &Path) -> Environment {
    Environment::new(
        std::env::vars_os()
            .filter(|(name, _)| name == "ANNALS_NOW")
            .chain([("XDG_DATA_HOME".into(), data.into())]),
    )
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
    for line in
        diff.lines().filter(|line| !line.starts_with([' ', '@']) && !line.contains("<!-- annals:"))
    {
        let starts = line.starts_with("--- ") || line.starts_with("rename from ");
        match files.last_mut() {
            Some(file) if !starts => file.push_str(&format!("\n{line}")),
            _ => files.push(line.to_owned()),
        }
    }
    files
}
