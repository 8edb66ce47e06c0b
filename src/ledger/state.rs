//! STATE.md: what is true now, rewritten by each update that has a state.

use std::path::Path;
use std::sync::LazyLock;

use chrono::NaiveDate;
use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::ledger::edits::FileUpdate;
use crate::ledger::files::LedgerFile;
use crate::ledger::footer::{Footer, NO_HASH};
use crate::markdown::comments::without_comments;
use crate::markdown::{FrontMatter, Outline, Section, edit};
use crate::project::Project;
use crate::templates;
use crate::templates::Template;
use crate::text::{Line, fold};

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
/// The minimum content of the quick reference.
const QUICK_REFERENCE_LABELS: [&str; 3] = ["Run", "Test", "Entry point"];

/// Matches words about the past or about intentions; STATE.md describes only the present.
static NON_PRESENT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b(should|we used to|previously|formerly)\b").ok());

/// A new state.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(crate) struct NewState {
    objective: String,
    active_work: Vec<String>,
    blockers: Vec<String>,
    next_actions: Vec<String>,
    quick_reference: QuickReference,
    out_of_scope: Vec<String>,
}

/// How to run and test, and where to begin reading.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
struct QuickReference {
    run: Option<String>,
    test: Option<String>,
    entry_point: Option<String>,
    more: Vec<String>,
}

/// A section's bullets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StateSection {
    /// Byte offset of the heading.
    pub(crate) start: usize,
    /// Line number of the heading, from 1.
    pub(crate) line: usize,
    /// The bullets, and whether each has a checkbox.
    pub(crate) bullets: Vec<(String, bool)>,
    /// The text under the heading, verbatim.
    pub(crate) text: String,
}

/// Returns the existing sections of a text, by their index in [`SECTIONS`].
pub(crate) fn sections(text: &str) -> [Option<StateSection>; 6] {
    let front = FrontMatter::parse(text, Path::new("STATE.md")).value;
    let outline = Outline::parse(text, front.range.end);
    SECTIONS.map(|title| {
        let wanted = fold(title);
        let mut sections = outline.sections().iter().filter(|section| section.level >= 2);
        let section = sections.find(|section| fold(&section.title).starts_with(&wanted))?;
        let items = outline.items(&section.own).filter(|(_, item)| item.depth == 0);
        Some(StateSection {
            start: section.heading.start,
            line: section.line,
            bullets: items.map(|(_, item)| (item.text.clone(), item.checked.is_some())).collect(),
            text: outline.slice(&section.own).to_owned(),
        })
    })
}

/// Returns whether the file has only headings, or has placeholders and no active work.
pub(crate) fn is_uninitialised(text: &str) -> bool {
    let is_placeholder = |line: &str| {
        let line = line.trim_matches(BULLET);
        starts_with(line, UNKNOWN) || starts_with(line, TRIAGE)
    };
    let is_marked =
        text.contains(UNKNOWN) || text.contains(TRIAGE) || text.lines().any(is_placeholder);
    let [_, work, ..] = sections(text);
    let has_work =
        work.is_some_and(|work| work.bullets.iter().any(|(bullet, _)| is_filled(bullet)));
    (is_marked && !has_work) || !says_anything(text)
}

/// The characters around the text of a bullet or a thematic break.
const BULLET: [char; 9] = ['\u{feff}', ' ', '\t', '\r', '-', '*', '+', '_', '='];

/// Returns whether a text has content: more than the headings of the template, comments, labels, placeholders
/// and the footer.
fn says_anything(text: &str) -> bool {
    let front = FrontMatter::parse(text, Path::new("STATE.md")).value;
    let body = without_comments(&text[front.range.end..]);
    let outline = Outline::parse(&body, 0);
    let is_of_template = |section: &Section| {
        let title = fold(&section.title);
        section.level < 2 || SECTIONS.iter().any(|known| title.starts_with(&fold(known)))
    };
    let has_content = |section: &Section| {
        outline.slice(&section.own).lines().any(|line| {
            let line = line.trim_matches(BULLET);
            !line.ends_with(':') && is_filled(line) && !Footer::is_part(line)
        })
    };
    outline.sections().iter().any(|section| !is_of_template(section) || has_content(section))
}

