//! Reads the status of a check from a report or a stage file.

use std::path::Path;

use crate::markdown::{FrontMatter, Node, front_matter};
use crate::plan::read::check::outcome::{CheckKind, CheckOutcome, TextOf};
use crate::text::quantity;

/// Returns the stage from a line `stage=plan`, or from a file that contains only the word.
pub(super) fn stage_word(text: &str) -> &str {
    let lines = || text.lines().map(str::trim);
    lines()
        .find_map(|line| line.strip_prefix("stage="))
        .or_else(|| lines().find(|line| !line.is_empty()))
        .unwrap_or_default()
        .trim()
}

/// Returns whether a verification is a repeated one: its gaps remained or appeared after the closure.
pub(super) fn is_repeated(path: &Path, text: TextOf<'_>) -> bool {
    let text = text(path).unwrap_or_default();
    let front = FrontMatter::parse(&text, path).value;
    // `re_verification: false` and an empty field say that it is the first one.
    let field = front.get(&["re_verification"]);
    let is_first = |node: &Node| node.flat().is_empty() || node.as_text() == Some("false");
    field.is_some_and(|node| !is_first(node))
}

/// The status that a report states.
pub(super) struct StatedStatus {
    /// Its words, in lower case, with the counts that contradict them: `partial, 1 failed`.
    pub(super) words: String,
    /// What it means, if it is known.
    pub(super) outcome: Option<CheckOutcome>,
}

impl StatedStatus {
    fn from_word(text: &str) -> Self {
        let words = text.trim_matches(['*', '`', ' ', '"']).to_lowercase();
        let outcome = outcome(&words);
        Self { words, outcome }
    }

    /// Reads the status in a report's front matter, otherwise the one under a label of its body.
    pub(super) fn from_report(kind: CheckKind, text: &str, path: &Path) -> Option<Self> {
        const FIELDS: [&str; 5] = ["issues", "issues_fixed", "failed", "status", "result"];
        // A user test that is partial goes on, whatever failed so far.
        let failed_of = |failed| if kind == CheckKind::Uat { None } else { failed };
        if let Some((fields, end)) = front_matter::scan(text, FIELDS) {
            let [issues, fixed, failed, status, result] = fields;
            return Self::from_fields(issues, fixed, failed_of(failed), status.or(result))
                .or_else(|| in_body(&text[end..]));
        }
        let front = FrontMatter::parse(text, path).value;
        let field = |name: &str| front.text(&[name]);
        let status = field("status").or_else(|| field("result"));
        Self::from_fields(
            field("issues"),
            field("issues_fixed"),
            failed_of(field("failed")),
            status,
        )
        .or_else(|| in_body(&text[front.range.end..]))
    }

    /// Holds the status against the counts of the report.
    fn from_fields(
        issues: Option<&str>,
        fixed: Option<&str>,
        failed: Option<&str>,
        status: Option<&str>,
    ) -> Option<Self> {
        let stated = Self::from_word(status?);
        let count = |field: Option<&str>| field.and_then(|count| count.trim().parse::<u32>().ok());
        let open = count(issues).unwrap_or(0).saturating_sub(count(fixed).unwrap_or(0));
        let failed = count(failed).unwrap_or(0);
        let left = match stated.outcome {
            // A user test session is complete once everything has been tried, regardless of the findings.
            Some(CheckOutcome::Passed) if open > 0 => quantity(open as usize, "open issue"),
            // A verification that is `partial` because something failed does not wait for a person.
            Some(CheckOutcome::Pending) if stated.words.starts_with("partial") && failed > 0 => {
                format!("{failed} failed")
            }
            _ => return Some(stated),
        };
        Some(Self {
            words: format!("{}, {left}", stated.words),
            outcome: Some(CheckOutcome::Issues),
        })
    }
}

fn in_body(body: &str) -> Option<StatedStatus> {
    body.lines().take(40).find_map(|line| {
        let line = line.trim_start_matches(['#', '*', '-', ' ', '|']);
        let (label, value) = line.split_once(':')?;
        let label = label.trim_matches(['*', ' ']).to_lowercase();
        matches!(label.as_str(), "status" | "result" | "verdict")
            .then(|| StatedStatus::from_word(value))
            // A sentence that is not known says nothing.
            .filter(|stated| stated.outcome.is_some())
    })
}

/// The outcomes of status words, matched by prefix.
const OUTCOMES: &[(CheckOutcome, &[&str])] = &[
    (
        CheckOutcome::Issues,
        &[
            "issue", "gap", "fail", "rejected", "needs fix", "needs work", "changes requested",
            "blocked",
        ],
    ),
    (CheckOutcome::Diagnosed, &["diagnosed"]),
    (
        CheckOutcome::Passed,
        &[
            "pass", "all pass", "all clear", "complete", "resolved", "verified", "validated",
            "approved", "accepted", "clean", "ok", "done", "success", "no issue", "no gap",
            "no finding", "no fail", "signed off",
        ],
    ),
    (
        CheckOutcome::Pending,
        &[
            "human", "testing", "partial", "pending", "in progress", "ready", "awaiting",
            "waiting", "not started", "draft", "open", "started",
        ],
    ),
];

fn outcome(status_word: &str) -> Option<CheckOutcome> {
    let bare = status_word.trim_start_matches(|c: char| !c.is_alphanumeric());
    let status_word = bare.replace(['_', '-'], " ");
    let found =
        OUTCOMES.iter().find(|(_, words)| words.iter().any(|word| status_word.starts_with(word)));
    found.map(|(outcome, _)| *outcome)
}
