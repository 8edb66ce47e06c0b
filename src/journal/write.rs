//! Appends records to the journal: all of a call or none, acknowledged only after they are written.

use std::path::{Path, PathBuf};

use chrono::SecondsFormat;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::journal::draft::RecordDraft;
use crate::journal::requests;
use crate::journal::requests::{Request, RequestState};
use crate::progress::Progress;
use crate::secrets::SecretPolicy;
use crate::storage::{Log, Visibility};

/// The parameters of a write.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// The source of the records' time.
    pub clock: Clock,
    /// Whether the records are flushed to disk before they are acknowledged.
    pub sync: bool,
    /// Whether text that looks like a secret is written anyway.
    pub secrets: SecretPolicy,
    /// The caller's request id: a repeated write with the same id writes nothing again.
    pub request: Option<String>,
    /// Whether nothing is written.
    pub dry_run: bool,
    /// Receives the progress of an import.
    pub progress: Progress,
}

impl WriteOptions {
    /// Creates the default parameters: flushed, without secrets, without a request id.
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            sync: true,
            secrets: SecretPolicy::Refuse,
            request: None,
            dry_run: false,
            progress: Progress::default(),
        }
    }
}

/// The outcome of a write.
#[derive(Debug)]
pub struct JournalWriteReport {
    /// The journal.
    pub file: PathBuf,
    /// The lines as they are in the journal.
    lines: String,
}

impl JournalWriteReport {
    /// Returns the written lines, one record each.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.lines()
    }

    /// Returns the only entry, as the document of a single write shows it.
    pub fn entry(&self) -> Result<Acknowledged<'_>> {
        let line = self.lines().next().unwrap_or("null");
        let entry = serde_json::from_str(line)
            .map_err(|error| Error::failed(format!("cannot show the entry: {error}")))?;
        Ok(Acknowledged { ok: true, file: &self.file, entry })
    }
}

/// The answer to a write of one record.
#[derive(Debug, Serialize)]
pub struct Acknowledged<'a> {
    ok: bool,
    file: &'a Path,
    entry: &'a RawValue,
}

/// Appends records to the journal under one lock, with one write and one flush.
pub fn write(
    path: &Path,
    drafts: &[RecordDraft],
    options: &WriteOptions,
) -> Result<JournalWriteReport> {
    refuse_secrets(drafts, options)?;
    if let Some(id) = &options.request {
        requests::check(id)?;
    }
    let time = options.clock.now().to_rfc3339_opts(SecondsFormat::Secs, false);
    let lines = lines(drafts, &time)?;
    if options.dry_run || lines.is_empty() {
        return Ok(written(path, lines));
    }
    let mut log = Log::lock(path, Visibility::Private)?;
    let Some(id) = &options.request else {
        add(&mut log, &lines, options)?;
        return Ok(written(path, lines));
    };
    let Some(earlier) = requests::find(path, id)? else {
        let request = Request::new(id, log.next_line()?, &time, lines.as_bytes());
        requests::remember(path, &request)?;
        add(&mut log, &lines, options)?;
        return Ok(written(path, lines));
    };
    let same = self::lines(drafts, &earlier.ts)?;
    match earlier.state(path, same.as_bytes())? {
        RequestState::Written(there) => {
            let there = String::from_utf8_lossy(&there).into_owned();
            Ok(written(path, there))
        }
        RequestState::Missing { there } => {
            add(&mut log, &same[there..], options)?;
            Ok(written(path, same))
        }
    }
}

fn add(log: &mut Log, lines: &str, options: &WriteOptions) -> Result<()> {
    log.append(lines.as_bytes())?;
    if options.sync { log.flush() } else { Ok(()) }
}

fn written(path: &Path, lines: String) -> JournalWriteReport {
    JournalWriteReport { file: path.to_owned(), lines }
}

fn lines(drafts: &[RecordDraft], time: &str) -> Result<String> {
    let mut all = String::new();
    for draft in drafts {
        all.push_str(&draft.line(time)?);
    }
    Ok(all)
}

fn refuse_secrets(drafts: &[RecordDraft], options: &WriteOptions) -> Result<()> {
    if options.secrets == SecretPolicy::Allow {
        return Ok(());
    }
    let found = drafts.iter().enumerate().find_map(|(index, draft)| Some((index, draft.secret()?)));
    let Some((index, rule)) = found else {
        return Ok(());
    };
    let which = if drafts.len() > 1 {
        format!("entry {} contains", index + 1)
    } else {
        "the entry contains".to_owned()
    };
    Err(Error::refused(format!("{which} what looks like a secret ({rule})"))
        .hint("agents read the journal back; leave the secret out, or pass --allow-secret"))
}
