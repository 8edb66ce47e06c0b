//! Updates the index from the files that have changed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use rusqlite::{Connection, OptionalExtension, Result, TransactionBehavior, params};

use crate::progress::Progress;
use crate::recall::index::files::{Files, StoreFile};
use crate::recall::index::prepared::{FileContent, Prepared, PreparedText, Preparer};
use crate::recall::index::schema::Index;
use crate::warning::Warning;

/// Separator between the headings of a stored text.
pub(crate) const HEADING_SEPARATOR: char = '\u{1f}';

/// Number of changed files below which starting threads is not worthwhile.
const MIN_FILES_FOR_THREADS: usize = 8;

/// Maximum number of prepared files waiting to be written, to limit memory use.
const MAX_QUEUED: usize = 16;

/// A file as recorded in the index.
struct IndexedFile {
    id: i64,
    source: usize,
    stamp: Vec<u8>,
    digest: Vec<u8>,
}

/// The changes to be made.
struct PendingChanges<'a> {
    changed: Vec<(&'a StoreFile, Option<IndexedFile>)>,
    deleted: Vec<i64>,
}

impl Index {
    /// Indexes what has changed; warns of unreadable files, whose old texts are dropped.
    pub(crate) fn update(&mut self, files: &Files, progress: &Progress) -> Result<Vec<Warning>> {
        let mut warnings = Vec::new();
        if pending_changes(&self.db, files)?.is_none() {
            self.warn_of_left_out(files, &mut warnings)?;
            return Ok(warnings);
        }
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.db.transaction_with_behavior(behavior)?;
        // Another process may have updated the index meanwhile.
        if let Some(changes) = pending_changes(&transaction, files)? {
            for file in &changes.deleted {
                delete_file(&transaction, *file)?;
            }
            index_files(&transaction, &changes.changed, progress, &mut warnings)?;
        }
        transaction.commit()?;
        self.warn_of_left_out(files, &mut warnings)?;
        Ok(warnings)
    }

    /// Warns of the files that are indexed only in part.
    fn warn_of_left_out(&self, files: &Files, warnings: &mut Vec<Warning>) -> Result<()> {
        let query = "SELECT path, left_out FROM files WHERE left_out IS NOT NULL ORDER BY path";
        let mut statement = self.db.prepare(query)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (name, line): (String, usize) = (row.get(0)?, row.get(1)?);
            let found = files.0.binary_search_by(|found| found.name.cmp(&name));
            if let Ok(at) = found {
                let message = "is too long: some text from this line on is not searched";
                warnings.push(Warning::at(&files.0[at].path, line, message));
            }
        }
        Ok(())
    }
}

/// Compares the disk with the index; returns `None` if they agree.
fn pending_changes<'a>(db: &Connection, files: &'a Files) -> Result<Option<PendingChanges<'a>>> {
    let mut statement = db.prepare("SELECT path, id, source, stamp, digest FROM files")?;
    let rows = statement.query_map([], |row| {
        let known = IndexedFile {
            id: row.get(1)?,
            source: row.get(2)?,
            stamp: row.get(3)?,
            digest: row.get(4)?,
        };
        Ok((row.get::<_, String>(0)?, known))
    })?;
    let mut known: HashMap<String, IndexedFile> = rows.collect::<Result<_>>()?;
    let mut changed = Vec::new();
    for file in &files.0 {
        match known.remove(&file.name) {
            Some(known) if known.source == file.source && known.stamp == file.stamp => {}
            known => changed.push((file, known)),
        }
    }
    let deleted: Vec<i64> = known.into_values().map(|known| known.id).collect();
    let is_current = changed.is_empty() && deleted.is_empty();
    Ok((!is_current).then_some(PendingChanges { changed, deleted }))
}

/// Prepares the files, in parallel if there are many, and writes them in order as they become ready.
fn index_files(
    db: &Connection,
    changed: &[(&StoreFile, Option<IndexedFile>)],
    progress: &Progress,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    let prepare = |preparer: &mut Preparer, (found, known): &(&StoreFile, Option<IndexedFile>)| {
        let known = known.as_ref().filter(|known| known.source == found.source);
        preparer.prepare(found, known.map(|known| known.digest.as_slice()))
    };
    let one_by_one = |warnings: &mut Vec<Warning>| {
        let mut preparer = Preparer::default();
        for file in changed {
            store_file(db, file, prepare(&mut preparer, file), warnings)?;
        }
        Ok(())
    };
    if changed.len() < MIN_FILES_FOR_THREADS {
        return one_by_one(warnings);
    }
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(MAX_QUEUED);
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let start = |sender: SyncSender<_>| {
            let next = &next;
            let work = move || {
                let mut preparer = Preparer::default();
                while let Some((index, file)) = next_item(changed, next) {
                    // The receiver is dropped if writing fails.
                    if sender.send((index, prepare(&mut preparer, file))).is_err() {
                        break;
                    }
                }
            };
            // The system may refuse another thread; the running ones do its work.
            thread::Builder::new().spawn_scoped(scope, work).is_ok()
        };
        let started = (0..threads).filter(|_| start(sender.clone())).count();
        drop(sender);
        if started == 0 {
            return one_by_one(warnings);
        }
        write_in_order(db, changed, &receiver, progress, warnings)
    })
}

fn next_item<'a, T>(items: &'a [T], next: &AtomicUsize) -> Option<(usize, &'a T)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    Some((index, items.get(index)?))
}

