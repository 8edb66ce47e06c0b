//! Measures how well a user's facts are found, judged and used, as sums per day.

use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;
use rusqlite::{Connection, params};
use serde::Serialize;

use crate::clock::parse_timestamp;
use crate::error::Result;
use crate::facts::arbitration::ActionResult;
use crate::facts::fact::{Fact, UserId};
use crate::facts::queue::Turn;
use crate::facts::search::{self, FactQuery, Method, TOP};
use crate::facts::sql::Query;
use crate::facts::store::Facts;
use crate::facts::vectors;
use crate::search::Embedder;
use crate::text::word_enum;

word_enum! {
    /// A measured quantity.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub(crate) enum Figure {
        /// Number of turns with a used fact.
        LexicalTurns = "lexical_turns",
        /// Those of them in which lexical search found a used fact.
        LexicalHits = "lexical_hits",
        /// Turns with a used fact in which vectors were compared.
        VectorTurns = "vector_turns",
        /// Those of them in which vector search found a used fact.
        VectorHits = "vector_hits",
        /// Number of used facts.
        UsedFacts = "used_facts",
        /// Those of them that hybrid search found.
        FusedFacts = "fused_facts",
        /// Number of superseded facts.
        Supersessions = "supersessions",
        /// Those of them that the user undid.
        WrongOverwrites = "wrong_overwrites",
        /// Facts that became pending.
        Pending = "pending",
        /// Those of them that took effect or were dropped.
        PendingResolved = "pending_resolved",
        /// Turns, by the milliseconds from observation to application.
        Latency = "latency_ms",
        /// Profiles that were injected.
        Injections = "injections",
        /// Number of tokens of the injected profiles.
        InjectedTokens = "injected_tokens",
    }
}

/// Metrics of a user's facts in a window of days.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metrics {
    /// The user.
    pub user_id: String,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Share {
    /// The count.
    pub part: u64,
    /// The total.
    pub of: u64,
    /// Their ratio, or `None` if the total is 0.
    pub rate: Option<f64>,
}

/// Durations of turns, to two significant digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// Number of turns.
    pub turns: u64,
    /// Median, in milliseconds.
    pub p50_ms: Option<u64>,
    /// 95th percentile, in milliseconds.
    pub p95_ms: Option<u64>,
}

/// Tokens of injected profiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Number of profiles.
    pub profiles: u64,
    /// Total number of tokens.
    pub tokens: u64,
    /// Mean number of tokens per profile.
    pub mean: Option<f64>,
}

