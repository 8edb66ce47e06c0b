//! Reads and writes structs whose fields are the columns of a table.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Reads a struct from a row that begins with its fields, in this order.
macro_rules! row {
    ($name:ident: $first:ident $(, $field:ident)+ $(,)?) => {
        impl $name {
            pub(crate) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
                let mut index = 0;
                Ok(Self {
                    $first: row.get(index)?,
                    $($field: row.get({ index += 1; index })?,)+
                })
            }
        }
    };
}

pub(crate) use row;

/// Lists the fields of a struct that are the columns of its table.
macro_rules! columns {
    ($name:ident: $first:ident $(, $column:ident)+ $(,)?) => {
        $crate::facts::columns::row!($name: $first $(, $column)+);

        impl $name {
            /// The columns, in order.
            pub(crate) const COLUMNS: &'static str =
                concat!(stringify!($first) $(, ", ", stringify!($column))+);

            /// Returns the values of the columns.
            #[allow(dead_code, reason = "not every struct is written as it is")]
            fn values(&self) -> Vec<&dyn rusqlite::ToSql> {
                vec![&self.$first, $(&self.$column),+]
            }
        }
    };
}

pub(crate) use columns;

/// A JSON value, stored as text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(pub Value);

impl FromSql for Json {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let value = serde_json::from_str(value.as_str()?);
        value.map(Self).map_err(|error| FromSqlError::Other(error.into()))
    }
}

impl ToSql for Json {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.to_string().into())
    }
}