/// Writes prepared files in the order of the list, so that the same files yield the same index.
fn write_in_order(
    db: &Connection,
    changed: &[(&StoreFile, Option<IndexedFile>)],
    ready: &Receiver<(usize, Prepared)>,
    progress: &Progress,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    let mut arrived_early: HashMap<usize, Prepared> = HashMap::new();
    for (position, file) in progress.track("Indexing", changed).enumerate() {
        let prepared = loop {
            if let Some(prepared) = arrived_early.remove(&position) {
                break Some(prepared);
            }
            match ready.recv() {
                Ok((index, prepared)) => arrived_early.insert(index, prepared),
                Err(_) => break None,
            };
        };
        if let Some(prepared) = prepared {
            store_file(db, file, prepared, warnings)?;
        }
    }
    Ok(())
}

/// Writes one prepared file.
fn store_file(
    db: &Connection,
    (found, known): &(&StoreFile, Option<IndexedFile>),
    prepared: Prepared,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    let old = known.as_ref().map(|known| known.id);
    match prepared {
        Prepared::Unreadable(warning) => {
            warnings.extend(warning);
            old.map_or(Ok(()), |file| delete_file(db, file))
        }
        Prepared::Unchanged => {
            db.prepare_cached("UPDATE files SET stamp = ?2 WHERE id = ?1")?
                .execute(params![old, found.stamp])?;
            Ok(())
        }
        Prepared::Changed(content) => replace(db, found, old, &content),
    }
}

/// Replaces the indexed content of a file.
fn replace(
    db: &Connection,
    found: &StoreFile,
    old: Option<i64>,
    content: &FileContent,
) -> Result<()> {
    drop_term_list(db)?;
    let old_texts = match old {
        Some(file) => delete_units(db, file)?,
        None => Vec::new(),
    };
    let file = upsert_file(db, found, old, content)?;
    for (position, text) in content.texts.iter().enumerate() {
        let id = text_id(db, text)?;
        insert_unit(db, file, position, id, text)?;
    }
    delete_orphaned_texts(db, &old_texts)
}

/// Empties the list of terms, since texts change; a file that stays unreadable at every update changes none.
fn drop_term_list(db: &Connection) -> Result<()> {
    db.prepare_cached("DELETE FROM terms")?.execute([])?;
    Ok(())
}

fn delete_file(db: &Connection, file: i64) -> Result<()> {
    drop_term_list(db)?;
    let texts = delete_units(db, file)?;
    db.prepare_cached("DELETE FROM files WHERE id = ?1")?.execute([file])?;
    delete_orphaned_texts(db, &texts)
}

/// Deletes the units of a file, and returns the ids of their texts.
fn delete_units(db: &Connection, file: i64) -> Result<Vec<i64>> {
    let mut statement = db.prepare_cached("DELETE FROM units WHERE file = ?1 RETURNING text")?;
    let texts = statement.query_map([file], |row| row.get(0))?;
    texts.collect()
}

/// Deletes the texts that no unit refers to any more.
fn delete_orphaned_texts(db: &Connection, texts: &[i64]) -> Result<()> {
    for text in texts {
        let is_used: bool = db
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM units WHERE text = ?1)")?
            .query_row([text], |row| row.get(0))?;
        if is_used {
            continue;
        }
        for statement in [
            "DELETE FROM texts WHERE id = ?1",
            "DELETE FROM words WHERE rowid = ?1",
            "DELETE FROM encoded WHERE text = ?1",
        ] {
            db.prepare_cached(statement)?.execute([text])?;
        }
    }
    Ok(())
}

fn upsert_file(
    db: &Connection,
    found: &StoreFile,
    old: Option<i64>,
    content: &FileContent,
) -> Result<i64> {
    db.prepare_cached(
        "INSERT INTO files(id, source, path, stamp, digest, language, left_out, vectors)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT(id) DO UPDATE
         SET source = ?2, stamp = ?4, digest = ?5, language = ?6, left_out = ?7, vectors = ?8",
    )?
    .execute(params![
        old,
        found.source,
        found.name,
        found.stamp,
        content.digest,
        content.language.number(),
        content.first_left_out,
        content.vectors
    ])?;
    Ok(old.unwrap_or_else(|| db.last_insert_rowid()))
}

/// Returns the row id of a text, which may already exist because of another file.
fn text_id(db: &Connection, text: &PreparedText) -> Result<i64> {
    let known = db
        .prepare_cached("SELECT id FROM texts WHERE identity = ?1")?
        .query_row([text.identity], |row| row.get(0))
        .optional()?;
    if let Some(id) = known {
        return Ok(id);
    }
    let between = HEADING_SEPARATOR.to_string();
    db.prepare_cached("INSERT INTO texts(identity, headings, key, text) VALUES(?1, ?2, ?3, ?4)")?
        .execute(params![
        text.identity,
        text.document.headings.join(&between),
        text.document.id,
        text.document.text
    ])?;
    let id = db.last_insert_rowid();
    db.prepare_cached("INSERT INTO words(rowid, text) VALUES(?1, ?2)")?
        .execute(params![id, text.words])?;
    Ok(id)
}

fn insert_unit(
    db: &Connection,
    file: i64,
    position: usize,
    id: i64,
    text: &PreparedText,
) -> Result<()> {
    let (first, count) = text.vectors;
    db.prepare_cached(
        "INSERT INTO units(file, place, text, line, day, flags, rank, section, length, vector, vectors)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?
    .execute(params![
        file,
        position,
        id,
        text.document.line,
        text.day(),
        text.document.flags.bits(),
        text.document.authority.number(),
        text.section,
        text.length,
        first,
        count
    ])?;
    Ok(())
}