/// Returns whether a bullet is more than a placeholder for nothing or for an unknown value.
pub(crate) fn is_filled(bullet: &str) -> bool {
    let plain = bullet.trim_matches(['(', ')', '*', '_', '.', ' ', '`']);
    let nothing = ["", "none", "none yet", "n/a", "tbd", "todo", "-"];
    !is_bracketed(plain)
        && !starts_with(plain, "Unknown (needs human")
        && !starts_with(plain, TRIAGE)
        && !nothing.contains(&fold(plain).as_str())
}

fn starts_with(text: &str, mark: &str) -> bool {
    text.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark))
}

/// Returns whether a text is entirely in one pair of brackets, as the placeholders of templates are; text
/// after the closing bracket, such as the target of a link, is content.
fn is_bracketed(text: &str) -> bool {
    let pair = [('{', '}'), ('<', '>'), ('[', ']')].into_iter();
    // `<https://…>` is a link.
    let mut pair = pair.filter(|(open, _)| *open != '<' || !text.contains("://"));
    let Some((open, close)) = pair.find(|(open, _)| text.starts_with(*open)) else {
        return false;
    };
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        depth = if c == open { depth + 1 } else { depth - usize::from(c == close) };
        if depth == 0 {
            return text[at + c.len_utf8()..].trim().is_empty();
        }
    }
    // The closing bracket may have been forgotten.
    true
}

/// Returns the first word of a text that is about the past or about intentions; inline code is ignored.
pub(crate) fn non_present_word(text: &str) -> Option<String> {
    let plain: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let found = NON_PRESENT.as_ref()?.find(&plain)?;
    Some(found.as_str().to_owned())
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
    let mut outcome = FileUpdate::of(&file.text);
    let Some(state) = state else {
        if let Some(anchor) = anchor {
            outcome.text = advanced(project, file, &footer, anchor)?;
        }
        return Ok(outcome);
    };
    for (pointer, text) in state.texts() {
        if let Some(word) = non_present_word(text) {
            let message = format!("contains {word:?}, but the state describes only the present");
            outcome.refuse(pointer, message);
        }
    }
    let anchor = anchor.or(footer.hash()).unwrap_or(NO_HASH);
    let comments = footer.comments(&file.text, anchor);
    let page = |date| -> Result<String> {
        let text = state.render(project, anchor, &comments, date)?;
        Ok(text.replace('\n', file.line_end()))
    };
    // The same state on another day is the same state.
    if let (Some((date, _)), true) = (&footer.updated, file.exists())
        && page(*date)? == file.text
    {
        return Ok(outcome);
    }
    outcome.text = page(today)?;
    let lines = outcome.text.lines().count();
    if lines > MAX_LINES {
        let message = format!("STATE.md would have {lines} lines; at most {MAX_LINES} are allowed");
        outcome.refuse("/state", message);
    }
    Ok(outcome)
}

/// Returns the text of the file with another anchor.
fn advanced(project: &Project, file: &LedgerFile, footer: &Footer, anchor: &str) -> Result<String> {
    if !file.exists() {
        return blank(project, anchor);
    }
    let has_footer = footer.anchors.iter().any(|one| !one.is_comment());
    let is_there = footer.anchors.iter().all(|one| one.hash.as_deref() == Some(anchor));
    if has_footer && is_there {
        return Ok(file.text.clone());
    }
    let edits = footer.advance(&file.text, anchor, project.clock.today(), file.line_end());
    Ok(edit::apply(&file.text, edits))
}

