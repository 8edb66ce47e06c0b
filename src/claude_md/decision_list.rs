//! Defines a list of decisions from a file, and sorts it chronologically.

use chrono::NaiveDate;

use crate::plan::{Decision, PhaseNumber};
use crate::text::fold;

/// The file that a list of decisions is from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecisionFile {
    /// STATE.md.
    #[default]
    State,
    /// PROJECT.md.
    Project,
}

/// Decisions from one source, in file order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecisionList {
    /// The file.
    pub file: DecisionFile,
    /// The heading above them, which may state their order.
    pub heading: Option<String>,
    /// The decisions.
    pub decisions: Vec<Decision>,
}

/// A decision with its place in the history of the project.
pub(super) struct PlacedDecision<'a> {
    pub(super) decision: &'a Decision,
    /// Its own date, or that of its nearest dated neighbour.
    pub(super) date: Option<NaiveDate>,
    /// Its own milestone and phase, or those of its neighbour.
    pub(super) era: Era,
}

/// The position of an undated decision in the project's plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Era {
    /// Components of the milestone's version.
    milestone: Vec<u32>,
    phase: Option<PhaseNumber>,
}

impl Era {
    /// Parses `[02-03]`, `Phase 6`, `v1.2 phase 4`, `3`; a date yields an empty era.
    fn parse(text: &str) -> Self {
        let mut era = Self::default();
        let lower = text.to_lowercase();
        let words = lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
        let mut before = "";
        for word in words.filter(|word| !word.is_empty()) {
            let is_milestone = before == "milestone" || word.starts_with('v');
            if let Some(version) = version(word).filter(|_| is_milestone) {
                era.milestone = version;
            } else if era.phase.is_none() && !NUMBERED_NOUNS.contains(&word) {
                era.phase = PhaseNumber::parse(word).filter(|phase| !phase.is_year());
                if era.phase.is_none() {
                    break;
                }
            }
            before = word;
        }
        era
    }

    /// Returns the era of a decision under a heading; parts that the decision does not state are the heading's.
    fn under(heading: &Self, decision: &Decision) -> Self {
        let own = Self::parse(decision.source.as_deref().unwrap_or_default());
        let milestone = Some(own.milestone).filter(|version| !version.is_empty());
        Self {
            milestone: milestone.unwrap_or_else(|| heading.milestone.clone()),
            phase: own.phase.or_else(|| heading.phase.clone()),
        }
    }
}

/// Returns the components of `v1.10` or `2`.
fn version(word: &str) -> Option<Vec<u32>> {
    let parts = word.strip_prefix('v').unwrap_or(word).split('.');
    parts.map(|part| part.parse().ok()).collect()
}

/// Nouns that a number may follow.
const NUMBERED_NOUNS: &[&str] = &["milestone", "phase", "plan"];

impl DecisionList {
    /// Returns the decisions in chronological order; missing dates and eras are taken from their neighbours.
    pub(super) fn oldest_first(&self) -> Vec<PlacedDecision<'_>> {
        let heading = Era::parse(self.heading.as_deref().unwrap_or_default());
        let placed = self.decisions.iter().map(|decision| PlacedDecision {
            decision,
            date: decision.date,
            era: Era::under(&heading, decision),
        });
        let mut ordered: Vec<PlacedDecision<'_>> = placed.collect();
        if self.is_newest_first(&ordered) {
            ordered.reverse();
        }
        fill_milestones(&mut ordered);
        let mut day = ordered.iter().find_map(|placed| placed.date);
        let mut era =
            ordered.iter().map(|placed| &placed.era).find(|era| **era != Era::default()).cloned();
        for placed in &mut ordered {
            day = placed.date.or(day);
            placed.date = day;
            if placed.era != Era::default() {
                era = Some(placed.era.clone());
            }
            placed.era = era.clone().unwrap_or_default();
        }
        ordered
    }

    /// Returns whether the list is newest first: by its heading, or else because most dates, or phases, descend.
    fn is_newest_first(&self, decisions: &[PlacedDecision<'_>]) -> bool {
        let heading = fold(self.heading.as_deref().unwrap_or_default());
        let contains_any = |orders: &[&str]| orders.iter().any(|order| heading.contains(order));
        if contains_any(&[
            "newest first", "latest first", "most recent first", "reverse chronological",
        ]) {
            return true;
        }
        if contains_any(&["oldest first", "newest last", "chronological"]) {
            return false;
        }
        let days: Vec<NaiveDate> = decisions.iter().filter_map(|placed| placed.date).collect();
        let eras = decisions.iter().map(|placed| &placed.era);
        let eras: Vec<&Era> = eras.filter(|era| **era != Era::default()).collect();
        if days.is_empty() { is_descending(&eras) } else { is_descending(&days) }
    }
}

/// Assigns to each phase without a milestone the newest milestone named before it.
fn fill_milestones(ordered: &mut [PlacedDecision<'_>]) {
    let mut newest: Vec<u32> = Vec::new();
    for placed in ordered {
        let era = &mut placed.era;
        if era.milestone.is_empty() && era.phase.is_some() {
            era.milestone.clone_from(&newest);
        }
        newest = newest.max(era.milestone.clone());
    }
}

/// Returns whether a list has more descending than ascending steps.
fn is_descending<T: PartialOrd>(list: &[T]) -> bool {
    let steps = || list.iter().zip(list.iter().skip(1));
    let down = steps().filter(|(a, b)| a > b).count();
    let up = steps().filter(|(a, b)| a < b).count();
    down > up
}
