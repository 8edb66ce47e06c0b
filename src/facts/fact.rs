//! Defines a fact, and how it is read from and written to its row.

use std::fmt;
use std::sync::LazyLock;

use chrono::{DateTime, SecondsFormat, Utc};
use rusqlite::{Connection, ToSql, params_from_iter};
use serde::{Deserialize, Serialize};

use crate::clock::{parse_date, parse_timestamp};
use crate::error::{Error, Result};
use crate::facts::columns::{Json, columns};
use crate::facts::key::FactKey;
use crate::facts::query::Query;
use crate::facts::user::UserId;
use crate::facts::vocabulary::{Category, FactStatus, Proposal};
use crate::facts::{confidence, key};

/// Maximum length of a value, as text and as JSON, in bytes.
pub(crate) const MAX_VALUE_BYTES: usize = 16 << 10;

/// A fact about a user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// A UUID derived from user, turn and action.
    pub fact_id: String,
    /// The user.
    pub user_id: String,
    /// The subject, dotted: `preference.editor`; a key that ends in `[]` has several values.
    pub key: String,
    /// The value.
    pub value_text: String,
    /// The value as JSON.
    pub value_json: Option<Json>,
    /// The category.
    pub category: Category,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
    /// When the stated event happened.
    pub event_time: Option<String>,
    /// Start of the validity.
    pub valid_from: String,
    /// End of the validity.
    pub valid_to: Option<String>,
    /// Its status.
    pub status: FactStatus,
    /// The turn that it comes from.
    pub source_turn_id: String,
    /// Excerpt of the text that it comes from.
    pub source_excerpt: String,
    /// Its id in the vector index, equal to `fact_id`, while it has a vector there; maintained by triggers.
    pub embedding_id: Option<String>,
    /// When it was created.
    pub created_at: String,
    /// When it was last changed.
    pub updated_at: String,
    /// When it was last mentioned.
    pub last_mentioned_at: String,
    /// The conversation that it comes from.
    pub session_id: Option<String>,
    /// The position of its turn in that conversation.
    pub turn_seq: Option<i64>,
    /// The project that it belongs to, if any.
    pub project: Option<String>,
    /// The change proposed while it is pending.
    pub proposal: Option<Proposal>,
    /// The fact contested while it is pending.
    pub contests: Option<String>,
}

columns!(
    Fact: fact_id, user_id, key, value_text, value_json, category, confidence, event_time, valid_from, valid_to,
    status, source_turn_id, source_excerpt, embedding_id, created_at, updated_at, last_mentioned_at, session_id,
    turn_seq, project, proposal, contests
);

/// The columns of `facts` in the order of [`Fact::read`].
pub(crate) const COLUMNS: &str = Fact::COLUMNS;

/// Number of facts that one statement writes.
const ROWS: usize = 64;

/// Writes a row, replacing the one with its id; triggers maintain the id in the vector index.
static UPSERT: LazyLock<String> = LazyLock::new(|| upsert_sql(1));

/// Writes [`ROWS`] rows.
static UPSERT_ROWS: LazyLock<String> = LazyLock::new(|| upsert_sql(ROWS));

fn upsert_sql(rows: usize) -> String {
    let row = COLUMNS.split(", ").map(|_| "?").collect::<Vec<_>>();
    let row = format!("({})", row.join(", "));
    let values = vec![row; rows].join(", ");
    let changed: Vec<String> = COLUMNS
        .split(", ")
        .filter(|column| !["fact_id", "user_id", "embedding_id"].contains(column))
        .map(|column| format!("{column} = excluded.{column}"))
        .collect();
    let changed = changed.join(", ");
    format!(
        "INSERT INTO facts ({COLUMNS}) VALUES {values} \
         ON CONFLICT (user_id, fact_id) DO UPDATE SET {changed}"
    )
}

impl Fact {
    /// Returns an active fact that was stated at this time and is valid from then on.
    pub(crate) fn new(user: &UserId, fact_id: String, key: &str, value: String, at: &str) -> Self {
        Self {
            fact_id,
            user_id: user.as_str().to_owned(),
            key: key.to_owned(),
            value_text: value,
            value_json: None,
            category: Category::Other,
            confidence: confidence::first_mention(0.0),
            event_time: None,
            valid_from: at.to_owned(),
            valid_to: None,
            status: FactStatus::Active,
            source_turn_id: String::new(),
            source_excerpt: String::new(),
            embedding_id: None,
            created_at: at.to_owned(),
            updated_at: at.to_owned(),
            last_mentioned_at: at.to_owned(),
            session_id: None,
            turn_seq: None,
            project: None,
            proposal: None,
            contests: None,
        }
    }

