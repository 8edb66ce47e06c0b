//! Compares two groups of plans, and words the result with its figures.

use serde::Serialize;

use crate::clock::Minutes;
use crate::patterns::insights::median;
use crate::patterns::{Rate, fisher_exact, mann_whitney};
use crate::search::to_f64;
use crate::text::capitalized;

/// Minimum number of plans in each group; smaller groups are not compared, since a comparison would only add a test.
pub(crate) const MIN_PLANS: usize = 5;

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
    /// Did deviations become rarer or more frequent over time?
    DeviationsOverTime,
    /// Did a kind of deviation become rarer or more frequent over time?
    KindOverTime,
    /// Do plans of one effort profile deviate more often?
    DeviationsByEffort,
    /// Do plans of one effort profile take longer?
    DurationByEffort,
    /// Do larger plans take longer, by tasks?
    DurationByTasks,
}

impl ComparisonQuestion {
    /// Returns how its comparison is worded; one of a kind over time names that kind.
    pub(crate) fn spec(self) -> ComparisonSpec<'static> {
        let (verb, subject) = match self {
            Self::DeviationsByTasks => ("deviated", "deviations by tasks"),
            Self::DeviationsByFiles => ("deviated", "deviations by files"),
            Self::CompletionByTasks => ("were completed", "completion by tasks"),
            Self::CompletionByFiles => ("were completed", "completion by files"),
            Self::DeviationsByFile => ("deviated", "deviations by file"),
            Self::DeviationsOverTime | Self::KindOverTime => ("deviated", "deviations over time"),
            Self::DeviationsByEffort => ("deviated", "deviations by effort"),
            Self::DurationByEffort => ("took", "duration by effort"),
            Self::DurationByTasks => ("took", "duration by tasks"),
        };
        ComparisonSpec { question: self, verb, subject }
    }

    /// Returns whether it is about how often plans deviated; the others are about what was completed, and how fast.
    pub(crate) fn is_about_deviations(self) -> bool {
        !matches!(
            self,
            Self::CompletionByTasks
                | Self::CompletionByFiles
                | Self::DurationByEffort
                | Self::DurationByTasks
        )
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

/// The question and the wording of a comparison.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ComparisonSpec<'a> {
    pub(crate) question: ComparisonQuestion,
    /// The verb of the statement: `deviated`.
    pub(crate) verb: &'a str,
    /// The property compared: `deviations by tasks`.
    pub(crate) subject: &'a str,
}

impl ComparisonSpec<'_> {
    /// Compares two rates by Fisher's exact test.
    pub(crate) fn compare_rates(self, group: (String, Rate), other: (String, Rate)) -> Comparison {
        let p = fisher_exact(group.1, other.1);
        let statement = format!(
            "{} {} in {} of {}, {} in {} of {}",
            group.0, self.verb, group.1.count, group.1.of, other.0, other.1.count, other.1.of
        );
        let of = |(name, rate): (String, Rate)| Group {
            name,
            plans: rate.of,
            rate: Some(rate),
            median_minutes: None,
        };
        self.compared(of(group), of(other), p, &statement)
    }

    /// Compares the first plans of a project with the last ones by Fisher's exact test.
    pub(crate) fn over_time(self, first: Rate, last: Rate) -> Comparison {
        let groups = (("the first half".to_owned(), first), ("the second half".to_owned(), last));
        let statement = format!(
            "{} of the first {} plans {}, {} of the last {}",
            first.count, first.of, self.verb, last.count, last.of
        );
        Comparison { statement, ..self.compare_rates(groups.0, groups.1) }
    }

    /// Compares two sets of durations by the Mann-Whitney test.
    pub(crate) fn compare_durations(
        self,
        group: (String, Vec<f64>),
        other: (String, Vec<f64>),
    ) -> Comparison {
        let p = mann_whitney(&group.1, &other.1);
        let figure = |minutes: &[f64]| {
            median(minutes).map_or_else(|| "unknown".to_owned(), |median| median.to_string())
        };
        let statement = format!(
            "{} {} {}, {} {} (medians over {} and {} plans)",
            group.0,
            self.verb,
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
        self.compared(of(group), of(other), p, &statement)
    }

    fn compared(self, group: Group, other: Group, p: f64, statement: &str) -> Comparison {
        Comparison {
            question: self.question,
            file: None,
            group,
            other,
            p,
            is_lesson: false,
            statement: capitalized(statement),
            subject: self.subject.to_owned(),
        }
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
pub(crate) fn mark_significant(comparisons: &mut [Comparison]) {
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
pub(crate) fn is_evidence(one: usize, other: usize) -> bool {
    one.min(other) >= MIN_PLANS
}
