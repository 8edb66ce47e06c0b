//! Parses tables of phases with their status, as found in ROADMAP.md and STATE.md.
//!
//! ```text
//! | Phase   | Plans Complete | Status   | Completed  |     | # | Phase | Status  |
//! |---------|----------------|----------|------------|     |---|-------|---------|
//! | 1. Name | 3/3            | Complete | 2026-02-11 |     | 1 | Name  | Pending |
//! ```
//!
//! A table without a status column is accepted if its plans cells contain a status (`3/3 Complete`). If a
//! tool wrote a row with a cell missing, the status is in the plans cell.

use crate::markdown::{Table, TableRow};
use crate::plan::read::located::Span;
use crate::plan::read::{Located, PhaseNumber, PhaseNumbering, PhaseProgress, heading};
use crate::text::strip_prefix_ignore_case;

/// A phase's row in a progress table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressRow {
    /// The phase.
    pub number: PhaseNumber,
    /// The phase's name, if the row has one.
    pub name: Option<String>,
    /// The milestone cell, if the table has that column.
    pub milestone: Option<String>,
    /// The plan count cell: `3/3`, `4`.
    pub plans: Option<Located<String>>,
    /// Whether that cell states the total first (`Plans written / executed`).
    pub is_total_first: bool,
    /// Number of complete plans, according to that cell.
    pub plans_complete: Option<u32>,
    /// Total number of plans, according to that cell.
    pub plans_total: Option<u32>,
    /// The status cell, verbatim.
    pub status: Option<Located<String>>,
    /// The cell with the completion date; also set if empty, so that it can be filled in.
    pub completed: Option<Located<String>>,
    /// Line number of the row, from 1.
    pub line: usize,
}

impl ProgressRow {
    /// Returns the progress that the status cell states.
    pub(crate) fn progress(&self) -> Option<PhaseProgress> {
        PhaseProgress::parse(&self.status.as_ref()?.value)
    }
}

/// The column indices of a progress table.
struct Columns {
    name: Option<usize>,
    milestone: Option<usize>,
    plans: Option<usize>,
    is_total_first: bool,
    /// Whether a single number counts the completed plans.
    is_done_alone: bool,
    status: Option<usize>,
    completed: Option<usize>,
}

/// Returns the rows of a table of phases with their status; empty for any other table.
pub(crate) fn rows(table: &Table, numbering: PhaseNumbering) -> Vec<ProgressRow> {
    Columns::find(table).map_or_else(Vec::new, |columns| {
        table.rows.iter().filter_map(|row| columns.read(row, numbering)).collect()
    })
}

impl Columns {
    /// Finds the columns. The phase must be the first column, since requirement tables also name phases.
    fn find(table: &Table) -> Option<Self> {
        let headers: Vec<String> = table.header.iter().map(|cell| heading::words(cell)).collect();
        let column = |names: &[&str]| {
            names.iter().find_map(|name| headers.iter().position(|header| header == name))
        };
        let first_is_sign = table.header.first()?.trim() == "#";
        let first_is_phase = matches!(headers.first()?.as_str(), "phase" | "no" | "no." | "nr");
        if !first_is_sign && !first_is_phase {
            return None;
        }
        let plans = headers
            .iter()
            .position(|header| header.starts_with("plans"))
            .or_else(|| column(&["done", "progress"]));
        let status = column(&["status", "state"]);
        Some(Self {
            name: column(&["name", "phase", "title"]).filter(|index| *index > 0),
            milestone: column(&["milestone"]),
            plans,
            is_total_first: plans.is_some_and(|index| names_total_first(&headers[index])),
            is_done_alone: plans.is_some_and(|index| headers[index] == "done"),
            status,
            completed: column(&["completed", "date", "completed on", "shipped"]),
        })
        .filter(|_| status.or(plans).is_some())
    }

