//! Imports the lines of other journals, each once.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{At, Error, Result};
use crate::journal::MAX_LINE;
use crate::journal::dated::{RecordIdentity, identity};
use crate::journal::foreign::{Fault, Foreign};
use crate::journal::forwards::{JournalLine, LineReader};
use crate::journal::record::{JournalRecord, trimmed};
use crate::journal::search::open;
use crate::journal::write::WriteOptions;
use crate::secrets::SecretPolicy;
use crate::storage::{Log, Visibility};
use crate::warning::Warning;

/// Size at which buffered lines are written, in bytes.
const PORTION: usize = 1024 * 1024;

/// Maximum number of lines reported as not understood.
const MAX_WARNINGS: usize = 20;

/// Size at which the diff of a dry run ends, in bytes.
const SHOWN: usize = 64 * 1024;

/// The outcome of an import.
#[derive(Debug, Default, Serialize)]
pub struct Imported {
    /// The journal.
    pub file: PathBuf,
    /// Number of records added.
    pub imported: usize,
    /// Number of lines that were already in the journal, or appeared earlier in the same file.
    pub duplicates: usize,
    /// Number of lines that were not understood.
    pub skipped: usize,
    /// The first lines that were not understood, or whose time was not.
    pub warnings: Vec<Warning>,
    /// On a dry run, the first lines that would be added.
    pub diff: Option<String>,
}

/// Adds the records of another file that are not in the journal yet, in their order.
///
/// Records are the same if content and time are equal; if a line has no time, if the content is equal.
pub fn import(path: &Path, from: &Path, options: &WriteOptions) -> Result<Imported> {
    let (lines, mut wanted) = survey(from, options)?;
    let mut report = Imported { file: path.to_owned(), ..Imported::default() };
    let mut target = ImportTarget::open(path, options)?;
    remove_known(path, &mut wanted)?;
    let mut number = 0;
    let mut watched = options.progress.track("Importing", 0..lines);
    let mut reader = reader(from)?;
    while let Some(line) = reader.next().at("read", from)? {
        number += 1;
        watched.next();
        match foreign(&line) {
            Ok(None) => {}
            Ok(Some(one)) if wanted.remove(&one.record.identity()) => {
                report.imported += 1;
                target.add(&one.record.line(options.clock.now())?)?;
                if let Some(field) = one.unread_time
                    && report.warnings.len() < MAX_WARNINGS
                {
                    let message = format!(
                        "the number in {field} is not a plausible time; the record has the time of its import"
                    );
                    report.warnings.push(Warning::at(from, number, message));
                }
            }
            Ok(Some(_)) => report.duplicates += 1,
            Err(reason) => {
                report.skipped += 1;
                if report.warnings.len() < MAX_WARNINGS {
                    let warning = Warning::at(from, number, reason.to_string());
                    report.warnings.push(warning);
                }
            }
        }
    }
    target.end(options.sync)?;
    report.diff = options.dry_run.then(|| target.diff(path, report.imported));
    Ok(report)
}

/// The target of the lines: the log, or only the diff of a dry run.
pub(crate) struct ImportTarget {
    log: Option<Log>,
    portion: String,
    shown: String,
}

impl ImportTarget {
    /// Locks the journal, except on a dry run.
    pub(crate) fn open(path: &Path, options: &WriteOptions) -> Result<Self> {
        let log = if options.dry_run { None } else { Some(Log::lock(path, Visibility::Private)?) };
        Ok(Self { log, portion: String::new(), shown: String::new() })
    }

    /// Adds a line, which includes its newline.
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

    /// Writes the remaining lines.
    pub(crate) fn end(&mut self, sync: bool) -> Result<()> {
        self.write()?;
        match &mut self.log {
            Some(log) if sync => log.flush(),
            _ => Ok(()),
        }
    }

    /// Returns the diff; `lines` is the total number of added lines, of which it shows the first.
    pub(crate) fn diff(&self, path: &Path, lines: usize) -> String {
        if lines == 0 {
            return String::new();
        }
        let (file, shown) = (path.display(), &self.shown);
        format!("--- a/{file}\n+++ b/{file}\n@@ -0,0 +1,{lines} @@\n{shown}")
    }
}

/// Reads the file once before anything is written, and returns the number of lines and the identities of the
/// records; refuses a file that contains a secret.
fn survey(from: &Path, options: &WriteOptions) -> Result<(usize, HashSet<RecordIdentity>)> {
    let mut found = HashSet::new();
    let mut number = 0;
    let mut reader = reader(from)?;
    while let Some(line) = reader.next().at("read", from)? {
        number += 1;
        let Ok(Some(one)) = foreign(&line) else {
            continue;
        };
        if options.secrets == SecretPolicy::Refuse
            && let Some(rule) = one.record.draft.secret()
        {
            let message = format!("contains what looks like a secret ({rule})");
            return Err(Error::refused(message)
                .at(from, number)
                .hint("agents read the journal back; remove the secret, or pass --allow-secret"));
        }
        found.insert(one.record.identity());
    }
    Ok((number, found))
}

/// Removes the records that are already in the journal from the set.
pub(crate) fn remove_known(path: &Path, wanted: &mut HashSet<RecordIdentity>) -> Result<()> {
    let Some((file, _)) = open(path)? else {
        return Ok(());
    };
    let mut reader = LineReader::new(file, 0, MAX_LINE).at("read", path)?;
    while let Some(line) = reader.next().at("read", path)? {
        let JournalLine::Whole(line) = line else {
            continue;
        };
        let Some(record) = JournalRecord::parse(trimmed(line)) else {
            continue;
        };
        if let Some(content) = record.text("content") {
            wanted.remove(&identity(content, record.time()));
            wanted.remove(&identity(content, None));
        }
    }
    Ok(())
}

fn reader(from: &Path) -> Result<LineReader> {
    match open(from)? {
        Some((file, _)) => LineReader::new(file, 0, MAX_LINE).at("read", from),
        None if from.exists() => Err(Error::failed("is not a regular file").at(from, None)),
        None => Err(Error::not_found("there is no such file").at(from, None)),
    }
}

/// Parses a line; returns `None` if it is blank, or why it is not understood.
fn foreign(line: &JournalLine) -> std::result::Result<Option<Foreign>, Fault> {
    match line {
        JournalLine::Whole(line) if trimmed(line).is_empty() => Ok(None),
        JournalLine::Whole(line) => Foreign::parse(trimmed(line)).map(Some),
        JournalLine::Dropped => Err(Fault::TooLong),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::storage;

    #[cfg(unix)]
    #[test]
    fn a_device_is_not_reported_as_missing() {
        let message = |path: &str| reader(Path::new(path)).err().unwrap().message;
        assert_eq!(message("/dev/null"), "is not a regular file");
        assert_eq!(message("/nowhere/at/all"), "there is no such file");
    }

    #[test]
    fn an_implausible_time_causes_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("from.jsonl");
        let lines = b"{\"text\":\"a\",\"time\":-5}\n{\"text\":\"b\",\"time\":1700000000}\n";
        storage::append(&from, lines).unwrap();
        let options = WriteOptions::new(Clock::new(Some("2026-03-01T12:00:00Z")).unwrap());
        let report = import(&folder.path().join("memory.jsonl"), &from, &options).unwrap();
        assert_eq!((report.imported, report.skipped), (2, 0));
        assert_eq!(report.warnings.len(), 1);
        assert_eq!(report.warnings[0].place.line, Some(1));
    }
}
