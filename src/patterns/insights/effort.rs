//! Compares effort profiles, as far as they are known.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::clock::Minutes;
use crate::patterns::Rate;
use crate::patterns::insights::Compared;
use crate::patterns::insights::comparison::ComparisonQuestion;
use crate::patterns::insights::member::{Member, median};

/// The plans of one effort profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EffortHistory {
    /// The profile.
    pub effort: String,
    /// The share of its plans that deviated, among those whose summaries say.
    pub deviated: Rate,
    /// The share of its plans that were completed, among those whose summaries say.
    pub completed: Rate,
    /// The median duration, where known.
    pub median_minutes: Option<Minutes>,
}

/// Plans by profile; plans of an unknown profile are left out.
type Profiles<'a> = BTreeMap<&'a str, Vec<&'a Member<'a>>>;

fn profiles<'a>(all: &'a [Member<'a>]) -> Profiles<'a> {
    let mut profiles = Profiles::new();
    for one in all {
        if let Some(effort) = one.plan.effort.as_deref() {
            profiles.entry(effort).or_default().push(one);
        }
    }
    profiles
}

/// Returns the history of each profile, sorted by name.
pub(crate) fn histories(all: &[Member<'_>]) -> Vec<EffortHistory> {
    let history = |(effort, plans): (&str, Vec<&Member<'_>>)| EffortHistory {
        effort: effort.to_owned(),
        deviated: Rate::measure_known(plans.iter().map(|one| one.deviated())),
        completed: Rate::measure_known(plans.iter().map(|one| one.completed())),
        median_minutes: median(&minutes(&plans)),
    };
    profiles(all).into_iter().map(history).collect()
}

/// Compares each profile with all others; if there are only two, once.
pub(crate) fn compared(all: &[Member<'_>]) -> Compared {
    let profiles = profiles(all);
    let known: usize = profiles.values().map(Vec::len).sum();
    if profiles.len() < 2 {
        let which = match profiles.keys().next() {
            Some(effort) => format!("all of them {effort}"),
            None => "none known".to_owned(),
        };
        let gap = format!("effort profiles (n={known}; {which})");
        return Compared { comparisons: Vec::new(), gap: Some(gap) };
    }
    let tests = if profiles.len() == 2 { 1 } else { profiles.len() };
    let mut comparisons = Vec::new();
    for (effort, own) in profiles.iter().take(tests) {
        let others: Vec<&Member<'_>> = profiles
            .iter()
            .filter(|(other, _)| *other != effort)
            .flat_map(|(_, plans)| plans.iter().copied())
            .collect();
        let name = format!("plans of {effort} effort");
        let against = match profiles.keys().find(|other| *other != effort) {
            Some(other) if tests == 1 => format!("those of {other} effort"),
            _ => "those of other efforts".to_owned(),
        };
        let deviations = ComparisonQuestion::DeviationsByEffort.spec();
        let durations = ComparisonQuestion::DurationByEffort.spec();
        let rate =
            |plans: &[&Member<'_>]| Rate::measure_known(plans.iter().map(|one| one.deviated()));
        comparisons.push(
            deviations.compare_rates((name.clone(), rate(own)), (against.clone(), rate(&others))),
        );
        comparisons
            .push(durations.compare_durations((name, minutes(own)), (against, minutes(&others))));
    }
    Compared { comparisons, gap: None }
}

fn minutes(plans: &[&Member<'_>]) -> Vec<f64> {
    plans.iter().filter_map(|one| one.minutes()).collect()
}
