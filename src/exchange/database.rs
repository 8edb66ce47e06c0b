//! Reads another tool's SQLite database, without writing to it.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OpenFlags};

use crate::error::{Error, Result};

/// Maximum size of the values of a table, in bytes.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Maximum number of rows of a table that are read.
pub(crate) const MAX_ROWS: u64 = 50_000;

/// Maximum size of a value, in bytes: a generated column may be arbitrarily large.
const MAX_VALUE_BYTES: i32 = 2 * 1024 * 1024;

/// A row, by column name.
pub(crate) type DatabaseRow = BTreeMap<&'static str, Value>;

/// A database that is open for reading.
pub(crate) struct Database<'p> {
    connection: Connection,
    path: &'p Path,
}

impl<'p> Database<'p> {
    /// Opens a file without writing anything, including journal, lock or index files next to it.
    pub(crate) fn open(path: &'p Path) -> Result<Self> {
        if !path.is_file() {
            return Err(Error::not_found("there is no such file").at(path, None));
        }
        let name = path
            .to_str()
            .ok_or_else(|| Error::failed("its name is not valid UTF-8").at(path, None))?;
        let mut uri = String::from("file:");
        for c in name.chars() {
            match c {
                '%' => uri.push_str("%25"),
                '?' => uri.push_str("%3f"),
                '#' => uri.push_str("%23"),
                _ => uri.push(c),
            }
        }
        uri.push_str("?mode=ro&immutable=1");
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(uri, flags).map_err(|error| read_failed(path, &error))?;
        let database = Self { connection, path };
        // The schema is untrusted: it may call only harmless functions.
        for (setting, on) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        ] {
            let set = database.connection.set_db_config(setting, on);
            set.map_err(|error| read_failed(path, &error))?;
        }
        let limited = database.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES);
        limited.map_err(|error| read_failed(path, &error))?;
        Ok(database)
    }

    /// Returns the names of all regular tables, excluding views and virtual tables.
    pub(crate) fn tables(&self) -> Result<Vec<String>> {
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' \
             AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name";
        let read = || {
            let mut statement = self.connection.prepare(sql)?;
            let names = statement.query_map([], |row| row.get(0))?;
            names.collect::<rusqlite::Result<Vec<String>>>()
        };
        read().map_err(|error| read_failed(self.path, &error))
    }

    /// Counts the rows of a table.
    pub(crate) fn count(&self, table: &str) -> Result<u64> {
        let sql = format!("SELECT count(*) FROM {}", quoted(table));
        let count = self.connection.query_row(&sql, [], |row| row.get(0));
        count.map_err(|error| read_failed(self.path, &error))
    }

    /// Passes on the wanted columns that a table has, row by row, ordered by id if there is such a column.
    ///
    /// Of a table with more than [`MAX_ROWS`] rows, the rest is left out.
    pub(crate) fn each_row(
        &self,
        table: &str,
        wanted: &[&'static str],
        mut each: impl FnMut(&DatabaseRow),
    ) -> Result<()> {
        let mut read = || {
            let name = quoted(table);
            let all = self.connection.prepare(&format!("SELECT * FROM {name}"))?;
            let all: Vec<&str> = all.column_names().collect();
            let columns: Vec<&str> =
                wanted.iter().copied().filter(|one| all.contains(one)).collect();
            if columns.is_empty() {
                return Ok(true);
            }
            let order = if columns.contains(&"id") { " ORDER BY id" } else { "" };
            let listed: Vec<String> = columns.iter().map(|column| quoted(column)).collect();
            let listed = listed.join(", ");
            let sql = format!("SELECT {listed} FROM {name}{order} LIMIT {MAX_ROWS}");
            let mut statement = self.connection.prepare(&sql)?;
            let mut rows = statement.query([])?;
            let mut size = 0;
            while let Some(row) = rows.next()? {
                let mut values = DatabaseRow::new();
                for (at, column) in columns.iter().enumerate() {
                    let value = row.get_ref(at)?;
                    size += memory_of(value);
                    if size > MAX_BYTES {
                        return Ok(false);
                    }
                    values.insert(*column, value.try_into()?);
                }
                each(&values);
            }
            Ok(true)
        };
        let is_whole = read().map_err(|error| read_failed(self.path, &error))?;
        if is_whole {
            return Ok(());
        }
        let most = MAX_BYTES / 1024 / 1024;
        let message = format!("its table {table} is larger than {most} MiB, so it is not read");
        Err(Error::failed(message).at(self.path, None))
    }
}

/// Returns a lower bound of a value's size in memory, in bytes.
fn memory_of(value: ValueRef<'_>) -> usize {
    let own = match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => 0,
    };
    own + size_of::<Value>()
}

/// Returns the text of a column, or `None` for other types.
pub(crate) fn text<'r>(row: &'r DatabaseRow, column: &str) -> Option<&'r str> {
    match row.get(column)? {
        Value::Text(text) => Some(text.trim()).filter(|text| !text.is_empty()),
        _ => None,
    }
}

/// Returns the integer of a column.
pub(crate) fn number(row: &DatabaseRow, column: &str) -> Option<i64> {
    match row.get(column)? {
        Value::Integer(number) => Some(*number),
        _ => None,
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn read_failed(path: &Path, error: &rusqlite::Error) -> Error {
    Error::failed(format!("cannot be read as a database: {error}")).at(path, None)
}
