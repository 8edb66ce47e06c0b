//! The id of a user, which every query requires.

use std::fmt;

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::project::Project;

/// Maximum length of a user id, in bytes.
const MAX_ID_BYTES: usize = 256;

/// The id of a user.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct UserId(String);

impl UserId {
    /// Parses an id: one line, not empty.
    pub fn new(text: &str) -> Result<Self> {
        let text = text.trim();
        if text.is_empty() || text.len() > MAX_ID_BYTES || text.chars().any(char::is_control) {
            return Err(Error::usage(format!(
                "a user id must be one line of 1 to {MAX_ID_BYTES} bytes"
            )));
        }
        Ok(Self(text.to_owned()))
    }

    /// Wraps an id from the database, which was validated when it was written.
    pub(crate) fn stored(text: String) -> Self {
        Self(text)
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromSql for UserId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        String::column_result(value).map(Self)
    }
}

impl ToSql for UserId {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl fmt::Display for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the user: the named one, else that of the settings.
pub fn user(project: &Project, named: Option<&str>) -> Result<UserId> {
    match named.or(project.settings.user.as_deref()) {
        Some(user) => UserId::new(user),
        None => Err(Error::usage("no user is set")
            .hint("set one with --user, ANNALS_USER or `user` in your own config.toml")),
    }
}
