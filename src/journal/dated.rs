//! A record with the time that another source gave it, and its identity.

use chrono::{DateTime, SecondsFormat, Utc};
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::journal::draft::RecordDraft;

/// A digest of the content and time of a record: records with the same identity are duplicates.
pub(crate) type RecordIdentity = [u8; 16];

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

    /// Returns the identity of the record.
    pub(crate) fn identity(&self) -> RecordIdentity {
        identity(self.draft.content(), self.time)
    }
}

/// Returns the identity of a record.
pub(crate) fn identity(content: &str, time: Option<DateTime<Utc>>) -> RecordIdentity {
    let mut sum = Sha256::new();
    sum.update(content);
    if let Some(time) = time {
        sum.update([0]);
        sum.update(time.timestamp_millis().to_le_bytes());
    }
    let sum = sum.finalize();
    let mut identity = RecordIdentity::default();
    identity.copy_from_slice(&sum[..size_of::<RecordIdentity>()]);
    identity
}
