//! Converts errors of the server and the connection to one-line messages with a hint.

use std::error::Error as _;

use tokio_postgres::error::SqlState;

use crate::error::Error;
use crate::text::{clip, strip_controls};

/// Maximum length of a server's error message that is passed on, in characters.
const MAX_MESSAGE_CHARS: usize = 200;

/// A hint that local work does not depend on the server.
const KEPT: &str = "everything stays here and is sent with the next `annals share sync`";

/// Returns the error for a failed request.
pub(crate) fn failed(error: &tokio_postgres::Error, tried: &str) -> Error {
    let why = reason(error);
    let Some(state) = error.code() else {
        return Error::failed(format!("the connection was lost: cannot {tried}: {why}")).hint(KEPT);
    };
    if *state == SqlState::UNDEFINED_TABLE {
        return Error::refused("the server is not set up for sharing").hint("annals share init");
    }
    if *state == SqlState::INSUFFICIENT_PRIVILEGE {
        return Error::refused(format!("the role may not {tried}: {why}")).hint(
            "its owner runs `annals share init`; a team's scope needs a row in annals_members",
        );
    }
    if *state == SqlState::READ_ONLY_SQL_TRANSACTION {
        return Error::failed(format!("the server is read-only: cannot {tried}")).hint(KEPT);
    }
    if [SqlState::DISK_FULL, SqlState::OUT_OF_MEMORY, SqlState::INSUFFICIENT_RESOURCES]
        .contains(state)
    {
        return Error::failed(format!("the server is full: cannot {tried}: {why}")).hint(KEPT);
    }
    if *state == SqlState::QUERY_CANCELED {
        return slow(tried);
    }
    Error::failed(format!("the server cannot {tried}: {why}")).hint(KEPT)
}

/// Returns the error for a request that timed out.
pub(crate) fn slow(tried: &str) -> Error {
    Error::failed(format!("the server is too slow: cannot {tried} in time")).hint(KEPT)
}

/// Returns the error for a connection attempt that timed out.
pub(crate) fn no_answer(address: &str) -> Error {
    Error::failed(format!("cannot reach {address}: no answer in time")).hint(KEPT)
}

/// Returns the error for a failed connection attempt.
pub(crate) fn unreachable(error: &tokio_postgres::Error, address: &str) -> Error {
    let why = reason(error);
    match error.code() {
        Some(state)
            if *state == SqlState::INVALID_PASSWORD
                || *state == SqlState::INVALID_AUTHORIZATION_SPECIFICATION =>
        {
            Error::refused(format!("{address} refused the role: {why}"))
                .hint("the password comes from share.url, PGPASSWORD or ~/.pgpass")
        }
        Some(state) if *state == SqlState::INVALID_CATALOG_NAME => {
            Error::usage(format!("{address}: {why}"))
                .hint("create it with createdb; share.url names it")
        }
        _ => Error::failed(format!("cannot reach {address}: {why}")).hint(KEPT),
    }
}

/// Returns the message of the server or of the connection error, on one line.
fn reason(error: &tokio_postgres::Error) -> String {
    let said = match (error.as_db_error(), error.source()) {
        (Some(said), _) => said.message().to_owned(),
        (None, Some(source)) => source.to_string(),
        (None, None) => error.to_string(),
    };
    let line = strip_controls(&said).replace('\n', " ");
    clip(&line, MAX_MESSAGE_CHARS).into_owned()
}
