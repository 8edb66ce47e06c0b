//! Two groups of plans, compared, and the words that the evidence allows.

use serde::Serialize;

use crate::clock::Minutes;
use crate::patterns::Rate;
use crate::patterns::fisher_exact;
use crate::patterns::insights::member::median;
use crate::patterns::mann_whitney;
use crate::ranking::to_f64;

/// Smaller groups teach nothing, whatever they show.
const MIN_PLANS: usize = 5;

/// The share of the stated differences that may be chance (the false discovery rate).
const FALSE_DISCOVERIES: f64 = 0.1;

/// What a comparison asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonQuestion {
    /// Do larger plans deviate more often, by tasks?
    DeviationsByTasks,
    /// Do larger plans deviate more often, by files?
    DeviationsByFiles,
    /// Do larger plans come to an end as often, by tasks?
    CompletionByTasks,
    /// Do larger plans come to an end as often, by files?
    CompletionByFiles,
    /// Do plans that touch a certain file deviate more often?
    DeviationsByFile,
    /// Did deviations become rarer or more frequent?
    DeviationsOverTime,
    /// Did a kind of deviation become rarer or more frequent?
    KindOverTime,
    /// Do plans of one effort profile deviate more often?
    DeviationsByEffort,
    /// Do plans of one effort profile take longer?
    DurationByEffort,
    /// Do larger plans take longer, by tasks?
    DurationByTasks,
}

impl ComparisonQuestion {
    /// Returns whether it compares plans by their size: of a single project, that is no advice on sizes.
    pub fn is_about_size(self) -> bool {
        matches!(
            self,
            Self::DeviationsByTasks
                | Self::DeviationsByFiles
                | Self::CompletionByTasks
                | Self::CompletionByFiles
                | Self::DurationByTasks
        )
    }
}

/// One of the two groups.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// What its plans have in common: `plans with 5 or more tasks`.
    pub name: String,
    /// How many plans it has that could be counted.
    pub plans: usize,
    /// How many of them it is true of, where it is about a rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// How long they took, where it is about durations and some are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_minutes: Option<Minutes>,
}

/// Two groups, compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// What it asks.
    pub question: ComparisonQuestion,
    /// The file that its group touched, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The group that it is about.
    pub group: Group,
    /// The group that it is held against.
    pub other: Group,
    /// How likely a difference like this is if nothing sets the groups apart, from 0 to 1.
    pub p: f64,
    /// Whether the difference is significant among all comparisons of the run.
    pub is_lesson: bool,
    /// The difference with its figures: `Plans with 5 or more tasks deviated in 7 of 8, smaller ones in 3 of 15`.
    pub statement: String,
    /// What was compared: `deviations by tasks`.
    pub subject: String,
}

/// What is asked of two groups.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ComparisonSpec<'a> {
    pub(crate) question: ComparisonQuestion,
    /// What the plans did: `deviated`.
    pub(crate) verb: &'a str,
    /// What is compared: `deviations by tasks`.
    pub(crate) subject: &'a str,
}

impl ComparisonSpec<'_> {
    /// Compares how often something is true, by Fisher's exact test.
    pub(crate) fn of_rates(self, group: (String, Rate), other: (String, Rate)) -> Comparison {
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

    /// Compares the first plans of a project with its last ones, by Fisher's exact test.
    pub(crate) fn over_time(self, first: Rate, last: Rate) -> Comparison {
        let groups = (
            ("the first half".to_owned(), first),
            ("the second half".to_owned(), last),
        );
        let statement = format!(
            "{} of the first {} plans {}, {} of the last {}",
            first.count, first.of, self.verb, last.count, last.of
        );
        Comparison {
            statement,
            ..self.of_rates(groups.0, groups.1)
        }
    }

    /// Compares how long plans took, by the Mann-Whitney test.
    pub(crate) fn of_durations(
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
            statement: capitalised(statement),
            subject: self.subject.to_owned(),
        }
    }
}

impl Comparison {
    /// Returns whether both groups are large enough to be compared.
    pub fn is_evidence(&self) -> bool {
        is_evidence(self.group.plans, self.other.plans)
    }

    /// Returns how many plans both groups have.
    pub fn plans(&self) -> usize {
        self.group.plans + self.other.plans
    }

    /// Returns the p-value as printed: `p = 0.006`, `p < 0.001`.
    pub fn chance(&self) -> String {
        match self.p {
            p if p < 0.001 => "p < 0.001".to_owned(),
            p => format!("p = {p:.3}"),
        }
    }
}

/// Marks the significant differences: Benjamini-Hochberg over all comparisons of one run.
///
/// Groups that are too small are no comparison, and do not count among them.
pub(crate) fn mark_significant(comparisons: &mut [Comparison]) {
    let tested = comparisons.iter().filter(|one| one.is_evidence());
    let mut chances: Vec<f64> = tested.map(|one| one.p).collect();
    chances.sort_by(f64::total_cmp);
    let all = to_f64(chances.len());
    let within = |(rank, p): &(usize, &f64)| **p <= to_f64(rank + 1) / all * FALSE_DISCOVERIES;
    let Some(limit) = chances.iter().enumerate().rfind(within) else {
        return;
    };
    for one in comparisons.iter_mut() {
        one.is_lesson = one.is_evidence() && one.p <= *limit.1;
    }
}

/// Returns whether both groups are large enough to teach something.
pub(crate) fn is_evidence(one: usize, other: usize) -> bool {
    one.min(other) >= MIN_PLANS
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}
