//! Provides the injected time, and parses dates and durations as people write them.

use std::cmp::Ordering;
use std::iter::Sum;
use std::sync::LazyLock;
use std::{fmt, iter};

use chrono::{DateTime, NaiveDate, NaiveTime, SecondsFormat, TimeDelta, Utc};
use regex_lite::Regex;
use serde::Serialize;

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

/// Returns the date that a text starts with, as written.
///
/// ```text
/// 2026-02-11   "2026-02-11"   2026/02/11   2026-02-11 (phase 3)
/// 2026-02-11 10:00   2026-02-11T23:30:00+03:00
/// ```
///
/// A time and its offset do not change the date: it is the date in the author's time zone.
pub fn parse_date(text: &str) -> Option<NaiveDate> {
    let (day, rest) = split_day(unquoted(text))?;
    let mut next = rest.chars();
    let ends = match next.next() {
        Some('T' | 't') => next.next().is_some_and(|c| c.is_ascii_digit()),
        Some(c) => !c.is_alphanumeric(),
        None => true,
    };
    ends.then_some(day)
}

/// Returns the first date in a text that begins within the first `within` bytes.
pub(crate) fn first_date(text: &str, within: usize) -> Option<NaiveDate> {
    let begins = |c: char| c.is_whitespace() || "([|".contains(c);
    let starts = text.match_indices(begins).map(|(at, gap)| at + gap.len());
    let mut starts = iter::once(0).chain(starts.take_while(|at| *at <= within));
    starts.find_map(|at| parse_date(text[at..].split(begins).next()?))
}

/// Returns the timestamp that a text starts with, or `None` for a date without a time.
///
/// ```text
/// 2026-02-11T10:00:00Z   "2026-02-11T10:00:00.125+03:00"   2026-02-11 10:00   2026-02-11 10:00:30 UTC
/// ```
///
/// A time without an offset is taken as UTC.
pub fn parse_timestamp(text: &str) -> Option<DateTime<Utc>> {
    let (day, rest) = split_day(unquoted(text))?;
    let (time, rest) = split_time(rest.strip_prefix(['T', 't', ' '])?.trim_start())?;
    let offset = parse_offset(rest.trim_start())?;
    day.and_time(time).and_utc().checked_sub_signed(TimeDelta::minutes(offset))
}

/// Returns the text without surrounding quotes and emphasis.
fn unquoted(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || "\"'`*_".contains(c))
}

fn split_day(text: &str) -> Option<(NaiveDate, &str)> {
    let (year, rest) = split_digits(text, 4, 4)?;
    let separator = rest.chars().next().filter(|c| "-/".contains(*c))?;
    let (month, rest) = split_digits(&rest[1..], 1, 2)?;
    let (day, rest) = split_digits(rest.strip_prefix(separator)?, 1, 2)?;
    let day = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
    Some((day, rest))
}

fn split_time(text: &str) -> Option<(NaiveTime, &str)> {
    let (hour, rest) = split_digits(text, 1, 2)?;
    let (minute, mut rest) = split_digits(rest.strip_prefix(':')?, 2, 2)?;
    let mut second = 0;
    let mut nano = 0;
    if let Some(after) = rest.strip_prefix(':') {
        (second, rest) = split_digits(after, 2, 2)?;
        if let Some(after) = rest.strip_prefix(['.', ',']) {
            let fraction =
                after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            nano = format!("{:0<9.9}", &after[..fraction]).parse().ok()?;
            rest = &after[fraction..];
        }
    }
    Some((NaiveTime::from_hms_nano_opt(hour, minute, second, nano)?, rest))
}

/// Returns the offset from UTC, in minutes, that a text starts with; 0 if there is none.
fn parse_offset(text: &str) -> Option<i64> {
    let sign = match text.chars().next() {
        Some('+') => 1,
        Some('-') if text[1..].starts_with(|c: char| c.is_ascii_digit()) => -1,
        _ => return Some(0),
    };
    let (hours, rest) = split_digits(&text[1..], 2, 2)?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    let minutes = split_digits(rest, 2, 2).map_or(0, |(minutes, _)| minutes);
    (hours <= 23 && minutes <= 59).then(|| sign * (i64::from(hours) * 60 + i64::from(minutes)))
}

/// Returns the number in the `min` to `max` digits that a text starts with, and the rest.
fn split_digits(text: &str, min: usize, max: usize) -> Option<(u32, &str)> {
    let count = text.bytes().take(max).take_while(u8::is_ascii_digit).count();
    if count < min {
        return None;
    }
    Some((text[..count].parse().ok()?, &text[count..]))
}

