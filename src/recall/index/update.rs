//! Brings the cache up to date: reads what has changed, keeps what has not.

use std::collections::HashMap;

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use rusqlite::Result;
use rusqlite::TransactionBehavior;
use rusqlite::params;
use sha2::Digest;
use sha2::Sha256;

use crate::embedding::Table;
use crate::recall::document::Document;
use crate::recall::index::files::Files;
use crate::recall::index::files::Found;
use crate::recall::index::schema::Index;
use crate::recall::index::spelling::spelled;
use crate::warning::Warning;

/// The bytes of a stored vector: its scale, then its numbers.
pub(crate) const VECTOR: usize = 4 + 128;

/// What stands between two headings of a stored path.
pub(crate) const BETWEEN_HEADINGS: char = '\u{1f}';

/// A file as the cache knows it.
struct Known {
    id: i64,
    source: usize,
    stamp: Vec<u8>,
}

/// What is to be done.
struct Work<'a> {
    changed: Vec<&'a Found>,
    gone: Vec<i64>,
}

impl Index {
    /// Takes in what has changed since; tells of files that cannot be read, whose old texts are dropped.
    pub(crate) fn update(&mut self, files: &Files) -> Result<Vec<Warning>> {
        let mut warnings = Vec::new();
        if work(&self.db, files)?.is_none() {
            return Ok(warnings);
        }
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.db.transaction_with_behavior(behavior)?;
        // Another process may have done it meanwhile.
        if let Some(work) = work(&transaction, files)? {
            for file in &work.gone {
                forget(&transaction, *file)?;
            }
            for found in work.changed {
                take_in(&transaction, found, &mut warnings)?;
            }
        }
        transaction.commit()?;
        Ok(warnings)
    }
}

/// Compares the disk with the cache; nothing where both agree.
fn work<'a>(db: &Connection, files: &'a Files) -> Result<Option<Work<'a>>> {
    let mut statement = db.prepare("SELECT path, id, source, stamp FROM files")?;
    let rows = statement.query_map([], |row| {
        let known = Known {
            id: row.get(1)?,
            source: row.get(2)?,
            stamp: row.get(3)?,
        };
        Ok((row.get::<_, String>(0)?, known))
    })?;
    let mut known: HashMap<String, Known> = rows.collect::<Result<_>>()?;
    let mut changed = Vec::new();
    for found in &files.0 {
        match known.remove(&found.name) {
            Some(known) if known.source == found.source && known.stamp == found.stamp => {}
            _ => changed.push(found),
        }
    }
    let gone: Vec<i64> = known.into_values().map(|known| known.id).collect();
    let is_current = changed.is_empty() && gone.is_empty();
    Ok((!is_current).then_some(Work { changed, gone }))
}

fn forget(db: &Connection, file: i64) -> Result<()> {
    let mut statement = db.prepare_cached("SELECT id FROM units WHERE file = ?1")?;
    let units = statement.query_map([file], |row| row.get(0))?;
    for unit in units.collect::<Result<Vec<i64>>>()? {
        forget_unit(db, unit)?;
    }
    db.prepare_cached("DELETE FROM units WHERE file = ?1")?
        .execute([file])?;
    db.prepare_cached("DELETE FROM files WHERE id = ?1")?
        .execute([file])?;
    Ok(())
}

fn forget_unit(db: &Connection, unit: i64) -> Result<()> {
    for statement in [
        "DELETE FROM texts WHERE id = ?1",
        "DELETE FROM words WHERE rowid = ?1",
        "DELETE FROM parts WHERE rowid = ?1",
    ] {
        db.prepare_cached(statement)?.execute([unit])?;
    }
    Ok(())
}

fn take_in(db: &Connection, found: &Found, warnings: &mut Vec<Warning>) -> Result<()> {
    let old = db
        .prepare_cached("SELECT id, source, digest FROM files WHERE path = ?1")?
        .query_row([&found.name], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, usize>(1)?,
                row.get::<_, Vec<u8>>(2)?,
            ))
        })
        .optional()?;
    let text = match found.store().read(&found.path) {
        // Bytes that are no text are told by those who read the file for what it means.
        Ok(Some(text)) => text.value,
        unread => {
            if let Err(error) = unread {
                warnings.push(Warning::file(&found.path, error.reason()));
            }
            return old.map_or(Ok(()), |(id, ..)| forget(db, id));
        }
    };
    let digest = Sha256::digest(text.as_bytes()).to_vec();
    if let Some((id, source, known)) = &old
        && *source == found.source
        && *known == digest
    {
        db.prepare_cached("UPDATE files SET stamp = ?2 WHERE id = ?1")?
            .execute(params![id, found.stamp])?;
        return Ok(());
    }
    let documents = found.store().documents(&text, &found.path);
    let mut kept = match &old {
        Some((id, ..)) => Kept::of(db, *id)?,
        None => Kept::default(),
    };
    let file = file_row(db, found, &digest, old.map(|(id, ..)| id))?;
    let mut vectors = Vec::with_capacity(documents.len() * VECTOR);
    for (place, document) in documents.iter().enumerate() {
        let twin = twin(document);
        let unit = if let Some((unit, old)) = kept.take(twin) {
            vectors.extend(old);
            unit
        } else {
            vectors.extend(vector(document));
            add_unit(db, document)?
        };
        place_unit(db, (file, place), (unit, twin), document)?;
    }
    for unit in kept.rest() {
        forget_unit(db, unit)?;
    }
    db.prepare_cached("UPDATE files SET vectors = ?2 WHERE id = ?1")?
        .execute(params![file, vectors])?;
    Ok(())
}

