//! The phases as bars from their first to their last finished plan.

use chrono::NaiveDate;

use crate::report::charts::DRAWN;
use crate::report::charts::real;
use crate::report::charts::svg::Anchor;
use crate::report::charts::svg::Svg;
use crate::report::charts::svg::WIDTH;
use crate::report::charts::svg::fitting;
use crate::report::page::PhaseRow;

const ROW: f64 = 28.0;
const BAR: f64 = 8.0;
/// The room of the dates below.
const FOOT: f64 = 18.0;
/// A phase done within a day is to be seen, too.
const NARROWEST: f64 = 6.0;
/// The room of the day at the right.
const DAY: f64 = 70.0;

/// Draws the dated phases, the latest of many; nothing where none has a day.
pub(crate) fn draw(phases: &[PhaseRow]) -> Option<String> {
    let dated = phases
        .iter()
        .filter_map(|row| Some((row, row.first?, row.last?)));
    let dated: Vec<(&PhaseRow, NaiveDate, NaiveDate)> = dated.collect();
    let dated = &dated[dated.len().saturating_sub(DRAWN)..];
    let begin = dated.iter().map(|(_, first, _)| *first).min()?;
    let end = dated.iter().map(|(_, _, last)| *last).max()?;
    let span = days(begin, end).max(1.0);
    let at = |day: NaiveDate| (WIDTH - NARROWEST) * days(begin, day) / span;
    let mut svg = Svg::default();
    for (index, (row, first, last)) in dated.iter().enumerate() {
        let top = ROW * real(index);
        let name = format!("{} {}", row.number, row.name);
        let title = format!("Phase {name} ({}): {first} to {last}", row.milestone);
        svg.text(0.0, top + 11.0, Anchor::Start, &fitting(&name, WIDTH - DAY));
        svg.text(WIDTH, top + 11.0, Anchor::End, &last.to_string());
        svg.bar([0.0, top + 15.0, WIDTH, BAR], "ground", &title);
        let width = at(*last) - at(*first) + NARROWEST;
        let class = if row.complete < row.total {
            "bar open"
        } else {
            "bar"
        };
        svg.bar([at(*first), top + 15.0, width, BAR], class, &title);
    }
    let base = ROW * real(dated.len());
    svg.line((0.0, base), (WIDTH, base));
    svg.text(0.0, base + 14.0, Anchor::Start, &begin.to_string());
    svg.text(WIDTH, base + 14.0, Anchor::End, &end.to_string());
    Some(svg.finish(
        base + FOOT,
        "Phases from their first to their last finished plan",
    ))
}

fn days(from: NaiveDate, to: NaiveDate) -> f64 {
    i32::try_from((to - from).num_days()).map_or(0.0, f64::from)
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
    fn a_bar_lies_where_its_days_are() {
        let phases = [
            phase("1", "2026-01-01", "2026-01-01"),
            phase("2", "2026-01-01", "2026-01-31"),
            phase("3", "", ""),
        ];
        let svg = draw(&phases).unwrap();
        assert!(svg.contains(r#"x="0.0" y="15.0" width="6.0""#), "{svg}");
        assert!(svg.contains(r#"x="0.0" y="43.0" width="360.0""#), "{svg}");
        assert_eq!(svg.matches("2026-01-31").count(), 4);
    }

    #[test]
    fn days_that_nobody_wrote_draw_nothing() {
        assert_eq!(draw(&[phase("1", "", "")]), None);
    }
}
