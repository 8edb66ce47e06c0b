//! Repairs what can be repaired without losing anything: heads, sections, the order of months, the rollup.

use std::path::PathBuf;

use chrono::NaiveDate;
use serde::Serialize;

use crate::error::Result;
use crate::ledger::apply::rollup;
use crate::ledger::check::has_header;
use crate::ledger::constraints;
use crate::ledger::constraints::Constraints;
use crate::ledger::decisions::Decisions;
use crate::ledger::files::LedgerFile;
use crate::ledger::files::LedgerFiles;
use crate::ledger::state;
use crate::ledger::state::LedgerState;
use crate::markdown::Outline;
use crate::markdown::edit;
use crate::markdown::edit::Edit;
use crate::project::Project;
use crate::storage::Changes;
use crate::storage::Store;
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
    let ((), applied) =
        project
            .storage()
            .transact("ledger check --fix", &[Store::Ledger], || {
                let files = LedgerFiles::read(project, &mut warnings)?;
                let mut changes = Changes::new();
                for (file, fixed) in [
                    (&files.state, fix_state(&files.state)),
                    (&files.constraints, fix_constraints(&files.constraints)),
                    (
                        &files.decisions,
                        fix_decisions(&files.decisions, project.clock.today()),
                    ),
                ] {
                    // Files that are not text are not changed; the check reports them.
                    if file.exists() && !file.is_broken && !file.is_too_long {
                        changes.edit(&file.path, file.bytes.clone(), fixed)?;
                    }
                }
                Ok(((), changes))
            })?;
    warnings.extend(applied.warnings);
    Ok(FixReport {
        changed: project.all_relative(&applied.changed),
        diff: applied.dry_run.then_some(applied.diff),
        warnings: project.named(warnings),
    })
}

pub(crate) fn fix_state(file: &LedgerFile) -> String {
    idempotent(file, fixed_state)
}

pub(crate) fn fix_constraints(file: &LedgerFile) -> String {
    idempotent(file, fixed_constraints)
}

/// Returns a repair that repeats as nothing, else the file as it is: where each repair calls for another,
/// as around an open fence, only a person can tell what was meant.
fn idempotent(file: &LedgerFile, fix: fn(&LedgerFile) -> String) -> String {
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

fn fixed_state(file: &LedgerFile) -> String {
    let mut text = with_header(file, Template::LedgerState);
    let found = LedgerState::parse(&text);
    // A file of another form has none of the sections, and gets none.
    if found.parts.iter().all(Option::is_none) {
        return text;
    }
    for place in (0..state::SECTIONS.len()).rev() {
        if found.parts[place].is_some() {
            continue;
        }
        let now = LedgerState::parse(&text);
        let lines = Outline::parse(&text, 0);
        let next = now.parts[place + 1..]
            .iter()
            .flatten()
            .next()
            .map(|part| part.line);
        let sections = lines.sections();
        let at = match next {
            Some(line) => sections
                .iter()
                .find(|section| section.line == line)
                .map(|s| s.heading.start),
            None => footer_start(&text),
        };
        let at = at.unwrap_or(text.len());
        let end = file.line_end();
        let piece = state::blank_section(place).join(end) + end + end;
        let longer = insert(&text, at, &piece, end);
        // A fence that is not closed swallows what is put after it.
        if LedgerState::parse(&longer).parts[place].is_some() {
            text = longer;
        }
    }
    text
}

/// Returns where the rule above the footer begins.
fn footer_start(text: &str) -> Option<usize> {
    let anchor = LedgerState::parse(text).footer.anchors.first()?.range.start;
    let rule = text[..anchor].rfind("\n---").map(|at| at + 1);
    rule.or_else(|| Some(constraints::line_start(text, anchor)))
}

fn fixed_constraints(file: &LedgerFile) -> String {
    let mut text = with_header(file, Template::LedgerConstraints);
    let end = file.line_end();
    for (place, title) in constraints::SECTIONS.iter().enumerate().rev() {
        let found = Constraints::parse(&text);
        if found.section(title).is_some() {
            continue;
        }
        let next = constraints::SECTIONS[place + 1..]
            .iter()
            .find_map(|title| found.section(title));
        let longer = match next {
            Some(next) => {
                let at = found.sections[next].heading.start;
                insert(&text, at, &format!("## {title}{end}{end}"), end)
            }
            None => insert(&text, text.len(), &format!("## {title}{end}"), end),
        };
        if Constraints::parse(&longer).section(title).is_some() {
            text = longer;
        }
    }
    text
}

pub(crate) fn fix_decisions(file: &LedgerFile, today: NaiveDate) -> String {
    let headed = with_header(file, Template::LedgerDecisions);
    let text = keeping_entries(file.text.clone(), headed);
    let ordered = in_order(&text, file.line_end());
    let ordered = keeping_entries(text, ordered);
    let fixed = rollup::filled(&ordered, today, file.line_end());
    keeping_entries(ordered, fixed)
}

/// Returns the new text if it still parses to as many entries as the old one, or else the old text: an
/// unclosed fence would swallow text moved below it.
fn keeping_entries(old: String, new: String) -> String {
    let count = |text: &str| Decisions::parse(text).entries.len();
    if count(&new) < count(&old) {
        return old;
    }
    new
}

/// Returns the text with its months newest first; their bytes move as they are.
fn in_order(text: &str, line_end: &str) -> String {
    let months = Decisions::parse(text).months;
    let stand_together = months
        .windows(2)
        .all(|pair| pair[0].range.end == pair[1].range.start);
    let in_order = months.windows(2).all(|pair| pair[0].name >= pair[1].name);
    let (Some(first), Some(last)) = (months.first(), months.last()) else {
        return text.to_owned();
    };
    if in_order || !stand_together {
        return text.to_owned();
    }
    let mut sorted: Vec<_> = months.iter().collect();
    sorted.sort_by(|a, b| b.name.cmp(&a.name));
    let mut moved = String::new();
    for month in sorted {
        if !moved.is_empty() && !moved.ends_with(&line_end.repeat(2)) {
            moved.push_str(if moved.ends_with('\n') {
                line_end
            } else {
                "\n\n"
            });
        }
        moved.push_str(&text[month.range.clone()]);
    }
    edit::apply(
        text,
        vec![Edit::replace(first.range.start..last.range.end, moved)],
    )
}

/// Returns the text with the comments that guide an editor at its head.
fn with_header(file: &LedgerFile, template: Template) -> String {
    if has_header(&file.text) {
        return file.text.clone();
    }
    let end = file.line_end();
    let lines: Vec<&str> = template
        .text()
        .lines()
        .filter(|line| line.starts_with("<!-- DO"))
        .collect();
    let head = lines.join(end) + end + end;
    // A byte order mark stays in front, and so does front matter, which is none further down.
    let body = front_matter_end(&file.text);
    let headed = insert(&file.text, body, &head, end);
    if has_header(&headed) {
        headed
    } else {
        file.text.clone()
    }
}

fn front_matter_end(text: &str) -> usize {
    let start = if text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    };
    let Some(rest) = text[start..].strip_prefix("---\n") else {
        return start;
    };
    rest.find("\n---\n").map_or(start, |at| start + 4 + at + 5)
}

fn insert(text: &str, at: usize, piece: &str, line_end: &str) -> String {
    let before = &text[..at];
    let gap = if before.is_empty() || before == "\u{feff}" || before.ends_with(&line_end.repeat(2))
    {
        String::new()
    } else if before.ends_with('\n') {
        line_end.to_owned()
    } else {
        line_end.repeat(2)
    };
    edit::apply(text, vec![Edit::insert(at, format!("{gap}{piece}"))])
}