    fn read(&self, row: &TableRow, numbering: PhaseNumbering) -> Option<ProgressRow> {
        let first = row.cells.first()?;
        let coded = || {
            let (number, rest) = numbering.split(first.trim_matches(['*', ' ']))?;
            let name = rest.trim_start_matches(['.', ':', '-', '\u{2013}', '\u{2014}', ' ']);
            let is_id = rest.is_empty() || rest.starts_with(['.', ':']) || rest.starts_with(" -");
            (number.has_code() && is_id).then_some((number, name))
        };
        let (number, rest) = phase_in_front(first, numbering).or_else(coded)?;
        let cell = |index: Option<usize>| {
            let index = index?;
            let (text, range) = (row.cells.get(index)?, row.ranges.get(index)?);
            Some(Span::new(text, range.start, row.line))
        };
        let stated = |span: Span<'_>| span.with_value(span.text.to_owned());
        let name = cell(self.name).map_or(rest, |span| span.text);
        // In a row with a cell missing, the count is in the cell before.
        let is_status = |span: &Span<'_>| PhaseProgress::parse(span.text).is_some();
        let is_shifted = cell(self.plans).as_ref().is_some_and(is_status);
        let before = self.plans.filter(|_| is_shifted).and_then(|at| at.checked_sub(1));
        let before = cell(before.filter(|at| *at > 0)).filter(|span| span.text.contains('/'));
        let shifted = before.and_then(counts).filter(|count| count.rest.text.is_empty());
        let counted = cell(self.plans).and_then(counts);
        let (mut complete, mut total) =
            counted.as_ref().map_or((None, None), |counted| (counted.complete, counted.total));
        if self.is_total_first && complete.is_some() {
            std::mem::swap(&mut complete, &mut total);
        }
        if self.is_done_alone && complete.is_none() {
            complete = total.take();
        }
        let beside_counts = counted.as_ref().map_or(cell(self.plans), |counted| Some(counted.rest));
        if let Some(shifted) = shifted.filter(|_| counted.is_none()) {
            (complete, total) = (shifted.complete, shifted.total);
        }
        let displaced = beside_counts.filter(|span| PhaseProgress::parse(span.text).is_some());
        let status = match cell(self.status) {
            Some(span) if displaced.is_none() || PhaseProgress::parse(span.text).is_some() => {
                Some(span)
            }
            _ => displaced,
        };
        if self.status.is_none() && status.is_none() {
            return None;
        }
        Some(ProgressRow {
            number,
            name: Some(name.to_owned()).filter(|name| !name.is_empty()),
            milestone: cell(self.milestone).map(|span| span.text.to_owned()),
            plans: counted.as_ref().map(|counted| stated(counted.span)),
            is_total_first: self.is_total_first,
            plans_complete: complete,
            plans_total: total,
            status: status.map(stated),
            completed: cell(self.completed).map(stated),
            line: row.line,
        })
    }
}

/// Returns whether a header such as `Plans written / executed` names the total before the completed plans.
fn names_total_first(header: &str) -> bool {
    let place = |words: &[&str]| words.iter().filter_map(|word| header.find(word)).min();
    let total = place(&["written", "total", "planned"]);
    let done = place(&["executed", "complete", "done"]);
    matches!((total, done), (Some(total), Some(done)) if total < done)
}

/// Splits `1. Name`, `Phase 1: Name`, `[2. Name](#x)`, `**05.1** Name` into number and name.
pub(crate) fn phase_in_front(text: &str, numbering: PhaseNumbering) -> Option<(PhaseNumber, &str)> {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let named = strip_prefix_ignore_case(text, "phase").map(str::trim_start);
    let (number, rest) = match named {
        Some(text) => numbering.split(text)?,
        // Without the word, `M1` may be a milestone and `S3` a name.
        None => numbering.split(text).filter(|(number, _)| !number.has_code())?,
    };
    // `1-4` is a range of phases, `01-foundation` is a single one.
    let follows = rest.trim_start_matches([' ', '-', '\u{2013}', '\u{2014}']);
    if follows.len() < rest.len()
        && follows.starts_with(|c: char| c.is_ascii_digit())
        && !rest.starts_with(' ')
    {
        return None;
    }
    let rest = rest.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '.' | ':' | '-' | '\u{2013}' | '\u{2014}' | '*' | '~')
    });
    let rest = without_code_marks(rest);
    let rest = rest.split("](").next().unwrap_or(rest);
    let bare = rest
        .strip_prefix('(')
        .and_then(|inner| inner.strip_suffix(')'))
        .filter(|inner| !inner.contains(['(', ')']));
    Some((number, bare.unwrap_or(rest)))
}

/// Returns a name without backticks around it, or a single one at an end; those around a part of it stay.
pub(super) fn without_code_marks(name: &str) -> &str {
    let is_single = name.matches('`').count() == 1;
    let inner = name.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    match inner.filter(|inner| !inner.contains('`')) {
        Some(inner) => inner,
        None if is_single => name.trim_matches('`'),
        None => name,
    }
}