/// Returns the text of a state without content.
pub(crate) fn blank(project: &Project, anchor: &str) -> Result<String> {
    let state = NewState {
        objective: UNKNOWN.to_owned(),
        active_work: vec![UNKNOWN.to_owned()],
        ..NewState::default()
    };
    state.render(project, anchor, &[], project.clock.today())
}

/// Returns the lines of a section that is not filled in yet, heading first, as in a blank file.
pub(crate) fn blank_section(index: usize) -> Vec<String> {
    let lines = match index {
        0 => vec![UNKNOWN.to_owned()],
        1 => vec![format!("- {UNKNOWN}")],
        3 => vec![format!("- [ ] {TRIAGE}")],
        4 => QUICK_REFERENCE_LABELS.map(|label| format!("- {label}: {UNKNOWN}")).to_vec(),
        _ => vec!["None".to_owned()],
    };
    let note = if index == 5 { " (for now)" } else { "" };
    std::iter::once(format!("## {}{note}", SECTIONS[index])).chain(lines).collect()
}

impl NewState {
    /// Returns the texts that must be about the present, each with its pointer.
    fn texts(&self) -> impl Iterator<Item = (String, &str)> {
        let lists = [
            ("active_work", &self.active_work),
            ("blockers", &self.blockers),
            ("next_actions", &self.next_actions),
            ("out_of_scope", &self.out_of_scope),
        ];
        let listed = lists.into_iter().flat_map(|(name, texts)| {
            let texts = texts.iter().enumerate();
            texts.map(move |(index, text)| (format!("/state/{name}/{index}"), text.as_str()))
        });
        std::iter::once(("/state/objective".to_owned(), self.objective.as_str())).chain(listed)
    }

    fn render(
        &self,
        project: &Project,
        anchor: &str,
        comments: &[String],
        date: NaiveDate,
    ) -> Result<String> {
        let lines = |texts: &[String]| texts.iter().map(|text| Line::new(text)).collect::<Vec<_>>();
        let quick = &self.quick_reference;
        let commands = [&quick.run, &quick.test, &quick.entry_point];
        let command = |(label, text): (&&str, &Option<String>)| {
            let text = match text.as_deref() {
                None => UNKNOWN.to_owned(),
                Some(text) if text.contains('`') => text.to_owned(),
                Some(text) => format!("`{}`", text.trim()),
            };
            Line::new(&format!("{label}: {text}"))
        };
        let mut reference: Vec<Line> =
            QUICK_REFERENCE_LABELS.iter().zip(commands).map(command).collect();
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
        templates::render_unredacted(project, Template::LedgerState, &page)
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
    fn only_a_text_entirely_in_brackets_is_a_placeholder() {
        for text in [
            "{one line}", "{{ decision }}", "<what is next>", "[Decision].", "**[todo]**", "[what",
            "None.",
        ] {
            assert!(!is_filled(text), "{text}");
        }
        for text in [
            "[ADR-12] Sessions live in Redis",
            "[ADR-12](docs/adr/12.md)",
            "[a] and [b]",
            "{id} is the key of a session",
            "<Suspense> wraps every route",
            "<b>Never</b>",
        ] {
            assert!(is_filled(text), "{text}");
        }
    }

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
            ("# State\n\n## Objective: ship 1.0\n".to_owned(), false),
            ("# State\n\n```\n# run\n```\n".to_owned(), false),
            ("# Where we are\n\nFree text.\n".to_owned(), false),
        ] {
            assert_eq!(is_uninitialised(&text), expected, "{text}");
        }
    }

    #[test]
    fn sections_are_found_by_the_prefix_of_their_titles() {
        let text = "## Next Actions\n- [ ] one\n- two\n\n## Out of Scope (for now)\n- x\n";
        let sections = sections(text);
        let next = sections[3].as_ref().unwrap();
        assert_eq!(next.bullets, [("one".to_owned(), true), ("two".to_owned(), false)]);
        assert_eq!(sections[5].as_ref().unwrap().bullets.len(), 1);
        assert_eq!(sections[0], None);
    }
}
