//! Measures facts: how well a user's were found, judged and used, and how well retrieval answers a dataset of questions.
//!
//! Of use, what the history shows is counted there, the rest is kept as sums per day. A dataset is JSON Lines, and is asked
//! by the function that every search uses. A query searches the items of its group; `prev` is the item before in its session.
//!
//! ```text
//! {"kind": "item", "id", "group", "text", "ts", "prev", "next"}
//! {"kind": "query", "id", "group", "text", "category", "relevant": [item ids]}
//! ```

use std::collections::{BTreeSet, HashMap};
use std::io::BufRead;
use std::path::Path;

use chrono::{Datelike, TimeDelta};
use rusqlite::params;
use serde::{Deserialize, Serialize};

use crate::clock::{Clock, parse_timestamp};
use crate::error::{At, Error, ErrorKind, Result};
use crate::facts::arbitration::RESTORED;
use crate::facts::fact::{Fact, UserId, checked_time};
use crate::facts::maintenance::RESTORE_TURN;
use crate::facts::search::{FactQuery, Method, TOP, retrieve};
use crate::facts::store::{Facts, json};
use crate::facts::turns::Turn;
use crate::facts::vectors;
use crate::search::{Embedder, to_f64};

/// Metrics of a user's facts in a window of days.
#[derive(Debug, Serialize)]
pub struct Metrics {
    /// The user.
    pub user_id: UserId,
    /// The first day.
    pub since: String,
    /// The last day.
    pub until: String,
    /// Share of turns with a used fact in which lexical search found one among the first 20.
    pub lexical_hits: Share,
    /// Share of turns with a used fact in which vector search found one among the first 20.
    pub vector_hits: Share,
    /// Share of used facts that hybrid search found among the first 20.
    pub hybrid_recall: Share,
    /// Share of supersessions that the user undid, by confirming the old value or rejecting the new one.
    pub wrong_overwrites: Share,
    /// Share of pending facts that took effect or were dropped.
    pub pending_resolved: Share,
    /// Time from the observation of a turn to the application of its actions.
    pub observer_latency: Latency,
    /// Tokens of the profiles that were injected into prompts.
    pub injection: Cost,
}

/// A count as a share of another.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Share {
    /// The count.
    pub part: u64,
    /// The total.
    pub of: u64,
    /// Their ratio, or `None` if the total is 0.
    pub rate: Option<f64>,
}

impl Share {
    fn new((part, of): (u64, u64)) -> Self {
        Self { part, of, rate: ratio(part, of) }
    }
}

/// Durations of turns, to two significant digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// Number of turns.
    pub turns: u64,
    /// Median, in milliseconds.
    pub p50_ms: Option<u64>,
    /// 95th percentile, in milliseconds.
    pub p95_ms: Option<u64>,
}

/// Tokens of injected profiles.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cost {
    /// Number of profiles.
    pub profiles: u64,
    /// Total number of tokens.
    pub tokens: u64,
    /// Mean number of tokens per profile.
    pub mean: Option<f64>,
}

/// Counts the supersessions of a window, and those of them that the user undid: the old value was confirmed later,
/// or the new one, which began in the same turn, rejected.
const OVERWRITES: &str = "SELECT coalesce(sum(EXISTS (SELECT 1 FROM fact_history AS undo \
       WHERE undo.user_id = s.user_id AND undo.key = s.key AND undo.history_id > s.history_id \
       AND (undo.action = 'restore' AND undo.fact_id = s.fact_id AND undo.turn_id <> ?4 \
         OR undo.action = 'reject' AND undo.before_json ->> 'status' = 'active' \
         AND EXISTS (SELECT 1 FROM fact_history AS new WHERE new.user_id = s.user_id \
           AND new.fact_id = undo.fact_id AND new.turn_id = s.turn_id \
           AND new.action IN ('insert', 'activate'))))), 0), count(*) \
     FROM fact_history AS s WHERE user_id = ?1 AND substr(at, 1, 10) BETWEEN ?2 AND ?3 \
     AND action = 'supersede' AND reason <> ?5 AND device IS NULL";

/// Counts the facts that became pending in a window, and those of them that took effect or were dropped.
const PENDING: &str = "SELECT coalesce(sum(EXISTS (SELECT 1 FROM fact_history AS next \
       WHERE next.user_id = p.user_id AND next.fact_id = p.fact_id AND next.history_id > p.history_id \
       AND next.before_json ->> 'status' = 'pending_confirmation' \
       AND next.after_json ->> 'status' <> 'pending_confirmation')), 0), count(*) \
     FROM fact_history AS p WHERE user_id = ?1 AND substr(at, 1, 10) BETWEEN ?2 AND ?3 \
     AND action = 'mark_pending_confirmation' AND device IS NULL";