    /// Writes a fact, replacing the row with the same id.
    pub(crate) fn upsert(&self, connection: &Connection) -> Result<()> {
        let values = params_from_iter(self.values());
        connection.run("write the fact", &UPSERT, values)
    }

    /// Returns whether its key can have several values.
    pub(crate) fn is_multi_valued(&self) -> bool {
        self.key.ends_with(key::SEVERAL)
    }

    /// Returns the fact as JSON, as the history and the archive store it.
    pub(crate) fn to_json(&self) -> Result<String> {
        serde_json::to_string(self)
            .map_err(|error| Error::failed(format!("cannot write a fact: {error}")))
    }

    /// Returns an error if a fact from elsewhere cannot be stored as it is.
    pub(crate) fn check(&self) -> Result<()> {
        FactKey::parse(&self.key)?;
        if !(0.0..=1.0).contains(&self.confidence) || self.value_text.trim().is_empty() {
            return Err(Error::refused("no value, or a confidence outside 0 to 1"));
        }
        let is_id = self.fact_id.len() == 36
            && self.fact_id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        if !is_id {
            let message = format!("{:?} is not a fact_id", self.fact_id);
            return Err(Error::refused(message));
        }
        let needed =
            [&self.valid_from, &self.created_at, &self.updated_at, &self.last_mentioned_at];
        for time in needed.into_iter().chain(&self.valid_to) {
            if normalized_time(time).as_ref() != Some(time) {
                return Err(Error::refused(format!("{time:?} is not an ISO 8601 time")));
            }
        }
        if self.valid_to.as_ref().is_some_and(|end| *end < self.valid_from) {
            return Err(Error::refused("valid_to is before valid_from"));
        }
        Ok(())
    }

    /// Returns whether it has ended by this time but is still marked as active or pending.
    pub fn is_over_at(&self, now: &str) -> bool {
        self.status.is_retrievable() && self.valid_to.as_deref().is_some_and(|end| end <= now)
    }

    /// Returns whether it is a proposed value whose validity ended before anyone confirmed it.
    pub(crate) fn is_lapsed_at(&self, now: &str) -> bool {
        self.status == FactStatus::PendingConfirmation
            && self.proposal != Some(Proposal::End)
            && self.is_over_at(now)
    }

    /// Returns whether it is high-risk; `further` contains the user's own keys.
    pub(crate) fn is_high_risk(&self, further: &[String]) -> bool {
        FactKey::parse(&self.key).is_ok_and(|key| key.is_high_risk(self.category, further))
    }

    /// Returns when it was last changed or mentioned.
    pub(crate) fn last_touched(&self) -> &str {
        self.updated_at.as_str().max(&self.last_mentioned_at)
    }

    /// Returns whether it is valid at this time.
    pub fn is_valid_at(&self, now: &str) -> bool {
        self.valid_from.as_str() <= now && self.valid_to.as_deref().is_none_or(|end| now < end)
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.value_text)
    }
}

/// Writes facts, replacing the rows with the same ids.
///
/// The full-text indexes collect in memory what one statement adds, but write it out before the next one, which
/// costs more than the facts themselves. So a statement writes as many as possible.
pub(crate) fn upsert_all(connection: &Connection, facts: &[Fact]) -> Result<()> {
    let (groups, rest) = facts.as_chunks::<ROWS>();
    for group in groups {
        let values = params_from_iter(group.iter().flat_map(Fact::values));
        connection.run("write the facts", &UPSERT_ROWS, values)?;
    }
    rest.iter().try_for_each(|fact| fact.upsert(connection))
}

/// Returns the facts of all users that match a condition, in which `?1` is a time.
pub(crate) fn of_all_users(
    connection: &Connection,
    condition: &str,
    time: &str,
) -> Result<Vec<Fact>> {
    let sql = format!("SELECT {COLUMNS} FROM facts WHERE {condition} ORDER BY seq");
    connection.rows("read the facts", &sql, [time], Fact::read)
}

