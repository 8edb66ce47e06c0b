//! Finds facts by substrings: for words that no fact contains as such, and in scripts without spaces.

use std::collections::BTreeMap;

use rusqlite::Connection;

use crate::error::Result;
use crate::facts::{Query, UserId};
use crate::ranking::{any_of, to_f64};
use crate::text::is_unspaced;

/// Score of a matching substring, added to that of whole words: less than that of a rare word.
const FOUND: f64 = 2.0;

/// Length of the grams in the substring index, which cannot find shorter texts.
const GRAM: usize = 3;

/// Number of facts from which pairs of characters are searched for only in facts that share a trigram.
const MANY: i64 = 20_000;

/// What was attempted, as an error says it.
const TRIED: &str = "search the facts by parts of words";

/// Adds to the score of each row for the substrings that it contains.
pub(crate) fn add(
    connection: &Connection,
    user: &UserId,
    unmatched: &[String],
    scores: &mut BTreeMap<i64, f64>,
) -> Result<()> {
    let (unspaced, spaced): (Vec<&String>, Vec<&String>) =
        unmatched.iter().partition(|word| word.chars().any(is_unspaced));
    let long = spaced.into_iter().filter(|word| word.chars().count() >= GRAM);
    for word in long {
        for row in containing(connection, user, std::slice::from_ref(word))? {
            *scores.entry(row).or_default() += FOUND;
        }
    }
    let pairs = grams(&unspaced, 2);
    if pairs.is_empty() {
        return Ok(());
    }
    let total = to_f64(pairs.len());
    for (row, found) in sharing(connection, user, &unspaced, &pairs)? {
        *scores.entry(row).or_default() += FOUND * to_f64(found) / total;
    }
    Ok(())
}

/// Returns the user's rows that contain one of the texts as a substring.
fn containing(connection: &Connection, user: &UserId, texts: &[String]) -> Result<Vec<i64>> {
    let Some(expression) = any_of(texts) else {
        return Ok(Vec::new());
    };
    let sql = "SELECT t.rowid FROM facts_trigram t JOIN facts f ON f.seq = t.rowid \
               WHERE t.facts_trigram MATCH ?1 AND f.user_id = ?2";
    let values = (expression, user.as_str());
    connection.rows(TRIED, sql, values, |row| row.get(0))
}

/// Returns the user's rows that contain some of the pairs, each with their number.
fn sharing(
    connection: &Connection,
    user: &UserId,
    words: &[&String],
    pairs: &[String],
) -> Result<Vec<(i64, usize)>> {
    let sql = "SELECT count(*) FROM (SELECT 1 FROM facts WHERE user_id = ?1 LIMIT ?2)";
    let facts: i64 = connection.value(TRIED, sql, (user.as_str(), MANY))?;
    let triples = any_of(&grams(words, GRAM)).filter(|_| facts == MANY);
    let condition = match triples {
        Some(_) => "seq IN (SELECT rowid FROM facts_trigram WHERE facts_trigram MATCH ?2)",
        None => "?2 IS NULL",
    };
    let sql = format!(
        "SELECT seq, key || ' ' || value_text || ' ' || source_excerpt FROM facts \
         WHERE user_id = ?1 AND status IN ('active', 'pending_confirmation') AND {condition}"
    );
    let mut found = Vec::new();
    connection.each(TRIED, &sql, (user.as_str(), triples), |row| {
        let text = row.get_ref(1)?.as_str()?.to_lowercase();
        let shared = pairs.iter().filter(|pair| text.contains(*pair)).count();
        if shared > 0 {
            found.push((row.get(0)?, shared));
        }
        Ok(())
    })?;
    Ok(found)
}

/// Returns the distinct n-grams of the words; a shorter word is a gram itself.
fn grams(words: &[&String], length: usize) -> Vec<String> {
    let mut grams = Vec::new();
    for word in words {
        let characters: Vec<char> = word.chars().collect();
        for run in characters.windows(length.min(characters.len().max(1))) {
            let gram = String::from_iter(run);
            if !grams.contains(&gram) {
                grams.push(gram);
            }
        }
    }
    grams
}
