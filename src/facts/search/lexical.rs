//! Finds facts by the words of a query, with SQLite's full-text index.

use rusqlite::Connection;

use crate::error::Result;
use crate::facts::{Query, UserId};
use crate::ranking::{Language, any_form_of};
use crate::text::hexadecimal;

/// Column filter: words match in every column except the user's.
const TEXT: &str = "{key value_text source_excerpt}";

/// BM25 weights of the columns; the user's column only restricts the query.
const WEIGHTS: &str = "0.0, 1.0, 1.0, 1.0";

/// Returns the rows with any form of any of the words, with their scores, in row order.
///
/// `is_bound` excludes the rows of other users within the index. If nearly all rows are the user's own, that
/// costs more than it saves; the caller must then exclude them itself.
pub(crate) fn matches(
    connection: &Connection,
    user: &UserId,
    words: &[String],
    language: Language,
    is_bound: bool,
) -> Result<Vec<(i64, f64)>> {
    let Some(expression) = expression(user, words, language, is_bound) else {
        return Ok(Vec::new());
    };
    let sql = format!(
        "SELECT rowid, -bm25(facts_fts, {WEIGHTS}) FROM facts_fts WHERE facts_fts MATCH ?1 ORDER BY rowid"
    );
    connection.rows("search the facts by words", &sql, [expression], |row| row.try_into())
}

/// Returns the number of rows with any form of a word; `is_bound` as in [`matches`].
pub(crate) fn count(
    connection: &Connection,
    user: &UserId,
    word: &str,
    language: Language,
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
    Some(if is_bound { format!("{} AND ({words})", owner(user)) } else { words })
}

/// Returns the words that no fact of the user contains as a whole word.
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

/// Returns the query that matches the user, as one word like the column `owner`.
fn owner(user: &UserId) -> String {
    let digits = hexadecimal(user.as_str().as_bytes()).to_uppercase();
    format!("owner : \"{digits}\"")
}
