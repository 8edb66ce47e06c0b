//! Rewrites STATE.md, or only moves its anchor.

use std::sync::LazyLock;

use chrono::NaiveDate;
use regex::Regex;
use serde::Serialize;

use crate::error::{Problem, Result};
use crate::ledger::anchor::{Anchor, Footer, NO_HASH};
use crate::ledger::apply::FileUpdate;
use crate::ledger::document::NewState;
use crate::ledger::files::LedgerFile;
use crate::ledger::state::{MAX_LINES, QUICK_REFERENCE_LABELS, TRIAGE, UNKNOWN};
use crate::markdown::edit;
use crate::project::Project;
use crate::templates;
use crate::templates::Template;
use crate::text::Line;

/// Matches words about the past or about intentions; STATE.md describes only the present.
static NON_PRESENT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b(should|we used to|previously|formerly)\b").ok());

/// The fields of the template.
#[derive(Serialize)]
struct StatePage {
    objective: Line,
    active_work: Vec<Line>,
    blockers: Vec<Line>,
    next_actions: Vec<Line>,
    reference: Vec<Line>,
    out_of_scope: Vec<Line>,
    date: String,
    anchor: String,
    comments: Vec<String>,
}

/// Applies a new state and a new anchor to the file.
pub(crate) fn apply(
    project: &Project,
    file: &LedgerFile,
    state: Option<&NewState>,
    anchor: Option<&str>,
) -> Result<FileUpdate> {
    let footer = Footer::parse(&file.text);
    let today = project.clock.today();
    let mut outcome = FileUpdate::unchanged(&file.text);
    let Some(state) = state else {
        advance_anchor(project, file, &footer, anchor, &mut outcome)?;
        return Ok(outcome);
    };
    outcome.problems = tense_problems(state);
    let anchor = anchor.or(footer.hash()).unwrap_or(NO_HASH).to_owned();
    let comments = footer.comments(&file.text, &anchor);
    let day =
        |date: NaiveDate| render_with_line_ends(project, file, state, &anchor, &comments, date);
    // The same state on another day is the same state.
    let updated = footer.updated.as_ref().map(|(date, _)| *date);
    if let Some(date) = updated
        && file.exists()
        && day(date)? == file.text
    {
        return Ok(outcome);
    }
    let text = day(today)?;
    let lines = text.lines().count();
    if lines > MAX_LINES {
        let message = format!("STATE.md would have {lines} lines; at most {MAX_LINES} are allowed");
        outcome.problems.push(Problem::new("/state", message));
    }
    outcome.change(text);
    Ok(outcome)
}

/// Returns the text of a state without content.
pub(crate) fn blank(project: &Project, anchor: &str) -> Result<String> {
    let state = NewState {
        objective: UNKNOWN.to_owned(),
        active_work: vec![UNKNOWN.to_owned()],
        ..NewState::default()
    };
    render(project, &state, anchor, &[], project.clock.today())
}

fn advance_anchor(
    project: &Project,
    file: &LedgerFile,
    footer: &Footer,
    anchor: Option<&str>,
    outcome: &mut FileUpdate,
) -> Result<()> {
    let Some(anchor) = anchor else {
        return Ok(());
    };
    if !file.exists() {
        outcome.change(blank(project, anchor)?);
        return Ok(());
    }
    let is_at_target = |one: &Anchor| one.hash.as_deref() == Some(anchor);
    let has_footer = footer.anchors.iter().any(|one| !one.is_comment);
    if has_footer && footer.anchors.iter().all(is_at_target) {
        return Ok(());
    }
    let edits = footer.advance(&file.text, anchor, project.clock.today(), file.line_end());
    outcome.change(edit::apply(&file.text, edits));
    Ok(())
}

fn render_with_line_ends(
    project: &Project,
    file: &LedgerFile,
    state: &NewState,
    anchor: &str,
    comments: &[String],
    date: NaiveDate,
) -> Result<String> {
    let text = render(project, state, anchor, comments, date)?;
    Ok(match file.line_end() {
        "\n" => text,
        line_end => text.replace('\n', line_end),
    })
}

fn render(
    project: &Project,
    state: &NewState,
    anchor: &str,
    comments: &[String],
    date: NaiveDate,
) -> Result<String> {
    let lines = |texts: &[String]| texts.iter().map(|text| Line::new(text)).collect::<Vec<_>>();
    let command =
        |text: &Option<String>| text.as_deref().map_or_else(|| UNKNOWN.to_owned(), as_code);
    let reference = &state.quick_reference;
    let commands = [&reference.run, &reference.test, &reference.entry_point];
    let mut references: Vec<Line> = QUICK_REFERENCE_LABELS
        .iter()
        .zip(commands)
        .map(|(label, text)| Line::new(&format!("{label}: {}", command(text))))
        .collect();
    references.extend(lines(&reference.more));
    let mut next_actions = lines(&state.next_actions);
    if next_actions.is_empty() {
        next_actions.push(Line::new(TRIAGE));
    }
    let page = StatePage {
        objective: Line::new(&state.objective),
        active_work: lines(&state.active_work),
        blockers: lines(&state.blockers),
        next_actions,
        reference: references,
        out_of_scope: lines(&state.out_of_scope),
        date: date.to_string(),
        anchor: anchor.to_owned(),
        comments: comments.to_vec(),
    };
    // A document with secrets was refused when it was parsed, unless the user allows them.
    templates::render_unredacted(project, Template::LedgerState, &page)
}

/// Returns a command as inline code, unless it contains code already.
fn as_code(text: &str) -> String {
    if text.contains('`') { text.to_owned() } else { format!("`{}`", text.trim()) }
}

/// Returns a problem for each text of a state that is about the past or about intentions.
fn tense_problems(state: &NewState) -> Vec<Problem> {
    let lists = [
        ("active_work", &state.active_work),
        ("blockers", &state.blockers),
        ("next_actions", &state.next_actions),
        ("out_of_scope", &state.out_of_scope),
    ];
    let mut problems = Vec::new();
    let mut check = |pointer: String, text: &str| {
        if let Some(word) = non_present_word(text) {
            let message = format!("contains {word:?}, but the state describes only the present");
            problems.push(Problem::new(pointer, message));
        }
    };
    check("/state/objective".to_owned(), &state.objective);
    for (name, texts) in lists {
        for (index, text) in texts.iter().enumerate() {
            check(format!("/state/{name}/{index}"), text);
        }
    }
    problems
}

/// Returns the first word of a text that is about the past or about intentions; inline code is ignored.
pub(crate) fn non_present_word(text: &str) -> Option<String> {
    let plain: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let found = NON_PRESENT.as_ref()?.find(&plain)?;
    Some(found.as_str().to_owned())
}
