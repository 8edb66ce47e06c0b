//! Finds facts by the words of a query, with SQLite's full-text index.

use rusqlite::Connection;

use crate::error::Result;
use crate::facts::failure::Stored;
use crate::facts::search::bm25::Rows;
use crate::facts::search::bm25::in_halves;
use crate::facts::search::bm25::ranked;
use crate::facts::user::UserId;
use crate::ranking::any_of;

/// Where a word counts: anywhere but in the column that holds the user.
const TEXT: &str = "{key value_text source_excerpt}";

/// From so many rows on, ranking them takes far longer than another processor takes to wake up and to count the words.
const MANY: i64 = 300_000;

/// Returns the rows with any of the words and how well they fit, in the order of the rows.
///
/// `is_bound` leaves the rows of other users out within the index. Where nearly all rows are the
/// user's own, that costs more than it saves; then the caller must leave them out itself.
pub(crate) fn matches(
    connection: &Connection,
    user: &UserId,
    words: &[String],
    is_bound: bool,
) -> Result<Rows> {
    let Some(any) = any_of(words) else {
        return Ok(Vec::new());
    };
    let words = format!("{TEXT} : ({any})");
    let expression = if is_bound {
        format!("{} AND ({words})", owner(user))
    } else {
        words
    };
    let search = || -> rusqlite::Result<Rows> {
        let last: Option<i64> =
            connection.query_row("SELECT max(seq) FROM facts", [], |row| row.get(0))?;
        match last.filter(|last| !is_bound && *last >= MANY) {
            Some(last) => in_halves(connection, &expression, last / 2),
            None => ranked(connection, &expression, i64::MIN..i64::MAX),
        }
    };
    search().stored("search the facts by words")
}

/// Returns those of the words that no fact of the user has as a word.
pub(crate) fn unmatched(
    connection: &Connection,
    user: &UserId,
    words: &[String],
) -> Result<Vec<String>> {
    let sql = "SELECT EXISTS (SELECT 1 FROM facts_fts WHERE facts_fts MATCH ?1)";
    let mut statement = connection.prepare_cached(sql).stored("search the facts")?;
    let mut unmatched = Vec::new();
    for word in words {
        let quoted = crate::ranking::quoted(word);
        let expression = format!("{} AND ({TEXT} : {quoted})", owner(user));
        let is_known: bool = statement
            .query_row([expression], |row| row.get(0))
            .stored("search the facts by words")?;
        if !is_known {
            unmatched.push(word.clone());
        }
    }
    Ok(unmatched)
}

/// The user as one word, the same as the column `owner` makes of the id.
fn owner(user: &UserId) -> String {
    use std::fmt::Write;

    let mut word = String::from("owner : \"");
    for byte in user.as_str().bytes() {
        // Writing to a string cannot fail.
        let _written = write!(word, "{byte:02X}").is_ok();
    }
    word.push('"');
    word
}
