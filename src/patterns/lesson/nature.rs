//! Classifies deviations: only problems and wrong assumptions of plans belong under `What failed`.

use crate::patterns::lesson::signs::Signs;
use crate::patterns::lesson::signs::starts_with_past_verb;
use crate::patterns::lesson::wording::clean;
use crate::planning::Deviation;

/// The nature of a deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeviationNature {
    /// Something did not work.
    Problem,
    /// The plan made a wrong assumption.
    PlanWrong,
    /// How the work was split, ordered or committed; not a problem.
    Process,
    /// An intentional addition to the plan.
    Addition,
    /// Work that was put off.
    Deferred,
    /// Not a deviation, although listed as one.
    None,
}

impl DeviationNature {
    /// Returns the nature of a deviation; `signs` are those of its whole text.
    pub(crate) fn classify(deviation: &Deviation, signs: Signs) -> Self {
        let text = deviation.text.trim_start_matches(['*', '-', ' ']);
        let lower = deviation.text.to_lowercase();
        let kind = deviation.kind.as_deref().unwrap_or_default().to_lowercase();
        let has_problem = deviation.issue.is_some() || deviation.cause.is_some();
        let holds_further = signs.environment || signs.error;
        if text.starts_with("~~")
            || text.starts_with(['\u{2713}', '\u{2705}'])
            || lower.contains("no scope creep")
            || lower.contains("resolved:")
            || is_settled(&lower)
        {
            return Self::None;
        }
        if signs.deferred && !has_problem && !holds_further {
            return Self::Deferred;
        }
        if signs.process && !has_problem && !signs.environment {
            return Self::Process;
        }
        let is_added = kind.contains("rule 2")
            || kind.contains("missing critical")
            || kind == "scope"
            || (lower.contains("added ")
                && starts_with_past_verb(without_tag(text))
                && !has_problem);
        if !has_problem && is_choice(&clean(&deviation.text)) {
            return Self::Addition;
        }
        if is_added && !holds_further && !signs.general && !signs.version {
            return Self::Addition;
        }
        let plan_words = [
            "plan ",
            "plan's",
            "research ",
            "spec ",
            "assumed",
            "planned ",
        ];
        if plan_words.iter().any(|word| lower.contains(word)) {
            Self::PlanWrong
        } else {
            Self::Problem
        }
    }

    /// Returns whether it belongs under `What failed`.
    pub(crate) fn is_failure(self) -> bool {
        matches!(self, Self::Problem | Self::PlanWrong)
    }
}

/// Returns whether a text only says what was done, without any problem:
/// `Used the long flag (plan preferred …)`.
fn is_choice(text: &str) -> bool {
    const PROBLEM_WORDS: &[&str] = &[
        "fail",
        "error",
        "missing",
        "not ",
        "n't",
        " no ",
        "without",
        "because",
        "since",
        "instead",
        "unavailable",
        "conflict",
        "broke",
        "wrong",
        "require",
        "reject",
        "only ",
        "never",
        "already",
        "block",
        "crash",
        "incompat",
        "lack",
        "actual",
        "due to",
        "must",
        "warning",
        "prevent",
        "mismatch",
        "but ",
        "avoid",
        "bug",
    ];
    let lower = text.to_lowercase();
    starts_with_past_verb(text) && !PROBLEM_WORDS.iter().any(|word| lower.contains(word))
}

/// Returns whether a text itself says that nothing is wrong: `RESOLVED, not a regression`.
pub(crate) fn is_settled(lower: &str) -> bool {
    const SETTLED: &[&str] = &[
        "not a regression",
        "not a deviation",
        "no deviation",
        "not deviations",
        "\u{2014} resolved",
        "resolved,",
    ];
    SETTLED.iter().any(|words| lower.contains(words))
}

fn without_tag(text: &str) -> &str {
    text.split_once("] ").map_or(text, |(_, rest)| rest)
}
