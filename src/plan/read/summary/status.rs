//! Parses the outcome of a plan from its summary.

use std::path::Path;

use serde::Serialize;

use crate::markdown::front_matter;
use crate::plan::read::document::Document;
use crate::plan::read::{Count, json_lines};
use crate::text::strip_prefix_ignore_case;

/// The outcome of a plan according to its summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SummaryStatus {
    /// All of it is done.
    Complete,
    /// Some of it is done, or it is waiting.
    Partial,
    /// It could not be done.
    Failed,
}

const COMPLETE: &[&str] = &["complete", "done", "finished", "success", "shipped", "passed"];
const PARTIAL: &[&str] = &[
    "partial", "incomplete", "in progress", "in_progress", "in-progress", "blocked", "pending",
    "paused", "not complete", "not started", "not_started", "wip", "started", "awaiting",
];
const FAILED: &[&str] = &["fail", "abort", "abandon", "error"];

/// Parts of headings under which a status is that of a task, an issue or a check, not of the plan.
const PARTS: &[&str] =
    &["task", "issue", "deviation", "checkpoint", "verif", "test", "check", "criteria"];

impl SummaryStatus {
    /// Parses a status word: `complete`, `COMPLETED`, `completed_verified`, `✅ Done`, `partial`, `blocked`.
    pub fn from_word(text: &str) -> Option<Self> {
        let word = text.trim_start_matches(|c: char| !c.is_alphanumeric());
        let starts = |words: &[&str]| {
            words.iter().any(|start| strip_prefix_ignore_case(word, start).is_some())
        };
        if starts(COMPLETE) {
            Some(Self::Complete)
        } else if starts(PARTIAL) || is_at_checkpoint(word) {
            Some(Self::Partial)
        } else if starts(FAILED) {
            Some(Self::Failed)
        } else {
            None
        }
    }

    /// Parses only the status of a summary, without a full parse if possible.
    ///
    /// The result is the same as that of [`Summary::parse`](crate::plan::read::Summary::parse).
    pub fn from_text(text: &str) -> Option<Self> {
        let whole = || {
            let document = Document::parse(text, Path::new(""), &mut Vec::new());
            of_document(&document).0
        };
        if json_lines::is_json_lines(text) {
            return whole();
        }
        match front_matter::scan(text, ["status"]) {
            Some(([Some(word)], _)) => Self::from_word(word),
            Some(([None], end)) => in_body(&text[end..]),
            None => whole(),
        }
    }
}

/// Returns the status of a file, and the status word if it is unknown.
pub(super) fn of_document<'d>(
    document: &'d Document<'_>,
) -> (Option<SummaryStatus>, Option<&'d str>) {
    match document.front.text(&["status"]) {
        Some(word) => {
            let status = SummaryStatus::from_word(word);
            (status, Some(word).filter(|_| status.is_none()))
        }
        None => (in_body(&document.outline.text()[document.body()]), None),
    }
}

/// Returns whether a status stops at a checkpoint: `checkpoint:human-verify`, `stopped at checkpoint`.
fn is_at_checkpoint(word: &str) -> bool {
    const STARTS: &[&str] = &["checkpoint", "at checkpoint", "at-checkpoint", "stopped"];
    const CLEARED: &[&str] = &["approved", "passed", "cleared", "verified", "complete"];
    let lower = word.to_lowercase();
    STARTS.iter().any(|start| lower.starts_with(start))
        && !CLEARED.iter().any(|word| lower.contains(word))
}

/// Finds the first line of a text that states the plan's status.
///
/// ```text
/// ## Status: COMPLETE    **Status:** Complete    **Plan Status:** Complete    *Status: done*
/// ## Status (and the word on the next line)      | Status | Complete |
/// ```
fn in_body(body: &str) -> Option<SummaryStatus> {
    // Most summaries have no such line, and searching for the word is cheaper than parsing lines.
    if !["tatus", "STATUS", "asks completed", "asks Completed"]
        .iter()
        .any(|word| body.contains(word))
    {
        return None;
    }
    let mut has_open_tasks = false;
    let mut is_code = false;
    let mut is_part = false;
    let mut is_next = false;
    for line in body.lines() {
        let content = line.trim_start();
        if content.starts_with("```") || content.starts_with("~~~") {
            is_code = !is_code;
        }
        if is_code || content.is_empty() {
            continue;
        }
        if content.starts_with('#') {
            let title = content.trim_start_matches('#').trim();
            let word = labelled(title);
            is_next = word.is_some_and(str::is_empty);
            is_part = word.is_none() && names_part(title);
            if let Some(status) = word.and_then(SummaryStatus::from_word) {
                return Some(status);
            }
            continue;
        }
        // The text after a horizontal rule is about the whole file again.
        is_part &= line.trim_end() != "---";
        let is_outermost = line.len() - content.len() < 2;
        let word = if is_next {
            Some(content)
        } else {
            field(content)
                .filter(|(name, _)| is_outermost && (!is_part || name.len() > "status".len()))
                .map(|(_, word)| word)
        };
        is_next = false;
        has_open_tasks |= is_outermost && !is_part && counts_open_tasks(content);
        if let Some(status) = word.and_then(SummaryStatus::from_word) {
            return Some(status);
        }
    }
    has_open_tasks.then_some(SummaryStatus::Partial)
}

