//! Updates the sums of the metrics.

use rusqlite::Connection;
use rusqlite::params;

use crate::error::Result;
use crate::facts::failure::Stored;
use crate::facts::store::Facts;
use crate::facts::user::UserId;

/// A measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    /// Turns with a used fact.
    LexicalTurns,
    /// Those of them in which lexical search found a used fact.
    LexicalHits,
    /// Turns with a used fact in which vectors were compared.
    VectorTurns,
    /// Those of them in which vector search found a used fact.
    VectorHits,
    /// Used facts.
    UsedFacts,
    /// Those of them that hybrid search found.
    FusedFacts,
    /// Facts that were superseded.
    Supersessions,
    /// Those of them that the user undid.
    WrongOverwrites,
    /// Facts that became pending.
    Pending,
    /// Those of them that took effect or were dropped.
    PendingResolved,
    /// Turns, by the milliseconds from observation to application.
    Latency,
    /// Profiles that were injected.
    Injections,
    /// Their tokens.
    InjectedTokens,
}

impl Figure {
    /// Returns the name used in the database.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::LexicalTurns => "lexical_turns",
            Self::LexicalHits => "lexical_hits",
            Self::VectorTurns => "vector_turns",
            Self::VectorHits => "vector_hits",
            Self::UsedFacts => "used_facts",
            Self::FusedFacts => "fused_facts",
            Self::Supersessions => "supersessions",
            Self::WrongOverwrites => "wrong_overwrites",
            Self::Pending => "pending",
            Self::PendingResolved => "pending_resolved",
            Self::Latency => "latency_ms",
            Self::Injections => "injections",
            Self::InjectedTokens => "injected_tokens",
        }
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
        Self {
            connection,
            user,
            day,
        }
    }

    /// Adds to a sum.
    pub(crate) fn add(self, figure: Figure, amount: usize) -> Result<()> {
        self.add_to_class(figure, 0, amount)
    }

    /// Adds to a histogram bucket.
    pub(crate) fn add_to_class(self, figure: Figure, class: u64, amount: usize) -> Result<()> {
        if amount == 0 {
            return Ok(());
        }
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let values = params![
            self.user.as_str(),
            self.day,
            figure.as_str(),
            whole(class),
            whole(amount as u64)
        ];
        let sql = "INSERT INTO metrics (user_id, day, name, bucket, amount) VALUES (?1, ?2, ?3, ?4, ?5) \
                   ON CONFLICT DO UPDATE SET amount = amount + excluded.amount";
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(values))
            .stored("write the metrics")
            .map(|_| ())
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
