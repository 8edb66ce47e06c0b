//! Read queries against the search index.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use rusqlite::{OptionalExtension, Result, params};

use crate::embedding::Quantized;
use crate::ranking::Language;
use crate::recall::document::{Authority, Flags};
use crate::recall::index::prepared::VECTOR_BYTES;
use crate::recall::index::schema::Index;
use crate::recall::index::update::HEADING_SEPARATOR;
use crate::recall::sources::{SOURCES, SourceName};
use crate::search::QuestionVectors;

/// Minimum length of a term searched for as a substring, in characters.
const MIN_SUBSTRING_CHARS: usize = 3;

/// Maximum number of words matched by a substring; a substring of more words is too unspecific.
const MAX_MATCHED_WORDS: usize = 64;

/// Metadata of an indexed text, without the text itself.
#[derive(Clone, Debug)]
pub(crate) struct StoredUnit {
    /// Row id of its text, which several units may share.
    pub(crate) id: i64,
    /// Its store.
    pub(crate) source: SourceName,
    /// Index of its file in the list of files.
    pub(crate) file: usize,
    /// Its line number, counted from 1; 0 if it has none.
    pub(crate) line: usize,
    /// Its date.
    pub(crate) date: Option<NaiveDate>,
    /// Reasons to treat it with caution.
    pub(crate) flags: Flags,
    /// Its authority in the project.
    pub(crate) authority: Authority,
    /// Number of the run of texts under the same headings that it belongs to, within its file.
    pub(crate) section: usize,
    /// Length in words.
    pub(crate) length: usize,
    /// Similarity to the query by its vectors.
    pub(crate) meaning: f64,
}

/// A stored text.
#[derive(Clone, Debug)]
pub(crate) struct StoredText {
    pub(crate) headings: Vec<String>,
    pub(crate) key: Option<String>,
    pub(crate) body: String,
}

/// Ids of the texts that contain a term, each with the number of occurrences.
pub(crate) type Matches = Vec<(i64, usize)>;

struct FileRow {
    id: i64,
    source: SourceName,
    vectors: Vec<u8>,
}

impl Index {
    /// Returns the names of the files, and their units ordered by file and position.
    ///
    /// Each is compared with the query by its stored vectors.
    pub(crate) fn units(&self, query: &QuestionVectors) -> Result<(Vec<String>, Vec<StoredUnit>)> {
        let mut statement =
            self.db.prepare("SELECT path, id, source, vectors FROM files ORDER BY path")?;
        let rows = statement.query_map([], |row| {
            let source = SOURCES.get(row.get::<_, usize>(2)?);
            let file = FileRow {
                id: row.get(1)?,
                source: source.map_or(SourceName::Plan, |source| source.name()),
                vectors: row.get(3)?,
            };
            Ok((row.get::<_, String>(0)?, file))
        })?;
        let (names, files): (Vec<String>, Vec<FileRow>) =
            rows.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let file_indexes: BTreeMap<i64, usize> =
            files.iter().enumerate().map(|(index, file)| (file.id, index)).collect();
        let mut statement = self.db.prepare(
            "SELECT file, text, line, day, flags, rank, section, vector, vectors, length
             FROM units",
        )?;
        let mut rows = statement.query([])?;
        let mut units = Vec::new();
        while let Some(row) = rows.next()? {
            let Some(&file) = file_indexes.get(&row.get(0)?) else {
                continue;
            };
            let (first, count): (usize, usize) = (row.get(7)?, row.get(8)?);
            let vectors = files[file].vectors.chunks_exact(VECTOR_BYTES);
            let passages = vectors.skip(first).take(count).filter_map(scaled);
            let day: Option<i32> = row.get(3)?;
            units.push(StoredUnit {
                id: row.get(1)?,
                source: files[file].source,
                file,
                line: row.get(2)?,
                date: day.and_then(NaiveDate::from_num_days_from_ce_opt),
                flags: Flags::from_bits(row.get(4)?),
                authority: Authority::from_number(row.get(5)?),
                section: row.get(6)?,
                length: row.get(9)?,
                meaning: query.similarity(passages),
            });
        }
        // Rows are grouped by file and ordered within it, but the files are in insertion order.
        units.sort_by_key(|unit| unit.file);
        Ok((names, units))
    }

    /// Returns the languages of the files.
    pub(crate) fn languages(&self) -> Result<Vec<Language>> {
        let mut statement = self.db.prepare("SELECT DISTINCT language FROM files")?;
        let rows = statement.query_map([], |row| Ok(Language::from_number(row.get(0)?)))?;
        rows.collect()
    }

    /// Returns the texts that contain any of the stems, with the count of the most frequent stem.
    pub(crate) fn containing_any(&self, stems: &[String]) -> Result<Matches> {
        let mut matches: BTreeMap<i64, usize> = BTreeMap::new();
        // FTS5 lists the occurrences of a term in the order of the texts; GROUP BY would sort them again.
        let mut statement = self.db.prepare_cached("SELECT doc FROM instances WHERE term = ?1")?;
        for stem in stems {
            let mut rows = statement.query([stem])?;
            let mut last = (0, 0);
            while let Some(row) = rows.next()? {
                let text = row.get(0)?;
                let count = if last.0 == text { last.1 + 1 } else { 1 };
                last = (text, count);
                let max_count = matches.entry(text).or_default();
                *max_count = count.max(*max_count);
            }
        }
        Ok(matches.into_iter().collect())
    }

