//! `annals journal`

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use crate::cli::input::stdin;
use crate::cli::output::Output;
use crate::cli::render::text;
use crate::cli::{Global, value_enum};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::journal;
use crate::journal::{JournalQuery, MAX_LINE, Mode, RecordDraft, WriteOptions};
use crate::project::Environment;

/// Names under which the binary acts as one of the journal's tools.
const TOOLS: [(&str, &str); 2] = [("memory_write", "write"), ("memory_search", "search")];

/// Maximum size of a batch, in bytes: the whole batch is validated before its first line is written.
const MAX_BATCH_BYTES: usize = 64 * 1024 * 1024;

value_enum!(Mode);

/// Keep and search the journal: one file of records, added to by every agent
///
/// The journal is the file that the variable `MEMORY_FILE` names, else ~/.codex/memory.jsonl. All projects
/// share it.
///
/// Example: annals journal search Python
#[derive(Args, Debug)]
pub(crate) struct JournalArgs {
    #[command(subcommand)]
    command: JournalCommand,
}

#[derive(Debug, Subcommand)]
enum JournalCommand {
    Write(WriteArgs),
    Search(SearchArgs),
    /// Print the latest records, the latest last
    ///
    /// One line per record; with --json, each as its line in the journal.
    ///
    /// Example: annals journal tail -n 3 --json | jq -r .content
    Tail {
        /// Maximum number of records to print
        #[arg(short = 'n', long = "lines", value_name = "N", default_value_t = 10)]
        lines: usize,
    },
}

