//! What no sequence of actions may break, whatever they claim.

use std::collections::BTreeMap;

use annals::error::{Error, ErrorKind};
use annals::facts;
use annals::facts::{Change, Fact, FactStatus, UserId};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::facts::Desk;

pub(crate) const KEYS: [&str; 5] = ["city", "name", "likes[]", "allergies[]", "preference.editor"];
pub(crate) const VALUES: [&str; 6] = ["A", "B", "A of old", "no A", "b", "C"];
const TYPES: [&str; 6] =
    ["insert", "update", "supersede", "expire", "noop", "mark_pending_confirmation"];

/// One thing that happens.
#[derive(Clone, Debug)]
enum Event {
    Turn(Vec<Wish>),
    Replay(usize),
    Confirm(usize),
    Reject(usize),
    Later,
    Maintain,
}

/// An action before it is known which facts there are.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    kind: usize,
    pub(crate) key: usize,
    value: Option<usize>,
    target: Option<usize>,
    delta: f64,
    valid_from: bool,
    valid_to: bool,
}

pub(crate) fn wish() -> impl Strategy<Value = Wish> {
    (
        0..TYPES.len(),
        0..KEYS.len(),
        prop::option::weighted(0.8, 0..VALUES.len()),
        prop::option::weighted(0.3, 0..20_usize),
        -1.0..1.0_f64,
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.1),
    )
        .prop_map(|(kind, key, value, target, delta, valid_from, valid_to)| Wish {
            kind,
            key,
            value,
            target,
            delta,
            valid_from,
            valid_to,
        })
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        8 => prop::collection::vec(wish(), 1..4).prop_map(Event::Turn),
        2 => (0..30_usize).prop_map(Event::Replay),
        1 => (0..30_usize).prop_map(Event::Confirm),
        1 => (0..30_usize).prop_map(Event::Reject),
        1 => Just(Event::Later),
        1 => Just(Event::Maintain),
    ]
}

/// One run: what was said so far, so that it can be said again.
struct Run {
    desk: Desk,
    said: Vec<(UserId, String, Value)>,
    day: u32,
}

impl Run {
    fn happen(&mut self, event: &Event, user: &UserId) {
        self.desk.user = user.clone();
        let all = self.desk.all();
        match event {
            Event::Turn(wishes) => {
                let actions: Vec<Value> = wishes.iter().map(|wish| self.action(wish)).collect();
                let actions = json!(actions);
                let done = self.desk.hear(&actions);
                let turn = format!("t{}", self.desk.turns);
                if done.is_ok() {
                    self.said.push((user.clone(), turn, actions));
                }
            }
            Event::Replay(nth) => {
                if let Some((user, turn, actions)) = self.said.get(*nth).cloned() {
                    self.desk.user = user;
                    let (facts, history) = (self.desk.all(), self.desk.history());
                    self.desk.answer(&turn, &actions).unwrap();
                    assert_eq!((self.desk.all(), self.desk.history()), (facts, history));
                }
            }
            Event::Confirm(nth) => {
                if let Some(fact) = all.get(*nth) {
                    let done = facts::answer(&self.desk.facts, user, &fact.fact_id, None);
                    // What is valid no longer cannot be confirmed.
                    let is_over = |error: Error| error.kind == ErrorKind::Refused;
                    assert!(done.map_or_else(is_over, |_| true));
                }
            }
            Event::Reject(nth) => {
                if let Some(fact) = all.get(*nth) {
                    facts::answer(&self.desk.facts, user, &fact.fact_id, Some("no")).unwrap();
                }
            }
            Event::Later => {
                self.day += 1;
                let time =
                    format!("2026-{:02}-{:02}T12:00:00Z", 3 + self.day / 28, 1 + self.day % 28);
                self.desk.at(&time);
            }
            Event::Maintain => {
                facts::maintain(&self.desk.facts, 5).unwrap();
                let now = self.desk.facts.clock.now();
                facts::archive(&self.desk.facts, now).unwrap();
            }
        }
    }

