//! Reads the index: the units of the searched sources, the texts that contain a word, and single texts.

use std::collections::HashMap;

use chrono::NaiveDate;
use rusqlite::{OptionalExtension, Result, params};

use crate::search::index::Passage;
use crate::search::index::file::Index;
use crate::search::index::update::HEADING_SEPARATOR;
use crate::search::language::Language;
use crate::search::vector::Quantized;
use crate::search::words::any_of;

/// An indexed passage without its text.
#[derive(Clone, Debug)]
pub(crate) struct StoredUnit {
    /// Its row; below 0 for one of the extras.
    pub(crate) id: i64,
    /// Number of its source; `None` for one of the extras.
    pub(crate) source: Option<usize>,
    /// Index of its file in the list of names.
    pub(crate) file: usize,
    /// Shared by all passages with the same text under the same headings.
    pub(crate) identity: i64,
    pub(crate) line: usize,
    pub(crate) date: Option<NaiveDate>,
    pub(crate) flags: u8,
    pub(crate) weight: f64,
    /// Number of the run of passages under the same headings that it belongs to, within its file.
    pub(crate) section: usize,
    /// Similarity to the query by its vector.
    pub(crate) meaning: f64,
}

impl Index {
    /// Returns the languages of the files.
    pub(crate) fn languages(&self) -> Result<Vec<Language>> {
        let mut statement = self.db.prepare("SELECT DISTINCT language FROM files")?;
        let rows = statement.query_map([], |row| Ok(Language::from_number(row.get(0)?)))?;
        rows.collect()
    }

    /// Returns the names of the files and the units of these sources, ordered by file and place, each compared with the
    /// query by its vector.
    pub(crate) fn units(
        &self,
        sources: &[usize],
        query: &Quantized,
    ) -> Result<(Vec<String>, Vec<StoredUnit>)> {
        let mut statement = self.db.prepare(
            "SELECT files.name, files.source, units.id, identity, line, day, flags, weight, section, vector
             FROM files JOIN units ON units.file = files.id ORDER BY files.name, units.id",
        )?;
        let mut rows = statement.query([])?;
        let (mut names, mut units): (Vec<String>, Vec<StoredUnit>) = (Vec::new(), Vec::new());
        while let Some(row) = rows.next()? {
            let source = row.get(1)?;
            if !sources.contains(&source) {
                continue;
            }
            let name = row.get_ref(0)?.as_str()?;
            if names.last().is_none_or(|last| last != name) {
                names.push(name.to_owned());
            }
            let vector = row.get_ref(9)?.as_blob()?.split_first_chunk();
            let near =
                vector.map_or(0.0, |(scale, values)| query.dot(values, f32::from_le_bytes(*scale)));
            let day: Option<i32> = row.get(5)?;
            units.push(StoredUnit {
                id: row.get(2)?,
                source: Some(source),
                file: names.len() - 1,
                identity: row.get(3)?,
                line: row.get(4)?,
                date: day.and_then(NaiveDate::from_num_days_from_ce_opt),
                flags: row.get(6)?,
                weight: row.get(7)?,
                section: row.get(8)?,
                meaning: f64::from(near.max(0.0)),
            });
        }
        Ok((names, units))
    }

    /// Returns the score by BM25 of the texts that contain any of the stems.
    pub(crate) fn containing(&self, stems: &[String]) -> Result<HashMap<i64, f64>> {
        let Some(expression) = any_of(stems) else {
            return Ok(HashMap::new());
        };
        let sql = "SELECT rowid, -bm25(words) FROM words WHERE words MATCH ?1";
        let mut statement = self.db.prepare_cached(sql)?;
        let rows = statement.query_map([expression], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect()
    }

    /// Returns the passage of a unit.
    pub(crate) fn passage(&self, unit: &StoredUnit) -> Result<Passage> {
        let sql = "SELECT headings, key, text FROM texts WHERE id = ?1";
        self.db.prepare_cached(sql)?.query_row([unit.id], |row| {
            let headings: String = row.get(0)?;
            let headings = headings.split(HEADING_SEPARATOR).filter(|title| !title.is_empty());
            Ok(Passage {
                headings: headings.map(str::to_owned).collect(),
                line: unit.line,
                id: row.get(1)?,
                text: row.get(2)?,
                date: unit.date,
                flags: unit.flags,
                weight: unit.weight,
            })
        })
    }

    /// Returns the vectors that the encoder made of a text.
    pub(crate) fn encoded(&self, unit: i64) -> Result<Option<Quantized>> {
        let sql = "SELECT scale, vectors FROM encoded WHERE id = ?1";
        let found = self.db.prepare_cached(sql)?.query_row([unit], |row| {
            Ok(Quantized { scale: narrowed(row.get(0)?), values: row.get(1)? })
        });
        found.optional()
    }

    /// Stores the vectors of texts; if the index cannot be written, they are made again.
    pub(crate) fn remember(&self, units: &[i64], vectors: &[Quantized]) {
        let store = || -> Result<()> {
            let transaction = self.db.unchecked_transaction()?;
            for (unit, vectors) in units.iter().zip(vectors).filter(|(unit, _)| **unit > 0) {
                let sql = "INSERT OR REPLACE INTO encoded VALUES(?1, ?2, ?3)";
                let values = params![unit, f64::from(vectors.scale), vectors.values];
                transaction.prepare_cached(sql)?.execute(values)?;
            }
            transaction.commit()
        };
        let _is_stored = store().is_ok();
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the value was an f32 originally")]
fn narrowed(scale: f64) -> f32 {
    scale as f32
}
