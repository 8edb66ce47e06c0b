//! A bullet that may be taken, and the choice among all of them.

use std::collections::BTreeSet;

use crate::patterns::bullets::lesson::bullet;
use crate::planning::PlanNumber;
use crate::text::Line;

/// The most bullets of a kind.
const MOST: usize = 5;

/// The most bullets that speak of one plan alone.
const MOST_OF_ONE_PLAN: usize = 2;

/// The most bullets that say the same of different things.
const MOST_OF_ONE_TOPIC: usize = 2;

/// What a bullet says of its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    /// Something of which each bullet tells another thing.
    Single,
    DeviatingFile,
    Recurring,
    Reused,
    SetUp,
}

/// A bullet with what decides whether it is taken.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) weight: u32,
    pub(crate) line: Line,
    topic: Topic,
    /// The plans it is drawn from.
    plans: BTreeSet<PlanNumber>,
    /// The troubles that it tells, by index; a bullet that tells nothing new is left out.
    pub(crate) tells: BTreeSet<usize>,
}

impl Candidate {
    /// Returns a candidate of `lead`, somebody's `words` and the plans.
    pub(crate) fn new(weight: u32, lead: &str, words: &str, plans: &[&PlanNumber]) -> Self {
        Self {
            weight,
            topic: Topic::Single,
            line: bullet(lead, words, plans),
            plans: plans.iter().map(|plan| (*plan).clone()).collect(),
            tells: BTreeSet::new(),
        }
    }

    /// Names the topic.
    pub(crate) fn on(mut self, topic: Topic) -> Self {
        self.topic = topic;
        self
    }

    /// Names the troubles that it tells.
    pub(crate) fn telling(mut self, troubles: impl IntoIterator<Item = usize>) -> Self {
        self.tells.extend(troubles);
        self
    }
}

/// Returns the strongest candidates: those of equal weight in the order in which they came.
pub(crate) fn strongest(mut candidates: Vec<Candidate>) -> Vec<Line> {
    candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.weight));
    let mut taken: Vec<Candidate> = Vec::new();
    let mut told: BTreeSet<usize> = BTreeSet::new();
    for candidate in candidates {
        let is_told = !candidate.tells.is_empty() && candidate.tells.is_subset(&told);
        let is_doubled = taken.iter().any(|other| other.line == candidate.line);
        let count = |is_same: &dyn Fn(&Candidate) -> bool| {
            taken.iter().filter(|other| is_same(other)).count()
        };
        let of_plan = count(&|other| candidate.plans.len() == 1 && other.plans == candidate.plans);
        let of_topic =
            count(&|other| candidate.topic != Topic::Single && other.topic == candidate.topic);
        let is_enough = of_plan >= MOST_OF_ONE_PLAN || of_topic >= MOST_OF_ONE_TOPIC;
        if is_told || is_doubled || is_enough {
            continue;
        }
        told.extend(&candidate.tells);
        taken.push(candidate);
        if taken.len() == MOST {
            break;
        }
    }
    taken.into_iter().map(|candidate| candidate.line).collect()
}
