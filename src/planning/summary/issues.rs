//! Reads the notes on issues from a summary, which `Summary` has no field for.

use std::collections::HashSet;

use crate::markdown::BlockContent;
use crate::markdown::Outline;
use crate::markdown::Section;
use crate::planning::non_placeholder;
use crate::planning::summary::body_deviations::MAX_LISTED;
use crate::text::one_line;

/// A bullet or paragraph under `Issues Encountered` and the like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueNote {
    /// Its text on one line.
    pub text: String,
    /// Line number in the summary, from 1.
    pub line: usize,
}

/// Headings of sections about issues, normalised.
const ISSUES: &[&str] = &[
    "issues encountered", "issues", "problems encountered", "problems", "known issues", "blockers",
    "blocked", "lessons learned", "challenges", "gotchas",
];

/// Returns the notes of a summary, and the number of notes beyond [`MAX_LISTED`].
pub(super) fn issue_notes(outline: &Outline<'_>) -> (Vec<IssueNote>, usize) {
    let mut found = Vec::new();
    let mut known = HashSet::new();
    let sections = outline.sections().iter();
    for section in sections.filter(|section| section.level > 1) {
        if ISSUES.contains(&plain(&section.title).as_str()) {
            add(&mut found, &mut known, outline, section);
        }
    }
    let left_out = found.len().saturating_sub(MAX_LISTED);
    found.truncate(MAX_LISTED);
    (found, left_out)
}

fn add(
    found: &mut Vec<IssueNote>,
    known: &mut HashSet<String>,
    outline: &Outline<'_>,
    section: &Section,
) {
    let mut is_first = true;
    for block in outline.blocks(&section.whole) {
        let text = match &block.content {
            BlockContent::Item(item) if item.depth == 0 => item.text.clone(),
            BlockContent::Paragraph => one_line(outline.slice(&block.range)),
            _ => continue,
        };
        // A list that begins with "None" goes on to say what went well.
        if is_nothing(&text) && is_first {
            return;
        }
        is_first = false;
        let is_issue = !is_nothing(&text) && !text.ends_with(':') && !is_rule(&text);
        if is_issue && known.insert(text.clone()) {
            found.push(IssueNote {
                text,
                line: block.line,
            });
        }
    }
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
    let lower = text
        .trim_start_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase();
    let starts = [
        "none", "no issues", "no problems", "no blockers", "n/a", "nothing",
    ];
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
        let (notes, _) = issue_notes(&Outline::parse(text, front.range.end));
        notes
            .into_iter()
            .map(|note| (note.text, note.line))
            .collect()
    }

    #[test]
    fn issues_are_found_under_their_headings() {
        let text = "---\nphase: 1\n---\n# T\n\n## Issues Encountered\n\n- A lock held `x.dll`.\n  - killed it\n\
                    - None other\n\nThe build was slow.\n\n---\n*Phase: 01*\n\n## Next\n- no\n";
        assert_eq!(
            texts(text),
            [
                ("A lock held `x.dll`.".to_owned(), 8),
                ("The build was slow.".to_owned(), 12)
            ]
        );
        for none in ["None", "None - all fine.", "- No issues.", "N/A"] {
            let text = format!("## Issues\n\n{none}\n\n- all is checked\n");
            assert_eq!(texts(&text), [], "{none}");
        }
    }
}