/// Returns a user's metrics for the last `days` days, including today.
pub fn metrics(facts: &Facts, user: &UserId, days: u32) -> Result<Metrics> {
    let until = facts.clock().today();
    let before = TimeDelta::days(i64::from(days.saturating_sub(1)));
    let since = until.checked_sub_signed(before).unwrap_or(until);
    let (since, until) = (since.to_string(), until.to_string());
    let sql = "SELECT name, bucket, CAST(sum(amount) AS INTEGER) FROM metrics \
               WHERE user_id = ?1 AND day BETWEEN ?2 AND ?3 GROUP BY name, bucket";
    let mut sums: BTreeMap<String, BTreeMap<u64, u64>> = BTreeMap::new();
    facts.connection().each("read the metrics", sql, params![user, since, until], |row| {
        sums.entry(row.get(0)?).or_default().insert(row.get(1)?, row.get(2)?);
        Ok(())
    })?;
    let total =
        |figure: Figure| sums.get(figure.as_str()).map_or(0, |buckets| buckets.values().sum());
    let share = |part, of| {
        let (part, of) = (total(part), total(of));
        Share { part, of, rate: ratio(part, of) }
    };
    let turns = total(Figure::Latency);
    // The bucket in which a percentile falls.
    let percentile = |percent: u64| {
        let mut seen = 0;
        let mut buckets = sums.get(Figure::Latency.as_str())?.iter();
        buckets.find_map(|(bucket, amount)| {
            seen += amount;
            (seen >= turns.saturating_mul(percent).div_ceil(100)).then_some(*bucket)
        })
    };
    let (tokens, profiles) = (total(Figure::InjectedTokens), total(Figure::Injections));
    Ok(Metrics {
        user_id: user.as_str().to_owned(),
        lexical_hits: share(Figure::LexicalHits, Figure::LexicalTurns),
        vector_hits: share(Figure::VectorHits, Figure::VectorTurns),
        hybrid_recall: share(Figure::FusedFacts, Figure::UsedFacts),
        wrong_overwrites: share(Figure::WrongOverwrites, Figure::Supersessions),
        pending_resolved: share(Figure::PendingResolved, Figure::Pending),
        observer_latency: Latency { turns, p50_ms: percentile(50), p95_ms: percentile(95) },
        injection: Cost { profiles, tokens, mean: ratio(tokens, profiles) },
        since: since.clone(),
        until: until.clone(),
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts of turns and tokens are far below 2^53")]
fn ratio(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

/// Adds to a sum on the day of a time.
pub(crate) fn count(
    connection: &Connection,
    user: &UserId,
    time: &str,
    figure: Figure,
    amount: usize,
) -> Result<()> {
    count_in(connection, user, time, figure, 0, amount)
}

fn count_in(
    connection: &Connection,
    user: &UserId,
    time: &str,
    figure: Figure,
    bucket: u64,
    amount: usize,
) -> Result<()> {
    if amount == 0 {
        return Ok(());
    }
    let day = time.get(..10).unwrap_or(time);
    let [bucket, amount] =
        [bucket, amount as u64].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
    let sql = "INSERT INTO metrics (user_id, day, name, bucket, amount) VALUES (?1, ?2, ?3, ?4, ?5) \
               ON CONFLICT DO UPDATE SET amount = amount + excluded.amount";
    let values = params![user, day, figure.as_str(), bucket, amount];
    connection.run("write the metrics", sql, values)
}

/// Counts a profile that was injected into a prompt.
pub fn count_injection(facts: &mut Facts, user: &UserId, tokens: usize) -> Result<()> {
    let now = facts.clock().timestamp();
    facts.write(|connection| {
        count(connection, user, &now, Figure::Injections, 1)?;
        count(connection, user, &now, Figure::InjectedTokens, tokens)
    })
}

/// The first hits of each search method for a turn, before its actions change anything.
#[derive(Debug)]
pub(crate) struct Ranks {
    lexical: BTreeSet<String>,
    vector: Option<BTreeSet<String>>,
    fused: Option<BTreeSet<String>>,
}

impl Ranks {
    /// Searches for the user's message; without an embedder, uses vectors only if the built-in one made them.
    pub(crate) fn search(
        facts: &mut Facts,
        turn: &Turn,
        embedder: Option<&Embedder>,
    ) -> Result<Self> {
        let built_in = Embedder::BuiltIn;
        let is_built_in = vectors::model(facts.connection())? == built_in.model();
        let embedder = embedder.or(is_built_in.then_some(&built_in));
        let mut find = |method, embedder: &Embedder| {
            let project = turn.project.as_deref();
            let query = FactQuery::candidates(&turn.user_input, project, TOP, method);
            let found = search::retrieve(facts, &turn.user_id, &query, embedder)?;
            let ids = found.hits.into_iter().map(|hit| hit.fact.fact_id);
            Result::Ok((ids.collect::<BTreeSet<String>>(), found.degraded))
        };
        let lexical = find(Method::Lexical, &built_in)?.0;
        let (mut vector, mut fused) = (None, None);
        if let Some(embedder) = embedder {
            let (both, is_degraded) = find(Method::Fused, embedder)?;
            if !is_degraded {
                let (found, is_degraded) = find(Method::Vector, embedder)?;
                vector = (!is_degraded).then_some(found);
            }
            fused = Some(both);
        }
        Ok(Self { lexical, vector, fused })
    }
}

/// Counts an applied turn: whether the facts it used had been found, and how long it took.
pub(crate) fn note_turn(
    connection: &Connection,
    turn: &Turn,
    applied: &[ActionResult],
    ranks: Option<&Ranks>,
    now: &str,
) -> Result<()> {
    let user = &turn.user_id;
    if let (Some(from), Some(to)) = (parse_timestamp(&turn.observed_at), parse_timestamp(now)) {
        let taken = u64::try_from(to.signed_duration_since(from).num_milliseconds());
        count_in(connection, user, now, Figure::Latency, two_digits(taken.unwrap_or(0)), 1)?;
    }
    // The facts that the actions concerned and that existed before the turn.
    let sql = "SELECT fact_id FROM fact_history WHERE user_id = ?1 AND key = ?2 AND turn_id = ?3 \
               GROUP BY fact_id HAVING count(before_json) = count(*)";
    let mut used = BTreeSet::new();
    for key in applied.iter().map(|one| &one.key).collect::<BTreeSet<_>>() {
        let values = params![user, key, turn.turn_id];
        used.extend(connection.column("read the history", sql, values)?);
    }
    let Some(ranks) = ranks.filter(|_| !used.is_empty()) else {
        return Ok(());
    };
    let count = |figure, amount| count(connection, user, now, figure, amount);
    let found = |ids: &BTreeSet<String>| used.intersection(ids).count();
    count(Figure::LexicalTurns, 1)?;
    count(Figure::LexicalHits, found(&ranks.lexical).min(1))?;
    if let Some(vector) = &ranks.vector {
        count(Figure::VectorTurns, 1)?;
        count(Figure::VectorHits, found(vector).min(1))?;
    }
    if let Some(fused) = &ranks.fused {
        count(Figure::UsedFacts, used.len())?;
        count(Figure::FusedFacts, found(fused))?;
    }
    Ok(())
}

/// Rounds to two significant digits, so that a histogram has few buckets at sufficient precision.
fn two_digits(number: u64) -> u64 {
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    (number + unit / 2) / unit * unit
}

/// Counts a pending fact that takes effect or is dropped, on the day on which it became pending.
///
/// This and the following are called before the change is written.
pub(crate) fn note_resolution(connection: &Connection, user: &UserId, fact: &Fact) -> Result<()> {
    match last(connection, user, fact, "action = 'mark_pending_confirmation'")? {
        Some((_, _, _, at)) => count(connection, user, &at, Figure::PendingResolved, 1),
        // Facts imported as pending were not counted as such.
        None => Ok(()),
    }
}

/// Counts an overwrite as wrong if the user confirms the old value.
pub(crate) fn note_restoration(connection: &Connection, user: &UserId, old: &Fact) -> Result<()> {
    let Some((id, _, _, at)) = last(connection, user, old, "action = 'supersede'")? else {
        return Ok(());
    };
    // The rejection of a later value was counted already.
    let sql = "SELECT EXISTS (SELECT 1 FROM fact_history WHERE user_id = ?1 AND key = ?2 \
               AND history_id > ?3 AND action = 'reject' AND before_json ->> 'status' = 'active')";
    let is_counted: bool = connection.value("read the history", sql, params![user, old.key, id])?;
    count(connection, user, &at, Figure::WrongOverwrites, usize::from(!is_counted))
}

/// Counts an overwrite as wrong if the user rejects the new value.
pub(crate) fn note_rejection(connection: &Connection, user: &UserId, new: &Fact) -> Result<()> {
    let began = last(connection, user, new, "action IN ('insert', 'activate', 'restore')")?;
    // A restored value already counted when it was restored.
    let Some((id, _, turn, _)) = began.filter(|(_, action, ..)| action != "restore") else {
        return Ok(());
    };
    let sql = "SELECT at FROM fact_history WHERE user_id = ?1 AND key = ?2 AND turn_id = ?3 \
               AND history_id < ?4 AND action = 'supersede' ORDER BY history_id DESC LIMIT 1";
    let values = params![user, new.key, turn, id];
    let at: Option<String> =
        connection.optional_row("read the history", sql, values, |row| row.get(0))?;
    at.map_or(Ok(()), |at| count(connection, user, &at, Figure::WrongOverwrites, 1))
}

/// Returns id, action, turn and time of the last change of a fact under a condition.
fn last(
    connection: &Connection,
    user: &UserId,
    fact: &Fact,
    condition: &str,
) -> Result<Option<(i64, String, String, String)>> {
    let sql = format!(
        "SELECT history_id, action, turn_id, at FROM fact_history \
         WHERE user_id = ?1 AND fact_id = ?2 AND {condition} ORDER BY history_id DESC LIMIT 1"
    );
    let values = params![user, fact.fact_id];
    connection.optional_row("read the history", &sql, values, |row| row.try_into())
}
