//! Measures how well a user's facts are found, judged and used: what the history shows is counted there, the rest
//! is kept as sums per day.

use std::collections::{BTreeSet, HashMap};

use chrono::{Datelike, TimeDelta};
use rusqlite::params;
use serde::Serialize;

use crate::clock::parse_timestamp;
use crate::error::{Error, Result};
use crate::facts::arbitration::RESTORED;
use crate::facts::fact::UserId;
use crate::facts::maintenance::RESTORE_TURN;
use crate::facts::queue::Turn;
use crate::facts::search::{FactQuery, Method, TOP};
use crate::facts::store::{Facts, json};
use crate::facts::{search, vectors};
use crate::search::Embedder;

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
            let found = search::retrieve(facts, &turn.user_id, &query, embedder)?;
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
