//! Parses STATE.md: its sections, and whether they have been filled in.

use std::path::Path;

use crate::ledger::anchor::Footer;
use crate::markdown::comments::without_comments;
use crate::markdown::{FrontMatter, Outline, Section};
use crate::text::fold;

/// Placeholder for an unknown value.
pub(crate) const UNKNOWN: &str = "Unknown (needs human)";
/// Placeholder for a pending decision.
pub(crate) const TRIAGE: &str = "Needs triage";
/// Maximum number of lines of the file.
pub(crate) const MAX_LINES: usize = 45;

/// The sections of the file, in their order.
pub(crate) const SECTIONS: [&str; 6] = [
    "Current Objective", "Active Work", "Blockers", "Next Actions", "Quick Reference",
    "Out of Scope",
];

/// Returns a section that is not filled in yet, heading first, as in the template of a new file.
pub(crate) fn blank_section(index: usize) -> Vec<String> {
    let (title, lines) = match index {
        1 => (SECTIONS[1], vec![format!("- {UNKNOWN}")]),
        3 => (SECTIONS[3], vec![format!("- [ ] {TRIAGE}")]),
        4 => {
            let labels = QUICK_REFERENCE_LABELS.iter();
            let lines = labels.map(|label| format!("- {label}: {UNKNOWN}"));
            (SECTIONS[4], lines.collect())
        }
        5 => ("Out of Scope (for now)", vec!["None".to_owned()]),
        2 => (SECTIONS[2], vec!["None".to_owned()]),
        _ => (SECTIONS[0], vec![UNKNOWN.to_owned()]),
    };
    std::iter::once(format!("## {title}")).chain(lines).collect()
}

/// The minimum content of the quick reference.
pub(crate) const QUICK_REFERENCE_LABELS: [&str; 3] = ["Run", "Test", "Entry point"];

/// A section's bullets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StateSection {
    /// Line number of the heading, from 1.
    pub(crate) line: usize,
    /// The bullets, and whether each has a checkbox.
    pub(crate) bullets: Vec<(String, bool)>,
    /// The text under the heading, verbatim.
    pub(crate) text: String,
}

/// The parsed file.
#[derive(Clone, Debug, Default)]
pub(crate) struct LedgerState {
    /// The existing sections, by their index in [`SECTIONS`].
    pub(crate) sections: [Option<StateSection>; 6],
    /// Anchors and date.
    pub(crate) footer: Footer,
}

impl LedgerState {
    pub(crate) fn parse(text: &str) -> Self {
        let front = FrontMatter::parse(text, Path::new("STATE.md")).value;
        let outline = Outline::parse(text, front.range.end);
        let part = |title: &str| {
            let wanted = fold(title);
            let mut sections = outline.sections().iter().filter(|section| section.level >= 2);
            let section = sections.find(|section| fold(&section.title).starts_with(&wanted))?;
            let items = outline.items(&section.own).filter(|(_, item)| item.depth == 0);
            Some(StateSection {
                line: section.line,
                bullets: items
                    .map(|(_, item)| (item.text.clone(), item.checked.is_some()))
                    .collect(),
                text: outline.slice(&section.own).to_owned(),
            })
        };
        Self { sections: SECTIONS.map(part), footer: Footer::parse(text) }
    }

    /// Returns whether the file has only headings, or has placeholders and no active work.
    pub(crate) fn is_uninitialised(&self, text: &str) -> bool {
        let is_placeholder = |line: &str| {
            let line = line.trim_matches(BULLET);
            starts_with(line, UNKNOWN) || starts_with(line, TRIAGE)
        };
        let is_marked =
            text.contains(UNKNOWN) || text.contains(TRIAGE) || text.lines().any(is_placeholder);
        let is_working =
            |part: &StateSection| part.bullets.iter().any(|(bullet, _)| is_filled(bullet));
        let has_work = self.sections[1].as_ref().is_some_and(is_working);
        (is_marked && !has_work) || !says_anything(text)
    }
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
        let mut known = SECTIONS.iter().map(|known| fold(known));
        section.level < 2 || known.any(|known| title.starts_with(&known))
    };
    let has_content = |section: &Section| {
        let mut lines = outline.slice(&section.own).lines();
        lines.any(|line| {
            let line = line.trim_matches(BULLET);
            !line.ends_with(':') && is_filled(line) && !Footer::is_part(line)
        })
    };
    let mut sections = outline.sections().iter();
    sections.any(|section| !is_of_template(section) || has_content(section))
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
    let pair =
        [('{', '}'), ('<', '>'), ('[', ']')].into_iter().find(|(open, _)| text.starts_with(*open));
    let Some((open, close)) = pair else {
        return false;
    };
    // `<https://…>` is a link.
    if open == '<' && text.contains("://") {
        return false;
    }
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
        }
        if depth == 0 {
            return text[at + c.len_utf8()..].trim().is_empty();
        }
    }
    // The closing bracket may have been forgotten.
    true
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
            assert_eq!(LedgerState::parse(&text).is_uninitialised(&text), expected, "{text}");
        }
    }

    #[test]
    fn sections_are_found_by_the_prefix_of_their_titles() {
        let text = "## Next Actions\n- [ ] one\n- two\n\n## Out of Scope (for now)\n- x\n";
        let state = LedgerState::parse(text);
        let next = state.sections[3].as_ref().unwrap();
        assert_eq!(next.bullets, [("one".to_owned(), true), ("two".to_owned(), false)]);
        assert_eq!(state.sections[5].as_ref().unwrap().bullets.len(), 1);
        assert_eq!(state.sections[0], None);
    }
}
