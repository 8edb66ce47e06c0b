//! Finds facts by the words of a query, with SQLite's full-text index.

use rusqlite::Connection;

use crate::error::Result;
use crate::facts::query::Query;
use crate::facts::user::UserId;
use crate::ranking::Language;
use crate::ranking::any_form_of;

/// Where a word counts: anywhere but in the column that holds the user.
const TEXT: &str = "{key value_text source_excerpt}";

/// How much each column counts: the user's is only there to bind the query.
const WEIGHTS: &str = "0.0, 1.0, 1.0, 1.0";

/// Words as a query asks for them, in the language that it is in.
pub(crate) struct QueryWords {
    pub(crate) words: Vec<String>,
    pub(crate) language: Language,
}

/// Returns the rows with any form of any of the words and how well they fit, in the order of the rows.
///
/// `is_bound` leaves the rows of other users out within the index. Where nearly all rows are the
/// user's own, that costs more than it saves; then the caller must leave them out itself.
pub(crate) fn matches(
    connection: &Connection,
    user: &UserId,
    asked: &QueryWords,
    is_bound: bool,
) -> Result<Vec<(i64, f64)>> {
    let Some(expression) = expression(user, &asked.words, asked.language, is_bound) else {
        return Ok(Vec::new());
    };
    let sql = format!(
        "SELECT rowid, -bm25(facts_fts, {WEIGHTS}) FROM facts_fts WHERE facts_fts MATCH ?1 ORDER BY rowid"
    );
    connection.rows("search the facts by words", &sql, [expression], |row| {
        row.try_into()
    })
}

/// Returns how many rows have any form of a word; `is_bound` as in [`matches`].
pub(crate) fn count(
    connection: &Connection,
    user: &UserId,
    (word, language): (&str, Language),
    is_bound: bool,
) -> Result<usize> {
    let Some(expression) = expression(user, &[word.to_owned()], language, is_bound) else {
        return Ok(0);
    };
    let sql = "SELECT count(*) FROM facts_fts WHERE facts_fts MATCH ?1";
    connection.value("search the facts by words", sql, [expression])
}

fn expression(
    user: &UserId,
    words: &[String],
    language: Language,
    is_bound: bool,
) -> Option<String> {
    let words = format!("{TEXT} : ({})", any_form_of(words, language)?);
    Some(if is_bound {
        format!("{} AND ({words})", owner(user))
    } else {
        words
    })
}

/// Returns those of the words that no fact of the user has as a word.
pub(crate) fn unmatched(
    connection: &Connection,
    user: &UserId,
    words: &[String],
) -> Result<Vec<String>> {
    let sql = "SELECT EXISTS (SELECT 1 FROM facts_fts WHERE facts_fts MATCH ?1)";
    let mut unmatched = Vec::new();
    for word in words {
        let quoted = crate::ranking::quoted(word);
        let expression = format!("{} AND ({TEXT} : {quoted})", owner(user));
        let is_known: bool = connection.value("search the facts by words", sql, [expression])?;
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
