//! What a summary says in its own words about trouble, where its model has no field for it.

use std::path::Path;

use crate::markdown::Content;
use crate::markdown::FrontMatter;
use crate::markdown::Label;
use crate::markdown::Outline;
use crate::markdown::Section;
use crate::planning::present;

/// Passages of a summary's body.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct OwnWords {
    /// The bullets and paragraphs under `Issues Encountered` and the like.
    pub(crate) issues: Vec<String>,
    /// What stands under each deviation.
    pub(crate) details: Vec<Detail>,
}

/// What the lines under a deviation say of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// The deviation's own line.
    pub title: String,
    /// Why it came to it: `**Issue:** …`.
    pub issue: Option<String>,
    /// The files it touched: `**Files modified:** a.rs, b.rs`.
    pub files: Vec<String>,
}

/// Words that a heading over trouble begins with.
const ISSUES: &[&str] = &[
    "issues encountered",
    "issues",
    "problems encountered",
    "problems",
    "known issues",
    "blockers",
    "blocked",
    "lessons learned",
    "challenges",
    "gotchas",
];
const ISSUE_LABELS: &[&str] = &[
    "issue",
    "problem",
    "root cause",
    "reason",
    "rationale",
    "why",
];
const FILE_LABELS: &[&str] = &[
    "files modified",
    "files changed",
    "files created",
    "files",
    "file",
];

impl OwnWords {
    pub(crate) fn of(text: &str, path: &Path) -> Self {
        // Its warnings are the summary's own, and were collected when that was read.
        let front = FrontMatter::parse(text, path).value;
        let outline = Outline::parse(text, front.range.end);
        let mut own = Self::default();
        for section in outline
            .sections()
            .iter()
            .filter(|section| section.level > 1)
        {
            let title = plain(&section.title);
            if ISSUES.contains(&title.as_str()) {
                own.add_issues(&outline, section);
            } else if title.starts_with("deviation") {
                own.add_details(&outline, section);
            }
        }
        own
    }

    fn add_issues(&mut self, outline: &Outline<'_>, section: &Section) {
        let mut is_first = true;
        for block in outline.blocks(&section.whole) {
            let text = match &block.content {
                Content::Item(item) if item.depth == 0 => item.text.clone(),
                Content::Paragraph => one_line(outline.slice(&block.range)),
                _ => continue,
            };
            // What is listed under "None" is what went well.
            if is_nothing(&text) && is_first {
                return;
            }
            is_first = false;
            let is_new = !self.issues.contains(&text);
            if is_new && !is_nothing(&text) && !text.ends_with(':') && !is_rule(&text) {
                self.issues.push(text);
            }
        }
    }

    fn add_details(&mut self, outline: &Outline<'_>, section: &Section) {
        for part in std::iter::once(section).chain(outline.subsections(section)) {
            if part.heading != section.heading {
                self.open(&part.title);
            }
            for block in outline.blocks(&part.own) {
                let text = outline.slice(&block.range);
                let first = text.lines().next().unwrap_or_default();
                match Label::of(first, 0, 0) {
                    // `**DEVN-01 (minor):** …` is an entry, `**Found during:** …` tells more of one.
                    Some(label) if !label.name.starts_with("DEVN") => self.detail(&label),
                    _ if text.starts_with("**") => self.open(&one_line(text)),
                    _ => {}
                }
            }
        }
        self.details
            .retain(|detail| detail.issue.is_some() || !detail.files.is_empty());
    }

    fn open(&mut self, title: &str) {
        self.details.push(Detail {
            title: title.to_owned(),
            ..Detail::default()
        });
    }

    /// Takes a line about the deviation above it.
    fn detail(&mut self, label: &Label) {
        let name = label.name.to_lowercase();
        let is_one_of = |names: &[&str]| names.contains(&name.as_str());
        if let Some(detail) = self.details.last_mut() {
            if is_one_of(ISSUE_LABELS) && detail.issue.is_none() {
                detail.issue = present(&label.value).map(str::to_owned);
            } else if is_one_of(FILE_LABELS) {
                detail
                    .files
                    .extend(label.value.split([',', ';']).filter_map(file));
            }
        }
    }
}

/// Returns a title in lower case without marks, numbers and what stands in brackets.
fn plain(title: &str) -> String {
    let title = title.split(['(', '[', ':']).next().unwrap_or_default();
    let words = title.split_whitespace();
    let words: Vec<&str> = words
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| word.contains(char::is_alphabetic))
        .collect();
    words.join(" ").to_lowercase()
}

/// Tells whether a text says that there was no trouble.
fn is_nothing(text: &str) -> bool {
    let lower = text
        .trim_start_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase();
    let starts = [
        "none",
        "no issues",
        "no problems",
        "no blockers",
        "n/a",
        "nothing",
    ];
    present(text).is_none()
        || (starts.iter().any(|start| lower.starts_with(start)) && !lower.starts_with("none of "))
}

/// Tells whether a line only draws a line, or signs the file.
fn is_rule(text: &str) -> bool {
    !text.contains(char::is_alphabetic) || text.starts_with("*Phase:") || text.starts_with("*Plan")
}

/// Returns the path at the front of one entry of a list of files: `src/a.rs (new)`.
fn file(entry: &str) -> Option<String> {
    let word = entry.split_whitespace().next()?;
    let path = word.trim_matches(|c: char| "`*\"'".contains(c));
    let is_path = path.contains(['.', '/']) && path.contains(char::is_alphanumeric);
    is_path.then(|| path.to_owned())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(text: &str) -> OwnWords {
        OwnWords::of(text, Path::new("a.md"))
    }

    #[test]
    fn trouble_is_found_under_its_headings() {
        let text = "---\nphase: 1\n---\n# T\n\n## Issues Encountered\n\n- A lock held `x.dll`.\n  - killed it\n\
                    - None other\n\nThe build was slow.\n\n---\n*Phase: 01*\n\n## Next\n- no\n";
        assert_eq!(
            own(text).issues,
            ["A lock held `x.dll`.", "The build was slow."]
        );
        for none in ["None", "None - all fine.", "- No issues.", "N/A"] {
            let text = format!("## Issues\n\n{none}\n\n- all is checked\n");
            assert_eq!(own(&text), OwnWords::default(), "{none}");
        }
    }

    #[test]
    fn the_lines_under_a_deviation_say_why_and_where() {
        let text = "## Deviations from Plan\n\n### Auto-fixed Issues\n\n**1. [Rule 1 - Bug] Fixed it**\n\
                    - **Found during:** Task 1\n- **Issue:** It was: broken\n\
                    - **Files modified:** `src/b.rs`, src/a.rs (new), None in repo\n\n---\n\n\
                    ### DEVN-02: Moved\n- **Files modified:** c.rs\n\n**Total deviations:** 2\n\n\
                    ## Files\n- **Files modified:** other.rs\n";
        let detail = |title: &str, issue: Option<&str>, files: &[&str]| Detail {
            title: title.to_owned(),
            issue: issue.map(str::to_owned),
            files: files.iter().map(|file| (*file).to_owned()).collect(),
        };
        assert_eq!(
            own(text).details,
            [
                detail(
                    "**1. [Rule 1 - Bug] Fixed it**",
                    Some("It was: broken"),
                    &["src/b.rs", "src/a.rs"]
                ),
                detail("DEVN-02: Moved", None, &["c.rs"]),
            ]
        );
    }
}
