//! Determines the rows that a search may return: retrievable ones of a user, in the selected projects.

use std::collections::HashSet;

use rusqlite::{CachedStatement, Connection, params};

use crate::error::Result;
use crate::facts::search::{lexical, substrings};
use crate::facts::{ProjectScope, Query, SqliteResultExt, UserId};
use crate::ranking::{Language, content_words};

/// Minimum number of matches by words; with fewer, substrings are searched for too.
const MIN_MATCHES: usize = 3;

/// Minimum length of a prefix, in characters: unrelated words share shorter ones.
const MIN_PREFIX_CHARS: usize = 5;

/// Number of rows sampled to estimate whether most are a user's own.
const SAMPLE: u32 = 32;

/// Checks single rows for whether a search may return them.
pub(crate) struct Check<'a> {
    statement: CachedStatement<'a>,
    user: &'a UserId,
    scope: &'a ProjectScope,
    now: &'a str,
}

impl<'a> Check<'a> {
    /// Creates the check for a user.
    pub(crate) fn new(
        connection: &'a Connection,
        user: &'a UserId,
        scope: &'a ProjectScope,
        now: &'a str,
    ) -> Result<Self> {
        let sql = "SELECT EXISTS (SELECT 1 FROM facts WHERE seq = ?1 AND user_id = ?2 \
                   AND status IN ('active', 'pending_confirmation') \
                   AND (valid_to IS NULL OR valid_to > ?5) \
                   AND (project IS NULL OR ?3 OR project = ?4))";
        Ok(Self {
            statement: connection.prepare_cached(sql).context("read the facts")?,
            user,
            scope,
            now,
        })
    }

    /// Returns whether a search may return the row.
    pub(crate) fn is_searchable(&mut self, row: i64) -> Result<bool> {
        let (all, project) = (*self.scope == ProjectScope::All, self.scope.project());
        let values = params![row, self.user.as_str(), all, project, self.now];
        self.statement.query_row(values, |row| row.get(0)).context("read the facts")
    }
}

/// Returns the rows that share words or substrings with a query, in row order; some may be of other users.
pub(crate) fn by_words(
    connection: &Connection,
    user: &UserId,
    text: &str,
) -> Result<Vec<(i64, f64)>> {
    let (words, language) = (content_words(text), Language::detect(text));
    let is_bound = !owns_most_rows(connection, user)?;
    let matches = lexical::matches(connection, user, &words, language, is_bound)?;
    let is_unspaced = |word: &String| word.chars().any(crate::text::is_unspaced);
    if matches.len() >= MIN_MATCHES && !words.iter().any(is_unspaced) {
        return Ok(matches);
    }
    let (unspaced, spaced): (Vec<String>, Vec<String>) = words.into_iter().partition(is_unspaced);
    let mut parts = unspaced;
    if matches.len() < MIN_MATCHES {
        let unmatched = lexical::unmatched(connection, user, &spaced)?;
        parts.extend(unmatched.iter().map(|word| shared_by_forms(word)));
    }
    let mut scores = matches.into_iter().collect();
    substrings::add(connection, user, &parts, &mut scores)?;
    Ok(scores.into_iter().collect())
}

/// Returns the shortest stem of a word over all languages, if it is long enough, else the word.
fn shared_by_forms(word: &str) -> String {
    let stems = Language::ALL.into_iter().map(|language| language.stem(word));
    // Stemming strips accents, but the substring index has them.
    let stems =
        stems.filter(|stem| stem.chars().count() >= MIN_PREFIX_CHARS && word.starts_with(stem));
    let shortest = stems.min_by_key(String::len);
    shortest.unwrap_or_else(|| word.to_owned())
}

/// Returns whether most rows of the table are the user's, by a sample; search results do not depend on it.
pub(crate) fn owns_most_rows(connection: &Connection, user: &UserId) -> Result<bool> {
    let sql = "WITH RECURSIVE sample (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM sample \
               WHERE number < ?2) \
               SELECT sum((SELECT user_id = ?1 FROM facts \
               WHERE seq >= number * (SELECT max(seq) FROM facts) / ?2 ORDER BY seq LIMIT 1)) * 2 > ?2 \
               FROM sample";
    let is_most: Option<bool> = connection.value("read the facts", sql, (user.as_str(), SAMPLE))?;
    Ok(is_most.unwrap_or_default())
}

/// Returns the user's rows whose validity has ended, or that belong to projects that are not selected.
pub(crate) fn out_of_scope(
    connection: &Connection,
    user: &UserId,
    scope: &ProjectScope,
    now: &str,
) -> Result<HashSet<i64>> {
    let of_others =
        "SELECT seq FROM facts WHERE user_id = ?1 AND project IS NOT NULL AND project IS NOT ?2";
    let over = "SELECT seq FROM facts WHERE user_id = ?1 AND valid_to <= ?2";
    let over = connection.rows("read the facts", over, (user.as_str(), now), |row| row.get(0))?;
    let mut found: HashSet<i64> = over.into_iter().collect();
    if *scope != ProjectScope::All {
        let values = (user.as_str(), scope.project());
        let of_others =
            connection.rows("read the facts", of_others, values, |row| row.get::<_, i64>(0))?;
        found.extend(of_others);
    }
    Ok(found)
}
