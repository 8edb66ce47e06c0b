//! Repairs what can be repaired without losing anything: headers, sections, the order of months, the rollup.

use std::path::PathBuf;

use chrono::NaiveDate;
use serde::Serialize;

use crate::error::Result;
use crate::ledger::check::has_header;
use crate::ledger::constraints::Constraints;
use crate::ledger::decisions::Decisions;
use crate::ledger::files::LedgerFiles;
use crate::ledger::footer::{Footer, NO_HASH};
use crate::ledger::page::{body_start, with_lines};
use crate::ledger::{decisions, state};
use crate::markdown::line_start;
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
        files.refuse_conflicts()?;
        let blank = state::blank(project, NO_HASH)?;
        let fixed = [
            fix_state(&files.state.text, &blank),
            fix_constraints(&files.constraints.text),
            fix_decisions(&files.decisions.text, project.clock.today()),
        ];
        let mut changes = Changes::new();
        for (file, fixed) in files.all().into_iter().zip(fixed) {
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

/// Returns the repaired text if a second repair would not change it, or else the unchanged text: where each
/// repair requires another one, as around an unclosed fence, only a person can decide.
fn if_stable(text: &str, fix: impl Fn(&str) -> String) -> String {
    let once = fix(text);
    if fix(&once) == once { once } else { text.to_owned() }
}

/// `blank` is the text of a state without content, from which missing sections are taken.
pub(crate) fn fix_state(text: &str, blank: &str) -> String {
    if_stable(text, |text| {
        let mut text = with_header(text, Template::LedgerState);
        // A file in another format has none of the sections, and none are added.
        if state::sections(&text).iter().all(Option::is_none) {
            return text;
        }
        let template = state::sections(&blank[..footer_start(blank)]);
        for (index, section) in template.into_iter().enumerate().rev() {
            let now = state::sections(&text);
            let (None, Some(section)) = (&now[index], section) else { continue };
            let next = now[index + 1..].iter().flatten().next().map(|part| part.start);
            let at = next.unwrap_or_else(|| footer_start(&text));
            let extended = with_lines(&text, at, &section.whole);
            // An unclosed code fence would absorb the section.
            if state::sections(&extended)[index].is_some() {
                text = extended;
            }
        }
        text
    })
}

/// Returns the byte offset of the footer and of the thematic break above it, or the end of the text if there is
/// no footer; another tool's comment can be anywhere.
fn footer_start(text: &str) -> usize {
    let footer = Footer::parse(text);
    let Some(anchor) = footer.own_anchor() else {
        return text.len();
    };
    let mut start = line_start(text, anchor.range.start);
    let mut at = start;
    let above = text.get(body_start(text)..start).unwrap_or_default();
    for line in above.split_inclusive('\n').rev() {
        at -= line.len();
        match line.trim() {
            "---" => return at,
            "" => {}
            _ if Footer::is_part(line) => start = at,
            _ => break,
        }
    }
    start
}

pub(crate) fn fix_constraints(text: &str) -> String {
    if_stable(text, |text| Constraints::completed(&with_header(text, Template::LedgerConstraints)))
}

/// No repair may hide an entry: an unclosed fence would absorb text moved below it.
pub(crate) fn fix_decisions(text: &str, today: NaiveDate) -> String {
    let repairs: [&dyn Fn(&str) -> String; 3] =
        [&|text| with_header(text, Template::LedgerDecisions), &decisions::sorted, &|text| {
            decisions::filled(text, today)
        }];
    let count = |text: &str| Decisions::parse(text).entries.len();
    repairs.iter().fold(text.to_owned(), |text, repair| {
        let repaired = repair(&text);
        if count(&repaired) < count(&text) { text } else { repaired }
    })
}

/// Returns the text with the comments with instructions for editors at the top.
fn with_header(text: &str, template: Template) -> String {
    if has_header(text) {
        return text.to_owned();
    }
    let lines: Vec<&str> =
        template.text().lines().filter(|line| line.starts_with("<!-- DO")).collect();
    // A byte order mark and front matter must stay first.
    let headed = with_lines(text, body_start(text), &lines.join("\n"));
    if has_header(&headed) { headed } else { text.to_owned() }
}
