//! STATE.md: what is true now, rewritten by each update that has a state.

use std::sync::LazyLock;

use chrono::NaiveDate;
use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::ledger::files::LedgerFile;
use crate::ledger::footer::{Footer, NO_HASH};
use crate::ledger::page::{Bullet, body_start, bullets, is_filled};
use crate::ledger::update::Problems;
use crate::markdown::without_comments;
use crate::markdown::{Outline, edit};
use crate::project::Project;
use crate::templates;
use crate::templates::Template;
use crate::text::{Line, fold, line_end, pattern};

/// Placeholder for an unknown value.
const UNKNOWN: &str = "Unknown (needs human)";
/// Placeholder for a pending decision.
const TRIAGE: &str = "Needs triage";
/// Maximum number of lines of the file.
pub(crate) const MAX_LINES: usize = 45;

/// The sections of the file, in their order.
pub(crate) const SECTIONS: [&str; 6] = [
    "Current Objective", "Active Work", "Blockers", "Next Actions", "Quick Reference",
    "Out of Scope",
];

/// Matches words about the past or about intentions; STATE.md describes only the present.
static NON_PRESENT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(should|we used to|previously|formerly)\b"));

/// A new state.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewState {
    objective: String,
    pub(crate) active_work: Vec<String>,
    #[serde(default)]
    blockers: Vec<String>,
    #[serde(default)]
    pub(crate) next_actions: Vec<String>,
    #[serde(default)]
    pub(crate) quick_reference: QuickReference,
    #[serde(default)]
    pub(crate) out_of_scope: Vec<String>,
}

/// How to run and test, and where to begin reading.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct QuickReference {
    run: Option<String>,
    test: Option<String>,
    entry_point: Option<String>,
    pub(crate) more: Vec<String>,
}

/// A section of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StateSection {
    /// Line number of the heading, from 1.
    pub(crate) line: usize,
    /// The bullets.
    pub(crate) bullets: Vec<Bullet>,
    /// The text under the heading, verbatim.
    pub(crate) text: String,
}

/// Returns the existing sections of a text, by their index in [`SECTIONS`].
pub(crate) fn sections(text: &str) -> [Option<StateSection>; 6] {
    let outline = Outline::parse(text, body_start(text));
    SECTIONS.map(|title| {
        let wanted = fold(title);
        let mut sections = outline.sections().iter().filter(|section| section.level >= 2);
        let section = sections.find(|section| fold(&section.title).starts_with(&wanted))?;
        Some(StateSection {
            line: section.line,
            bullets: bullets(&outline, &section.own, 0),
            text: outline.slice(&section.own).to_owned(),
        })
    })
}

/// Returns whether the file has only headings, or has placeholders and no active work.
pub(crate) fn is_uninitialised(text: &str) -> bool {
    let is_marked = text.contains(TRIAGE) || text.to_lowercase().contains(&UNKNOWN.to_lowercase());
    let [_, work, ..] = sections(text);
    let has_work = work.is_some_and(|work| work.bullets.iter().any(|one| is_filled(&one.text)));
    is_marked && !has_work || !says_anything(text)
}

/// Returns whether a text has content: more than headings, comments, labels, placeholders and the footer.
fn says_anything(text: &str) -> bool {
    let body = without_comments(&text[body_start(text)..]);
    body.lines().any(|line| {
        let is_heading = line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
        let text = line.trim_matches(['\u{feff}', ' ', '\t', '\r', '-', '*', '+', '_', '=']);
        !is_heading && !text.ends_with(':') && is_filled(text) && !Footer::is_part(line)
    })
}

/// Returns the first word of a text that is about the past or about intentions; inline code is ignored.
pub(crate) fn non_present_word(text: &str) -> Option<String> {
    let plain: Vec<&str> = text.split('`').step_by(2).collect();
    NON_PRESENT.find(&plain.join(" ")).map(|word| word.as_str().to_owned())
}

/// Returns the text of the file with a new state and a new anchor, where there are some.
pub(crate) fn apply(
    project: &Project,
    file: &LedgerFile,
    state: Option<&NewState>,
    anchor: Option<&str>,
    problems: &mut Problems,
) -> Result<String> {
    let footer = Footer::parse(&file.text);
    let today = project.clock.today();
    let Some(state) = state else {
        let Some(anchor) = anchor else { return Ok(file.text.clone()) };
        if !file.exists() {
            return blank(project, anchor);
        }
        return Ok(edit::apply(&file.text, footer.advance(&file.text, anchor, today)));
    };
    let anchor = anchor.or(footer.hash()).unwrap_or(NO_HASH);
    let comments = footer.comments(&file.text, anchor);
    let page = |date| -> Result<String> {
        let text = state.render(anchor, &comments, date)?;
        Ok(text.replace('\n', line_end(&file.text)))
    };
    // The same state on another day is the same state.
    if let (Some((date, _)), true) = (&footer.updated, file.exists())
        && page(*date)? == file.text
    {
        return Ok(file.text.clone());
    }
    let text = page(today)?;
    let lines = text.lines().count();
    if lines > MAX_LINES {
        let limit = format!("at most {MAX_LINES} are allowed");
        problems.add("/state", format!("STATE.md would have {lines} lines; {limit}"));
    }
    Ok(text)
}

