//! The page's pictures, drawn as SVG; each stands beside a table that says the same.

mod columns;
mod links;
mod rows;
mod svg;
mod timeline;

use serde::Serialize;

use crate::report::charts::columns::Column;
use crate::report::charts::rows::Bar;
use crate::report::page::Page;
use crate::report::page::PhaseRow;
use crate::text::quantity;

/// How many phases, months and entries are drawn; the tables have all.
pub(crate) const DRAWN: usize = 40;

/// The pictures, each a whole SVG element; none where there is nothing to draw.
#[derive(Debug, Serialize)]
pub(crate) struct Charts {
    timeline: Option<String>,
    deviations: Option<String>,
    durations: Option<String>,
    sizes: Option<String>,
    decisions: Option<String>,
    links: Option<String>,
    costs: Option<String>,
}

impl Charts {
    /// Draws what the page says.
    pub(crate) fn of(page: &Page) -> Self {
        let done: Vec<&PhaseRow> = page.phases.iter().filter(|row| row.complete > 0).collect();
        let done = &done[done.len().saturating_sub(DRAWN)..];
        let deviations = done.iter().map(|row| Column {
            label: row.number.clone(),
            value: row.deviations.map_or(0.0, f64::from),
            shown: row
                .deviations
                .map_or("?".to_owned(), |count| count.to_string()),
            title: format!(
                "Phase {} ({}): {}",
                row.number,
                row.name,
                row.deviations
                    .map_or("unknown".to_owned(), |count| quantity(count, "deviation"))
            ),
        });
        let durations = done.iter().map(|row| Column {
            label: row.number.clone(),
            value: row.minutes.unwrap_or_default(),
            shown: row.minutes.map_or("?".to_owned(), |_| row.duration.clone()),
            title: format!("Phase {} ({}): {}", row.number, row.name, row.duration),
        });
        Self {
            timeline: timeline::draw(&page.phases),
            deviations: columns::draw("Deviations of each phase", &deviations.collect::<Vec<_>>()),
            durations: columns::draw("Work on each phase", &durations.collect::<Vec<_>>()),
            sizes: sizes(page),
            decisions: months(page),
            links: links::draw(&page.entries),
            costs: costs(page),
        }
    }
}

fn sizes(page: &Page) -> Option<String> {
    let known = page.insights.sizes.iter().filter(|row| row.speaking > 0);
    let bars = known.map(|row| Bar {
        label: row.size.clone(),
        value: real(row.deviated),
        of: real(row.speaking),
        shown: format!("{} of {}", row.deviated, row.speaking),
    });
    rows::draw(
        "Share of plans that deviated, by size",
        &bars.collect::<Vec<_>>(),
    )
}

fn costs(page: &Page) -> Option<String> {
    let most = page.costs.iter().map(|row| row.tokens).max()?;
    let bars = page.costs.iter().map(|row| Bar {
        label: row.what.clone(),
        value: real(row.tokens),
        of: real(most),
        shown: format!("{} tokens", row.tokens),
    });
    rows::draw(
        "Tokens at the start of a session",
        &bars.collect::<Vec<_>>(),
    )
}

/// Counts the decisions of each month, the oldest first.
fn months(page: &Page) -> Option<String> {
    let mut months: Vec<(String, usize)> = Vec::new();
    for date in page.decisions.iter().rev().filter_map(|row| row.date) {
        let month = date.format("%Y-%m").to_string();
        match months.last_mut() {
            Some((last, count)) if *last == month => *count += 1,
            _ => months.push((month, 1)),
        }
    }
    let months = &months[months.len().saturating_sub(DRAWN)..];
    let columns = months.iter().map(|(month, count)| Column {
        label: month.clone(),
        value: real(*count),
        shown: count.to_string(),
        title: format!("{month}: {}", quantity(*count, "decision")),
    });
    columns::draw("Decisions of each month", &columns.collect::<Vec<_>>())
}

/// Returns a count as a number to draw with.
pub(crate) fn real(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
