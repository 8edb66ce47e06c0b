//! Repairs what can be repaired without losing anything: headers, sections, the order of months, the rollup.

use std::path::PathBuf;

use chrono::NaiveDate;
use serde::Serialize;

use crate::error::Result;
use crate::ledger::check::has_header;
use crate::ledger::constraints::{Constraints, section_offset};
use crate::ledger::decisions::Decisions;
use crate::ledger::edits::gap_after;
use crate::ledger::files::{LedgerFile, LedgerFiles};
use crate::ledger::footer::Footer;
use crate::ledger::{constraints, rollup, state};
use crate::markdown::edit::Edit;
use crate::markdown::{FrontMatter, edit, line_start};
use crate::project::Project;
use crate::storage::{Changes, Store};
use crate::templates::Template;
use crate::warning::Warning;

/// The outcome of a repair.
#[derive(Clone, Debug, Serialize)]
pub struct FixReport {
    /// The files changed, relative to the project.
    pub changed: Vec<PathBuf>,
    /// On a dry run, what would change.
    pub diff: Option<String>,
    /// Warnings from reading the files.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Repairs the existing files; text written by a person may be moved, but is never dropped.
pub fn fix(project: &Project) -> Result<FixReport> {
    let mut warnings = Vec::new();
    let ((), applied) = project.transact("ledger check --fix", &[Store::Ledger], || {
        let files = LedgerFiles::read(project, &mut warnings)?;
        let mut changes = Changes::new();
        for (file, fixed) in [
            (&files.state, fix_state(&files.state)),
            (&files.constraints, fix_constraints(&files.constraints)),
            (&files.decisions, fix_decisions(&files.decisions, project.clock.today())),
        ] {
            // Files that are not valid UTF-8, or too long, are not changed; the check reports them.
            if file.exists() && file.refuse_uneditable().is_ok() {
                changes.edit(&file.path, file.bytes.clone(), fixed)?;
            }
        }
        Ok(((), changes))
    })?;
    warnings.extend(applied.warnings);
    Ok(FixReport {
        changed: applied.changed,
        diff: applied.diff,
        warnings: project.named(warnings),
    })
}

pub(crate) fn fix_state(file: &LedgerFile) -> String {
    if_idempotent(file, fix_state_once)
}

pub(crate) fn fix_constraints(file: &LedgerFile) -> String {
    if_idempotent(file, fix_constraints_once)
}

/// Returns the repaired text if a second repair would not change it, or else the unchanged text: where each
/// repair requires another one, as around an unclosed fence, only a person can decide.
fn if_idempotent(file: &LedgerFile, fix: fn(&LedgerFile) -> String) -> String {
    let once = fix(file);
    let again = fix(&LedgerFile {
        bytes: Some(once.clone().into_bytes()),
        text: once.clone(),
        ..file.clone()
    });
    if again == once {
        return once;
    }
    file.text.clone()
}

fn fix_state_once(file: &LedgerFile) -> String {
    let mut text = with_header(file, Template::LedgerState);
    let found = state::sections(&text);
    // A file in another format has none of the sections, and none are added.
    if found.iter().all(Option::is_none) {
        return text;
    }
    for index in (0..found.len()).rev().filter(|index| found[*index].is_none()) {
        let end = file.line_end();
        let now = state::sections(&text);
        let next = now[index + 1..].iter().flatten().next().map(|part| part.start);
        let at = next.unwrap_or_else(|| footer_start(&text, body_start(file)));
        let piece = state::blank_section(index).join(end) + end + end;
        let extended = insert(&text, at, &piece, end);
        // An unclosed code fence would absorb the section.
        if state::sections(&extended)[index].is_some() {
            text = extended;
        }
    }
    text
}

/// Returns the byte offset of the footer and of the thematic break above it, or the end of the text if there is
/// no footer; another tool's comment can be anywhere. `body` is the end of the front matter.
fn footer_start(text: &str, body: usize) -> usize {
    let footer = Footer::parse(text);
    let Some(anchor) = footer.anchors.iter().rev().find(|anchor| !anchor.is_comment()) else {
        return text.len();
    };
    let mut start = line_start(text, anchor.range.start);
    let mut at = start;
    for line in text.get(body..start).unwrap_or_default().split_inclusive('\n').rev() {
        at -= line.len();
        if line.trim() == "---" {
            return at;
        }
        if Footer::is_part(line) {
            start = at;
        } else if !line.trim().is_empty() {
            break;
        }
    }
    start
}

fn fix_constraints_once(file: &LedgerFile) -> String {
    let mut text = with_header(file, Template::LedgerConstraints);
    let end = file.line_end();
    for (index, title) in constraints::SECTIONS.iter().enumerate().rev() {
        let found = Constraints::parse(&text);
        if found.section(title).is_some() {
            continue;
        }
        let at = section_offset(&text, &found, index);
        let below = if at < text.len() { end } else { "" };
        let extended = insert(&text, at, &format!("## {title}{end}{below}"), end);
        if Constraints::parse(&extended).section(title).is_some() {
            text = extended;
        }
    }
    text
}

pub(crate) fn fix_decisions(file: &LedgerFile, today: NaiveDate) -> String {
    let headed = with_header(file, Template::LedgerDecisions);
    let text = unless_entries_lost(file.text.clone(), headed);
    let ordered = sort_months(&text, file.line_end());
    let ordered = unless_entries_lost(text, ordered);
    let fixed = rollup::fill(&ordered, today);
    unless_entries_lost(ordered, fixed)
}

/// Returns the new text if it still parses to as many entries as the old one, or else the old text: an
/// unclosed fence would absorb text moved below it.
fn unless_entries_lost(old: String, new: String) -> String {
    let count = |text: &str| Decisions::parse(text).entries.len();
    if count(&new) < count(&old) {
        return old;
    }
    new
}

/// Returns the text with its months newest first; each is moved verbatim.
fn sort_months(text: &str, line_end: &str) -> String {
    let months = Decisions::parse(text).months;
    let are_contiguous = months.windows(2).all(|pair| pair[0].range.end == pair[1].range.start);
    let is_sorted = months.windows(2).all(|pair| pair[0].name >= pair[1].name);
    let (Some(first), Some(last)) = (months.first(), months.last()) else {
        return text.to_owned();
    };
    if is_sorted || !are_contiguous {
        return text.to_owned();
    }
    let mut sorted: Vec<_> = months.iter().collect();
    sorted.sort_by(|a, b| b.name.cmp(&a.name));
    let mut reordered = String::new();
    for month in sorted {
        reordered.push_str(&gap_after(&reordered, line_end));
        reordered.push_str(&text[month.range.clone()]);
    }
    edit::apply(text, vec![Edit::replace(first.range.start..last.range.end, reordered)])
}

/// Returns the text with the comments with instructions for editors at the top.
fn with_header(file: &LedgerFile, template: Template) -> String {
    if has_header(&file.text) {
        return file.text.clone();
    }
    let end = file.line_end();
    let lines: Vec<&str> =
        template.text().lines().filter(|line| line.starts_with("<!-- DO")).collect();
    let head = lines.join(end) + end + end;
    // A byte order mark and front matter must stay first.
    let body = body_start(file);
    let headed = insert(&file.text, body, &head, end);
    if has_header(&headed) { headed } else { file.text.clone() }
}

/// Returns the end of the front matter and of a byte order mark before it.
fn body_start(file: &LedgerFile) -> usize {
    let mark = if file.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let front_matter = FrontMatter::parse(&file.text, &file.path).value;
    front_matter.range.end.max(mark)
}

fn insert(text: &str, at: usize, piece: &str, line_end: &str) -> String {
    let gap = gap_after(&text[..at], line_end);
    edit::apply(text, vec![Edit::insert(at, format!("{gap}{piece}"))])
}
