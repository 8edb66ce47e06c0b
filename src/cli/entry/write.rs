//! `annals entry write`

use std::io;
use std::io::Write;
use std::path::Path;

use clap::Args;

use crate::cli::output::Output;
use crate::cli::stdin;
use crate::error::{Error, Result};
use crate::knowledge;
use crate::knowledge::{Confidence, EntryType, EntryWrite, EntryWriteReport, WriteOutcome};
use crate::project::Project;
use crate::storage::read;

/// Create or replace an entry
///
/// The body is stored byte for byte; if it has no `# Title`, it gets --title, or the key in words.
/// An update without a body changes only the front matter; a new entry needs a body, or a --title. Refused if another
/// entry says the same, or if the text contains what looks like a secret.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: annals entry write --key test-runner --type convention --confidence high --body @note.md"
)]
pub(crate) struct WriteArgs {
    /// Lower-case words with hyphens, 60 characters at most
    #[arg(long, value_name = "KEY")]
    key: String,
    /// What kind of knowledge it is
    #[arg(long = "type", value_name = "TYPE")]
    kind: EntryType,
    /// How sure you are: high if the user said so or the code shows it
    #[arg(long, value_name = "GRADE")]
    confidence: Confidence,
    /// Tags [default: unchanged]
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    tags: Option<Vec<String>>,
    /// Take the body from a file
    #[arg(long, value_name = "@FILE", conflicts_with = "body_stdin")]
    body: Option<String>,
    /// Take the body from standard input
    #[arg(long)]
    body_stdin: bool,
    /// The title, if the body has none
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    title: Option<String>,
    /// Write only if the entry still has this hash, which `read --json` prints
    #[arg(long, value_name = "HASH")]
    if_match: Option<String>,
    /// Store it even if it looks like a secret
    #[arg(long)]
    allow_secret: bool,
    /// An id of your choice: repeating it returns the first answer and writes nothing
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

pub(crate) fn run(args: &WriteArgs, project: &Project, out: &mut Output) -> Result<()> {
    let tags = args.tags.as_ref().map(|tags| {
        let mut kept: Vec<String> = Vec::new();
        for tag in tags.iter().map(|tag| tag.trim()) {
            if !tag.is_empty() && !kept.iter().any(|known| known == tag) {
                kept.push(tag.to_owned());
            }
        }
        kept
    });
    let write = EntryWrite {
        key: args.key.clone(),
        kind: args.kind,
        confidence: args.confidence,
        tags,
        body: body(args)?,
        title: args.title.clone(),
        if_match: args.if_match.clone(),
        secrets: args.allow_secret.into(),
        request_id: args.request_id.clone(),
    };
    let written = knowledge::write(project, &write)?;
    out.warnings(&written.warnings);
    out.result(&written, show)
}

fn body(args: &WriteArgs) -> Result<Option<Vec<u8>>> {
    if args.body_stdin {
        let body = stdin::read(read::MAX_FILE + 1, "read the body from")?;
        // An oversized body is refused later; it may be truncated within a character, so it is not validated.
        if body.len() as u64 <= read::MAX_FILE && std::str::from_utf8(&body).is_err() {
            return Err(Error::usage("standard input is not valid UTF-8"));
        }
        return Ok(Some(body));
    }
    let Some(named) = &args.body else {
        return Ok(None);
    };
    let Some(file) = named.strip_prefix('@') else {
        return Err(Error::usage("--body takes @FILE")
            .hint("`--body @note.md` reads a file, `--body-stdin` reads standard input"));
    };
    let file = Path::new(file);
    match read::users_bytes(file)? {
        Some(body) if std::str::from_utf8(&body).is_err() => {
            Err(Error::usage("is not valid UTF-8").at(file, None))
        }
        Some(body) => Ok(Some(body)),
        None => Err(Error::not_found("there is no such file").at(file, None)),
    }
}

fn show(written: &EntryWriteReport, to: &mut dyn Write) -> io::Result<()> {
    if let Some(diff) = &written.diff {
        return write!(to, "{diff}");
    }
    let key = &written.key;
    match written.outcome {
        _ if written.unchanged => writeln!(to, "Unchanged: {key}."),
        WriteOutcome::Stored => writeln!(to, "Stored: {key}."),
        WriteOutcome::Updated => {
            writeln!(to, "Updated {key} (+{}/-{} lines).", written.added, written.removed)
        }
    }
}
