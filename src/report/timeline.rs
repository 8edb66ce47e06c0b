//! Lays the phases out on a date axis, in percent of its length.

use chrono::{Datelike, Days, NaiveDate};
use serde::Serialize;

use crate::report::phase_row::PhaseRow;

/// Maximum number of phases drawn; the table has all of them.
const MAX_BARS: usize = 40;

/// Maximum number of ticks on the axis.
const MAX_TICKS: i64 = 6;

/// Rightmost position of a date label, in percent of the axis: further right it would not fit.
const MAX_TICK_LEFT: f64 = 90.0;

/// The dated phases with their axis.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Timeline {
    bars: Vec<Bar>,
    ticks: Vec<Tick>,
    /// Number of earlier phases that are not drawn.
    earlier: usize,
}

/// A phase, from the date of its first finished plan to the date of its last one; in percent of the axis.
#[derive(Debug, PartialEq, Serialize)]
struct Bar {
    phase: String,
    dates: String,
    left: f64,
    width: f64,
    is_open: bool,
}

/// A date below the axis; position in percent.
#[derive(Debug, PartialEq, Serialize)]
struct Tick {
    date: NaiveDate,
    left: f64,
}

impl Timeline {
    /// Lays the dated phases out; returns `None` if there are no two different dates.
    pub(crate) fn from_phases(phases: &[PhaseRow]) -> Option<Self> {
        let dated: Vec<(&PhaseRow, NaiveDate, NaiveDate)> =
            phases.iter().filter_map(|row| Some((row, row.first?, row.last?))).collect();
        let earlier = dated.len().saturating_sub(MAX_BARS);
        let dated = &dated[earlier..];
        let begin = dated.iter().map(|(_, first, _)| *first).min()?;
        let end = dated.iter().map(|(_, _, last)| *last).max()?;
        if begin == end {
            return None;
        }
        // The axis ends with the end of the last day, and a phase of one day has the width of that day.
        let length = (end - begin).num_days() + 1;
        let share = |days: i64| percent(days, length);
        let bars = dated.iter().map(|(row, first, last)| Bar {
            phase: format!("{} {}", row.number, row.name),
            dates: span(*first, *last),
            left: share((*first - begin).num_days()),
            width: share((*last - *first).num_days() + 1),
            is_open: row.complete < row.total,
        });
        let ticks = ticks(begin, length);
        Some(Self {
            bars: bars.collect(),
            ticks: ticks
                .map(|days| Tick {
                    date: begin + Days::new(days.unsigned_abs()),
                    left: share(days),
                })
                .filter(|tick| tick.left <= MAX_TICK_LEFT)
                .collect(),
            earlier,
        })
    }
}

/// Returns the evenly spaced ticks, in whole days or weeks, as days after the first.
fn ticks(begin: NaiveDate, length: i64) -> impl Iterator<Item = i64> {
    let spacing = (length + MAX_TICKS - 1) / MAX_TICKS;
    let step = if spacing > 7 { (spacing + 6) / 7 * 7 } else { spacing };
    // Weeks start on Mondays.
    let first =
        if spacing > 7 { i64::from((7 - begin.weekday().num_days_from_monday()) % 7) } else { 0 };
    (0..).map(move |count| first + count * step).take_while(move |day| *day < length)
}

/// Returns two dates as a span; a common year is written once.
fn span(first: NaiveDate, last: NaiveDate) -> String {
    if first == last {
        return first.to_string();
    }
    let end_format = if first.year() == last.year() { "%m-%d" } else { "%Y-%m-%d" };
    format!("{first} – {}", last.format(end_format))
}

/// Returns a share in percent, truncated to two decimals.
fn percent(part: i64, whole: i64) -> f64 {
    let hundredths = part.saturating_mul(10_000) / whole.max(1);
    i32::try_from(hundredths).map_or(100.0, |value| f64::from(value) / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(number: &str, first: &str, last: &str) -> PhaseRow {
        PhaseRow {
            number: number.to_owned(),
            first: first.parse().ok(),
            last: last.parse().ok(),
            ..PhaseRow::default()
        }
    }

    #[test]
    fn bars_span_their_dates() {
        let phases = [
            phase("1", "2026-01-01", "2026-01-01"),
            phase("2", "2026-01-03", "2026-01-10"),
            phase("3", "", ""),
        ];
        let timeline = Timeline::from_phases(&phases).unwrap();
        let bars: Vec<(f64, f64)> = timeline.bars.iter().map(|bar| (bar.left, bar.width)).collect();
        assert_eq!(bars, [(0.0, 10.0), (20.0, 80.0)]);
        assert_eq!(timeline.bars[1].dates, "2026-01-03 – 01-10");
        assert!(timeline.ticks.iter().all(|tick| tick.left < 100.0));
    }

    #[test]
    fn long_axes_have_weekly_ticks() {
        let phases = [phase("1", "2026-01-01", "2026-06-30")];
        let ticks = Timeline::from_phases(&phases).unwrap().ticks;
        assert!(ticks.len() <= 7, "{ticks:?}");
        assert!(ticks.iter().all(|tick| tick.date.weekday() == chrono::Weekday::Mon));
    }

    #[test]
    fn a_single_date_has_no_timeline() {
        assert_eq!(Timeline::from_phases(&[phase("1", "2026-01-01", "2026-01-01")]), None);
        assert_eq!(Timeline::from_phases(&[phase("1", "", "")]), None);
    }
}