/// The texts that a file had before, with their vectors, by what they are.
#[derive(Default)]
struct Kept(HashMap<i64, Vec<(i64, Vec<u8>)>>);

impl Kept {
    /// Takes the texts of a file out of their places.
    fn of(db: &Connection, file: i64) -> Result<Self> {
        let vectors: Vec<u8> = db
            .prepare_cached("SELECT vectors FROM files WHERE id = ?1")?
            .query_row([file], |row| row.get(0))?;
        let mut kept = Self::default();
        let mut statement =
            db.prepare_cached("DELETE FROM units WHERE file = ?1 RETURNING place, id, twin")?;
        let mut rows = statement.query([file])?;
        while let Some(row) = rows.next()? {
            let place: usize = row.get(0)?;
            let start = place.saturating_mul(VECTOR);
            let vector = vectors.get(start..start.saturating_add(VECTOR));
            let vector = vector.unwrap_or(&[0; VECTOR]).to_vec();
            let of_twin = kept.0.entry(row.get(2)?).or_default();
            of_twin.push((row.get(1)?, vector));
        }
        Ok(kept)
    }

    fn take(&mut self, twin: i64) -> Option<(i64, Vec<u8>)> {
        self.0.get_mut(&twin)?.pop()
    }

    fn rest(self) -> impl Iterator<Item = i64> {
        self.0.into_values().flatten().map(|(unit, _)| unit)
    }
}

fn file_row(db: &Connection, found: &Found, digest: &[u8], old: Option<i64>) -> Result<i64> {
    db.prepare_cached(
        "INSERT INTO files(id, source, path, stamp, digest, vectors) VALUES(?1, ?2, ?3, ?4, ?5, x'')
         ON CONFLICT(id) DO UPDATE SET source = ?2, stamp = ?4, digest = ?5",
    )?
    .execute(params![old, found.source, found.name, found.stamp, digest])?;
    Ok(old.unwrap_or_else(|| db.last_insert_rowid()))
}

fn add_unit(db: &Connection, document: &Document) -> Result<i64> {
    let between = BETWEEN_HEADINGS.to_string();
    db.prepare_cached("INSERT INTO texts(headings, key, text) VALUES(?1, ?2, ?3)")?
        .execute(params![
            document.headings.join(&between),
            document.id,
            document.text
        ])?;
    let unit = db.last_insert_rowid();
    let whole = searched_text(document);
    db.prepare_cached("INSERT INTO words(rowid, text) VALUES(?1, ?2)")?
        .execute(params![unit, spelled(&whole)])?;
    db.prepare_cached("INSERT INTO parts(rowid, text) VALUES(?1, ?2)")?
        .execute(params![unit, whole])?;
    Ok(unit)
}

fn place_unit(
    db: &Connection,
    (file, place): (i64, usize),
    (unit, twin): (i64, i64),
    document: &Document,
) -> Result<()> {
    let day = document
        .date
        .map(|date| chrono::Datelike::num_days_from_ce(&date));
    db.prepare_cached(
        "INSERT INTO units(file, place, id, line, day, flags, rank, twin)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        file,
        place,
        unit,
        document.line,
        day,
        document.flags.bits(),
        document.rank.number(),
        twin
    ])?;
    Ok(())
}

/// Returns what a text is found by: its headings and itself.
pub(crate) fn searched_text(document: &Document) -> String {
    format!("{}\n{}", document.headings.join(" "), document.text)
}

fn vector(document: &Document) -> Vec<u8> {
    let vector = Table::built_in().vector(&searched_text(document));
    let vector = vector.quantized();
    let mut bytes = vector.scale.to_le_bytes().to_vec();
    bytes.extend(vector.bytes());
    bytes
}

/// Returns what two texts share that say the same under the same headings.
fn twin(document: &Document) -> i64 {
    let mut digest = Sha256::new();
    for heading in &document.headings {
        digest.update(heading.as_bytes());
        digest.update([0]);
    }
    digest.update([1]);
    digest.update(document.id.as_deref().unwrap_or_default());
    digest.update([1]);
    digest.update(document.text.as_bytes());
    let digest = digest.finalize();
    digest
        .iter()
        .take(8)
        .fold(0, |number, byte| number << 8 | i64::from(*byte))
}
