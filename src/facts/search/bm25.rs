//! Ranks rows of the full-text index: on one processor, or each half of very many on its own.

use std::ops::Range;
use std::thread;

use rusqlite::Connection;
use rusqlite::OpenFlags;
use rusqlite::params;

/// How much each column counts: the user's is only there to bind the query.
const WEIGHTS: &str = "0.0, 1.0, 1.0, 1.0";

/// Rows, and how well each fits.
pub(crate) type Rows = Vec<(i64, f64)>;

/// Returns those of the rows that match an expression, and how well, in their order.
pub(crate) fn ranked(
    connection: &Connection,
    expression: &str,
    rows: Range<i64>,
) -> rusqlite::Result<Rows> {
    let sql = format!(
        "SELECT rowid, -bm25(facts_fts, {WEIGHTS}) FROM facts_fts \
         WHERE facts_fts MATCH ?1 AND rowid >= ?2 AND rowid < ?3 ORDER BY rowid"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let values = params![expression, rows.start, rows.end];
    let rows = statement.query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// Returns the rows that match an expression and how well, as one connection would, with these in the second half.
///
/// The second half is ranked on a connection of its own. Where that cannot be had, or reads another state of the
/// index since somebody wrote meanwhile, the one that is there does both.
pub(crate) fn in_halves(
    connection: &Connection,
    expression: &str,
    second: i64,
) -> rusqlite::Result<Rows> {
    let Some(path) = connection.path().filter(|path| !path.is_empty()) else {
        return ranked(connection, expression, i64::MIN..i64::MAX);
    };
    let state = state(connection)?;
    let ahead = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let other = Connection::open_with_flags(path, flags).ok()?;
        half(&other, &state, expression, second).ok().flatten()
    };
    thread::scope(|scope| {
        let ahead = scope.spawn(ahead);
        let mut rows = ranked(connection, expression, i64::MIN..second)?;
        let rest = match ahead.join() {
            Ok(Some(rest)) => rest,
            Ok(None) => ranked(connection, expression, second..i64::MAX)?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        rows.extend(rest);
        Ok(rows)
    })
}

/// Returns the second half; nothing where the connection reads another state of the index.
fn half(
    other: &Connection,
    wanted: &[Vec<u8>],
    expression: &str,
    second: i64,
) -> rusqlite::Result<Option<Rows>> {
    let snapshot = other.unchecked_transaction()?;
    if state(&snapshot)? != wanted {
        return Ok(None);
    }
    ranked(&snapshot, expression, second..i64::MAX).map(Some)
}

/// Returns what is another after each write to the index: its sums (row 1) and its structure, which counts the writes
/// (row 10). Source: "Fts5 Table Structure" of SQLite's documentation, and `fts5_index.c`.
fn state(connection: &Connection) -> rusqlite::Result<Vec<Vec<u8>>> {
    let sql = "SELECT block FROM facts_fts_data WHERE id IN (1, 10) ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let blocks = statement.query_map([], |row| row.get(0))?;
    blocks.collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::Clock;
    use crate::facts::Facts;
    use crate::facts::Purpose;

    fn clock() -> Clock {
        Clock::new(Some("2026-03-01T12:00:00Z")).unwrap()
    }

    fn opened(folder: &tempfile::TempDir) -> Facts {
        let path = folder.path().join("mem.db");
        Facts::open_file(&path, clock(), Duration::from_secs(5), Purpose::Write).unwrap()
    }

    fn put(facts: &mut Facts, values: impl Iterator<Item = String>) {
        let sql = "INSERT INTO facts (fact_id, user_id, key, value_text, category, confidence, \
                   valid_from, status, source_turn_id, source_excerpt, created_at, updated_at, \
                   last_mentioned_at) VALUES (lower(hex(randomblob(16))), 'ada', 'said[]', ?1, \
                   'other', 0.4, '', 'active', '', '', '', '', '')";
        let written = facts.write(|connection| {
            for value in values {
                connection.execute(sql, [value]).unwrap();
            }
            Ok(())
        });
        written.unwrap();
    }

    #[test]
    fn two_halves_are_as_the_whole_wherever_they_part() {
        let folder = tempfile::tempdir().unwrap();
        let mut facts = opened(&folder);
        let value = |number: usize| format!("common {} number {number}", "tea ".repeat(number % 5));
        put(&mut facts, (0..90).map(value));
        let connection = facts.connection();
        for expression in ["tea", "tea OR common OR 7", "nothing"] {
            let whole = ranked(connection, expression, i64::MIN..i64::MAX).unwrap();
            for second in [i64::MIN, 0, 1, 45, 90, 91, i64::MAX] {
                assert_eq!(in_halves(connection, expression, second).unwrap(), whole);
            }
        }
    }

    #[test]
    fn another_state_is_seen_as_one_and_one_connection_does_both() {
        let folder = tempfile::tempdir().unwrap();
        let mut facts = opened(&folder);
        put(
            &mut facts,
            ["tea one".to_owned(), "tea two".to_owned()].into_iter(),
        );
        let reader = opened(&folder);
        let snapshot = reader.connection().unchecked_transaction().unwrap();
        let before = state(&snapshot).unwrap();
        let whole = ranked(&snapshot, "tea", i64::MIN..i64::MAX).unwrap();
        // As many rows and as many words as before: only the count of the writes tells.
        let change = |sql: &str| {
            let changed = facts.connection().execute(sql, []).unwrap();
            assert_eq!(changed, 1);
        };
        for sql in [
            "UPDATE facts SET value_text = 'milk two' WHERE seq = 2",
            "UPDATE facts SET value_text = 'tea two' WHERE seq = 2",
            "DELETE FROM facts WHERE seq = 2",
        ] {
            let last = state(facts.connection()).unwrap();
            change(sql);
            assert_ne!(state(facts.connection()).unwrap(), last, "{sql}");
            let half = half(facts.connection(), &before, "tea", 2).unwrap();
            assert_eq!(half, None, "{sql}");
            assert_eq!(in_halves(&snapshot, "tea", 2).unwrap(), whole, "{sql}");
        }
    }

    #[test]
    fn a_database_in_memory_is_ranked_by_the_only_connection() {
        let mut facts = Facts::in_memory(clock()).unwrap();
        put(
            &mut facts,
            ["tea".to_owned(), "tea milk".to_owned()].into_iter(),
        );
        let rows = in_halves(facts.connection(), "tea", 2).unwrap();
        assert_eq!(rows.len(), 2);
    }
}
