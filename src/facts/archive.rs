//! The archive of facts that no longer hold, stored as JSON.

use rusqlite::Connection;
use rusqlite::params;

use crate::error::Error;
use crate::error::Result;
use crate::facts::audit_trail;
use crate::facts::fact::Fact;
use crate::facts::failure::Stored;
use crate::facts::user::UserId;

/// Returns an archived fact.
pub(crate) fn find(connection: &Connection, user: &UserId, id: &str) -> Result<Option<Fact>> {
    Ok(select(connection, user, "fact_id", id)?.into_iter().next())
}

/// Returns the archived facts of a key.
pub(crate) fn of_key(connection: &Connection, user: &UserId, key: &str) -> Result<Vec<Fact>> {
    select(connection, user, "key", key)
}

/// Overwrites an archived fact.
pub(crate) fn update(connection: &Connection, fact: &Fact) -> Result<()> {
    let json = serde_json::to_string(fact)
        .map_err(|error| Error::failed(format!("cannot write a fact: {error}")))?;
    let sql = "UPDATE facts_archive SET fact_json = ?2 WHERE fact_id = ?1";
    connection
        .execute(sql, params![fact.fact_id, json])
        .stored("write the archive")
        .map(|_| ())
}

/// Removes a fact from the archive; to restore it, the caller writes it to the facts.
pub(crate) fn remove(connection: &Connection, id: &str) -> Result<()> {
    connection
        .execute("DELETE FROM facts_archive WHERE fact_id = ?1", [id])
        .stored("take a fact back")
        .map(|_| ())
}

fn select(connection: &Connection, user: &UserId, column: &str, value: &str) -> Result<Vec<Fact>> {
    let sql = format!("SELECT fact_json FROM facts_archive WHERE user_id = ?1 AND {column} = ?2");
    let mut statement = connection.prepare_cached(&sql).stored("read the archive")?;
    let rows = statement
        .query_map([user.as_str(), value], |row| row.get::<_, String>(0))
        .stored("read the archive")?;
    let mut facts = Vec::new();
    for json in rows {
        facts.push(audit_trail::fact(&json.stored("read the archive")?)?);
    }
    Ok(facts)
}
