//! Reads the notes on issues and lessons from a summary, which `Summary` has no field for.

use std::collections::HashSet;
use std::ops::Range;

use crate::markdown::{Block, BlockContent, Outline, Section};
use crate::plan::read::list_entry::is_lead;
use crate::plan::read::non_placeholder;
use crate::text::one_line;

/// A bullet or paragraph under `Issues Encountered`, `Lessons Learned` and the like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueNote {
    /// Its text on one line; after a bullet that is only a title, that of the bullets below it, too.
    pub text: String,
    /// Whether it was noted as a lesson instead of as an issue.
    pub is_lesson: bool,
    /// Line number in the summary, from 1.
    pub line: usize,
}

/// Headings of sections about issues, normalised.
const ISSUES: &[&str] = &[
    "issues encountered", "issues", "problems encountered", "problems", "known issues", "blockers",
    "blocked", "challenges", "gotchas",
];

/// Headings of sections about lessons, normalised.
const LESSONS: &[&str] = &[
    "implementation insights",
    "key learnings",
    "learnings",
    "lessons",
    "lessons learned",
    "technical insights",
];

/// Labels of bullets that only say what was done about the issue before them.
const REMEDIES: &[&str] = &["action taken", "fix", "outcome", "resolution", "solution"];

/// Returns the notes of a summary.
pub(super) fn issue_notes(outline: &Outline<'_>) -> Vec<IssueNote> {
    let mut found = Vec::new();
    let mut known = HashSet::new();
    let sections = outline.sections().iter();
    for section in sections.filter(|section| section.level > 1) {
        let title = plain(&section.title);
        let is_lesson = LESSONS.contains(&title.as_str());
        if is_lesson || ISSUES.contains(&title.as_str()) {
            add(&mut found, &mut known, outline, section, is_lesson);
        }
    }
    found
}

fn add(
    found: &mut Vec<IssueNote>,
    known: &mut HashSet<String>,
    outline: &Outline<'_>,
    section: &Section,
    is_lesson: bool,
) {
    // One inside another adds nothing, so that they stay sorted by both ends.
    let mut good_news: Vec<Range<usize>> = Vec::new();
    for inner in outline.subsections(section) {
        let is_inside = good_news.last().is_some_and(|last| inner.heading.start < last.end);
        if !is_inside && is_good_news(&inner.title) {
            good_news.push(inner.whole.clone());
        }
    }
    let is_left_out = |block: &&Block| {
        let at = good_news.partition_point(|range| range.end <= block.range.start);
        good_news.get(at).is_some_and(|range| range.contains(&block.range.start))
    };
    let blocks = outline.blocks(&section.whole).iter();
    let blocks: Vec<&Block> = blocks.filter(|block| !is_left_out(block)).collect();
    let mut is_first = true;
    for (index, block) in blocks.iter().enumerate() {
        let text = match &block.content {
            BlockContent::Item(item) if item.depth == 0 => {
                with_nested(&item.text, &blocks[index + 1..])
            }
            BlockContent::Paragraph => one_line(outline.slice(&block.range)),
            _ => continue,
        };
        // A list that begins with "None" goes on to say what went well.
        if is_nothing(&text) && is_first {
            return;
        }
        is_first = false;
        let is_note = !is_nothing(&text) && !is_lead(&text) && !is_remedy(&text);
        if is_note && !is_rule(&text) && known.insert(text.clone()) {
            found.push(IssueNote { text, is_lesson, line: block.line });
        }
    }
}

/// Returns the text of a bullet, and after one that is only a title, that of the bullets below it.
fn with_nested(own: &str, following: &[&Block]) -> String {
    let title = own.trim_end_matches(':');
    let is_bold = title
        .strip_prefix("**")
        .and_then(|rest| rest.strip_suffix("**"))
        .is_some_and(|inner| !inner.contains("**"));
    if !is_bold && !is_lead(own) {
        return own.to_owned();
    }
    let nested: Vec<&str> = following
        .iter()
        .map_while(|block| match &block.content {
            BlockContent::Item(item) if item.depth > 0 => Some(item),
            _ => None,
        })
        .filter(|item| item.depth == 1)
        .map(|item| item.text.trim_end_matches('.'))
        .collect();
    if nested.is_empty() {
        return own.to_owned();
    }
    let title = title.trim_matches('*').trim_end_matches(':');
    format!("{title}: {}", nested.join(". "))
}

