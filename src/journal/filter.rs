//! Filters records by type, tags and time.

use chrono::{DateTime, Days, NaiveTime, TimeDelta, Utc};

use crate::clock::{parse_date, parse_timestamp};
use crate::error::{Error, Result};
use crate::journal::query::JournalQuery;
use crate::journal::record::JournalRecord;

/// The filters of one query.
#[derive(Clone, Debug)]
pub(crate) struct QueryFilter {
    kind: Option<String>,
    tags: Vec<String>,
    since: Option<DateTime<Utc>>,
    /// The exclusive upper bound.
    before: Option<DateTime<Utc>>,
}

impl QueryFilter {
    /// Parses the filters of a query.
    pub(crate) fn new(query: &JournalQuery) -> Result<Self> {
        let since = query.since.as_deref();
        let since = since.map(|text| bound("since", text, Edge::Start));
        let before = query.until.as_deref();
        let before = before.map(|text| bound("until", text, Edge::End));
        Ok(Self {
            kind: query.kind.clone(),
            tags: query.tags.clone().unwrap_or_default(),
            since: since.transpose()?,
            before: before.transpose()?,
        })
    }

    /// Returns whether a record matches all filters.
    pub(crate) fn accepts(&self, record: &JournalRecord) -> bool {
        self.kind.as_deref().is_none_or(|kind| record.kind() == Some(kind))
            && self.has_tags(record)
            && self.is_in_time(record)
    }

    fn has_tags(&self, record: &JournalRecord) -> bool {
        let tags = record.tags();
        self.tags.iter().all(|tag| tags.contains(&tag.as_str()))
    }

    fn is_in_time(&self, record: &JournalRecord) -> bool {
        if self.since.is_none() && self.before.is_none() {
            return true;
        }
        record.time().is_some_and(|time| {
            self.since.is_none_or(|since| time >= since)
                && self.before.is_none_or(|before| time < before)
        })
    }
}

/// An edge of a time span: a day covers all its hours, a second all its instants.
#[derive(Clone, Copy)]
enum Edge {
    Start = 0,
    /// The first instant after the span.
    End = 1,
}

/// Parses the time of an option, and returns an edge of its span.
fn bound(option: &str, text: &str, edge: Edge) -> Result<DateTime<Utc>> {
    if let Some(time) = parse_timestamp(text) {
        // Times are written in whole seconds.
        let after = TimeDelta::seconds(edge as i64);
        return time.checked_add_signed(after).ok_or_else(|| unknown(option, text));
    }
    parse_date(text)
        .and_then(|day| day.checked_add_days(Days::new(edge as u64)))
        .map(|day| day.and_time(NaiveTime::MIN).and_utc())
        .ok_or_else(|| unknown(option, text))
}

fn unknown(name: &str, text: &str) -> Error {
    Error::failed(format!("{name} is not a valid date or time: {text:?}"))
        .hint("write it like 2026-02-17 or 2026-02-17T10:11:12Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(query: &JournalQuery, line: &str) -> bool {
        let record = JournalRecord::parse(line.as_bytes()).unwrap();
        QueryFilter::new(query).unwrap().accepts(&record)
    }

    #[test]
    fn type_and_all_tags_must_fit() {
        let line = r#"{"type":"note","tags":["a","b"]}"#;
        let query = |kind: Option<&str>, tags: &[&str]| JournalQuery {
            kind: kind.map(str::to_owned),
            tags: Some(tags.iter().map(ToString::to_string).collect()),
            ..JournalQuery::new("")
        };
        assert!(accepts(&query(Some("note"), &["b", "a"]), line));
        assert!(accepts(&query(None, &[]), line));
        assert!(!accepts(&query(Some("fact"), &[]), line));
        assert!(!accepts(&query(None, &["a", "c"]), line));
        assert!(!accepts(&query(None, &["a"]), "{}"));
    }

    #[test]
    fn since_and_until_include_what_they_name() {
        let line = r#"{"ts":"2026-02-17T10:11:12+00:00"}"#;
        let between = |since: &str, until: &str| {
            let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            let query =
                JournalQuery { since: some(since), until: some(until), ..JournalQuery::new("") };
            accepts(&query, line)
        };
        assert!(between("2026-02-17", "2026-02-17"));
        assert!(between("2026-02-17T10:11:12Z", "2026-02-17T10:11:12Z"));
        assert!(between("2026-02-17T12:00:00+02:00", ""));
        assert!(!between("2026-02-17T10:11:13Z", ""));
        assert!(!between("", "2026-02-16"));
        let query = JournalQuery { since: Some("2026-01-01".to_owned()), ..JournalQuery::new("") };
        assert!(!accepts(&query, "{}"));
        let query = JournalQuery { until: Some("soon".to_owned()), ..JournalQuery::new("") };
        assert!(QueryFilter::new(&query).unwrap_err().message.contains("until"));
    }
}
