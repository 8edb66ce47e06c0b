//! What a search asks the cache.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use rusqlite::Result;

use crate::ranking::quoted;
use crate::recall::document::Flags;
use crate::recall::document::Rank;
use crate::recall::document::SourceName;
use crate::recall::index::schema::Index;
use crate::recall::index::update::BETWEEN_HEADINGS;
use crate::recall::index::update::VECTOR;
use crate::recall::sources::SOURCES;

/// A word of fewer characters is no part of another that could be looked for.
const SHORTEST_PART: usize = 3;

/// A text of the cache, without the text itself.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// What the cache knows it by.
    pub(crate) id: i64,
    /// The store it comes from.
    pub(crate) source: SourceName,
    /// Its file, by the place in the list of files.
    pub(crate) file: usize,
    /// Its line, counted from 1; 0 where it has none.
    pub(crate) line: usize,
    /// Its day.
    pub(crate) date: Option<NaiveDate>,
    /// Why it is to be read with care.
    pub(crate) flags: Flags,
    /// What it is to the project.
    pub(crate) rank: Rank,
    /// What it shares with texts that say the same.
    pub(crate) twin: i64,
    /// How near its vector is to the query's.
    pub(crate) meaning: f64,
}

/// A text as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) headings: Vec<String>,
    pub(crate) key: Option<String>,
    pub(crate) body: String,
}

/// Where a word stands: in which texts, and how well each fits it.
pub(crate) type Matches = Vec<(i64, f64)>;

struct FileRow {
    id: i64,
    source: SourceName,
    vectors: Vec<u8>,
}

impl Index {
    /// Returns the names of the files, and their texts in the order of files and places.
    ///
    /// `nearness` compares a stored vector with the query's.
    pub(crate) fn units(
        &self,
        nearness: impl Fn(&[u8]) -> f64,
    ) -> Result<(Vec<String>, Vec<Unit>)> {
        let mut statement = self
            .db
            .prepare("SELECT path, id, source, vectors FROM files ORDER BY path")?;
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
        let order: BTreeMap<i64, usize> = files
            .iter()
            .enumerate()
            .map(|(at, file)| (file.id, at))
            .collect();
        let mut statement = self
            .db
            .prepare("SELECT file, place, id, line, day, flags, rank, twin FROM units")?;
        let mut rows = statement.query([])?;
        let mut units = Vec::new();
        while let Some(row) = rows.next()? {
            let Some(&file) = order.get(&row.get(0)?) else {
                continue;
            };
            let start = row.get::<_, usize>(1)?.saturating_mul(VECTOR);
            let vector = files[file].vectors.get(start..start.saturating_add(VECTOR));
            let day: Option<i32> = row.get(4)?;
            units.push(Unit {
                id: row.get(2)?,
                source: files[file].source,
                file,
                line: row.get(3)?,
                date: day.and_then(NaiveDate::from_num_days_from_ce_opt),
                flags: Flags::of_bits(row.get(5)?),
                rank: Rank::of_number(row.get(6)?),
                twin: row.get(7)?,
                meaning: vector.map_or(0.0, &nearness),
            });
        }
        // The rows of a file come together and in order, files as they came into the cache.
        units.sort_by_key(|unit| unit.file);
        Ok((names, units))
    }

    /// Returns the texts that have a word, with their scores.
    pub(crate) fn having(&self, term: &str) -> Result<Matches> {
        let mut statement = self
            .db
            .prepare_cached("SELECT rowid, -bm25(words) FROM words WHERE words MATCH ?1")?;
        let rows = statement.query_map([quoted(term)], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect()
    }

    /// Returns the texts in which a word stands inside another.
    pub(crate) fn having_part(&self, term: &str) -> Result<Vec<i64>> {
        let chars: Vec<char> = term.chars().collect();
        let trigrams = chars.windows(SHORTEST_PART);
        let query: Vec<String> = trigrams
            .map(|trigram| quoted(&String::from_iter(trigram)))
            .collect();
        if query.is_empty() {
            return Ok(Vec::new());
        }
        let mut statement = self.db.prepare_cached(
            "SELECT parts.rowid, texts.text, texts.headings FROM parts JOIN texts ON texts.id = parts.rowid
             WHERE parts MATCH ?1",
        )?;
        let mut rows = statement.query([query.join(" AND ")])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let (text, headings): (String, String) = (row.get(1)?, row.get(2)?);
            if text.to_lowercase().contains(term) || headings.to_lowercase().contains(term) {
                found.push(row.get(0)?);
            }
        }
        Ok(found)
    }

    /// Returns the texts that hold a few signs which are no word; looks at every one.
    pub(crate) fn having_signs(&self, signs: &str) -> Result<Vec<i64>> {
        let mut statement = self
            .db
            .prepare("SELECT id FROM texts WHERE instr(text, ?1) > 0")?;
        let rows = statement.query_map([signs], |row| row.get(0))?;
        rows.collect()
    }

    /// Returns a text.
    pub(crate) fn text(&self, unit: i64) -> Result<Text> {
        self.db
            .prepare_cached("SELECT headings, key, text FROM texts WHERE id = ?1")?
            .query_row([unit], |row| {
                let headings: String = row.get(0)?;
                let headings = headings.split(BETWEEN_HEADINGS);
                Ok(Text {
                    headings: headings
                        .filter(|title| !title.is_empty())
                        .map(str::to_owned)
                        .collect(),
                    key: row.get(1)?,
                    body: row.get(2)?,
                })
            })
    }
}
