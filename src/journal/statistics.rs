//! Counts what the journal holds.

use std::collections::HashMap;
use std::path::Path;
use std::path::PathBuf;

use chrono::DateTime;
use chrono::SecondsFormat;
use chrono::Utc;
use serde::Serialize;

use crate::error::At;
use crate::error::Result;
use crate::journal::MAX_LINE;
use crate::journal::forwards::Forwards;
use crate::journal::forwards::JournalLine;
use crate::journal::record::Record;
use crate::journal::record::trimmed;
use crate::journal::search::open;

/// How many different names are counted; the rest count together, so that memory has a bound.
const MAX_NAMES: usize = 10_000;

/// How many names are told.
const TOLD: usize = 20;

/// What the journal holds.
#[derive(Debug, Default, Serialize)]
pub struct Statistics {
    /// The journal.
    pub file: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Its lines that are records.
    pub records: usize,
    /// Its lines that are no JSON objects, or too long to be read.
    pub skipped: usize,
    /// Where the first of these stand, counted from 1.
    #[serde(skip)]
    pub skipped_lines: Vec<usize>,
    /// The time of its earliest record.
    pub first: Option<String>,
    /// The time of its latest record.
    pub last: Option<String>,
    /// How many records there are of the most frequent types.
    pub types: Vec<Frequency>,
    /// How many records have the most frequent tags.
    pub tags: Vec<Frequency>,
}

/// How often something occurs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Frequency {
    /// What occurs.
    pub name: String,
    /// In how many records.
    pub records: usize,
}

/// Counts what the journal holds; one that is missing holds nothing.
pub fn statistics(path: &Path) -> Result<Statistics> {
    let mut statistics = Statistics {
        file: path.to_owned(),
        ..Statistics::default()
    };
    let Some((file, length)) = open(path)? else {
        return Ok(statistics);
    };
    statistics.bytes = length;
    let (mut types, mut tags) = (HashMap::new(), HashMap::new());
    let mut span: Option<(DateTime<Utc>, DateTime<Utc>)> = None;
    let mut reader = Forwards::new(file, 0, MAX_LINE).at("read", path)?;
    let mut number = 0;
    while let Some(line) = reader.next().at("read", path)? {
        number += 1;
        let line = match line {
            JournalLine::Whole(line) => trimmed(line),
            JournalLine::Dropped => b"-",
        };
        let Some(record) = Record::parse(line) else {
            if !line.is_empty() {
                statistics.skipped += 1;
                if statistics.skipped <= TOLD {
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
    let mut all: Vec<Frequency> = counts
        .into_iter()
        .map(|(name, records)| Frequency { name, records })
        .collect();
    all.sort_by(|a, b| b.records.cmp(&a.records).then_with(|| a.name.cmp(&b.name)));
    all.truncate(TOLD);
    all
}
