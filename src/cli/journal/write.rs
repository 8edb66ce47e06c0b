//! `annals journal write`

use clap::Args;
use serde::Serialize;

use crate::cli::journal::{JournalTarget, standard_input};
use crate::cli::output::Output;
use crate::error::{Error, Result};
use crate::journal;
use crate::journal::{JournalWriteReport, MAX_LINE, RecordDraft, WriteOptions};

/// Maximum size of a batch, in bytes: the whole batch is validated before its first line is written.
const MAX_BATCH_BYTES: usize = 64 * 1024 * 1024;

/// Add a record to the journal
///
/// Reads {type, content, tags?, meta?} as JSON from the standard input, unless --content is given. Prints
/// {"ok":true,"file":…,"entry":{…}} once the record is on the disk, or {"ok":false,"error":…}.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: printf '%s' '{\"type\":\"note\",\"content\":\"User prefers Python.\"}' | annals journal write\n\
                  Example: annals journal write --content 'User prefers Python.' --tag preference"
)]
pub(crate) struct WriteArgs {
    /// The text of the record
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// What kind of record it is [default: note]
    #[arg(long = "type", value_name = "TYPE", requires = "content")]
    kind: Option<String>,
    /// A tag; may be given several times
    #[arg(long = "tag", value_name = "TAG", requires = "content")]
    tags: Vec<String>,
    /// Further fields, a JSON object
    #[arg(long, value_name = "JSON", requires = "content")]
    meta: Option<String>,
    /// Read one JSON object per line, and add all of them or none
    #[arg(long, conflicts_with = "content")]
    batch: bool,
    /// Flush the record to disk before acknowledging it
    #[arg(
        long,
        value_name = "BOOL",
        default_value_t = true,
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = clap::ArgAction::Set
    )]
    sync: bool,
    /// Write text even if it looks like a secret
    #[arg(long)]
    allow_secret: bool,
    /// An id of your choice: repeating it returns the first answer and writes nothing
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

/// The JSON document of a batch.
#[derive(Serialize)]
struct Batch<'a> {
    ok: bool,
    file: &'a std::path::Path,
    written: usize,
}

/// A JSON document with what a dry run would have added.
#[derive(Serialize)]
struct WriteAnswer<T> {
    #[serde(flatten)]
    answer: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

pub(crate) fn run(args: &WriteArgs, place: &JournalTarget, out: &mut Output) -> Result<()> {
    let options = WriteOptions {
        sync: args.sync,
        secrets: args.allow_secret.into(),
        request: args.request_id.clone(),
        dry_run: place.dry_run,
        ..WriteOptions::new(place.clock)
    };
    let drafts = drafts(args)?;
    let written = journal::write(&place.file, &drafts, &options)?;
    let diff = place.dry_run.then(|| diff(&written));
    if args.batch {
        let answer = Batch { ok: true, file: &written.file, written: drafts.len() };
        out.json_line(&WriteAnswer { answer, diff });
    } else {
        let answer = written.entry()?;
        out.json_line(&WriteAnswer { answer, diff });
    }
    Ok(())
}

fn drafts(args: &WriteArgs) -> Result<Vec<RecordDraft>> {
    if let Some(content) = &args.content {
        let tags = (!args.tags.is_empty()).then(|| args.tags.clone());
        let meta = args.meta.as_deref();
        return Ok(vec![RecordDraft::new(args.kind.clone(), content.clone(), tags, meta)?]);
    }
    if !args.batch {
        return Ok(vec![RecordDraft::parse(&standard_input(MAX_LINE)?)?]);
    }
    let input = standard_input(MAX_BATCH_BYTES)?;
    let mut drafts = Vec::new();
    for (index, line) in input.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let draft = RecordDraft::parse(line).map_err(|mut error| {
            error.message = format!("line {}: {}", index + 1, error.message);
            error
        });
        drafts.push(draft?);
    }
    if drafts.is_empty() {
        return Err(Error::failed("the input is empty, expected one JSON object per line"));
    }
    Ok(drafts)
}

/// Returns the lines that would be added, as a unified diff.
fn diff(written: &JournalWriteReport) -> String {
    let file = written.file.display();
    let count = written.lines().count();
    let mut diff = format!("--- a/{file}\n+++ b/{file}\n@@ -0,0 +1,{count} @@\n");
    for line in written.lines() {
        diff.push('+');
        diff.push_str(line);
        diff.push('\n');
    }
    diff
}
