//! Updates the sums of the metrics.

use rusqlite::{Connection, params};
use serde::Serialize;

use crate::error::Result;
use crate::facts::query::Query;
use crate::facts::store::Facts;
use crate::facts::user::UserId;
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

/// The sums of one user on one day.
#[derive(Clone, Copy)]
pub(crate) struct Tally<'a> {
    connection: &'a Connection,
    user: &'a UserId,
    day: &'a str,
}

impl<'a> Tally<'a> {
    /// Returns the sums of the day of a time.
    pub(crate) fn for_day(connection: &'a Connection, user: &'a UserId, time: &'a str) -> Self {
        let day = time.get(..10).unwrap_or(time);
        Self { connection, user, day }
    }

    /// Adds to a sum.
    pub(crate) fn add(self, figure: Figure, amount: usize) -> Result<()> {
        self.add_to_bucket(figure, 0, amount)
    }

    /// Adds to a histogram bucket.
    pub(crate) fn add_to_bucket(self, figure: Figure, bucket: u64, amount: usize) -> Result<()> {
        if amount == 0 {
            return Ok(());
        }
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let values = params![
            self.user.as_str(),
            self.day,
            figure.as_str(),
            whole(bucket),
            whole(amount as u64)
        ];
        let sql = "INSERT INTO metrics (user_id, day, name, bucket, amount) VALUES (?1, ?2, ?3, ?4, ?5) \
                   ON CONFLICT DO UPDATE SET amount = amount + excluded.amount";
        self.connection.run("write the metrics", sql, values)
    }
}

/// Counts a profile that was injected into a prompt.
pub fn count_injection(facts: &mut Facts, user: &UserId, tokens: usize) -> Result<()> {
    let now = facts.clock().timestamp();
    facts.write(|connection| {
        let tally = Tally::for_day(connection, user, &now);
        tally.add(Figure::Injections, 1)?;
        tally.add(Figure::InjectedTokens, tokens)
    })
}