/// A duration in minutes: finite, not negative, at most 90 days.
///
/// Longer ones result from a missing start time (`525547min`), not from actual work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Minutes(f64);

/// The unit of a bare number, given by the name of its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// `duration_seconds: 1472`
    Seconds,
    /// `duration_minutes: 7`
    Minutes,
    /// `duration_hours: 1.5`
    Hours,
}

impl TimeUnit {
    fn minutes(self) -> f64 {
        match self {
            Self::Seconds => 1.0 / 60.0,
            Self::Minutes => 1.0,
            Self::Hours => 60.0,
        }
    }
}

const MINUTES_PER_DAY: f64 = 24.0 * 60.0;
const MAX_MINUTES: f64 = 90.0 * MINUTES_PER_DAY;

impl Minutes {
    /// Returns a duration from a number in a unit.
    pub fn from_number(number: f64, unit: TimeUnit) -> Option<Self> {
        let minutes = number * unit.minutes();
        (0.0..=MAX_MINUTES).contains(&minutes).then_some(Self(minutes))
    }

    /// Returns the time between two moments, or `None` if the second one is earlier.
    pub fn between(start: DateTime<Utc>, end: DateTime<Utc>) -> Option<Self> {
        Self::from_number(end.signed_duration_since(start).as_seconds_f64(), TimeUnit::Seconds)
    }

    /// Returns the duration that a text starts with.
    ///
    /// ```text
    /// 7min   ~3 min   "45 minutes"   4.5m   3m 49s   1h5m   2 hours and 5 minutes   72s   1d 2h
    /// ```
    ///
    /// Text after the duration is ignored: `~4 min (234s wall-clock)` is 4 minutes. So is a sign before the
    /// number: `<1 min` is 1 minute. A range (`5-10 min`) counts as its midpoint. A number without a unit and
    /// a time (`7:30`) are rejected, and so is a bare number after hours (`1h30`).
    pub fn parse(text: &str) -> Option<Self> {
        let text = unquoted(text).to_lowercase();
        let text = text
            .trim_start_matches(|c: char| c.is_whitespace() || "~≈<>≤≥=\"'`*_".contains(c))
            .trim_start_matches("about ")
            .trim_start_matches("approx. ");
        Self::from_number(parse_units(text)?, TimeUnit::Minutes)
    }

    /// Returns the number of minutes.
    pub fn as_f64(self) -> f64 {
        self.0
    }
}

impl Eq for Minutes {}

impl PartialOrd for Minutes {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Minutes {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Sum for Minutes {
    fn sum<I: Iterator<Item = Self>>(durations: I) -> Self {
        Self(durations.map(Self::as_f64).sum())
    }
}

/// Formats as `30s` below a minute, then in whole minutes: `4m`, `1h 05m`, `26h 00m`.
impl fmt::Display for Minutes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = (self.0 * 60.0).round();
        if seconds < 60.0 {
            return f.pad(&format!("{seconds}s"));
        }
        let minutes = self.0.round();
        let hours = (minutes / 60.0).floor();
        if hours < 1.0 {
            return f.pad(&format!("{minutes}m"));
        }
        f.pad(&format!("{hours}h {:02}m", minutes % 60.0))
    }
}

/// A number or a range with its unit, and what may join the next one.
static PART: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^N(?:\s*[-–]\s*N)?-?\s*(?:(s|secs?|seconds?)|(m|mins?|minutes?)|(h|hrs?|hours?)|(d|days?))(?:[^a-z]|$)",
    )
});

/// The minutes in a second, a minute, an hour and a day.
const UNITS: [f64; 4] = [1.0 / 60.0, 1.0, 60.0, MINUTES_PER_DAY];

/// Compiles a pattern in which `N` is a number: `7`, `4.5`, `4,5`, `1,472`.
fn pattern(text: &str) -> Regex {
    let text = text.replace("N ", "N").replace('N', r"(\d+(?:[.,]\d+)?)");
    Regex::new(&text).expect("a constant pattern")
}