    /// Returns the texts in which a stem occurs inside another word.
    pub(crate) fn containing_inside_word(&self, stems: &[String]) -> Result<Matches> {
        let candidates = stems.iter().filter(|stem| stem.chars().count() >= MIN_SUBSTRING_CHARS);
        // The shortest stem is usually a substring of every form.
        let Some(substring) = candidates.min_by_key(|stem| stem.len()) else {
            return Ok(Vec::new());
        };
        let (table, text_count) =
            if self.has_term_list()? { ("terms", "docs") } else { ("vocabulary", "doc") };
        let mut statement = self.db.prepare_cached(&format!(
            "SELECT term FROM {table} WHERE instr(term, ?1) > 0 ORDER BY {text_count} DESC LIMIT ?2"
        ))?;
        let words = statement.query_map(params![substring, MAX_MATCHED_WORDS], |row| row.get(0))?;
        let words: Vec<String> = words.collect::<Result<_>>()?;
        self.containing_any(&words)
    }

    /// Returns whether the `terms` table is filled; fills it first if the index is writable.
    ///
    /// To list its terms, FTS5 reads the position of every word, which took half the time of a search.
    fn has_term_list(&self) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM terms)";
        if self.db.query_row(sql, [], |row| row.get(0))? {
            return Ok(true);
        }
        // Another process may be filling it at the same time.
        let sql = "INSERT OR IGNORE INTO terms SELECT term, doc FROM vocabulary";
        Ok(self.db.execute(sql, []).is_ok())
    }

    /// Returns the texts that contain a string inside a word, even if no stem does; scans every text.
    pub(crate) fn containing_substring(&self, substring: &str) -> Result<Matches> {
        if substring.chars().count() < MIN_SUBSTRING_CHARS {
            return Ok(Vec::new());
        }
        // A piece consists of letters and digits only, so it contains no LIKE wildcard.
        let sql = "SELECT id, 1 FROM texts WHERE text LIKE '%' || ?1 || '%'";
        let mut statement = self.db.prepare_cached(sql)?;
        let rows = statement.query_map([substring], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect()
    }

    /// Returns the texts that contain symbols that form no word; scans every text.
    pub(crate) fn containing_symbols(&self, symbols: &str) -> Result<Vec<i64>> {
        let mut statement = self.db.prepare("SELECT id FROM texts WHERE instr(text, ?1) > 0")?;
        let rows = statement.query_map([symbols], |row| row.get(0))?;
        rows.collect()
    }

    /// Returns the vectors that the encoder made of a text.
    pub(crate) fn encoded(&self, text: i64) -> Result<Option<Quantized>> {
        let sql = "SELECT scale, vectors FROM encoded WHERE text = ?1";
        let found = self.db.prepare_cached(sql)?.query_row([text], |row| {
            let bytes = row.get_ref(1)?.as_blob()?;
            let values = bytes.iter().map(|byte| byte.cast_signed()).collect();
            Ok(Quantized { scale: narrowed(row.get(0)?), values })
        });
        found.optional()
    }

    /// Stores the vectors of texts; if the index cannot be written, they are made again.
    pub(crate) fn remember(&self, texts: &[i64], vectors: &[Quantized]) {
        let store = || -> Result<()> {
            let transaction = self.db.unchecked_transaction()?;
            for (text, vectors) in texts.iter().zip(vectors) {
                // Facts are not indexed.
                if *text < 0 {
                    continue;
                }
                let bytes: Vec<u8> = vectors.bytes().collect();
                let sql = "INSERT OR REPLACE INTO encoded VALUES(?1, ?2, ?3)";
                let values = params![text, f64::from(vectors.scale), bytes];
                transaction.prepare_cached(sql)?.execute(values)?;
            }
            transaction.commit()
        };
        let _is_stored = store().is_ok();
    }

    /// Returns the text with this row id.
    pub(crate) fn text(&self, unit: i64) -> Result<StoredText> {
        self.db.prepare_cached("SELECT headings, key, text FROM texts WHERE id = ?1")?.query_row(
            [unit],
            |row| {
                let headings: String = row.get(0)?;
                let headings = headings.split(HEADING_SEPARATOR);
                Ok(StoredText {
                    headings: headings
                        .filter(|title| !title.is_empty())
                        .map(str::to_owned)
                        .collect(),
                    key: row.get(1)?,
                    body: row.get(2)?,
                })
            },
        )
    }
}
/// Splits a stored vector into its scale and its components.
fn scaled(stored: &[u8]) -> Option<(f32, &[u8])> {
    let (scale, values) = stored.split_first_chunk::<4>()?;
    Some((f32::from_le_bytes(*scale), values))
}

#[expect(clippy::cast_possible_truncation, reason = "the value was an f32 originally")]
fn narrowed(scale: f64) -> f32 {
    scale as f32
}