/// A count of plans.
struct PlanCount<'a> {
    complete: Option<u32>,
    total: Option<u32>,
    /// The text of the count.
    span: Span<'a>,
    /// The text after the count.
    rest: Span<'a>,
}

/// Parses `3/4` and `3 of 4` as complete and total, `4` as total, `0/TBD` as complete.
fn counts(cell: Span<'_>) -> Option<PlanCount<'_>> {
    let (digits, first) = cell.leading_number()?;
    let rest = cell.after(digits.text.len());
    let Some(behind) = rest.after_of() else {
        // `2026-02-25` is not a count.
        let is_alone = rest.text.is_empty() || cell.text.starts_with(&format!("{} ", digits.text));
        return is_alone.then_some(PlanCount {
            complete: None,
            total: Some(first),
            span: digits,
            rest,
        });
    };
    let total = behind.leading_number();
    let end = total.map_or_else(
        || behind.text.find(' ').unwrap_or(behind.text.len()),
        |(digits, _)| digits.text.len(),
    );
    let rest = behind.after(end);
    let counted = cell.text[..cell.text.len() - rest.text.len()].len();
    Some(PlanCount {
        complete: Some(first),
        total: total.map(|(_, total)| total),
        span: cell.part(0..counted),
        rest,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::Outline;

    fn read(text: &str) -> Vec<ProgressRow> {
        let outline = Outline::parse(text, 0);
        let all = 0..text.len();
        let tables = outline.tables(&all);
        tables.flat_map(|table| rows(table, PhaseNumbering::Plain)).collect()
    }

    #[test]
    fn rows_are_read_with_the_bytes_of_their_cells() {
        let text = "| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n| 1. Name | 3/4 | In progress | |\n| 05.1 More | 0/TBD | \u{25cf} Done |\n| Total | 3 | x | |\n";
        let found = read(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].name.as_deref(), Some("Name"));
        assert_eq!((found[0].plans_complete, found[0].plans_total), (Some(3), Some(4)));
        let status = found[0].status.clone().unwrap();
        assert_eq!(&text[status.range], "In progress");
        assert_eq!(found[1].number.to_string(), "5.1");
        assert_eq!((found[1].plans_complete, found[1].plans_total), (Some(0), None));
    }

    #[test]
    fn a_number_column_leaves_the_phase_column_to_the_name() {
        let found = read("| # | Phase | Status |\n|---|---|---|\n| 2 | CLI - Facade | Pending |\n");
        assert_eq!(found[0].name.as_deref(), Some("CLI - Facade"));
    }

    #[test]
    fn a_status_in_the_plans_cell_is_found() {
        let text = "| # | Phase | Goal | Plans |\n|---|---|---|---|\n| 1 | A | g | 2/3 In Progress (2026) |\n| 2 | B | g | 3 |\n";
        let found = read(text);
        assert_eq!(found.len(), 1);
        let row = &found[0];
        assert_eq!(row.status.as_ref().unwrap().value, "In Progress (2026)");
        assert_eq!(&text[row.plans.clone().unwrap().range], "2/3");
        let short = read(
            "| Phase | Milestone | Plans Complete | Status | Completed |\n|---|---|---|---|---|\n| 6. B | v2 | Complete | 2026-02-25 | - |\n",
        );
        assert_eq!(short[0].status.as_ref().unwrap().value, "Complete");
        assert_eq!(short[0].plans, None);
        let spaced = read(
            "| Phase | Status | Plans written / executed |\n|---|---|---|\n| 1 (M1) | \u{2713} **COMPLETE** (x) | 3 / 2 |\n",
        );
        assert_eq!((spaced[0].plans_complete, spaced[0].plans_total), (Some(2), Some(3)));
        assert_eq!(spaced[0].name.as_deref(), Some("M1"));
    }

    #[test]
    fn tables_of_other_things_are_left_alone() {
        assert!(
            read("| Requirement | Phase | Status |\n|---|---|---|\n| R1 | Phase 1 | Done |\n")
                .is_empty()
        );
        assert!(read("| Phase | Plans | Total |\n|---|---|---|\n| 1 | 2 | 3 |\n").is_empty());
        assert!(read("| Phase | Requirements |\n|---|---|\n| 1 | R1 |\n").is_empty());
        assert!(read("| Phase | Status |\n|---|---|\n| 1-4 | Done |\n").is_empty());
    }
}
