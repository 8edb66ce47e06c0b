//! Compares two groups of plans, and words the result with its figures.

use serde::Serialize;

use crate::clock::Minutes;
use crate::patterns::insights::median;
use crate::patterns::{Rate, fisher_exact, mann_whitney};
use crate::search::to_f64;
use crate::text::capitalized;

/// Minimum number of plans in each group; smaller groups are not compared, since a comparison would only add a test.
const MIN_PLANS: usize = 5;

/// Accepted share of chance findings among the differences reported (the false discovery rate).
const FALSE_DISCOVERIES: f64 = 0.1;

/// The question that a comparison answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonQuestion {
    /// Do larger plans deviate more often, by tasks?
    DeviationsByTasks,
    /// Do larger plans deviate more often, by files?
    DeviationsByFiles,
    /// Are larger plans completed as often, by tasks?
    CompletionByTasks,
    /// Are larger plans completed as often, by files?
    CompletionByFiles,
    /// Do plans that touch a certain file deviate more often?
    DeviationsByFile,
    /// Do larger plans take longer, by tasks?
    DurationByTasks,
}

impl ComparisonQuestion {
    /// Returns the verb of the statement, and the property compared.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::DeviationsByTasks => ("deviated", "deviations by tasks"),
            Self::DeviationsByFiles => ("deviated", "deviations by files"),
            Self::CompletionByTasks => ("were completed", "completion by tasks"),
            Self::CompletionByFiles => ("were completed", "completion by files"),
            Self::DeviationsByFile => ("deviated", "deviations by file"),
            Self::DurationByTasks => ("took", "duration by tasks"),
        }
    }

    /// Returns whether it is about how often plans deviated; the others are about what was completed, and how fast.
    pub(crate) fn is_about_deviations(self) -> bool {
        self.words().0 == "deviated"
    }
}

/// One of two compared groups.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// The property that its plans share: `plans with 5 or more tasks`.
    pub name: String,
    /// Number of its plans for which the answer is known.
    pub plans: usize,
    /// The share of them that has the property in question, for a comparison of rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Their median duration, for a comparison of durations with any known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_minutes: Option<Minutes>,
}

/// A comparison of two groups.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The question that it answers.
    pub question: ComparisonQuestion,
    /// The file that the group's plans touched, for a question about one file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The group that the question is about.
    pub group: Group,
    /// The group that it is compared with.
    pub other: Group,
    /// The p-value: the probability of a difference at least this large by chance, from 0 to 1.
    pub p: f64,
    /// Whether the difference is significant after correction for all comparisons of the run.
    pub is_lesson: bool,
    /// The difference in words: `Plans with 5 or more tasks deviated in 7 of 8, smaller ones in 3 of 15`.
    pub statement: String,
    /// The property compared: `deviations by tasks`.
    pub subject: String,
}

/// Compares two rates by Fisher's exact test.
pub(super) fn compare_rates(
    question: ComparisonQuestion,
    group: (String, Rate),
    other: (String, Rate),
) -> Comparison {
    let (verb, _) = question.words();
    let p = fisher_exact(group.1, other.1);
    let statement = format!(
        "{} {verb} in {} of {}, {} in {} of {}",
        group.0, group.1.count, group.1.of, other.0, other.1.count, other.1.of
    );
    let of = |(name, rate): (String, Rate)| Group {
        name,
        plans: rate.of,
        rate: Some(rate),
        median_minutes: None,
    };
    compared(question, of(group), of(other), p, &statement)
}

/// Compares two sets of durations by the Mann-Whitney test.
pub(super) fn compare_durations(
    question: ComparisonQuestion,
    group: (String, Vec<f64>),
    other: (String, Vec<f64>),
) -> Comparison {
    let (verb, _) = question.words();
    let p = mann_whitney(&group.1, &other.1);
    let figure =
        |minutes: &[f64]| median(minutes).map_or("unknown".to_owned(), |median| median.to_string());
    let statement = format!(
        "{} {verb} {}, {} {} (medians over {} and {} plans)",
        group.0,
        figure(&group.1),
        other.0,
        figure(&other.1),
        group.1.len(),
        other.1.len(),
    );
    let of = |(name, minutes): (String, Vec<f64>)| Group {
        name,
        plans: minutes.len(),
        rate: None,
        median_minutes: median(&minutes),
    };
    compared(question, of(group), of(other), p, &statement)
}

fn compared(
    question: ComparisonQuestion,
    group: Group,
    other: Group,
    p: f64,
    statement: &str,
) -> Comparison {
    Comparison {
        question,
        file: None,
        group,
        other,
        p,
        is_lesson: false,
        statement: capitalized(statement),
        subject: question.words().1.to_owned(),
    }
}

impl Comparison {
    /// Returns whether both groups are large enough to compare.
    pub fn is_evidence(&self) -> bool {
        is_evidence(self.group.plans, self.other.plans)
    }

    /// Returns the number of plans in both groups.
    pub fn plans(&self) -> usize {
        self.group.plans + self.other.plans
    }

    /// Returns the p-value as printed: `p = 0.006`, `p < 0.001`.
    pub fn p_value_text(&self) -> String {
        match self.p {
            p if p < 0.001 => "p < 0.001".to_owned(),
            p => format!("p = {p:.3}"),
        }
    }
}

/// Marks the significant differences: Benjamini-Hochberg over all comparisons of a run.
///
/// Comparisons with a group that is too small are not tested and not counted.
pub(super) fn mark_significant(comparisons: &mut [Comparison]) {
    let tested = comparisons.iter().filter(|one| one.is_evidence());
    let mut p_values: Vec<f64> = tested.map(|one| one.p).collect();
    p_values.sort_by(f64::total_cmp);
    let all = to_f64(p_values.len());
    let within = |(rank, p): &(usize, &f64)| **p <= to_f64(rank + 1) / all * FALSE_DISCOVERIES;
    let Some(limit) = p_values.iter().enumerate().rfind(within) else {
        return;
    };
    for one in comparisons.iter_mut() {
        one.is_lesson = one.is_evidence() && one.p <= *limit.1;
    }
}

/// Returns whether both groups are large enough to compare.
pub(super) fn is_evidence(one: usize, other: usize) -> bool {
    one.min(other) >= MIN_PLANS
}
