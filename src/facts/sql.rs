//! Runs SQL statements, each prepared once, and reads their rows into values, tuples and structs.

use rusqlite::types::FromSql;
use rusqlite::{CachedStatement, Connection, ErrorCode, OptionalExtension, Params, Row};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};

/// A tuple or struct that a row is read into.
pub(crate) trait FromRow: for<'r> TryFrom<&'r Row<'r>, Error = rusqlite::Error> {}

impl<T: for<'r> TryFrom<&'r Row<'r>, Error = rusqlite::Error>> FromRow for T {}

/// Runs statements, each prepared once, and reads their rows.
pub(crate) trait Sql {
    /// Prepares a statement, unless it is cached.
    fn statement(&self, sql: &str) -> Result<CachedStatement<'_>>;

    /// Runs a statement that returns no rows.
    fn run(&self, sql: &str, values: impl Params) -> Result<()> {
        self.change(sql, values).map(drop)
    }

    /// Runs a statement that returns no rows, and returns the number of changed rows.
    fn change(&self, sql: &str, values: impl Params) -> Result<usize> {
        Ok(self.statement(sql)?.execute(values)?)
    }

    /// Returns the first column of the first row.
    fn value<T: FromSql>(&self, sql: &str, values: impl Params) -> Result<T> {
        Ok(self.statement(sql)?.query_row(values, |row| row.get(0))?)
    }

    /// Returns the first row, if there is one.
    fn optional<T: FromRow>(&self, sql: &str, values: impl Params) -> Result<Option<T>> {
        Ok(self.statement(sql)?.query_row(values, |row| T::try_from(row)).optional()?)
    }

    /// Returns all rows.
    fn list<T: FromRow>(&self, sql: &str, values: impl Params) -> Result<Vec<T>> {
        let mut statement = self.statement(sql)?;
        let rows = statement.query_map(values, |row| T::try_from(row))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Returns the first column of all rows.
    fn column<T: FromSql>(&self, sql: &str, values: impl Params) -> Result<Vec<T>> {
        let mut statement = self.statement(sql)?;
        let rows = statement.query_map(values, |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

impl Sql for Connection {
    fn statement(&self, sql: &str) -> Result<CachedStatement<'_>> {
        Ok(self.prepare_cached(sql)?)
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        let failed = Self::failed(format!("cannot use the database: {error}"));
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                failed.hint("another process is writing; run it again when that is done")
            }
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                failed.hint("run `annals facts check` for details, or use --db for another file")
            }
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                failed.hint("annals cannot write there; nothing was changed")
            }
            Some(ErrorCode::SystemIoFailure | ErrorCode::DiskFull) => {
                failed.hint("the disk may be full or failing; nothing was written")
            }
            _ => failed,
        }
    }
}

/// Reads a struct from a row that begins with its fields, in this order.
macro_rules! row {
    ($name:ident: $first:ident $(, $field:ident)+ $(,)?) => {
        impl $name {
            pub(crate) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
                Self::read_from(row, 0)
            }

            pub(crate) fn read_from(
                row: &rusqlite::Row<'_>,
                mut index: usize,
            ) -> rusqlite::Result<Self> {
                Ok(Self {
                    $first: row.get(index)?,
                    $($field: row.get({ index += 1; index })?,)+
                })
            }
        }

        impl TryFrom<&rusqlite::Row<'_>> for $name {
            type Error = rusqlite::Error;

            fn try_from(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
                Self::read(row)
            }
        }
    };
}

/// Lists the fields of a struct that are the columns of its table.
macro_rules! columns {
    ($name:ident: $first:ident $(, $column:ident)+ $(,)?) => {
        $crate::facts::sql::row!($name: $first $(, $column)+);

        impl $name {
            /// The columns, in order.
            pub(crate) const COLUMNS: &'static str =
                concat!(stringify!($first) $(, ", ", stringify!($column))+);
        }
    };
}

/// Stores enums as their words in the database.
macro_rules! stored_as_word {
    ($($name:ty: $what:literal),*) => {$(
        impl rusqlite::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok(self.as_str().into())
            }
        }

        impl rusqlite::types::FromSql for $name {
            fn column_result(
                value: rusqlite::types::ValueRef<'_>,
            ) -> rusqlite::types::FromSqlResult<Self> {
                Self::choose(value.as_str()?, $what)
                    .map_err(|error| rusqlite::types::FromSqlError::Other(error.into()))
            }
        }
    )*};
}

/// Stores values as JSON texts in the database.
macro_rules! stored_as_json {
    ($($name:ty),*) => {$(
        impl rusqlite::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                let json = serde_json::to_string(self);
                json.map(Into::into)
                    .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
            }
        }

        impl rusqlite::types::FromSql for $name {
            fn column_result(
                value: rusqlite::types::ValueRef<'_>,
            ) -> rusqlite::types::FromSqlResult<Self> {
                serde_json::from_str(value.as_str()?)
                    .map_err(|error| rusqlite::types::FromSqlError::Other(error.into()))
            }
        }
    )*};
}

pub(crate) use columns;
pub(crate) use row;
pub(crate) use stored_as_json;
pub(crate) use stored_as_word;

/// A JSON value, stored as text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(pub Value);

stored_as_json!(Json);

/// Returns a value as JSON text.
pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| Error::failed(format!("cannot write a record: {error}")))
}