/// Parses numbers with units, largest unit first, until something else follows.
fn parse_units(text: &str) -> Option<f64> {
    let mut total = None;
    let mut last = f64::INFINITY;
    let mut rest = text;
    while let Some(found) = PART.captures(rest) {
        let unit = (3..=6).find(|at| found.get(*at).is_some())?;
        let minutes = UNITS[unit - 3];
        // `4 min 234s` is one duration, `4 min 5 min` are two.
        if minutes >= last {
            break;
        }
        last = minutes;
        let first = number(&found[1])?;
        let end = found.get(2).and_then(|end| number(end.as_str())).filter(|end| *end >= first);
        let value = end.map_or(first, |end| f64::midpoint(first, end));
        total = Some(total.unwrap_or(0.0) + value * minutes);
        rest = &rest[found.get(unit)?.end()..];
        // `1h30` and `1h 30` may mean minutes.
        let bare = rest.trim();
        let is_bare = unit == 5 && !bare.is_empty() && bare.bytes().all(|b| b.is_ascii_digit());
        if is_bare || rest.starts_with(|c: char| c.is_ascii_digit()) && !PART.is_match(rest) {
            return None;
        }
        rest = rest.strip_prefix('.').unwrap_or(rest);
        rest = rest.trim_start_matches([' ', ',']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
    total
}

/// Parses a number in which a comma is a point, or separates thousands.
fn number(text: &str) -> Option<f64> {
    match text.split_once(',') {
        // No group of thousands follows a zero.
        Some((whole, group)) if group.len() == 3 && !whole.starts_with('0') => {
            format!("{whole}{group}").parse().ok()
        }
        _ => text.replace(',', ".").parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_date_is_the_one_written() {
        for text in [
            "2026-02-11",
            " \"2026-02-11\" ",
            "'2026-02-11'",
            "*2026-02-11*",
            "2026-2-11",
            "2026/02/11",
            "2026-02-11T10:00:00Z",
            "2026-02-11T00:30:00+03:00",
            "2026-02-11T23:30:00-11:00",
            "2026-02-11 10:00",
            "2026-02-11 (phase 3)",
            "2026-02-11, at noon",
            "2026-02-11.",
        ] {
            assert_eq!(parse_date(text), NaiveDate::from_ymd_opt(2026, 2, 11), "{text:?}");
        }
    }

    #[test]
    fn a_text_without_a_date_has_none() {
        for text in [
            "", "TBD", "2026-02", "2026-13-01", "2026-02-30", "2026-02-111", "2026-02-11x",
            "2026-02-11Tuesday", "12026-02-11", "on 2026-02-11", "YYYY-MM-DD", "11-02-2026",
        ] {
            assert_eq!(parse_date(text), None, "{text:?}");
        }
    }

    #[test]
    fn timestamps_are_converted_to_utc() {
        for (text, expected) in [
            ("2026-02-11T10:00:00Z", "2026-02-11T10:00:00+00:00"),
            ("\"2026-02-11T10:00:00.125Z\"", "2026-02-11T10:00:00.125+00:00"),
            ("2026-02-11T01:00:00+03:00", "2026-02-10T22:00:00+00:00"),
            ("2026-02-11T10:00:00-0530", "2026-02-11T15:30:00+00:00"),
            ("2026-02-11T10:00", "2026-02-11T10:00:00+00:00"),
            ("2026-02-11 9:05", "2026-02-11T09:05:00+00:00"),
            ("2026-02-11 10:00:30 UTC", "2026-02-11T10:00:30+00:00"),
            ("2026-02-11 10:00 +01:00", "2026-02-11T09:00:00+00:00"),
            ("2026-02-11 10:00 (start)", "2026-02-11T10:00:00+00:00"),
            ("2026-02-11 10:00 - done", "2026-02-11T10:00:00+00:00"),
        ] {
            let moment = parse_timestamp(text).map(|moment| moment.to_rfc3339());
            assert_eq!(moment.as_deref(), Some(expected), "{text:?}");
        }
        for text in [
            "",
            "2026-02-11",
            "2026-02-11T25:00",
            "2026-02-11 (10:00)",
            "10:00",
            "2026-02-11T10:00:00+99:00",
        ] {
            assert_eq!(parse_timestamp(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*", near in "[0-9]{0,5}[-/]?[0-9]{0,3}[-/]?[0-9é]{0,3}[T ]?[0-9:.+Zé-]{0,20}") {
            parse_date(&text);
            parse_timestamp(&text);
            parse_timestamp(&near);
            prop_assert!(parse_timestamp(&near).is_none() || parse_date(&near).is_some());
        }
    }

    #[test]
    fn every_common_notation_is_parsed() {
        for (text, minutes) in [
            ("7min", 7.0),
            ("7 min", 7.0),
            ("~4min", 4.0),
            ("~ 35 min", 35.0),
            ("9m", 9.0),
            ("3m 49s", 3.0 + 49.0 / 60.0),
            ("3m49s", 3.0 + 49.0 / 60.0),
            ("4.5m", 4.5),
            ("4,5 min", 4.5),
            ("1h 5m", 65.0),
            ("2h", 120.0),
            ("1 hour 5 minutes", 65.0),
            ("1.5 hours", 90.0),
            ("0,125 h", 7.5),
            ("72s", 1.2),
            ("1,472 seconds", 1472.0 / 60.0),
            ("\"~3 minutes\"", 3.0),
            ("**45 minutes**", 45.0),
            ("45-minute session", 45.0),
            ("4 minutes 30 seconds", 4.5),
            ("4 minutes and 30 seconds", 4.5),
            ("<1 min", 1.0),
            ("< 1 min", 1.0),
            ("~4 min (234s wall-clock)", 4.0),
            ("8min (completed as part of Plan 07-02)", 8.0),
            ("4.5 minutes (270 seconds)", 4.5),
            ("5 min 5 min", 5.0),
            ("5-10 min", 7.5),
            ("12 min.", 12.0),
            ("15 min + human review", 15.0),
            ("1 day", MINUTES_PER_DAY),
            ("0min", 0.0),
        ] {
            let read = Minutes::parse(text).map(Minutes::as_f64);
            assert!(read.is_some_and(|read| (read - minutes).abs() < 1e-9), "{text:?}: {read:?}");
        }
    }

    #[test]
    fn a_text_without_a_duration_has_none() {
        for text in [
            "",
            "same session",
            "refreshed",
            "partial (awaiting human-verify checkpoint)",
            "Extended (multiple debugging sessions)",
            "336",
            "2.95",
            "7:30",
            "-5 min",
            "PT7M",
            "00:07:30",
            "1h30",
            "1h 30",
            "plan 7min",
            "5 months",
            "00:75:00",
            "525547min",
            "99999999999999999999999999999999 h",
        ] {
            assert_eq!(Minutes::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_bare_number_takes_the_unit_of_its_field() {
        assert_eq!(Minutes::from_number(90.0, TimeUnit::Seconds), Some(Minutes(1.5)));
        assert_eq!(Minutes::from_number(2.95, TimeUnit::Minutes), Some(Minutes(2.95)));
        assert_eq!(Minutes::from_number(1.5, TimeUnit::Hours), Some(Minutes(90.0)));
        for number in [-1.0, f64::NAN, f64::INFINITY, 1e12] {
            assert_eq!(Minutes::from_number(number, TimeUnit::Minutes), None);
        }
    }

    #[test]
    fn durations_are_displayed_briefly() {
        for (minutes, text) in [
            (0.0, "0s"),
            (0.5, "30s"),
            (0.999, "1m"),
            (4.0, "4m"),
            (59.4, "59m"),
            (59.6, "1h 00m"),
            (65.0, "1h 05m"),
            (1560.0, "26h 00m"),
        ] {
            assert_eq!(Minutes(minutes).to_string(), text);
        }
        assert_eq!(serde_json::to_string(&Minutes(7.0)).unwrap(), "7.0");
        assert_eq!([Minutes(4.0), Minutes(61.0)].into_iter().sum::<Minutes>(), Minutes(65.0));
        assert!(Minutes(4.0) < Minutes(61.0));
    }

    #[test]
    fn there_is_no_negative_duration() {
        let start = parse_timestamp("2026-02-11T10:00:00Z").unwrap();
        let end = parse_timestamp("2026-02-11T10:04:30Z").unwrap();
        assert_eq!(Minutes::between(start, end), Some(Minutes(4.5)));
        assert_eq!(Minutes::between(end, start), None);
    }

    proptest! {
        #[test]
        fn no_duration_panics(text in "\\PC*", near in "[~<pt0-9.,:hmsdé –-]{0,20}") {
            for text in [text, near] {
                let read = Minutes::parse(&text);
                prop_assert!(read.is_none_or(|minutes| (0.0..=MAX_MINUTES).contains(&minutes.as_f64())));
            }
        }

        #[test]
        fn printed_durations_parse_back(minutes in 0_u32..10_000) {
            let minutes = Minutes(f64::from(minutes));
            prop_assert_eq!(Minutes::parse(&minutes.to_string()), Some(minutes));
        }
    }
}
