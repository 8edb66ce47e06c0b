//! Measures retrieval on questions with known answers, using the same function as every search.
//!
//! The dataset is JSON Lines. A query searches the items of its group; `prev` is the item before in its session.
//!
//! ```text
//! {"kind": "item", "id", "group", "text", "ts", "prev", "next"}
//! {"kind": "query", "id", "group", "text", "category", "relevant": [item ids]}
//! ```

use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::error::{At, Error, ErrorKind, Result};
use crate::facts::fact::checked_time;
use crate::facts::search::{FactQuery, Method, retrieve};
use crate::facts::{Fact, Facts, UserId, vectors};
use crate::search::{Embedder, to_f64};

/// Category of questions about what another person said, which are measured separately.
const ADVERSARIAL: &str = "adversarial";

/// One line of a dataset.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Line {
    Item(Item),
    Query(Question),
}

/// A statement that can be searched for.
#[derive(Clone, Debug, Deserialize)]
pub struct Item {
    /// Its identifier.
    pub id: String,
    group: String,
    /// What was said.
    pub text: String,
    /// The time, in its stored form.
    pub ts: String,
    /// The item before it in its session.
    pub prev: Option<String>,
}

/// A question, and the ids of the items that answer it.
#[derive(Clone, Debug, Deserialize)]
pub struct Question {
    group: String,
    /// The question.
    pub text: String,
    /// Its kind; `adversarial` ones are about the wrong person.
    pub category: String,
    /// The identifiers of the items.
    pub relevant: Vec<String>,
}

/// Items that are searched together, with the questions about them.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// The items, in order.
    pub items: Vec<Item>,
    /// The questions.
    pub questions: Vec<Question>,
}

/// Returns the groups of a dataset in order of first appearance; the file is read line by line.
pub fn read_dataset(reader: impl BufRead, path: &Path) -> Result<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    for (index, line) in reader.lines().enumerate() {
        let line = line.at("read", path)?;
        if line.trim().is_empty() {
            continue;
        }
        let line: Line = serde_json::from_str(&line).map_err(|error| {
            Error::failed(format!("is neither an item nor a query: {error}")).at(path, index + 1)
        })?;
        let (Line::Item(Item { group, .. }) | Line::Query(Question { group, .. })) = &line;
        let place = groups.iter().position(|one| one.name == *group).unwrap_or(groups.len());
        if place == groups.len() {
            groups.push(Group { name: group.clone(), ..Group::default() });
        }
        match line {
            Line::Item(mut item) => {
                let time = checked_time("ts", Some(item.ts)).map_err(|mut error| {
                    error.kind = ErrorKind::Failed;
                    error.at(path, index + 1)
                })?;
                item.ts = time.unwrap_or_default();
                groups[place].items.push(item);
            }
            Line::Query(question) => groups[place].questions.push(question),
        }
    }
    if groups.iter().all(|group| group.questions.is_empty()) {
        return Err(Error::failed("there are no queries").at(path, None));
    }
    Ok(groups)
}

/// How well each method found the items that answer the questions.
#[derive(Debug, Serialize)]
pub struct Evaluation {
    /// Number of questions.
    pub queries: usize,
    /// One row per method and set.
    pub rows: Vec<MethodRow>,
}

/// The results of a method on a set of questions; each from 0 to 1.
#[derive(Debug, Serialize)]
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
    /// The difference to lexical search.
    pub delta: Delta,
}

/// The difference between a method and lexical search.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Delta {
    /// In recall among the first 10.
    pub r_at_10: f64,
    /// In reciprocal rank.
    pub mrr: f64,
}

/// Asks every question of a dataset with every method.
pub fn evaluate(dataset: impl BufRead, path: &Path, embedder: &Embedder) -> Result<Evaluation> {
    let mut found: HashMap<(Method, bool), Vec<Measures>> = HashMap::new();
    let groups = read_dataset(dataset, path)?;
    for group in &groups {
        let (facts, user) = stored(group, embedder)?;
        for question in &group.questions {
            for method in Method::ALL {
                let most = group.items.len();
                let query = FactQuery::candidates(&question.text, None, most, method);
                let hits = retrieve(&facts, &user, &query, embedder)?.hits;
                let is_relevant = |id: &String| question.relevant.contains(id);
                let ranks: Vec<usize> = (1..)
                    .zip(&hits)
                    .filter(|(_, hit)| is_relevant(&hit.fact.fact_id))
                    .map(|(rank, _)| rank)
                    .collect();
                let measured = Measures::from_ranks(&ranks, question.relevant.len());
                found.entry((method, question.category == ADVERSARIAL)).or_default().push(measured);
            }
        }
    }
    let mut rows = Vec::new();
    for (set, is_adversarial) in [("main", false), (ADVERSARIAL, true)] {
        let mut words = None;
        for method in Method::ALL {
            let Some(all) = found.get(&(method, is_adversarial)) else {
                continue;
            };
            let mean = Measures::mean(all);
            // The first method is the lexical one.
            let words: &mut Measures = words.get_or_insert(mean);
            let delta = Delta { r_at_10: mean.r_at_10 - words.r_at_10, mrr: mean.mrr - words.mrr };
            rows.push(MethodRow { method, set, mean, queries: all.len(), delta });
        }
    }
    Ok(Evaluation { queries: groups.iter().map(|group| group.questions.len()).sum(), rows })
}

