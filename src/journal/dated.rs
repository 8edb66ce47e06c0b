//! A record with the time that another source gave it.

use chrono::DateTime;
use chrono::SecondsFormat;
use chrono::Utc;

use crate::error::Result;
use crate::journal::draft::RecordDraft;

/// A record with its time.
#[derive(Clone, Debug)]
pub struct DatedRecord {
    /// The record without its time.
    pub draft: RecordDraft,
    /// The time of the record, or `None` if unknown.
    pub time: Option<DateTime<Utc>>,
}

impl DatedRecord {
    /// Returns the line of the record; `now` is its time if that is unknown.
    pub(crate) fn line(&self, now: DateTime<Utc>) -> Result<String> {
        let time = self.time.unwrap_or(now);
        let time = time.to_rfc3339_opts(SecondsFormat::AutoSi, false);
        self.draft.line(&time)
    }
}
