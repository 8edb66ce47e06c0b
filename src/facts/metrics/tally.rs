//! The sums, and how one is added to.

use rusqlite::Connection;
use rusqlite::params;

use crate::error::Result;
use crate::facts::query::Query;
use crate::facts::store::Facts;
use crate::facts::user::UserId;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    /// Turns with a used fact.
    LexicalTurns,
    /// Those of them where words alone had found one.
    LexicalHits,
    /// Turns with a used fact where vectors could be compared.
    VectorTurns,
    /// Those of them where vectors alone had found one.
    VectorHits,
    /// Used facts.
    UsedFacts,
    /// Those of them that both together had found.
    FusedFacts,
    /// Facts that were superseded.
    Supersessions,
    /// Those of them whose old value the user took back.
    WrongOverwrites,
    /// Facts that came to wait for confirmation.
    Pending,
    /// Those of them that were confirmed or rejected.
    PendingResolved,
    /// Turns, by the milliseconds from being observed to being applied.
    Latency,
    /// Profiles that were given out.
    Injections,
    /// Their tokens.
    InjectedTokens,
}

impl Figure {
    /// Returns the word for it in the database.
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

    /// Adds to one class of a histogram.
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
        self.connection.run("write the metrics", sql, values)
    }
}

/// Counts a profile that went into a prompt.
pub fn count_injection(facts: &mut Facts, user: &UserId, tokens: usize) -> Result<()> {
    let now = facts.clock().timestamp();
    facts.write(|connection| {
        let tally = Tally::for_day(connection, user, &now);
        tally.add(Figure::Injections, 1)?;
        tally.add(Figure::InjectedTokens, tokens)
    })
}