/// Returns whether a line counts fewer finished tasks than there are: `**Tasks completed:** 3 / 4`.
fn counts_open_tasks(content: &str) -> bool {
    let label = content.trim_start_matches(['-', '*', '+', '|', ' ']);
    let Some(value) = strip_prefix_ignore_case(label, "tasks completed") else {
        return false;
    };
    let lower = value.to_lowercase();
    let count = Count::parse(lower.trim_start_matches([':', '*', ' ', '|']));
    count.is_some_and(|count| {
        let has = |words: &[&str]| words.iter().any(|word| count.rest.contains(word));
        let is_dropped = has(&["not needed", "skipped", "n/a"]) && !has(&["block", "fail"]);
        count.is_open() && !is_dropped
    })
}

/// Returns the text after `Status` in a heading: `COMPLETE` for `Status: COMPLETE`, an empty one for
/// `Status`.
fn labelled(title: &str) -> Option<&str> {
    let mut names = ["plan status", "status"].iter();
    let rest = names.find_map(|name| strip_prefix_ignore_case(title, name))?;
    let rest = rest.trim_start();
    if rest.is_empty() {
        return Some(rest);
    }
    rest.strip_prefix([':', '-', '\u{2013}', '\u{2014}'])
}

fn names_part(title: &str) -> bool {
    let title = title.to_lowercase();
    PARTS.iter().any(|part| title.contains(part))
}

/// Returns the name and the value of a line with a status label.
fn field(content: &str) -> Option<(&str, &str)> {
    if !content.contains("tatus") && !content.contains("STATUS") {
        return None;
    }
    let content = content.trim_start_matches(['-', '*', '+', '_', '>', '|', ' ']);
    let (name, value) = content.split_once([':', '|'])?;
    let name = name.trim_matches(['*', '_', ' ']);
    let is_status = ["status", "plan status", "overall status", "execution status"]
        .iter()
        .any(|wanted| name.eq_ignore_ascii_case(wanted));
    is_status.then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(text: &str) -> Option<SummaryStatus> {
        let quick = SummaryStatus::from_text(text);
        let document = Document::parse(text, Path::new("a.md"), &mut Vec::new());
        assert_eq!(quick, of_document(&document).0, "{text}");
        quick
    }

    #[test]
    fn status_words_map_to_complete_partial_or_failed() {
        use SummaryStatus::{Complete, Failed, Partial};
        for (word, status) in [
            ("complete", Some(Complete)),
            ("COMPLETE", Some(Complete)),
            ("completed_verified", Some(Complete)),
            ("complete-local", Some(Complete)),
            ("completed_with_blocked_acceptance", Some(Complete)),
            ("\u{2705} Done", Some(Complete)),
            ("**Complete** \u{2713}", Some(Complete)),
            ("partial", Some(Partial)),
            ("checkpoint", Some(Partial)),
            ("checkpoint:human-verify", Some(Partial)),
            ("Checkpoint \u{2014} waiting for approval", Some(Partial)),
            ("Checkpoint approved", None),
            ("blocked_external", Some(Partial)),
            ("in progress", Some(Partial)),
            ("not complete", Some(Partial)),
            ("failed", Some(Failed)),
            ("abandoned", Some(Failed)),
            ("resolved", None),
            ("", None),
        ] {
            assert_eq!(SummaryStatus::from_word(word), status, "{word}");
        }
    }

    #[test]
    fn the_quick_look_agrees_with_the_whole_read() {
        let complete = Some(SummaryStatus::Complete);
        for (text, status) in [
            ("---\nphase: 1\nstatus: complete\n---\n", complete),
            ("\u{feff}\r\n<!-- x -->\r\n---\r\nStatus: \"done\" # now\r\n---\r\n", complete),
            ("---\nstatus: >-\n  completed\n---\n", complete),
            ("---\n  phase: 1\n  status: complete\n---\n", complete),
            ("---\n{status: complete}\n---\n", complete),
            ("---\nphase: 1\n---\n\n---\nstatus: complete\n---\n", complete),
            ("---\ncoverage:\n  - status: failed\n---\n# T\n", None),
            ("---\nstatus: odd\n---\n**Status:** complete\n", None),
            ("---\nstatus:\n---\n**Status:** complete\n", complete),
            ("---\nphase: 1\n---\n# T\n\n## Status: COMPLETE\n", complete),
            ("# T\n\n## Status\n\nComplete\n", complete),
            ("# T\n**Plan Status:** Complete \u{2705}\n", complete),
            ("# T\n\n- **Status:** \u{2713} Complete\n", complete),
            ("# T\n\n| Status | Complete |\n", complete),
            ("# T\n\n*Status: Complete*\n", complete),
            ("# T\n\n### Task 1\n- **Status:** Complete\n", None),
            ("# T\n\n```\nstatus: complete\n```\n", None),
            ("# T\n\n- Phase 3 Status: complete\n", None),
            ("# T\n\n## Issues\n\n- Status: done\n\n---\n*Status: Complete*\n", complete),
            ("# T\n\n- **Tasks completed:** 3 / 4 (paused)\n", Some(SummaryStatus::Partial)),
            ("# T\n\n- Tasks completed: 4/4\n", None),
            (
                "# T\n\n- **Tasks Completed:** 3/4 (1 skipped because blocked)\n",
                Some(SummaryStatus::Partial),
            ),
            ("# T\n\n- Milestone tasks completed: 4/12\n", None),
            ("# T\n\n```\nTasks completed: 0/3\n```\n", None),
            ("# T\n\n- Tasks completed: 2/3 (task 3 not needed)\n", None),
            ("# T\n\n**Tasks completed:** 2 of 3\n**Status:** complete\n", complete),
            ("{\"p\":\"1\",\"s\":\"complete\"}\n", complete),
            ("", None),
        ] {
            assert_eq!(both(text), status, "{text}");
        }
    }
}