/// Returns whether a heading introduces what went well.
fn is_good_news(title: &str) -> bool {
    let title = plain(title);
    ["what worked", "what went well", "successes"].iter().any(|start| title.starts_with(start))
}

/// Returns whether a text only says what was done about an issue: `Resolution: …`, `**Fix:** …`.
fn is_remedy(text: &str) -> bool {
    text.split_once(':').is_some_and(|(label, _)| {
        let label = label.trim_matches(|c: char| !c.is_alphanumeric());
        REMEDIES.iter().any(|remedy| remedy.eq_ignore_ascii_case(label))
    })
}

/// Returns a title in lower case, without punctuation, numbers and anything in brackets.
fn plain(title: &str) -> String {
    let title = title.split(['(', '[', ':']).next().unwrap_or_default();
    let words = title.split_whitespace();
    let words: Vec<&str> = words
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| word.contains(char::is_alphabetic))
        .collect();
    words.join(" ").to_lowercase()
}

/// Returns whether a text says that there were no issues.
fn is_nothing(text: &str) -> bool {
    let lower = text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let starts = ["none", "no issues", "no problems", "no blockers", "n/a", "nothing"];
    non_placeholder(text).is_none()
        || (starts.iter().any(|start| lower.starts_with(start)) && !lower.starts_with("none of "))
}

/// Returns whether a line is only a rule, or the signature of the file.
fn is_rule(text: &str) -> bool {
    !text.contains(char::is_alphabetic) || text.starts_with("*Phase:") || text.starts_with("*Plan")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::markdown::FrontMatter;

    fn texts(text: &str) -> Vec<(String, usize)> {
        let front = FrontMatter::parse(text, Path::new("a.md")).value;
        let notes = issue_notes(&Outline::parse(text, front.range.end));
        notes.into_iter().map(|note| (note.text, note.line)).collect()
    }

    #[test]
    fn issues_are_found_under_their_headings() {
        let text = "---\nphase: 1\n---\n# T\n\n## Issues Encountered\n\n- A lock held `x.dll`.\n  - killed it\n\
                    - None other\n\nThe build was slow.\n\n---\n*Phase: 01*\n\n## Next\n- no\n";
        assert_eq!(
            texts(text),
            [("A lock held `x.dll`.".to_owned(), 8), ("The build was slow.".to_owned(), 12)]
        );
        for none in ["None", "None - all fine.", "- No issues.", "N/A"] {
            let text = format!("## Issues\n\n{none}\n\n- all is checked\n");
            assert_eq!(texts(&text), [], "{none}");
        }
    }

    #[test]
    fn a_title_goes_with_its_bullets_and_labels_are_no_notes() {
        let text = "## Issues Encountered\n\n**Earlier work:**\n- Half of it was there\n- Resolution: did the rest\n- **Fix:** wrote it\n\n\
                    - **Locks on boats**\n  - A lock needs a key.\n    - of steel\n  - Keys rust\n- Details:\n  - none of them float\n\n**Alone**\n";
        let found: Vec<String> = texts(text).into_iter().map(|(text, _)| text).collect();
        assert_eq!(
            found,
            [
                "Half of it was there",
                "Locks on boats: A lock needs a key. Keys rust",
                "Details: none of them float",
                "**Alone**"
            ]
        );
    }

    #[test]
    fn lessons_are_not_listed_as_issues() {
        let text = "## Lessons Learned\n\n### What Worked Well\n\n1. **Small boats**\n   - They float\n\n### Technical Insights\n\n1. **Tides**\n   - They never wait\n\n## Issues\n\n- It rained\n";
        let notes = issue_notes(&Outline::parse(text, 0));
        let found: Vec<(&str, bool)> =
            notes.iter().map(|note| (note.text.as_str(), note.is_lesson)).collect();
        assert_eq!(found, [("Tides: They never wait", true), ("It rained", false)]);
    }
}
