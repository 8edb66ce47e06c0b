//! The store of facts: every rule by its name, what no sequence of events may break, and who comes in between.

mod chroma;
mod crash;
mod erasure;
#[cfg(all(debug_assertions, unix))]
mod interleaved;
mod metrics;
mod processes;
mod properties;
mod queue;
mod rules;
mod server;
mod vector_servers;
mod vectors;

use std::path::PathBuf;
use std::time::Duration;

use annals::clock::Clock;
use annals::error::Result;
use annals::facts;
use annals::facts::{
    ActionOutcome, ActionResult, Change, Fact, FactFilter, FactStatus, Facts, Observation, Pending,
    Purpose, Receipt, Statement, Turn, TurnOutcome, UserId,
};
use annals::search::Embedder;
use annals::secrets::SecretPolicy;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The time at which every test begins.
const START: &str = "2026-03-01T12:00:00Z";

/// An auditor's answer to [`tea`].
const TEA: &str = r#"{"actions": [{"type": "insert", "key": "likes[]", "new_value_text": "tea", "confidence_delta": 0, "reason": "said"}]}"#;

/// A turn of a session.
fn tea(id: &str) -> Observation {
    Observation {
        user_input: "I like tea".to_owned(),
        turn_id: Some(id.to_owned()),
        session_id: Some("s".to_owned()),
        ..Observation::default()
    }
}

/// A database of its own, with one user who is meant unless another is named.
struct Desk {
    facts: Facts,
    user: UserId,
    turns: u32,
    path: PathBuf,
    _temp: TempDir,
}

impl Desk {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("mem.db");
        let clock = Clock::new(Some(START)).unwrap();
        let wait = Duration::from_secs(5);
        Self {
            facts: Facts::open_file(&path, clock, wait, Purpose::Write).unwrap(),
            user: UserId::new("rosalind").unwrap(),
            turns: 0,
            path,
            _temp: temp,
        }
    }

    /// Sets the time.
    fn at(&mut self, time: &str) -> &mut Self {
        self.facts.clock = Clock::new(Some(time)).unwrap();
        self
    }

    /// Queues a turn.
    fn observe(&mut self, observation: &Observation) -> Receipt {
        facts::observe(&self.facts, &self.user, observation, SecretPolicy::Refuse).unwrap()
    }

    /// Has the next turn of the queue judged, none of those that are skipped.
    fn step(
        &mut self,
        auditor: &str,
        skipped: &[Turn],
        wait: Option<Duration>,
    ) -> Option<TurnOutcome> {
        facts::step(&self.facts, auditor, &Embedder::BuiltIn, None, skipped, wait).unwrap()
    }

    /// Queues a turn and applies these actions to it.
    fn hear(&mut self, actions: &Value) -> Result<Vec<ActionResult>> {
        self.turns += 1;
        let turn = format!("t{}", self.turns);
        let observation = Observation {
            user_input: format!("what was said in {turn}"),
            turn_id: Some(turn.clone()),
            ..Observation::default()
        };
        facts::observe(&self.facts, &self.user, &observation, SecretPolicy::Refuse)?;
        self.answer(&turn, actions)
    }

    fn answer(&mut self, turn: &str, actions: &Value) -> Result<Vec<ActionResult>> {
        let answer = json!({ "actions": actions }).to_string();
        facts::apply(&self.facts, &self.user, turn, &answer, SecretPolicy::Refuse)
            .map(|judged| judged.applied)
    }

    /// Has one action applied, and returns what came of it.
    fn act(&mut self, action: &Value) -> ActionOutcome {
        self.hear(&json!([action])).unwrap()[0].outcome
    }

    /// States a value so often that its confidence is 0.40, 0.70, 0.85, 0.925, ….
    fn known(&mut self, key: &str, value: &str, times: u32) -> String {
        for _ in 0..times {
            self.act(&insert(key, value));
        }
        self.active(key)[0].fact_id.clone()
    }

    fn all(&self) -> Vec<Fact> {
        let filter = FactFilter::default();
        facts::list(&self.facts, &self.user, &filter).unwrap().facts
    }

    /// All facts, a line each: status, confidence, key, value, and the days of their validity.
    fn shown(&self) -> String {
        let line = |fact: &Fact| {
            let [from, to] = [Some(&fact.valid_from), fact.valid_to.as_ref()]
                .map(|time| time.map_or("-", |time| &time[5..10]));
            format!("{} {:.2} {fact}, {from} to {to}\n", fact.status.as_str(), fact.confidence)
        };
        self.all().iter().map(line).collect()
    }

    /// The questions about what is pending, or the fact where there is none, a line each.
    fn asked(&self) -> String {
        let pending = facts::pending(&self.facts, &self.user).unwrap();
        let line = |one: &Pending| match &one.question {
            Some(question) => format!("{question} {:.2}\n", one.fact.confidence),
            None => format!("{} {:.2}\n", one.fact, one.fact.confidence),
        };
        pending.iter().map(line).collect()
    }

    /// The id of the last fact with a value.
    fn id(&self, value: &str) -> String {
        self.all().into_iter().rfind(|fact| fact.value_text == value).unwrap().fact_id
    }

    /// Has the user confirm the last fact with a value.
    fn confirm(&mut self, value: &str) -> ActionOutcome {
        let id = self.id(value);
        facts::answer(&self.facts, &self.user, &id, None).unwrap().outcome
    }

    fn active(&self, key: &str) -> Vec<Fact> {
        let mut all = self.all();
        all.retain(|fact| fact.key == key && fact.status == FactStatus::Active);
        all
    }

    fn fact(&self, id: &str) -> Fact {
        facts::find(&self.facts, &self.user, id).unwrap()
    }

    fn history(&self) -> Vec<Change> {
        facts::history(&self.facts, &self.user, None).unwrap()
    }

    /// Fails the test where the database is not as it should be.
    fn sound(&self) {
        let found = facts::check(&self.facts).unwrap();
        assert!(found.problems.is_empty(), "{:?}", found.problems);
    }
}

fn action(kind: &str, key: &str, value: Option<&str>) -> Value {
    json!({"type": kind, "key": key, "new_value_text": value, "confidence_delta": 0.0, "reason": "said so"})
}

fn insert(key: &str, value: &str) -> Value {
    action("insert", key, Some(value))
}

fn with(mut action: Value, field: &str, value: impl Into<Value>) -> Value {
    action[field] = value.into();
    action
}

fn stated(key: &str, value: &str) -> Statement {
    Statement { key: key.to_owned(), value: value.to_owned(), ..Statement::default() }
}

/// Two confidences are the same where no one could tell them apart.
fn is_about(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}
