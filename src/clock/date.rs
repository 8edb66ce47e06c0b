//! Parses dates and timestamps as people write them.

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};

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
pub(crate) fn unquoted(text: &str) -> &str {
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
}
