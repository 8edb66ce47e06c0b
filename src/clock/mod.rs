//! Provides the injected time, and parses dates and durations as people write them.

mod date;
mod duration;

use chrono::{DateTime, NaiveDate, SecondsFormat, Utc};
pub use date::{parse_date, parse_timestamp};
pub use duration::{Minutes, TimeUnit};

use crate::error::{Error, Result};

/// The time of this run, read once, so that the whole run uses the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    now: DateTime<Utc>,
}

impl Clock {
    /// Returns the clock of this run: `ANNALS_NOW` (RFC 3339) if set, otherwise the system time.
    pub fn new(annals_now: Option<&str>) -> Result<Self> {
        match annals_now {
            None => Ok(Self::system()),
            Some(text) => DateTime::parse_from_rfc3339(text)
                .map(|now| Self { now: now.with_timezone(&Utc) })
                .map_err(|_| {
                    Error::usage(format!("ANNALS_NOW is not an RFC 3339 time: {text:?}"))
                        .hint("write it like 2026-02-17T10:11:12Z")
                }),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the only place that reads the system time")]
    fn system() -> Self {
        Self { now: Utc::now() }
    }

    /// Returns the time of this run.
    pub fn now(&self) -> DateTime<Utc> {
        self.now
    }

    /// Returns the date of this run, in UTC.
    pub fn today(&self) -> NaiveDate {
        self.now.date_naive()
    }

    /// Returns the time of this run as RFC 3339 text with seconds: `2026-02-17T10:11:12Z`.
    pub fn timestamp(&self) -> String {
        self.now.to_rfc3339_opts(SecondsFormat::Secs, true)
    }
}
