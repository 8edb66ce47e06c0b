//! Runs SQL statements: each is prepared once, and an error says what was attempted.

use rusqlite::types::FromSql;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row};

use crate::error::Result;
use crate::facts::failure::SqliteResultExt;

/// Runs statements; each method takes a description of the attempt, the SQL and its parameters.
pub(crate) trait Query {
    /// Prepares a statement, unless it is cached, and runs it with `run`.
    fn prepared<T>(
        &self,
        tried: &str,
        sql: &str,
        run: impl FnOnce(&mut CachedStatement<'_>) -> rusqlite::Result<T>,
    ) -> Result<T>;

    /// Runs a statement that returns no rows.
    fn run(&self, tried: &str, sql: &str, values: impl Params) -> Result<()> {
        self.run_counted(tried, sql, values).map(|_| ())
    }

    /// Runs a statement that returns no rows, and returns the number of changed rows.
    fn run_counted(&self, tried: &str, sql: &str, values: impl Params) -> Result<usize> {
        self.prepared(tried, sql, |statement| statement.execute(values))
    }

    /// Returns the first column of the first row.
    fn value<T: FromSql>(&self, tried: &str, sql: &str, values: impl Params) -> Result<T> {
        self.row(tried, sql, values, |row| row.get(0))
    }

    /// Returns the first row.
    fn row<T>(
        &self,
        tried: &str,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.prepared(tried, sql, |statement| statement.query_row(values, read))
    }

    /// Returns the first row, if there is one.
    fn optional_row<T>(
        &self,
        tried: &str,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        self.prepared(tried, sql, |statement| statement.query_row(values, read).optional())
    }

    /// Returns all rows.
    fn rows<T>(
        &self,
        tried: &str,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        self.prepared(tried, sql, |statement| statement.query_map(values, read)?.collect())
    }

    /// Reads each row in turn, without collecting them.
    fn each(
        &self,
        tried: &str,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<()> {
        // A vector of nothing takes no memory.
        self.rows(tried, sql, values, read).map(drop)
    }
}

impl Query for Connection {
    fn prepared<T>(
        &self,
        tried: &str,
        sql: &str,
        run: impl FnOnce(&mut CachedStatement<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.prepare_cached(sql).and_then(|mut statement| run(&mut statement)).context(tried)
    }
}
