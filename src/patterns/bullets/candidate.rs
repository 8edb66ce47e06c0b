//! A bullet that may be taken, and the choice among all of them.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::patterns::bullets::lesson::bullet;
use crate::planning::PlanNumber;
use crate::text::Line;

/// The most bullets of a kind.
const MOST: usize = 5;

/// The most bullets that speak of one plan alone, while others have something to say.
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
///
/// One plan takes room from the others only where they have too little to say.
pub(crate) fn strongest(mut candidates: Vec<Candidate>) -> Vec<Line> {
    candidates.sort_by_key(|candidate| Reverse(candidate.weight));
    let mut choice = Choice::default();
    let mut of_full_plans = Vec::new();
    for candidate in candidates {
        if choice.has_room_for_plan(&candidate) {
            choice.take(candidate);
        } else {
            of_full_plans.push(candidate);
        }
    }
    for candidate in of_full_plans {
        choice.take(candidate);
    }
    choice
        .taken
        .sort_by_key(|candidate| Reverse(candidate.weight));
    choice
        .taken
        .into_iter()
        .map(|candidate| candidate.line)
        .collect()
}

/// What has been taken so far.
#[derive(Default)]
struct Choice {
    taken: Vec<Candidate>,
    told: BTreeSet<usize>,
}

impl Choice {
    fn count(&self, is_same: impl Fn(&Candidate) -> bool) -> usize {
        self.taken.iter().filter(|other| is_same(other)).count()
    }

    fn has_room_for_plan(&self, candidate: &Candidate) -> bool {
        let is_of_one = candidate.plans.len() == 1;
        !is_of_one || self.count(|other| other.plans == candidate.plans) < MOST_OF_ONE_PLAN
    }

    /// Takes a candidate that tells something new, if there is room.
    fn take(&mut self, candidate: Candidate) {
        let is_told = !candidate.tells.is_empty() && candidate.tells.is_subset(&self.told);
        let is_doubled = self.count(|other| other.line == candidate.line) > 0;
        let has_topic = candidate.topic != Topic::Single;
        let is_worn =
            has_topic && self.count(|other| other.topic == candidate.topic) >= MOST_OF_ONE_TOPIC;
        if is_told || is_doubled || is_worn || self.taken.len() == MOST {
            return;
        }
        self.told.extend(&candidate.tells);
        self.taken.push(candidate);
    }
}
