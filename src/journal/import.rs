//! Takes in the lines of other journals, each once.

use std::collections::HashSet;
use std::path::Path;
use std::path::PathBuf;

use chrono::DateTime;
use chrono::Utc;
use serde::Serialize;
use sha2::Digest;
use sha2::Sha256;

use crate::error::At;
use crate::error::Error;
use crate::error::Result;
use crate::journal::MAX_LINE;
use crate::journal::foreign::Foreign;
use crate::journal::forwards::Forwards;
use crate::journal::forwards::JournalLine;
use crate::journal::record::Record;
use crate::journal::record::trimmed;
use crate::journal::search::open;
use crate::journal::write::Writing;
use crate::secrets::SecretPolicy;
use crate::storage::Access;
use crate::storage::Log;
use crate::warning::Warning;

/// How much is written at once.
const PORTION: usize = 1024 * 1024;

/// How many lines that are not understood are told one by one.
const TOLD: usize = 20;

/// How many bytes of a dry run's lines are shown.
const SHOWN: usize = 64 * 1024;

/// What an import took in.
#[derive(Debug, Default, Serialize)]
pub struct Imported {
    /// The journal.
    pub file: PathBuf,
    /// How many records were added.
    pub imported: usize,
    /// How many lines were in the journal already, or earlier in the same file.
    pub duplicates: usize,
    /// How many lines were not understood.
    pub skipped: usize,
    /// The first of those.
    pub warnings: Vec<Warning>,
    /// On a dry run, the first lines that would be added.
    pub diff: Option<String>,
}

/// What makes two records one: what they say, and when they said it.
pub(crate) type Identity = [u8; 16];

/// Adds the records of another file that the journal does not have yet, in their order.
///
/// Records are the same where content and time are; where a line has no time, where the content is.
pub fn import(path: &Path, from: &Path, writing: &Writing) -> Result<Imported> {
    let (lines, mut wanted) = survey(from, writing)?;
    let mut report = Imported {
        file: path.to_owned(),
        ..Imported::default()
    };
    let mut target = ImportTarget::open(path, writing)?;
    forget_known(path, &mut wanted)?;
    let mut number = 0;
    let mut watched = writing.progress.track("Importing", 0..lines);
    let mut reader = reader(from)?;
    while let Some(line) = reader.next().at("read", from)? {
        number += 1;
        watched.next();
        match foreign(&line) {
            Ok(None) => {}
            Ok(Some(one)) if wanted.remove(&identity_of(&one)) => {
                report.imported += 1;
                target.add(&one.draft.line(&one.timestamp(writing.clock.now()))?)?;
            }
            Ok(Some(_)) => report.duplicates += 1,
            Err(reason) => {
                report.skipped += 1;
                if report.warnings.len() < TOLD {
                    report.warnings.push(Warning::at(from, number, reason));
                }
            }
        }
    }
    target.end(writing.sync)?;
    report.diff = writing.dry_run.then(|| target.diff(path, report.imported));
    Ok(report)
}

/// Where the lines go: into the log, or only shown.
pub(crate) struct ImportTarget {
    log: Option<Log>,
    portion: String,
    shown: String,
}

impl ImportTarget {
    /// Locks the journal, unless nothing is to be written.
    pub(crate) fn open(path: &Path, writing: &Writing) -> Result<Self> {
        let log = if writing.dry_run {
            None
        } else {
            Some(Log::lock(path, Access::Private)?)
        };
        Ok(Self {
            log,
            portion: String::new(),
            shown: String::new(),
        })
    }

    /// Adds one line, newline included.
    pub(crate) fn add(&mut self, line: &str) -> Result<()> {
        if self.log.is_some() {
            self.portion.push_str(line);
            if self.portion.len() >= PORTION {
                self.write()?;
            }
        } else if self.shown.len() < SHOWN {
            self.shown.push('+');
            self.shown.push_str(line);
        }
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        if let Some(log) = &mut self.log {
            log.append(self.portion.as_bytes())?;
        }
        self.portion.clear();
        Ok(())
    }

    /// Writes what is left.
    pub(crate) fn end(&mut self, sync: bool) -> Result<()> {
        self.write()?;
        match &mut self.log {
            Some(log) if sync => log.flush(),
            _ => Ok(()),
        }
    }

    /// Returns the first of so many lines as a diff.
    pub(crate) fn diff(&self, path: &Path, lines: usize) -> String {
        if lines == 0 {
            return String::new();
        }
        let (file, shown) = (path.display(), &self.shown);
        format!("--- a/{file}\n+++ b/{file}\n@@ -0,0 +1,{lines} @@\n{shown}")
    }
}

/// Reads the file once before anything is written, and returns how many lines it has; refuses one that holds a secret.
fn survey(from: &Path, writing: &Writing) -> Result<(usize, HashSet<Identity>)> {
    let mut found = HashSet::new();
    let mut number = 0;
    let mut reader = reader(from)?;
    while let Some(line) = reader.next().at("read", from)? {
        number += 1;
        let Ok(Some(one)) = foreign(&line) else {
            continue;
        };
        if writing.secrets == SecretPolicy::Refuse
            && let Some(rule) = one.draft.secret()
        {
            let message = format!("holds what looks like a secret ({rule})");
            return Err(Error::refused(message)
                .at(from, number)
                .hint("agents read the journal back; remove the secret, or pass --allow-secret"));
        }
        found.insert(identity_of(&one));
    }
    Ok((number, found))
}

/// Takes out of the set what the journal has already.
pub(crate) fn forget_known(path: &Path, wanted: &mut HashSet<Identity>) -> Result<()> {
    let Some((file, _)) = open(path)? else {
        return Ok(());
    };
    let mut reader = Forwards::new(file, 0, MAX_LINE).at("read", path)?;
    while let Some(line) = reader.next().at("read", path)? {
        let JournalLine::Whole(line) = line else {
            continue;
        };
        let Some(record) = Record::parse(trimmed(line)) else {
            continue;
        };
        if let Some(content) = record.text("content") {
            wanted.remove(&identity(content, record.time()));
            wanted.remove(&identity(content, None));
        }
    }
    Ok(())
}

fn reader(from: &Path) -> Result<Forwards> {
    match open(from)? {
        Some((file, _)) => Forwards::new(file, 0, MAX_LINE).at("read", from),
        None => Err(Error::not_found("there is no such file").at(from, None)),
    }
}

/// Returns what a line says, nothing where it is blank, or why it is not understood.
fn foreign(line: &JournalLine) -> std::result::Result<Option<Foreign>, String> {
    match line {
        JournalLine::Whole(line) if trimmed(line).is_empty() => Ok(None),
        JournalLine::Whole(line) => Foreign::parse(trimmed(line)).map(Some),
        JournalLine::Dropped => Err(format!("is longer than {} MiB", MAX_LINE / 1024 / 1024)),
    }
}

fn identity_of(one: &Foreign) -> Identity {
    identity(one.draft.content(), one.time)
}

/// Returns what tells a record from others.
pub(crate) fn identity(content: &str, time: Option<DateTime<Utc>>) -> Identity {
    let mut sum = Sha256::new();
    sum.update(content);
    if let Some(time) = time {
        sum.update([0]);
        sum.update(time.timestamp_millis().to_le_bytes());
    }
    let sum = sum.finalize();
    let mut identity = Identity::default();
    identity.copy_from_slice(&sum[..size_of::<Identity>()]);
    identity
}
