//! Extracts the duration and completion date of a plan.

use std::path::Path;

use chrono::{DateTime, NaiveDate, Timelike, Utc};

use crate::clock::{Minutes, TimeUnit, parse_date, parse_timestamp};
use crate::plan::read::document::Document;
use crate::plan::read::is_absent;
use crate::warning::Warning;

/// Fields whose name states the unit of a bare number.
const WITH_UNIT: &[(&str, TimeUnit)] = &[
    ("duration_minutes", TimeUnit::Minutes),
    ("duration_min", TimeUnit::Minutes),
    ("duration_mins", TimeUnit::Minutes),
    ("duration_seconds", TimeUnit::Seconds),
    ("duration_secs", TimeUnit::Seconds),
    ("duration_sec", TimeUnit::Seconds),
    ("duration_hours", TimeUnit::Hours),
];
const WITHOUT_UNIT: &[&str] = &[
    "duration", "duration_human", "actual_duration", "total_duration", "execution_time", "elapsed",
];
const LABELS: &[&str] = &["duration", "total duration", "actual duration", "execution time"];
const STARTED: &[&str] = &["started_at", "started", "start_time"];
const COMPLETED: &[&str] = &[
    "completed", "completed_at", "completed_date", "completed_on", "completion_date", "finished",
    "finished_at", "ended_at", "end_time", "date",
];

/// Maximum bare number taken as minutes; a larger one is as likely to be seconds.
const MAX_BARE_MINUTES: f64 = 90.0;

/// The times stated in a summary.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Timing {
    pub(super) duration: Option<Minutes>,
    pub(super) is_derived: bool,
    pub(super) completed: Option<NaiveDate>,
}

impl Timing {
    pub(super) fn from_document(
        document: &Document<'_>,
        path: &Path,
        warnings: &mut Vec<Warning>,
    ) -> Self {
        let written = stated(document, path, warnings).or_else(|| {
            let values = document.values(LABELS);
            values.into_iter().find_map(Minutes::parse)
        });
        let derived = match written {
            Some(_) => None,
            None => span(document),
        };
        Self {
            duration: written.or(derived),
            is_derived: derived.is_some(),
            completed: completed(document),
        }
    }
}

/// Returns the duration stated in the front matter.
fn stated(document: &Document<'_>, path: &Path, warnings: &mut Vec<Warning>) -> Option<Minutes> {
    for (key, unit) in WITH_UNIT {
        let Some(value) = document.field(&[key]).and_then(|node| node.as_text()) else {
            continue;
        };
        let number = value.parse().ok();
        let read = number.and_then(|number| Minutes::from_number(number, *unit));
        if let Some(minutes) = read.or_else(|| Minutes::parse(value)) {
            return Some(minutes);
        }
    }
    let node = document.field(WITHOUT_UNIT)?;
    let text = node.as_text().filter(|text| !is_absent(text))?;
    let bare = text.trim_start_matches('~').trim().parse::<f64>().ok();
    let (minutes, fault) = match bare {
        Some(number) if number <= MAX_BARE_MINUTES => {
            (Minutes::from_number(number, TimeUnit::Minutes), "not a duration")
        }
        Some(_) => (None, "a number without a unit (minutes or seconds?)"),
        None => (Minutes::parse(text), "not a duration"),
    };
    if minutes.is_none() {
        warnings.push(Warning::at(path, node.line, format!("{fault}: {text:?}")));
    }
    minutes
}

/// Returns the time between the stated start and the stated end.
fn span(document: &Document<'_>) -> Option<Minutes> {
    let start = stated_time(document, STARTED, &["started", "start"])?;
    let end = stated_time(document, COMPLETED, &["completed", "finished", "ended", "end"])?;
    if is_round(start) && is_round(end) {
        return None;
    }
    Minutes::between(start, end).filter(|span| *span > Minutes::default())
}

/// Returns whether a time is an exact multiple of five minutes. If both ends are, they were not measured.
fn is_round(time: DateTime<Utc>) -> bool {
    time.minute().is_multiple_of(5) && time.second() == 0
}

fn stated_time(document: &Document<'_>, keys: &[&str], labels: &[&str]) -> Option<DateTime<Utc>> {
    let fields = keys.iter().filter_map(|key| document.field(&[key])?.as_text());
    fields.chain(document.values(labels)).find_map(parse_timestamp)
}

fn completed(document: &Document<'_>) -> Option<NaiveDate> {
    let fields = COMPLETED.iter().filter_map(|key| document.field(&[key])?.as_text());
    let labels = ["completed", "date completed", "completed on", "date"];
    fields.chain(document.values(&labels)).find_map(parse_date).or_else(|| footer(document))
}

/// Finds `*Completed: 2026-02-26*` at the end of a file.
fn footer(document: &Document<'_>) -> Option<NaiveDate> {
    let body = &document.outline.text()[document.body()];
    body.lines().rev().take(12).find_map(|line| {
        let line = line.trim().trim_matches(['*', '_', '-', ' ']);
        let (name, value) = line.split_once(':')?;
        let is_date = name.eq_ignore_ascii_case("completed") || name.eq_ignore_ascii_case("date");
        is_date.then(|| parse_date(value)).flatten()
    })
}
