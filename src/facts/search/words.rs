//! Finds facts by the words of a query, with SQLite's full-text index.

use rusqlite::Connection;

use crate::error::Result;
use crate::facts::search::rows::Rows;
use crate::facts::{Sql, UserId};
use crate::search::{Language, Term, quoted, terms};
use crate::text::{hexadecimal, is_unspaced};

/// BM25 weights of the columns; the user's column only restricts the query.
const WEIGHTS: &str = "0.0, 1.0, 1.0, 1.0";

/// Column filter: words match in every column except the user's.
const TEXT: &str = "{key value_text source_excerpt}";

/// Minimum length of a stem used as a prefix, in characters: shorter ones match unrelated words.
const MIN_STEM_LENGTH: usize = 3;

/// Score of a matching character or pair: less than that of a rare word.
const FOUND: f64 = 2.0;

/// The facts that share words with a query.
pub(crate) struct Words {
    /// The score by BM25 of each row; 0 if it shares none.
    pub(crate) scores: Vec<f64>,
    /// The terms of the query, each with the number of rows that contain it.
    pub(crate) terms: Vec<(Term, usize)>,
}

impl Words {
    /// Searches the rows for the words of a text.
    pub(crate) fn search(
        connection: &Connection,
        user: &UserId,
        text: &str,
        rows: &Rows,
    ) -> Result<Self> {
        let language = Language::detect(text);
        let search = |word: &str| -> Result<Vec<(usize, f64)>> {
            let owner = hexadecimal(user.as_str().as_bytes()).to_uppercase();
            let expression =
                format!("owner : \"{owner}\" AND ({TEXT} : ({}))", forms(word, language));
            let sql = format!(
                "SELECT rowid, -bm25(facts_fts, {WEIGHTS}) FROM facts_fts \
                 WHERE facts_fts MATCH ?1 ORDER BY rowid"
            );
            let found: Vec<(i64, f64)> = connection.list(&sql, [expression])?;
            let found = found.into_iter();
            Ok(found.filter_map(|(seq, score)| Some((rows.index(seq)?, score))).collect())
        };
        let mut scores = vec![0.0; rows.seqs.len()];
        let mut counted = Vec::new();
        for term in terms(text, &[]) {
            let found = if term.word.contains(is_unspaced) {
                containing(connection, user, &term.word, rows)?
            } else {
                search(&term.word)?
            };
            counted.push((term, found.len()));
            for (row, score) in found {
                scores[row] += score;
            }
        }
        Ok(Self { scores, terms: counted })
    }
}

/// Returns the FTS5 expression for a word. The index has English stems; a word of another language is also matched by its
/// stem, as a prefix.
fn forms(word: &str, language: Language) -> String {
    let has_no_english_stem = language != Language::ENGLISH || !word.is_ascii();
    let stem = language.stem(word);
    let is_usable_prefix = stem != word && stem.chars().count() >= MIN_STEM_LENGTH;
    if has_no_english_stem && is_usable_prefix {
        format!("{} OR {} *", quoted(word), quoted(&stem))
    } else {
        quoted(word)
    }
}

/// Returns the rows that contain a character or a pair of them in a script without spaces, which the index takes for parts
/// of a word.
fn containing(
    connection: &Connection,
    user: &UserId,
    characters: &str,
    rows: &Rows,
) -> Result<Vec<(usize, f64)>> {
    let sql = "SELECT seq FROM facts WHERE user_id = ?1 \
               AND instr(lower(key || ' ' || value_text || ' ' || source_excerpt), ?2) > 0";
    let found: Vec<i64> = connection.column(sql, [user.as_str(), characters])?;
    Ok(found.into_iter().filter_map(|seq| Some((rows.index(seq)?, FOUND))).collect())
}
