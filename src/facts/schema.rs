//! Creates the tables, and migrates them from one version to the next.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::{Error, Result};
use crate::facts::failure::SqliteResultExt;

/// Migrations: step `n` upgrades version `n` to `n + 1`. A released step is never changed.
const STEPS: &[&str] = &[
    include_str!("schema.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
    include_str!("schema_5.sql"),
    include_str!("schema_6.sql"),
];

/// The version of the tables that this program makes.
pub(crate) const LATEST: usize = STEPS.len();

/// Migrates the tables to the version of this program; if they are current, this costs one read.
pub(crate) fn migrate(connection: &mut Connection) -> Result<()> {
    if known_version(connection)? == LATEST {
        return Ok(());
    }
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)
        .context("prepare the database")?;
    // Another process may have migrated while this one waited.
    let done = known_version(&transaction)?;
    for step in &STEPS[done..] {
        transaction.execute_batch(step).context("make the tables of the database")?;
    }
    transaction
        .pragma_update(None, "user_version", LATEST.to_string())
        .context("prepare the database")?;
    transaction.commit().context("prepare the database")
}

/// Returns the version of the tables, or an error if a newer program created them.
pub(crate) fn known_version(connection: &Connection) -> Result<usize> {
    let version: u32 = connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .context("read the version of the database")?;
    let version = version as usize;
    if version > LATEST {
        return Err(Error::failed(format!("the database has version {version}, which is newer"))
            .hint(format!("this annals knows versions up to {LATEST}")));
    }
    Ok(version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedding::Embedder;
    use crate::facts::vectors;

    fn migrated() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection).unwrap();
        connection
    }

    fn of_version(version: usize) -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        for step in &STEPS[..version] {
            connection.execute_batch(step).unwrap();
        }
        let version = version.to_string();
        connection.pragma_update(None, "user_version", version).unwrap();
        connection
    }

    #[test]
    fn the_tables_are_made_once_and_a_newer_version_is_left_alone() {
        let mut connection = migrated();
        migrate(&mut connection).unwrap();
        connection.pragma_update(None, "user_version", 99).unwrap();
        let error = migrate(&mut connection).unwrap_err();
        assert_eq!(error.message, "the database has version 99, which is newer");
    }

    #[test]
    fn a_database_of_version_3_gets_its_embedding_ids_in_one_update_and_nothing_else() {
        let mut connection = of_version(3);
        for (id, status) in [("1", "active"), ("2", "superseded")] {
            let add = "INSERT INTO facts (fact_id, user_id, key, value_text, category, confidence, valid_from, \
                       status, source_turn_id, source_excerpt, embedding_id, created_at, updated_at, \
                       last_mentioned_at) VALUES (?1, 'ada', 'k' || ?1, 'v', 'other', 0.4, '', ?2, 't', '', \
                       'old', '', '', '')";
            connection.execute(add, [id, status]).unwrap();
        }
        let vector = "INSERT INTO fact_vectors SELECT 'ada', seq, fact_id, 'm', 1, 1.0, x'00' FROM facts \
                      WHERE fact_id = '1'";
        connection.execute(vector, []).unwrap();
        migrate(&mut connection).unwrap();
        let ids = |connection: &Connection| -> Vec<Option<String>> {
            let mut rows =
                connection.prepare("SELECT embedding_id FROM facts ORDER BY seq").unwrap();
            let ids = rows.query_map([], |row| row.get(0)).unwrap();
            ids.map(|id| id.unwrap()).collect()
        };
        assert_eq!(ids(&connection), [Some("1".to_owned()), None]);
        for table in ["fact_history", "vector_jobs"] {
            let count = format!("SELECT count(*) FROM {table}");
            let rows: i64 = connection.query_row(&count, [], |row| row.get(0)).unwrap();
            assert_eq!(rows, 0, "{table}");
        }
        connection.execute("DELETE FROM fact_vectors", []).unwrap();
        assert_eq!(ids(&connection), [None, None]);
    }

    #[test]
    fn vectors_of_passages_are_expected_at_once_only_where_none_of_whole_facts_are() {
        let model = |connection: &Connection| -> String {
            let sql = "SELECT model FROM vector_index";
            connection.query_row(sql, [], |row| row.get(0)).unwrap()
        };
        assert_eq!(model(&migrated()), vectors::model_of(&Embedder::BuiltIn));
        let mut old = of_version(4);
        let add = "INSERT INTO facts (fact_id, user_id, key, value_text, category, confidence, valid_from, \
                   status, source_turn_id, source_excerpt, created_at, updated_at, last_mentioned_at) \
                   VALUES ('1', 'ada', 'k', 'v', 'other', 0.4, '', 'active', 't', '', '', '', '')";
        old.execute(add, []).unwrap();
        migrate(&mut old).unwrap();
        assert_eq!(model(&old), Embedder::BuiltIn.model());
    }

    #[test]
    fn a_database_that_was_never_shared_is_migrated_in_place() {
        let mut connection = of_version(5);
        let add = "INSERT INTO fact_history (fact_id, user_id, key, action, reason, turn_id, at)
                   VALUES ('1', 'ada', 'name', 'insert', '', 'annals:stated:1', '')";
        connection.execute(add, []).unwrap();
        migrate(&mut connection).unwrap();
        let count = |sql: &str| -> i64 { connection.query_row(sql, [], |row| row.get(0)).unwrap() };
        assert_eq!(known_version(&connection).unwrap(), STEPS.len());
        // Existing rows are unchanged, and nothing is shared.
        assert_eq!(count("SELECT count(*) FROM fact_history WHERE turn_id = 'annals:stated:1'"), 1);
        assert_eq!(count("SELECT count(*) FROM share_device"), 0);
        assert_eq!(count("SELECT count(*) FROM operations"), 0);
    }

    #[test]
    fn the_history_lets_go_of_what_is_being_erased_and_of_nothing_else() {
        let connection = migrated();
        let add = "INSERT INTO fact_history (fact_id, user_id, key, action, reason, turn_id, at)
                   VALUES ('1', 'ada', 'name', 'insert', '', 't', '')";
        connection.execute(add, []).unwrap();
        for change in ["UPDATE fact_history SET key = 'x'", "DELETE FROM fact_history"] {
            let error = connection.execute(change, []).unwrap_err().to_string();
            assert!(error.contains("fact_history is immutable"), "{error}");
        }
        connection.execute("INSERT INTO erasing VALUES ('ada', 'other')", []).unwrap();
        connection.execute("DELETE FROM fact_history", []).unwrap_err();
        connection.execute("INSERT INTO erasing VALUES ('ada', NULL)", []).unwrap();
        assert_eq!(connection.execute("DELETE FROM fact_history", []), Ok(1));
    }
}