/// Returns a database in memory with a group's items as facts of one user, at the time of the last item.
pub fn stored(group: &Group, embedder: &Embedder) -> Result<(Facts, UserId)> {
    let user = UserId::new(&group.name)?;
    let now = group.items.iter().map(|item| item.ts.as_str()).max();
    let facts = Facts::in_memory(Clock::new(now)?)?;
    facts.write(|| {
        let mut sessions: HashMap<&str, (usize, i64)> = HashMap::new();
        let mut times_said: HashMap<&str, usize> = HashMap::new();
        for (number, item) in group.items.iter().enumerate() {
            let before = item.prev.as_deref().and_then(|prev| sessions.get(prev));
            let (session, turn) =
                before.map_or((number, 0), |(session, turn)| (*session, turn + 1));
            sessions.insert(&item.id, (session, turn));
            let times = times_said.entry(&item.text).or_default();
            *times += 1;
            // A repeated text gets another key, since values are unique per key.
            let key = if *times == 1 { "said[]".to_owned() } else { format!("said.{times}[]") };
            let fact = Fact {
                confidence: 1.0,
                source_turn_id: item.id.clone(),
                session_id: Some(session.to_string()),
                turn_seq: Some(turn),
                ..Fact::new(&user, item.id.clone(), &key, item.text.clone(), &item.ts)
            };
            fact.upsert(&facts)?;
            vectors::update_index(&facts, &fact)?;
        }
        Ok(())
    })?;
    vectors::refresh(&facts, embedder)?;
    Ok((facts, user))
}

/// Metrics of a ranking, or the means of several; each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Measures {
    /// Recall among the first 5.
    pub r_at_5: f64,
    /// Recall among the first 10.
    pub r_at_10: f64,
    /// Recall among the first 20.
    pub r_at_20: f64,
    /// Mean reciprocal rank of the first relevant item.
    pub mrr: f64,
    /// Normalised discounted cumulative gain of the first 10.
    pub ndcg_at_10: f64,
}

impl Measures {
    /// Measures a ranking; `ranks` are the 1-based ranks of the relevant items found, in ascending order.
    fn from_ranks(ranks: &[usize], relevant: usize) -> Self {
        let within = |k| to_f64(ranks.iter().filter(|rank| **rank <= k).count());
        let recall = |k| within(k) / to_f64(relevant.max(1));
        let gain = |rank: usize| 1.0 / (to_f64(rank) + 1.0).log2();
        let found = ranks.iter().filter(|rank| **rank <= 10);
        // The sum of nothing is -0.
        let found = 0.0 + found.map(|rank| gain(*rank)).sum::<f64>();
        let best: f64 = (1..=relevant.min(10)).map(gain).sum();
        Self {
            r_at_5: recall(5),
            r_at_10: recall(10),
            r_at_20: recall(20),
            mrr: ranks.first().map_or(0.0, |rank| 1.0 / to_f64(*rank)),
            ndcg_at_10: if best > 0.0 { found / best } else { 0.0 },
        }
    }

    /// Returns the mean of each metric.
    fn mean(all: &[Self]) -> Self {
        let share = 1.0 / to_f64(all.len().max(1));
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() * share;
        Self {
            r_at_5: mean(|one| one.r_at_5),
            r_at_10: mean(|one| one.r_at_10),
            r_at_20: mean(|one| one.r_at_20),
            mrr: mean(|one| one.mrr),
            ndcg_at_10: mean(|one| one.ndcg_at_10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9
    }

    #[test]
    fn a_ranking_is_worth_what_the_definitions_say() {
        let found = Measures::from_ranks(&[2, 12], 4);
        assert!(is_near(found.r_at_5, 0.25) && is_near(found.r_at_10, 0.25));
        assert!(is_near(found.r_at_20, 0.5) && is_near(found.mrr, 0.5));
        let best = 1.0 + 1.0 / 3_f64.log2() + 0.5 + 1.0 / 5_f64.log2();
        assert!(is_near(found.ndcg_at_10, 1.0 / 3_f64.log2() / best));
        assert_eq!(Measures::from_ranks(&[], 0), Measures::default());
        assert!(Measures::from_ranks(&[], 1).ndcg_at_10.is_sign_positive());
        let perfect = Measures::from_ranks(&[1, 2], 2);
        assert!(is_near(perfect.ndcg_at_10, 1.0) && is_near(perfect.mrr, 1.0));
        assert!(is_near(Measures::mean(&[perfect, Measures::default()]).mrr, 0.5));
    }
}
