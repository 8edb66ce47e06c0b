//! Parses tables of phases with their status, as found in ROADMAP.md and STATE.md.
//!
//! ```text
//! | Phase   | Plans Complete | Status   | Completed  |     | # | Phase | Status  |
//! |---------|----------------|----------|------------|     |---|-------|---------|
//! | 1. Name | 3/3            | Complete | 2026-02-11 |     | 1 | Name  | Pending |
//! ```
//!
//! A table without a status column is accepted if it has one of plans, which may hold the status, too (`3/3 Complete`).

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

/// Returns the rows of a table of phases with their status; empty for any other table. The phase must be the first column,
/// since requirement tables also name phases.
pub(crate) fn rows(table: &Table, numbering: PhaseNumbering) -> Vec<ProgressRow> {
    let headers: Vec<String> = table.header.iter().map(|cell| heading::words(cell)).collect();
    let column =
        |names: &[&str]| names.iter().find_map(|name| headers.iter().position(|own| own == name));
    let first = headers.first().map_or("", String::as_str);
    let is_number = table.header.first().is_some_and(|cell| cell.trim() == "#");
    let plans = headers.iter().position(|header| header.starts_with("plans"));
    let plans = plans.or_else(|| column(&["done", "progress"]));
    let status = column(&["status", "state"]);
    if !is_number && !["phase", "no", "no.", "nr"].contains(&first) || status.or(plans).is_none() {
        return Vec::new();
    }
    let name = column(&["name", "phase", "title"]).filter(|index| *index > 0);
    let milestone = column(&["milestone"]);
    let completed = column(&["completed", "date", "completed on", "shipped"]);
    let read = |row: &TableRow| {
        let cell = |index: Option<usize>| {
            let index = index?;
            let (text, range) = (row.cells.get(index)?, row.ranges.get(index)?);
            Some(Span::new(text, range.start, row.line))
        };
        let stated = |span: Span<'_>| span.with_value(span.text.to_owned());
        let first = row.cells.first()?;
        let (number, rest) =
            phase_in_front(first, numbering).or_else(|| coded_phase(first, numbering))?;
        let counted = cell(plans).and_then(counts);
        let beside = counted.as_ref().map_or(cell(plans), |(.., rest)| Some(*rest));
        let beside = beside.filter(|span| PhaseProgress::parse(span.text).is_some());
        // A table of something else may have numbers and a column `Done`, too.
        let is_counted = counted.as_ref().is_some_and(|(_, complete, ..)| complete.is_some());
        if status.is_none() && beside.is_none() && !is_counted {
            return None;
        }
        let name = cell(name).map_or(rest, |span| span.text);
        Some(ProgressRow {
            number,
            name: Some(name.to_owned()).filter(|name| !name.is_empty()),
            milestone: cell(milestone).map(|span| span.text.to_owned()),
            plans_complete: counted.as_ref().and_then(|(_, complete, ..)| *complete),
            plans_total: counted.as_ref().and_then(|(_, _, total, _)| *total),
            plans: counted.map(|(cell, ..)| cell),
            status: if status.is_some() { cell(status) } else { beside }.map(stated),
            completed: cell(completed).map(stated),
            line: row.line,
        })
    };
    table.rows.iter().filter_map(read).collect()
}

/// Parses a cell with a coded number: `B7`, `B7. Name`, `**B7** - Name`; `S3 upload` is a name.
fn coded_phase(cell: &str, numbering: PhaseNumbering) -> Option<(PhaseNumber, &str)> {
    let (number, rest) = numbering.split(cell.trim_matches(['*', ' ']))?;
    let is_id = rest.is_empty() || rest.starts_with(['.', ':', '*']) || rest.starts_with(" -");
    let name = rest.trim_start_matches(['.', ':', '*', '-', '–', '—', ' ']);
    (number.has_code() && is_id).then_some((number, name))
}

/// Splits `1. Name`, `Phase 1: Name`, `[2. Name](#x)`, `**05.1** Name` into number and name.
pub(crate) fn phase_in_front(text: &str, numbering: PhaseNumbering) -> Option<(PhaseNumber, &str)> {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let named = strip_prefix_ignore_case(text, "phase").map(str::trim_start);
    // Without the word, `M1` may be a milestone and `S3` a name.
    let (number, rest) = numbering.split(named.unwrap_or(text))?;
    if named.is_none() && number.has_code() {
        return None;
    }
    // `1-4` is a range of phases, `01-foundation` is a single one.
    let after = rest.trim_start_matches(['-', '–', '—']);
    if after.len() < rest.len() && after.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let rest = rest.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '.' | ':' | '-' | '–' | '—' | '*' | '~')
    });
    Some((number, rest.split("](").next().unwrap_or(rest)))
}

/// A count as it stands, how many are complete, how many there are, and what follows.
type Counts<'a> = (Located<String>, Option<u32>, Option<u32>, Span<'a>);

/// Parses `3/4` and `3 of 4` as complete and total, `4` as total, `0/TBD` as complete, with the count and what follows it.
fn counts(cell: Span<'_>) -> Option<Counts<'_>> {
    let (done, total, mut rest) = cell.count()?;
    let (complete, total) = match total {
        Some(total) => (Some(done.value), Some(total.value)),
        None if rest.text.starts_with('/') => {
            rest = rest.after(rest.text.find(' ').unwrap_or(rest.text.len()));
            (Some(done.value), None)
        }
        // `01-03` is a range of plans.
        None if rest.text.starts_with('-') => return None,
        None => (None, Some(done.value)),
    };
    let count = cell.part(0..cell.text.len() - rest.text.len());
    Some((count.with_value(count.text.to_owned()), complete, total, rest))
}