/// Returns a user's metrics of the last days, including today.
pub fn metrics(facts: &Facts, user: &UserId, days: u32) -> Result<Metrics> {
    let until = facts.clock.now().date_naive();
    let before = TimeDelta::days(i64::from(days.saturating_sub(1)));
    // Days are compared as text, which years below 0 are not.
    let since = until.checked_sub_signed(before).filter(|since| since.year() >= 0);
    let since = since.ok_or_else(|| Error::usage("--days goes back too far"))?;
    let (since, until) = (since.to_string(), until.to_string());
    let sql = "SELECT name, bucket, CAST(sum(amount) AS INTEGER) FROM metrics \
               WHERE user_id = ?1 AND day BETWEEN ?2 AND ?3 GROUP BY name, bucket ORDER BY name, bucket";
    let sums: Vec<(String, u64, u64)> = facts.list(sql, params![user, since, until])?;
    let of = |name: &'static str| sums.iter().filter(move |sum| sum.0 == name);
    let total = |name| of(name).map(|sum| sum.2).sum();
    let share = |part, all| Share::new((total(part), total(all)));
    let turns = total("latency_ms");
    // The bucket in which a percentile falls.
    let percentile = |percent: u64| {
        let mut seen = 0;
        let found = of("latency_ms").find(|(_, _, amount)| {
            seen += amount;
            seen >= turns.saturating_mul(percent).div_ceil(100)
        });
        found.map(|sum| sum.1)
    };
    let (tokens, profiles) = (total("injected_tokens"), total("injections"));
    let overwrites = params![user, since, until, RESTORE_TURN, RESTORED];
    let overwrites = facts.optional(OVERWRITES, overwrites)?.unwrap_or_default();
    let pending = facts.optional(PENDING, params![user, since, until])?.unwrap_or_default();
    Ok(Metrics {
        user_id: user.clone(),
        lexical_hits: share("lexical_hits", "lexical_turns"),
        vector_hits: share("vector_hits", "vector_turns"),
        hybrid_recall: share("fused_facts", "used_facts"),
        wrong_overwrites: Share::new(overwrites),
        pending_resolved: Share::new(pending),
        observer_latency: Latency { turns, p50_ms: percentile(50), p95_ms: percentile(95) },
        injection: Cost { profiles, tokens, mean: ratio(tokens, profiles) },
        since,
        until,
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts of turns and tokens are far below 2^53")]
fn ratio(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

/// Adds amounts to the sums of a day, each with its name and bucket.
fn count(facts: &Facts, user: &UserId, time: &str, amounts: &[(&str, u64, usize)]) -> Result<()> {
    let sql = "INSERT INTO metrics (user_id, day, name, bucket, amount) \
               SELECT ?1, substr(?2, 1, 10), value ->> 0, value ->> 1, value ->> 2 FROM json_each(?3) \
               WHERE value ->> 2 > 0 ON CONFLICT DO UPDATE SET amount = amount + excluded.amount";
    facts.run(sql, params![user, time, json(&amounts)?])
}

/// Counts a profile that was injected into a prompt.
pub fn count_injection(facts: &Facts, user: &UserId, tokens: usize) -> Result<()> {
    let amounts = [("injections", 0, 1), ("injected_tokens", 0, tokens)];
    facts.write(|| count(facts, user, &facts.now(), &amounts))
}

/// The ids of the first hits of each search method for a turn, before its actions change anything.
pub(crate) struct Ranks(HashMap<Method, BTreeSet<String>>);

impl Ranks {
    /// Searches for the user's message; without an embedder, uses vectors only if the built-in one made them.
    pub(crate) fn search(facts: &Facts, turn: &Turn, embedder: Option<&Embedder>) -> Result<Self> {
        let built_in = Embedder::BuiltIn;
        let is_built_in = vectors::model(facts)? == built_in.model();
        let embedder = embedder.or(is_built_in.then_some(&built_in));
        let mut ranks = HashMap::new();
        for method in [Method::Lexical, Method::Fused, Method::Vector] {
            if method != Method::Lexical && embedder.is_none() {
                break;
            }
            let project = turn.project.as_deref();
            let query = FactQuery::candidates(&turn.user_input, project, TOP, method);
            let embedder = embedder.unwrap_or(&built_in);
            let found = retrieve(facts, &turn.user_id, &query, embedder)?;
            if !found.degraded || method != Method::Vector {
                let ids = found.hits.into_iter().map(|hit| hit.fact.fact_id);
                ranks.insert(method, ids.collect());
            }
            // What is not there for one search is not asked for again.
            if found.degraded {
                break;
            }
        }
        Ok(Self(ranks))
    }
}

/// Counts an applied turn: whether the facts it used had been found, and how long it took.
pub(crate) fn note_turn(
    facts: &Facts,
    turn: &Turn,
    ranks: Option<&Ranks>,
    now: &str,
) -> Result<()> {
    let mut amounts = Vec::new();
    if let (Some(from), Some(to)) = (parse_timestamp(&turn.observed_at), parse_timestamp(now)) {
        let taken = u64::try_from(to.signed_duration_since(from).num_milliseconds());
        amounts.push(("latency_ms", two_digits(taken.unwrap_or(0)), 1));
    }
    // The facts that the actions concerned and that existed before the turn.
    let sql = "SELECT fact_id FROM fact_history WHERE user_id = ?1 AND turn_id = ?2 AND key IN \
               (SELECT key FROM applied_actions WHERE user_id = ?1 AND turn_id = ?2) \
               GROUP BY fact_id HAVING count(before_json) = count(*)";
    let used: Vec<String> = facts.column(sql, params![turn.user_id, turn.turn_id])?;
    if let Some(ranks) = ranks.filter(|_| !used.is_empty()) {
        for (method, ids) in &ranks.0 {
            let found = used.iter().filter(|id| ids.contains(*id)).count();
            amounts.extend(match method {
                Method::Lexical => [("lexical_turns", 0, 1), ("lexical_hits", 0, found.min(1))],
                Method::Vector => [("vector_turns", 0, 1), ("vector_hits", 0, found.min(1))],
                _ => [("used_facts", 0, used.len()), ("fused_facts", 0, found)],
            });
        }
    }
    count(facts, &turn.user_id, now, &amounts)
}

/// Rounds to two significant digits, so that a histogram has few buckets at sufficient precision.
fn two_digits(number: u64) -> u64 {
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    (number + unit / 2) / unit * unit
}

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
