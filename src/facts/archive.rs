//! The archive of facts that no longer hold, stored as JSON.

use rusqlite::{Connection, params};

use crate::error::Result;
use crate::facts::audit_trail;
use crate::facts::fact::Fact;
use crate::facts::query::Query;
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
    let json = fact.to_json()?;
    let sql = "UPDATE facts_archive SET fact_json = ?2 WHERE fact_id = ?1";
    connection.run("write the archive", sql, params![fact.fact_id, json])
}

/// Removes a fact from the archive; to restore it, the caller writes it to the facts.
pub(crate) fn remove(connection: &Connection, id: &str) -> Result<()> {
    connection.run("take a fact back", "DELETE FROM facts_archive WHERE fact_id = ?1", [id])
}

fn select(connection: &Connection, user: &UserId, column: &str, value: &str) -> Result<Vec<Fact>> {
    let sql = format!("SELECT fact_json FROM facts_archive WHERE user_id = ?1 AND {column} = ?2");
    audit_trail::facts(connection, "read the archive", &sql, [user.as_str(), value])
}