    fn action(&self, wish: &Wish) -> Value {
        let all = self.desk.all();
        let target = wish.target.and_then(|nth| all.get(nth));
        // Half of the targets fit their key; the others must be refused whole.
        let key = target.map_or(KEYS[wish.key], |fact| fact.key.as_str());
        wish.action(key, target.map(|fact| fact.fact_id.as_str()))
    }
}

impl Wish {
    /// The action, about a key and perhaps one of its facts.
    pub(crate) fn action(&self, key: &str, target: Option<&str>) -> Value {
        json!({
            "type": TYPES[self.kind], "key": key, "new_value_text": self.value.map(|nth| VALUES[nth]),
            "target_fact_id": target, "confidence_delta": self.delta,
            "valid_from": self.valid_from.then_some("2026-03-02"), "valid_to": self.valid_to.then_some("2026-03-03"), "reason": format!("{:.3}", self.delta),
        })
    }
}

/// Nothing but a proposal as sure as 0.90, or the user's own word, takes a fact of high risk away.
pub(crate) fn high_risk_holds(history: &[Change]) {
    let is_users_word = |change: &Change| {
        change.turn_id.starts_with("annals:confirmed:")
            || change.turn_id.starts_with("annals:rejected:")
    };
    for change in
        history.iter().filter(|change| ["name", "allergies[]"].contains(&change.key.as_str()))
    {
        let (Some(before), after) = (&change.before, &change.after) else {
            continue;
        };
        let is_overwritten = before.status == FactStatus::Active
            && (after.status != FactStatus::Active || after.value_text != before.value_text);
        let ended_by_itself = before.valid_to.as_ref().is_some_and(|end| *end <= change.at);
        if !is_overwritten || is_users_word(change) || ended_by_itself {
            continue;
        }
        let is_accepted = |other: &&Change| {
            let was = other.before.as_ref();
            other.turn_id == change.turn_id
                && other.key == change.key
                && was.is_some_and(|was| {
                    was.status == FactStatus::PendingConfirmation && was.confidence >= 0.90
                })
        };
        assert!(history.iter().any(|other| is_accepted(&other)), "{change:?}");
    }
}

/// Whether a vector exists is no part of the history.
fn without_vector(fact: Fact) -> Fact {
    Fact { embedding_id: None, ..fact }
}

/// Every state is reached by folding the history: each change begins where the last one ended.
pub(crate) fn history_is_whole(mut states: Vec<Fact>, history: &[Change]) {
    let mut folded: BTreeMap<String, Fact> = BTreeMap::new();
    for change in history.iter().cloned() {
        let before = folded.get(&change.fact_id).cloned();
        assert_eq!(before, change.before.map(without_vector), "{}", change.action);
        folded.insert(change.fact_id, without_vector(change.after));
    }
    states.sort_by(|a, b| a.fact_id.cmp(&b.fact_id));
    let states: Vec<_> = states.into_iter().map(without_vector).collect();
    let told: Vec<_> = folded.into_values().collect();
    assert_eq!(states, told);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_keeps_what_must_hold(events in prop::collection::vec((event(), any::<bool>()), 1..40)) {
        let users = [UserId::new("rosalind").unwrap(), UserId::new("grace").unwrap()];
        let mut run = Run { desk: Desk::new(), said: Vec::new(), day: 0 };
        for (event, is_second) in &events {
            run.happen(event, &users[usize::from(*is_second)]);
        }
        run.desk.sound();
        for user in &users {
            run.desk.user = user.clone();
            high_risk_holds(&run.desk.history());
            let states = facts::export(&run.desk.facts, user).unwrap();
            history_is_whole(states, &run.desk.history());
            let all = run.desk.all();
            prop_assert!(all.iter().all(|fact| fact.user_id == *user));
            for key in KEYS.iter().filter(|key| !key.ends_with("[]")) {
                prop_assert!(run.desk.active(key).len() <= 1);
            }
        }
    }
}
