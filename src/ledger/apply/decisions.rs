//! Appends to DECISIONS.md: entries are inserted into their month, newest first, and never changed.

use chrono::NaiveDate;

use crate::clock::parse_date;
use crate::error::{Problem, Result};
use crate::ledger::apply::{ChangeStep, FileUpdate, gap_after};
use crate::ledger::decisions::{Decisions, Month};
use crate::ledger::document::NewDecision;
use crate::ledger::evidence;
use crate::ledger::evidence::EntryEvidence;
use crate::markdown::edit;
use crate::markdown::edit::Edit;
use crate::project::Project;
use crate::text::Line;

/// Applies new entries in order; refused ones leave the text unchanged.
pub(crate) fn apply(
    project: &Project,
    text: &str,
    decisions: &[(usize, NewDecision)],
    line_end: &str,
) -> Result<FileUpdate> {
    let evidences: Vec<EntryEvidence> =
        decisions.iter().map(|(_, one)| EntryEvidence::parse(&one.evidence)).collect();
    let known = evidence::resolve(&project.git, &evidences)?;
    let mut outcome = FileUpdate::unchanged(text);
    for ((index, decision), (evidence, known)) in decisions.iter().zip(evidences.iter().zip(&known))
    {
        let pointer = format!("/decisions/{index}");
        let mut problems = field_problems(decision, &pointer, project.clock.today());
        let faults = evidence.problems(known, project);
        let at_evidence = |fault| Problem::new(format!("{pointer}/evidence"), fault);
        problems.extend(faults.into_iter().map(at_evidence));
        let date = parse_date(&decision.date);
        let step = match date {
            // Without a title, no entry can be found in the file; the schema reports that it is missing.
            Some(date) if problems.is_empty() && !decision.title.trim().is_empty() => {
                insert_entry(&outcome.text, decision, date, &pointer, line_end)
            }
            _ => ChangeStep::Refused(problems),
        };
        outcome.record(step);
    }
    Ok(outcome)
}

/// Returns the problems that the schema cannot express: an invalid day, and fields of a fix in a decision or
/// of a decision in a fix.
fn field_problems(decision: &NewDecision, pointer: &str, today: NaiveDate) -> Vec<Problem> {
    let mut problems = Vec::new();
    match parse_date(&decision.date) {
        None => problems.push(Problem::new(format!("{pointer}/date"), "is not a valid date")),
        // In another time zone it may be tomorrow.
        Some(date) if Some(date) > today.succ_opt() => {
            let message = format!("is in the future: today is {today}");
            problems.push(Problem::new(format!("{pointer}/date"), message));
        }
        Some(_) => {}
    }
    let is_fix = decision.symptom.is_some();
    let foreign_fields = [
        ("why", is_fix && decision.why.is_some()),
        ("impact", is_fix && decision.impact.is_some()),
        ("root_cause", !is_fix && decision.root_cause.is_some()),
        ("fix", !is_fix && decision.fix.is_some()),
        ("prevention", !is_fix && decision.prevention.is_some()),
    ];
    for (name, _) in foreign_fields.iter().filter(|(_, is_present)| *is_present) {
        let (this, that) = if is_fix { ("fix", "decision") } else { ("decision", "fix") };
        let message = format!("is a field of a {that}, but this entry is a {this}");
        problems.push(Problem::new(format!("{pointer}/{name}"), message));
    }
    problems
}

fn insert_entry(
    text: &str,
    decision: &NewDecision,
    date: NaiveDate,
    pointer: &str,
    line_end: &str,
) -> ChangeStep {
    let found = Decisions::parse(text);
    let title = Line::new(&decision.title);
    let lines = entry_lines(decision, date, &title);
    if let Some(entry) = found.entry(date, title.as_str()) {
        let written: Vec<&str> =
            text[entry.range.clone()].trim_end().lines().map(str::trim_end).collect();
        let place = format!("{pointer}/title");
        let message = format!(
            "line {} already has an entry with this date and title; entries are never edited",
            entry.line
        );
        return if written == lines {
            ChangeStep::Repeated(Problem::new(place, message))
        } else {
            ChangeStep::refused(place, message)
        };
    }
    let entry = lines.join(line_end) + line_end;
    let name = date.format("%Y-%m").to_string();
    let edit = match found.months.iter().find(|month| month.name == name) {
        Some(month) => insertion_into_month(text, &found, month, date, &entry, line_end),
        None => insertion_of_month(text, &found, &name, &entry, line_end),
    };
    let new = edit::apply(text, vec![edit]);
    let after = Decisions::parse(&new);
    let is_present = after.entry(date, title.as_str()).is_some();
    if is_present && after.entries.len() == found.entries.len() + 1 {
        return ChangeStep::Changed(new);
    }
    let message = "the surrounding markdown, such as an unclosed code fence, would absorb the entry; fix DECISIONS.md first";
    ChangeStep::refused(pointer.to_owned(), message)
}

/// Returns the lines of an entry.
fn entry_lines(decision: &NewDecision, date: NaiveDate, title: &Line) -> Vec<String> {
    let mut lines = vec![format!("### {date} \u{2014} {title}"), String::new()];
    let evidence = Some(decision.evidence.clone());
    for (label, text) in [
        ("Why", &decision.why),
        ("Impact", &decision.impact),
        ("Symptom", &decision.symptom),
        ("Root cause", &decision.root_cause),
        ("Fix", &decision.fix),
        ("Prevention", &decision.prevention),
        ("Evidence", &evidence),
    ] {
        if let Some(text) = text {
            lines.push(format!("- **{label}:** {}", Line::new(text)));
        }
    }
    lines
}

/// Returns the edit that inserts an entry into its month, before the first entry that is not newer.
fn insertion_into_month(
    text: &str,
    found: &Decisions,
    month: &Month,
    date: NaiveDate,
    entry: &str,
    line_end: &str,
) -> Edit {
    let older = found
        .entries_of(month)
        .find(|other| other.is_standard && other.date.is_none_or(|other| other <= date));
    match older {
        Some(older) => Edit::insert(older.range.start, format!("{entry}{line_end}")),
        None => insertion_after(text, month.range.end, entry, line_end),
    }
}

/// Returns the edit that inserts a month, before the first older one or else at the end.
fn insertion_of_month(
    text: &str,
    found: &Decisions,
    name: &str,
    entry: &str,
    line_end: &str,
) -> Edit {
    let month = format!("## {name}{line_end}{line_end}{entry}");
    let older = found.months.iter().find(|month| month.name.as_str() < name);
    match (older, found.months.last(), &found.rollup) {
        (Some(older), ..) => Edit::insert(older.range.start, format!("{month}{line_end}")),
        (None, Some(last), _) => insertion_after(text, last.range.end, &month, line_end),
        // Without a month, the text below the rollup has another writer and is older.
        (None, None, Some(rollup)) if found.entries.is_empty() => {
            insertion_after(text, rollup.own.end, &month, line_end)
        }
        _ => insertion_after(text, text.len(), &month, line_end),
    }
}

/// Returns the edit that inserts a piece at a byte offset, with a blank line before and after it.
fn insertion_after(text: &str, end: usize, piece: &str, line_end: &str) -> Edit {
    let gap = gap_after(&text[..end], line_end);
    let below = if text[end..].is_empty() { "" } else { line_end };
    Edit::insert(end, format!("{gap}{piece}{below}"))
}

#[cfg(test)]
mod tests;