/// Returns the facts under a key that have a status, in insertion order.
pub(crate) fn with_key(
    connection: &Connection,
    user: &UserId,
    key: &str,
    status: FactStatus,
) -> Result<Vec<Fact>> {
    if status == FactStatus::Active {
        let values = [user.as_str(), key];
        return connection.rows("read the facts", &ACTIVE_WITH_KEY, values, Fact::read);
    }
    select(connection, user, WITH_KEY, &[&key, &status])
}

/// Other facts of the key, of which there may be thousands, are not read. Left to itself, SQLite uses the index on
/// the status, because its rows are already sorted, but that would read every active fact of the user.
static ACTIVE_WITH_KEY: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {COLUMNS} FROM facts INDEXED BY facts_one_value \
         WHERE user_id = ?1 AND key = ?2 AND status = 'active' ORDER BY seq"
    )
});

/// The unary plus prevents SQLite from using the index on the status, for the same reason.
const WITH_KEY: &str = "key = ?2 AND +status = ?3";

/// Returns a user's facts that match a condition on the columns, in insertion order.
///
/// `condition` is code, never input: variable parts go into `values`, which start at `?2`; `?1` is the user.
pub(crate) fn select(
    connection: &Connection,
    user: &UserId,
    condition: &str,
    values: &[&dyn ToSql],
) -> Result<Vec<Fact>> {
    let sql = select_sql(condition);
    let user = user.as_str();
    let mut all: Vec<&dyn ToSql> = vec![&user];
    all.extend_from_slice(values);
    connection.rows("read the facts", &sql, &all[..], Fact::read)
}

/// Returns a user's fact with this id.
pub(crate) fn by_id(connection: &Connection, user: &UserId, id: &str) -> Result<Option<Fact>> {
    let found = select(connection, user, "fact_id = ?2", &[&id])?;
    Ok(found.into_iter().next())
}

/// Returns the number of a user's facts that searches return.
pub(crate) fn count_retrievable(connection: &Connection, user: &UserId) -> Result<usize> {
    let sql = "SELECT count(*) FROM facts INDEXED BY facts_status \
               WHERE user_id = ?1 AND status IN ('active', 'pending_confirmation')";
    connection.value("count the facts", sql, [user.as_str()])
}

fn select_sql(condition: &str) -> String {
    format!("SELECT {COLUMNS} FROM facts WHERE user_id = ?1 AND ({condition}) ORDER BY seq")
}

/// Formats a time as it is stored: RFC 3339 in UTC, to the second.
pub(crate) fn format_time(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Normalises a time to its stored form; a date means its midnight.
pub(crate) fn normalized_time(text: &str) -> Option<String> {
    let of_day = || Some(parse_date(text)?.and_hms_opt(0, 0, 0)?.and_utc());
    parse_timestamp(text).or_else(of_day).map(format_time)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rusqlite::StatementStatus;

    use super::*;
    use crate::clock::Clock;
    use crate::facts::{Facts, Purpose, schema};

    #[test]
    fn the_facts_of_a_key_are_found_without_reading_all_of_the_users() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::migrate(&mut connection).unwrap();
        for (sql, values, index) in [
            (&select_sql(WITH_KEY), &["ada", "city", "expired"][..], "facts_key"),
            (&*ACTIVE_WITH_KEY, &["ada", "city"], "facts_one_value (user_id=? AND key=?)"),
        ] {
            let values = params_from_iter(values);
            let sql = format!("EXPLAIN QUERY PLAN {sql}");
            let plan: String = connection.query_row(&sql, values, |row| row.get(3)).unwrap();
            assert!(plan.contains(index), "{plan}");
        }
    }

    #[test]
    fn a_statement_is_prepared_once_whatever_is_bound() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::new(Some("2026-01-01T00:00:00Z")).unwrap();
        let path = folder.path().join("facts.db");
        let facts = Facts::open_file(&path, clock, Duration::ZERO, Purpose::Write).unwrap();
        let user = UserId::stored("ada".to_owned());
        for key in ["city", "name", "food"] {
            with_key(facts.connection(), &user, key, FactStatus::Active).unwrap();
        }
        let statement = facts.connection().prepare_cached(&ACTIVE_WITH_KEY).unwrap();
        assert!(statement.get_status(StatementStatus::Run) >= 3);
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }
}
