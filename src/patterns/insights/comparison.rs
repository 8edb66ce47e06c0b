//! Two groups of plans, compared, and the words that the evidence allows.

use serde::Serialize;

use crate::clock::Minutes;
use crate::patterns::Rate;
use crate::patterns::fisher_exact;
use crate::patterns::insights::member::median;
use crate::patterns::mann_whitney;

/// Smaller groups teach nothing, whatever they show.
const LEAST_PLANS: usize = 5;

/// A difference that chance brings about more often than this is none.
const SIGNIFICANT: f64 = 0.1;

/// What a comparison asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
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
    pub question: Question,
    /// The file that its group touched, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The group that it is about.
    pub group: Group,
    /// The group that it is held against.
    pub other: Group,
    /// How likely a difference like this is if nothing sets the groups apart, from 0 to 1.
    pub p: f64,
    /// How many comparisons of this kind were made; the chance is multiplied by it before it is judged.
    pub tests: usize,
    /// Whether the difference is to be believed.
    pub is_lesson: bool,
    /// All of this in one line.
    pub text: String,
}

/// What is asked of two groups.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) question: Question,
    /// What the plans did: `deviated`.
    pub(crate) verb: &'a str,
    /// The same as a thing: `deviations`.
    pub(crate) noun: &'a str,
    /// How many comparisons of this kind are made.
    pub(crate) tests: usize,
}

impl Asked<'_> {
    /// Compares how often something is true, by Fisher's exact test.
    pub(crate) fn of_rates(self, group: (String, Rate), other: (String, Rate)) -> Comparison {
        let p = fisher_exact(group.1, other.1);
        let figures = |rate: Rate| format!("{} of {}", rate.count, rate.of);
        let (one_said, other_said) = (figures(group.1), figures(other.1));
        let lesson = format!(
            "{} {} in {one_said}, {} in {other_said} ({})",
            group.0,
            self.verb,
            other.0,
            self.chance(p)
        );
        let of = |(name, rate): (String, Rate)| Group {
            name,
            plans: rate.of,
            rate: Some(rate),
            median_minutes: None,
        };
        self.judged(
            of(group),
            of(other),
            p,
            &lesson,
            &format!("{one_said} and {other_said}"),
        )
    }

    /// Compares how long plans took, by the Mann-Whitney test.
    pub(crate) fn of_durations(
        self,
        group: (String, Vec<f64>),
        other: (String, Vec<f64>),
    ) -> Comparison {
        let p = mann_whitney(&group.1, &other.1);
        let said = |minutes: &[f64]| {
            median(minutes).map_or_else(|| "unknown".to_owned(), |median| median.to_string())
        };
        let (one_said, other_said) = (said(&group.1), said(&other.1));
        let lesson = format!(
            "{} {} {one_said}, {} {other_said} (medians of {} and {}, {})",
            group.0,
            self.verb,
            other.0,
            group.1.len(),
            other.1.len(),
            self.chance(p)
        );
        let figures = format!(
            "medians {one_said} of {} and {other_said} of {}",
            group.1.len(),
            other.1.len()
        );
        let of = |(name, minutes): (String, Vec<f64>)| Group {
            name,
            plans: minutes.len(),
            rate: None,
            median_minutes: median(&minutes),
        };
        self.judged(of(group), of(other), p, &lesson, &figures)
    }

    fn judged(self, group: Group, other: Group, p: f64, lesson: &str, figures: &str) -> Comparison {
        let is_lesson = is_evidence(group.plans, other.plans) && p * real(self.tests) < SIGNIFICANT;
        let text = if is_lesson {
            capitalised(lesson)
        } else {
            let line = format!(
                "{} of {} against {}: not enough evidence (n={}; {figures}, {})",
                self.noun,
                group.name,
                other.name,
                group.plans + other.plans,
                self.chance(p)
            );
            capitalised(&line)
        };
        Comparison {
            question: self.question,
            file: None,
            group,
            other,
            p,
            tests: self.tests,
            is_lesson,
            text,
        }
    }

    fn chance(self, p: f64) -> String {
        let shown = match p {
            _ if p < 0.001 => "p < 0.001".to_owned(),
            // Rounded, it would stand at the very limit that it stays below.
            _ if (0.0995..SIGNIFICANT).contains(&p) => format!("p = {p:.4}"),
            _ => format!("p = {p:.3}"),
        };
        match self.tests {
            0 | 1 => shown,
            tests => format!("{shown}, one of {tests} such tests"),
        }
    }
}

/// Tells whether both groups are large enough to teach something.
pub(crate) fn is_evidence(one: usize, other: usize) -> bool {
    one.min(other) >= LEAST_PLANS
}

fn real(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}