/// Add a record to the journal
///
/// Reads {type, content, tags?, meta?} as JSON from the standard input, unless --content is given. Prints
/// {"ok":true,"file":…,"entry":{…}} once the record is on the disk, or {"ok":false,"error":…}.
///
/// Example: printf '%s' '{"type":"note","content":"User prefers Python."}' | annals journal write
///
/// Example: annals journal write --content 'User prefers Python.' --tag preference
#[derive(Args, Debug)]
struct WriteArgs {
    /// The text of the record
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// What kind of record it is [default: note]
    #[arg(long = "type", value_name = "TYPE", requires = "content")]
    kind: Option<String>,
    /// A tag; may be given several times
    #[arg(long = "tag", value_name = "TAG", requires = "content")]
    tags: Option<Vec<String>>,
    /// Further fields, a JSON object
    #[arg(long, value_name = "JSON", requires = "content")]
    meta: Option<String>,
    /// Read one JSON object per line, and add all of them or none
    #[arg(long, conflicts_with = "content")]
    batch: bool,
    /// Add the records of another journal that this one does not have
    ///
    /// Reads ts, type, content, tags and meta of each line; other fields go into meta. A record is identified by its
    /// content and time, so a second import adds nothing.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["content", "batch", "request_id"])]
    import: Option<PathBuf>,
    /// Write text even if it looks like a secret
    #[arg(long)]
    allow_secret: bool,
    /// An id of your choice: repeating it returns the first answer and writes nothing
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

/// Search the journal from its end
///
/// Reads its options as one JSON object from the standard input, unless Q is given: q, and limit,
/// `window_lines`, mode, type, tags, since and until as needed. Prints a JSON object with the results, the latest
/// first.
///
/// Searches the last `window_lines` lines. While that finds fewer results than the limit, the window grows
/// fourfold, up to 1,000,000 lines.
///
/// Example: printf '%s' '{"q":"Python","limit":5}' | annals journal search
///
/// Example: annals journal search '/prefers? py/i' --type note --since 2026-02-01
#[derive(Args, Debug)]
struct SearchArgs {
    /// Literal text in its case, or /…/ or /…/i for a regular expression; '' matches every record
    q: Option<String>,
    #[command(flatten)]
    query: JournalQuery,
}

pub(crate) fn run(args: &JournalArgs, global: &Global, out: &mut Output) -> Result<()> {
    let environment = Environment::new(std::env::vars_os());
    let file = journal::default_path(&environment);
    let done = match &args.command {
        JournalCommand::Tail { lines } => return tail(*lines, &file?, out),
        JournalCommand::Write(args) => {
            let options = args.options(&environment, global.place.dry_run)?;
            if let Some(from) = &args.import {
                let imported = journal::import(&file?, from, &options)?;
                return out.show(&imported, text!("journal/imported"));
            }
            file.and_then(|file| write(args, &file, &options, out))
        }
        JournalCommand::Search(args) => {
            file.and_then(|file| search(args, &file, global.mode.verbose, out))
        }
    };
    // The journal's tools specify the format of a failure.
    if let Err(error) = done {
        let hint = error.hint.as_ref().map_or(String::new(), |hint| format!("; {hint}"));
        let failed = json!({ "ok": false, "error": format!("{error}{hint}") });
        out.failed_with(error.kind, &failed);
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
    ["annals", "journal", command]
        .map(OsString::from)
        .into_iter()
        .chain(arguments.into_iter().skip(1))
        .collect()
}

/// Reads all of standard input, or returns an error if it exceeds `most` bytes.
fn input(most: usize) -> Result<Vec<u8>> {
    let input = stdin(most as u64 + 1, "read the standard input")?;
    if input.len() > most {
        return Err(Error::failed(format!("the input is larger than {} MiB", most / 1024 / 1024)));
    }
    Ok(input)
}

impl WriteArgs {
    fn options(&self, environment: &Environment, dry_run: bool) -> Result<WriteOptions> {
        Ok(WriteOptions {
            secrets: self.allow_secret.into(),
            request: self.request_id.clone(),
            dry_run,
            clock: Clock::new(environment.get("ANNALS_NOW"))?,
        })
    }

    fn drafts(&self) -> Result<Vec<RecordDraft>> {
        if let Some(content) = &self.content {
            let (kind, tags) = (self.kind.clone(), self.tags.clone());
            let meta = self.meta.as_deref();
            return Ok(vec![RecordDraft::new(kind, content.clone(), tags, meta)?]);
        }
        if !self.batch {
            return Ok(vec![RecordDraft::parse(&input(MAX_LINE)?)?]);
        }
        let input = input(MAX_BATCH_BYTES)?;
        let lines = input
            .split(|byte| *byte == b'\n')
            .enumerate()
            .filter(|(_, line)| !line.trim_ascii().is_empty());
        let drafts = lines
            .map(|(index, line)| {
                RecordDraft::parse(line).map_err(|mut error| {
                    let message = error.message.replace(" at line 1 column ", " at column ");
                    error.message = format!("line {}: {message}", index + 1);
                    error
                })
            })
            .collect::<Result<Vec<RecordDraft>>>()?;
        if drafts.is_empty() {
            return Err(Error::failed("the input is empty, expected one JSON object per line"));
        }
        Ok(drafts)
    }
}

fn write(args: &WriteArgs, file: &Path, options: &WriteOptions, out: &mut Output) -> Result<()> {
    let drafts = args.drafts()?;
    let written = journal::write(file, &drafts, options)?;
    if args.batch {
        let mut answer = json!({ "ok": true, "file": written.file.display().to_string(), "written": drafts.len() });
        if let Some(diff) = written.diff {
            answer["diff"] = diff.into();
        }
        out.json_line(&answer);
    } else {
        out.json_line(&written.entry()?);
    }
    Ok(())
}

fn search(args: &SearchArgs, file: &Path, verbose: bool, out: &mut Output) -> Result<()> {
    let query = match &args.q {
        None => JournalQuery::parse(&input(MAX_LINE)?)?,
        Some(q) => JournalQuery { q: q.clone(), ..args.query.clone() },
    };
    let mut found = journal::search(file, &query)?;
    if !verbose {
        found.skipped = None;
    }
    if found.results.is_empty()
        && args.q.as_ref().is_some_and(|q| serde_json::from_str::<Map<String, Value>>(q).is_ok())
    {
        out.note("searched literally; a request as JSON is read from standard input: `printf '%s' '{…}' | annals journal search`");
    }
    out.json_line(&found);
    Ok(())
}

fn tail(lines: usize, file: &Path, out: &mut Output) -> Result<()> {
    if !file.exists() {
        out.note("no records yet; `annals journal write --content TEXT` adds one");
    }
    journal::read_last(file, lines, |entry| {
        // Already sanitized; another pass through JSON would change large numbers.
        if out.mode.json {
            out.json_line(&entry);
        } else {
            out.streamed(&entry, text!("journal/record"));
        }
        !out.closed
    })
}
