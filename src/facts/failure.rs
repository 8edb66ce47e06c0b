//! Converts SQLite errors to the errors of this crate.

use rusqlite::ErrorCode;

use crate::error::{Error, Result};

/// Adds context to an SQLite error.
pub(crate) trait SqliteResultExt<T> {
    /// Converts the error to an [`Error`] that says what was tried.
    fn context(self, tried: &str) -> Result<T>;
}

impl<T> SqliteResultExt<T> for rusqlite::Result<T> {
    fn context(self, tried: &str) -> Result<T> {
        self.map_err(|error| {
            let failed = Error::failed(format!("cannot {tried}: {error}"));
            match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                    failed.hint("another process is writing; run it again when that is done")
                }
                Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => failed
                    .hint("run `annals facts check` for details, or use --db for another file"),
                Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                    failed.hint("annals cannot write there; nothing was changed")
                }
                Some(ErrorCode::SystemIoFailure) => {
                    failed.hint("the disk may be full or failing; nothing was written")
                }
                Some(ErrorCode::DiskFull) => failed.hint("free some space; nothing was written"),
                _ => failed,
            }
        })
    }
}