/// Returns the text of a state without content.
pub(crate) fn blank(project: &Project, anchor: &str) -> Result<String> {
    let state = NewState {
        objective: UNKNOWN.to_owned(),
        active_work: vec![UNKNOWN.to_owned()],
        ..NewState::default()
    };
    state.render(anchor, &[], project.clock.today())
}

impl NewState {
    fn render(&self, anchor: &str, comments: &[String], date: NaiveDate) -> Result<String> {
        let lines = |texts: &[String]| texts.iter().map(|text| Line::new(text)).collect::<Vec<_>>();
        let quick = &self.quick_reference;
        let command = |label: &str, text: &Option<String>| {
            Line::new(&match text.as_deref() {
                None => format!("{label}: {UNKNOWN}"),
                Some(text) if text.contains('`') => format!("{label}: {text}"),
                Some(text) => format!("{label}: `{}`", text.trim()),
            })
        };
        let mut reference = vec![
            command("Run", &quick.run),
            command("Test", &quick.test),
            command("Entry point", &quick.entry_point),
        ];
        reference.extend(lines(&quick.more));
        let mut next_actions = lines(&self.next_actions);
        if next_actions.is_empty() {
            next_actions.push(Line::new(TRIAGE));
        }
        let page = Page {
            objective: Line::new(&self.objective),
            active_work: lines(&self.active_work),
            blockers: lines(&self.blockers),
            next_actions,
            reference,
            out_of_scope: lines(&self.out_of_scope),
            date: date.to_string(),
            anchor,
            comments,
        };
        // A document with secrets was refused when it was read, unless the user allows them.
        templates::render_unredacted(Template::LedgerState, &page)
    }
}

/// The fields of the template.
#[derive(Serialize)]
struct Page<'a> {
    objective: Line,
    active_work: Vec<Line>,
    blockers: Vec<Line>,
    next_actions: Vec<Line>,
    reference: Vec<Line>,
    out_of_scope: Vec<Line>,
    date: String,
    anchor: &'a str,
    comments: &'a [String],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_with_placeholders_and_no_work_is_uninitialised() {
        let state = |work: &str, objective: &str| {
            format!("# State\n\n## Current Objective\n{objective}\n\n## Active Work\n- {work}\n")
        };
        for (text, expected) in [
            (state(UNKNOWN, UNKNOWN), true),
            (state("None", UNKNOWN), true),
            (state("Unknown (needs human).", "Ship it"), true),
            (state("Write the parser", UNKNOWN), false),
            (state("Write the parser", "Ship it"), false),
            (state("None", "Ship it"), false),
            (String::new(), true),
            ("# State\n\n## Current Objective\n\n## Active Work\n".to_owned(), true),
            ("<!-- DO:\nx -->\n# State\n\n---\nLast memory update: 2026-01-02\n".to_owned(), true),
            (state("unknown (needs human)", ""), true),
            (state("", "Ship it"), false),
            (state("#42: write the parser", "#41 Release"), false),
            (state("", "Automate the `needs triage` label"), false),
            (state("<https://example.org/board>", ""), false),
            ("# State\n\n## Quick Reference\n- Run:\n".to_owned(), true),
            ("# Where we are\n\nFree text.\n".to_owned(), false),
        ] {
            assert_eq!(is_uninitialised(&text), expected, "{text}");
        }
    }

    #[test]
    fn sections_are_found_by_the_prefix_of_their_titles() {
        let text = "## Next Actions\n- [ ] one\n- two\n\n## Out of Scope (for now)\n- x\n";
        let sections = sections(text);
        let next = &sections[3].as_ref().unwrap().bullets;
        let next: Vec<_> = next.iter().map(|one| (one.text.as_str(), one.has_box)).collect();
        assert_eq!(next, [("one", true), ("two", false)]);
        assert_eq!(sections[5].as_ref().unwrap().bullets.len(), 1);
        assert_eq!(sections[0], None);
    }
}
