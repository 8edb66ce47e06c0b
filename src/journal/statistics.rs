//! Computes statistics of the journal.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;

use crate::error::{At, Result};
use crate::journal::MAX_LINE;
use crate::journal::forwards::{JournalLine, LineReader};
use crate::journal::record::{JournalRecord, trimmed};
use crate::journal::search::open;

/// Maximum number of different names that are counted, to bound memory; the others are counted together.
const MAX_NAMES: usize = 10_000;

/// Maximum number of names that are reported, and of skipped lines.
const MAX_REPORTED: usize = 20;

/// Statistics of the journal.
#[derive(Debug, Default, Serialize)]
pub struct Statistics {
    /// The journal.
    pub file: PathBuf,
    /// Size in bytes.
    pub bytes: u64,
    /// Number of lines that are records.
    pub records: usize,
    /// Number of lines that are not JSON objects, or are too long to be read.
    pub skipped: usize,
    /// The line numbers of the first skipped lines, from 1.
    #[serde(skip)]
    pub skipped_lines: Vec<usize>,
    /// The time of its earliest record.
    pub first: Option<String>,
    /// The time of its latest record.
    pub last: Option<String>,
    /// The most frequent types with their numbers of records.
    pub types: Vec<Frequency>,
    /// The most frequent tags with their numbers of records.
    pub tags: Vec<Frequency>,
}

/// A name with the number of its occurrences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Frequency {
    /// The type or tag.
    pub name: String,
    /// Number of records with it.
    pub records: usize,
}

/// Computes the statistics of the journal; those of a missing one are empty.
pub fn statistics(path: &Path) -> Result<Statistics> {
    let mut statistics = Statistics { file: path.to_owned(), ..Statistics::default() };
    let Some((file, length)) = open(path)? else {
        return Ok(statistics);
    };
    statistics.bytes = length;
    let (mut types, mut tags) = (HashMap::new(), HashMap::new());
    let mut span: Option<(DateTime<Utc>, DateTime<Utc>)> = None;
    let mut reader = LineReader::new(file, 0, MAX_LINE).at("read", path)?;
    let mut number = 0;
    while let Some(line) = reader.next().at("read", path)? {
        number += 1;
        let line = match line {
            JournalLine::Whole(line) => trimmed(line),
            JournalLine::Dropped => b"-",
        };
        let Some(record) = JournalRecord::parse(line) else {
            if !line.is_empty() {
                statistics.skipped += 1;
                if statistics.skipped <= MAX_REPORTED {
                    statistics.skipped_lines.push(number);
                }
            }
            continue;
        };
        statistics.records += 1;
        count(record.kind().unwrap_or("-"), &mut types);
        for tag in record.tags() {
            count(tag, &mut tags);
        }
        if let Some(time) = record.time() {
            let (first, last) = span.unwrap_or((time, time));
            span = Some((first.min(time), last.max(time)));
        }
    }
    let text = |time: DateTime<Utc>| time.to_rfc3339_opts(SecondsFormat::AutoSi, false);
    (statistics.first, statistics.last) =
        (span.map(|span| text(span.0)), span.map(|span| text(span.1)));
    (statistics.types, statistics.tags) = (most_frequent(types), most_frequent(tags));
    Ok(statistics)
}

fn count(name: &str, counts: &mut HashMap<String, usize>) {
    if let Some(count) = counts.get_mut(name) {
        *count += 1;
    } else if counts.len() < MAX_NAMES {
        counts.insert(name.to_owned(), 1);
    } else {
        *counts.entry("…".to_owned()).or_default() += 1;
    }
}

fn most_frequent(counts: HashMap<String, usize>) -> Vec<Frequency> {
    let mut all: Vec<Frequency> =
        counts.into_iter().map(|(name, records)| Frequency { name, records }).collect();
    all.sort_by(|a, b| b.records.cmp(&a.records).then_with(|| a.name.cmp(&b.name)));
    all.truncate(MAX_REPORTED);
    all
}
