//! Tables that list phases with their status, as ROADMAP.md and STATE.md have them.
//!
//! ```text
//! | Phase   | Plans Complete | Status   | Completed  |     | # | Phase | Status  |
//! |---------|----------------|----------|------------|     |---|-------|---------|
//! | 1. Name | 3/3            | Complete | 2026-02-11 |     | 1 | Name  | Pending |
//! ```

use crate::markdown::Row;
use crate::markdown::Table;
use crate::planning::PhaseNumber;
use crate::planning::Stated;
use crate::planning::heading;
use crate::planning::stated::Span;

/// A phase's row of a progress table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressRow {
    /// The phase.
    pub number: PhaseNumber,
    /// Its name, where the row has one.
    pub name: Option<String>,
    /// The milestone cell, where the table has that column.
    pub milestone: Option<String>,
    /// The cell that counts plans: `3/3`, `4`.
    pub plans: Option<Stated<String>>,
    /// How many plans are complete, as that cell says.
    pub plans_complete: Option<u32>,
    /// How many plans there are, as that cell says.
    pub plans_total: Option<u32>,
    /// The status cell, verbatim.
    pub status: Option<Stated<String>>,
    /// The cell of the day it was completed; empty cells too, to be filled.
    pub completed: Option<Stated<String>>,
    /// The line of the row, counted from 1.
    pub line: usize,
}

/// The columns of a progress table.
struct Columns {
    number: usize,
    name: Option<usize>,
    milestone: Option<usize>,
    plans: Option<usize>,
    status: usize,
    completed: Option<usize>,
}

/// Returns the rows of a table that lists phases with their status; nothing for any other table.
pub(crate) fn rows(table: &Table) -> Vec<ProgressRow> {
    Columns::of(table).map_or_else(Vec::new, |columns| {
        table
            .rows
            .iter()
            .filter_map(|row| columns.read(row))
            .collect()
    })
}

impl Columns {
    /// Finds the columns: the phase must come first, for a table of requirements names phases too.
    fn of(table: &Table) -> Option<Self> {
        let headers: Vec<String> = table
            .header
            .iter()
            .map(|cell| heading::words(cell))
            .collect();
        let column = |names: &[&str]| {
            names
                .iter()
                .find_map(|name| headers.iter().position(|header| header == name))
        };
        let first_is_sign = table.header.first()?.trim() == "#";
        let first_is_phase = matches!(headers.first()?.as_str(), "phase" | "no" | "no." | "nr");
        if !first_is_sign && !first_is_phase {
            return None;
        }
        Some(Self {
            number: 0,
            name: column(&["name", "phase", "title"]).filter(|index| *index > 0),
            milestone: column(&["milestone"]),
            plans: column(&["plans complete", "plans", "plans done"]),
            status: column(&["status", "state"])?,
            completed: column(&["completed", "date", "completed on", "done", "shipped"]),
        })
    }

    fn read(&self, row: &Row) -> Option<ProgressRow> {
        let (number, rest) = phase_in_front(row.cells.get(self.number)?)?;
        let cell = |index: Option<usize>| {
            let index = index?;
            let (text, range) = (row.cells.get(index)?, row.ranges.get(index)?);
            Some(Span::new(text, range.start, row.line))
        };
        let kept = |index| cell(index).map(|span| span.states(span.text.to_owned()));
        let name = cell(self.name).map_or(rest, |span| span.text);
        let counts = cell(self.plans).and_then(|span| counts(span.text));
        Some(ProgressRow {
            number,
            name: Some(name.to_owned()).filter(|name| !name.is_empty()),
            milestone: cell(self.milestone).map(|span| span.text.to_owned()),
            plans: kept(self.plans),
            plans_complete: counts.and_then(|(complete, _)| complete),
            plans_total: counts.and_then(|(_, total)| total),
            status: kept(Some(self.status)),
            completed: kept(self.completed),
            line: row.line,
        })
    }
}

/// Splits `1. Name`, `Phase 1: Name`, `[2. Name](#x)`, `**05.1** Name` into number and name.
pub(crate) fn phase_in_front(text: &str) -> Option<(PhaseNumber, &str)> {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let text = match text.get(..5) {
        Some(word) if word.eq_ignore_ascii_case("phase") => text[5..].trim_start(),
        _ => text,
    };
    let (number, rest) = PhaseNumber::split(text)?;
    // `1-4` is several phases, `01-foundation` is one.
    let follows = rest.trim_start_matches([' ', '-', '\u{2013}', '\u{2014}']);
    if follows.len() < rest.len()
        && follows.starts_with(|c: char| c.is_ascii_digit())
        && !rest.starts_with(' ')
    {
        return None;
    }
    let rest = rest.trim_matches(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '.' | ':' | '-' | '\u{2013}' | '\u{2014}' | '*' | '~' | '`'
            )
    });
    Some((number, rest.split("](").next().unwrap_or(rest)))
}

/// Reads `3/4` and `3 of 4` as complete and total, `4` as total, `0/TBD` as complete.
fn counts(cell: &str) -> Option<(Option<u32>, Option<u32>)> {
    let span = Span::new(cell, 0, 1);
    let (digits, first) = span.leading_number()?;
    let rest = span.after(digits.text.len());
    let behind = rest
        .text
        .strip_prefix('/')
        .or_else(|| rest.text.strip_prefix("of "));
    Some(match behind {
        None => (None, Some(first)),
        Some(total) => (
            Some(first),
            rest.suffix(total).leading_number().map(|(_, total)| total),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::Outline;

    fn read(text: &str) -> Vec<ProgressRow> {
        let outline = Outline::parse(text, 0);
        let all = 0..text.len();
        outline.tables(&all).flat_map(rows).collect()
    }

    #[test]
    fn rows_are_read_with_the_bytes_of_their_cells() {
        let text = "| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n| 1. Name | 3/4 | In progress | |\n| 05.1 More | 0/TBD | \u{25cf} Done |\n| Total | 3 | x | |\n";
        let found = read(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].name.as_deref(), Some("Name"));
        assert_eq!(
            (found[0].plans_complete, found[0].plans_total),
            (Some(3), Some(4))
        );
        let status = found[0].status.clone().unwrap();
        assert_eq!(&text[status.range], "In progress");
        assert_eq!(found[1].number.to_string(), "5.1");
        assert_eq!(
            (found[1].plans_complete, found[1].plans_total),
            (Some(0), None)
        );
    }

    #[test]
    fn a_number_column_leaves_the_phase_column_to_the_name() {
        let found = read("| # | Phase | Status |\n|---|---|---|\n| 2 | CLI - Facade | Pending |\n");
        assert_eq!(found[0].name.as_deref(), Some("CLI - Facade"));
    }

    #[test]
    fn tables_of_other_things_are_left_alone() {
        assert!(
            read("| Requirement | Phase | Status |\n|---|---|---|\n| R1 | Phase 1 | Done |\n")
                .is_empty()
        );
        assert!(read("| Phase | Plans | Total |\n|---|---|---|\n| 1 | 2 | 3 |\n").is_empty());
        assert!(read("| Phase | Status |\n|---|---|\n| 1-4 | Done |\n").is_empty());
    }
}
