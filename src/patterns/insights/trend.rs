//! Compares deviations and their kinds over time.

use serde::Serialize;

use crate::patterns::insights::Compared;
use crate::patterns::insights::comparison::{ComparisonQuestion, ComparisonSpec, MIN_PLANS};
use crate::patterns::insights::member::Member;
use crate::patterns::{PlanRecord, Rate, kinds};
use crate::text::{Line, sanitized};

/// The deviations of a milestone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MilestoneHistory {
    /// Its slug.
    pub milestone: String,
    /// The share of its plans that deviated, among those whose summaries say.
    pub deviated: Rate,
    /// The kinds of deviations, most frequent first.
    pub kinds: Vec<KindCount>,
}

/// A kind of deviation and its frequency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KindCount {
    /// The kind, as the words that all its spellings begin with.
    pub kind: String,
    /// Number of deviations of this kind.
    pub count: u32,
}

/// Returns the milestones, in the order of their plans.
pub(crate) fn milestones(all: &[Member<'_>]) -> Vec<MilestoneHistory> {
    let mut slugs: Vec<&str> = Vec::new();
    for one in all {
        if !slugs.contains(&one.milestone) {
            slugs.push(one.milestone);
        }
    }
    let history = |slug: &str| {
        let own: Vec<&Member<'_>> = all.iter().filter(|one| one.milestone == slug).collect();
        let counted = kinds::counted(own.iter().map(|one| one.plan)).into_iter();
        MilestoneHistory {
            milestone: slug.to_owned(),
            deviated: Rate::measure_known(own.iter().map(|one| one.deviated())),
            kinds: counted.map(|(kind, count)| KindCount { kind, count }).collect(),
        }
    };
    slugs.into_iter().map(history).collect()
}

/// Compares the first half of the plans with the second: how often they deviated, and by which kinds.
pub(crate) fn compared(all: &[Member<'_>]) -> Compared {
    let compare = |asked: ComparisonSpec<'_>, answer: &dyn Fn(&Member<'_>) -> Option<bool>| {
        let known: Vec<bool> = all.iter().filter_map(answer).collect();
        let (first, last) = known.split_at(known.len() / 2);
        let rate = |half: &[bool]| Rate::measure(half, |is_true| *is_true);
        asked.over_time(rate(first), rate(last))
    };
    let deviated = ComparisonQuestion::DeviationsOverTime.spec();
    let mut comparisons = vec![compare(deviated, &|one| one.deviated())];
    let frequent = frequent_kinds(all);
    for kind in &frequent {
        let shown = Line::new(&sanitized(kind)).clipped(40);
        let asked = ComparisonSpec {
            verb: &format!("had `{shown}` deviations"),
            subject: &format!("`{shown}` deviations over time"),
            ..ComparisonQuestion::KindOverTime.spec()
        };
        comparisons.push(compare(asked, &|one| had_kind(one.plan, kind)));
    }
    let gap = frequent.is_empty().then(|| {
        format!(
            "kinds of deviations over time (n={}; no kind was named by {MIN_PLANS} plans)",
            all.iter().filter(|one| one.deviated().is_some()).count()
        )
    });
    Compared { comparisons, gap }
}

fn frequent_kinds(all: &[Member<'_>]) -> Vec<String> {
    let counted = kinds::counted(all.iter().map(|one| one.plan)).into_iter();
    let plans_with = |kind: &str| all.iter().filter(|one| has_kind(one.plan, kind)).count();
    counted.map(|(kind, _)| kind).filter(|kind| plans_with(kind) >= MIN_PLANS).collect()
}

/// Returns whether a plan had deviations of a kind; `None` if unknown, as some kinds are not stated.
fn had_kind(plan: &PlanRecord, kind: &str) -> Option<bool> {
    if has_kind(plan, kind) {
        return Some(true);
    }
    let named = plan.deviations.iter().filter(|one| one.kind.is_some());
    let count = usize::try_from(plan.deviation_count?).ok()?;
    (named.count() >= count).then_some(false)
}

fn has_kind(plan: &PlanRecord, kind: &str) -> bool {
    let named = plan.deviations.iter().filter_map(|one| one.kind.as_deref());
    named.map(kinds::plain).any(|own| kinds::is_same(&own, kind))
}
