//! Measures retrieval on questions with known answers, using the same function as every search.

mod dataset;
mod measures;

use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

pub use dataset::{Group, Item, Question, read as read_dataset};
pub use measures::{Interval, Measures};
use serde::Serialize;

use crate::clock::Clock;
use crate::error::Result;
use crate::facts::search::{FactQuery, Method, retrieve};
use crate::facts::{Fact, Facts, UserId, vectors};
use crate::search::Embedder;

/// Category of questions about what another person said, which are measured separately.
const ADVERSARIAL: &str = "adversarial";

/// How well each method found the items that answer the questions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// Number of questions.
    pub queries: usize,
    /// One row per method and set.
    pub rows: Vec<MethodRow>,
}

/// The results of a method on a set of questions; each from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MethodRow {
    /// The search method.
    pub method: Method,
    /// `main` or `adversarial`.
    pub set: &'static str,
    /// The means over the questions.
    #[serde(flatten)]
    pub mean: Measures,
    /// Number of questions.
    pub queries: usize,
    /// Differences per question from lexical search.
    pub delta: Delta,
}

/// Differences between a method and lexical search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Delta {
    /// In recall among the first 10.
    pub r_at_10: Interval,
    /// In reciprocal rank.
    pub mrr: Interval,
}

/// Asks every question of a dataset with every method.
pub fn evaluate(dataset: impl BufRead, path: &Path, embedder: &Embedder) -> Result<Evaluation> {
    let mut found: HashMap<(Method, bool), Vec<Measures>> = HashMap::new();
    let groups = read_dataset(dataset, path)?;
    for group in &groups {
        let (mut facts, user) = stored(group, embedder)?;
        for question in &group.questions {
            let is_adversarial = question.category == ADVERSARIAL;
            for method in Method::ALL {
                let measured = ask(&mut facts, &user, question, group, method, embedder)?;
                let key = (method, is_adversarial);
                found.entry(key).or_default().push(measured);
            }
        }
    }
    let queries = groups.iter().map(|group| group.questions.len()).sum();
    let sets = [("main", false), (ADVERSARIAL, true)];
    let rows = sets.iter().flat_map(|(set, is_adversarial)| {
        let all = |method| found.get(&(method, *is_adversarial));
        let words = all(Method::Lexical);
        Method::ALL
            .into_iter()
            .filter_map(move |method| Some(row(method, set, all(method)?, words?)))
    });
    Ok(Evaluation { queries, rows: rows.collect() })
}

fn row(method: Method, set: &'static str, all: &[Measures], words: &[Measures]) -> MethodRow {
    let delta = |of: fn(&Measures) -> f64| {
        let pairs = all.iter().zip(words);
        let differences: Vec<f64> = pairs.map(|(one, words)| of(one) - of(words)).collect();
        Interval::bootstrap(&differences)
    };
    MethodRow {
        method,
        set,
        mean: Measures::mean(all),
        queries: all.len(),
        delta: Delta { r_at_10: delta(|one| one.r_at_10), mrr: delta(|one| one.mrr) },
    }
}

fn ask(
    facts: &mut Facts,
    user: &UserId,
    question: &Question,
    group: &Group,
    method: Method,
    embedder: &Embedder,
) -> Result<Measures> {
    let query = FactQuery::candidates(&question.text, None, group.items.len(), method);
    let found = retrieve(facts, user, &query, embedder)?;
    let hits = found.hits.iter().enumerate();
    let ranks: Vec<usize> = hits
        .filter(|(_, hit)| question.relevant.contains(&hit.fact.fact_id))
        .map(|(index, _)| index + 1)
        .collect();
    Ok(Measures::from_ranks(&ranks, question.relevant.len()))
}

/// Returns a database in memory with a group's items as facts of one user, at the time of the last item.
pub fn stored(group: &Group, embedder: &Embedder) -> Result<(Facts, UserId)> {
    let user = UserId::new(&group.name)?;
    let times = group.items.iter().map(|item| with_zone(&item.ts));
    let now = times.max().unwrap_or_default();
    let mut facts = Facts::in_memory(Clock::new(Some(&now))?)?;
    facts.write(|connection| {
        let mut sessions: HashMap<&str, (usize, i64)> = HashMap::new();
        let mut times_said: HashMap<&str, usize> = HashMap::new();
        for (number, item) in group.items.iter().enumerate() {
            let before = item.prev.as_deref().and_then(|prev| sessions.get(prev));
            let (session, turn) =
                before.map_or((number, 0), |(session, turn)| (*session, turn + 1));
            sessions.insert(&item.id, (session, turn));
            let times = times_said.entry(&item.text).or_default();
            *times += 1;
            let fact = fact(item, &user, session, turn, *times);
            fact.upsert(connection)?;
            vectors::update_index(connection, [&fact])?;
        }
        Ok(())
    })?;
    vectors::refresh(&mut facts, embedder)?;
    Ok((facts, user))
}

/// Converts an item to a fact; a repeated text gets another key, since values are unique per key.
fn fact(item: &Item, user: &UserId, session: usize, turn: i64, times: usize) -> Fact {
    let at = with_zone(&item.ts);
    let key = match times {
        1 => "said[]".to_owned(),
        times => format!("said.{times}[]"),
    };
    Fact {
        confidence: 1.0,
        source_turn_id: item.id.clone(),
        session_id: Some(session.to_string()),
        turn_seq: Some(turn),
        ..Fact::new(user, item.id.clone(), &key, item.text.clone(), &at)
    }
}

/// Returns a time with its zone, UTC by default.
fn with_zone(ts: &str) -> String {
    let has_zone = ts.ends_with('Z') || ts.get(10..).is_some_and(|time| time.contains(['+', '-']));
    if has_zone { ts.to_owned() } else { format!("{ts}Z") }
}
