//! `annals journal`

mod import;
mod search;
mod stats;
mod tail;
mod write;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::cli::output::Output;
use crate::cli::{Global, stdin};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::journal;
use crate::progress::Progress;
use crate::project::Environment;

/// Names under which the binary acts as one of the journal's tools.
const TOOLS: [(&str, &str); 2] = [("memory_write", "write"), ("memory_search", "search")];

/// Keep and search the journal: one file of records, added to by every agent
///
/// The journal is the file that the variable `MEMORY_FILE` names, else ~/.codex/memory.jsonl. All projects
/// share it.
#[derive(Args, Debug)]
#[command(after_help = "Example: annals journal search Python")]
pub(crate) struct JournalArgs {
    #[command(subcommand)]
    command: JournalCommand,
}

#[derive(Debug, Subcommand)]
enum JournalCommand {
    Write(write::WriteArgs),
    Search(search::SearchArgs),
    Tail(tail::TailArgs),
    /// Show the number of records in the journal, their types and tags, and the time they cover
    #[command(after_help = "Example: annals journal stats")]
    Stats,
    Import(import::ImportArgs),
}

/// The journal's file, and the options that apply to it.
struct JournalTarget {
    file: PathBuf,
    clock: Clock,
    dry_run: bool,
    verbose: bool,
    progress: Progress,
}

/// The JSON document of a failed call.
#[derive(Serialize)]
struct FailedCall {
    ok: bool,
    error: String,
}

pub(crate) fn run(args: &JournalArgs, global: &Global, out: &mut Output) -> Result<()> {
    let target = || journal_target(global);
    match &args.command {
        JournalCommand::Write(args) => {
            answer(target().and_then(|target| write::run(args, &target, out)), out);
        }
        JournalCommand::Search(args) => {
            answer(target().and_then(|target| search::run(args, &target, out)), out);
        }
        JournalCommand::Tail(args) => tail::run(args, &target()?, out)?,
        JournalCommand::Stats => stats::run(&target()?, out)?,
        JournalCommand::Import(args) => import::run(args, &target()?, out)?,
    }
    Ok(())
}

/// Translates a command line whose program name is a tool's into that of `annals journal`.
pub(crate) fn of_tool(arguments: Vec<OsString>) -> Vec<OsString> {
    let name = arguments.first().map(Path::new).and_then(Path::file_stem);
    let tool = TOOLS.iter().find(|(tool, _)| name == Some(OsStr::new(tool)));
    let Some((_, command)) = tool else {
        return arguments;
    };
    let words = ["annals", "journal", command].map(OsString::from);
    words.into_iter().chain(arguments.into_iter().skip(1)).collect()
}

fn journal_target(global: &Global) -> Result<JournalTarget> {
    let environment = Environment::new(std::env::vars_os());
    Ok(JournalTarget {
        file: journal::default_path(&environment)?,
        clock: Clock::new(environment.get("ANNALS_NOW"))?,
        dry_run: global.dry_run,
        verbose: global.verbose,
        progress: global.progress(),
    })
}

/// Prints a failure in the format that the journal's tools specify.
fn answer(done: Result<()>, out: &mut Output) {
    let Err(error) = done else { return };
    let hint = error.hint.as_ref().map_or(String::new(), |hint| format!("; {hint}"));
    let failed = FailedCall { ok: false, error: format!("{error}{hint}") };
    out.failed_with(error.kind, &failed);
}

/// Reads all of standard input, or returns an error if it exceeds `most` bytes.
fn standard_input(most: usize) -> Result<Vec<u8>> {
    let input = stdin::read(most as u64 + 1, "read the standard input")?;
    if input.len() > most {
        return Err(Error::failed(format!("the input is larger than {} MiB", most / 1024 / 1024)));
    }
    Ok(input)
}
