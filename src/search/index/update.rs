//! Brings the index up to date: the files that have changed are read, split, stemmed and embedded on all processors, and
//! written in their order.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use chrono::Datelike;
use rusqlite::{Connection, Result, TransactionBehavior, params};
use sha2::{Digest, Sha256};

use crate::progress::Progress;
use crate::search::index::file::Index;
use crate::search::index::{IndexFile, Passage, PassageReader};
use crate::search::language::Language;
use crate::search::passages::passages;
use crate::search::table::{Adder, Sum};
use crate::search::vector::Vector;
use crate::search::words::Tokenizer;
use crate::warning::Warning;

/// Separator between the headings of a stored text.
pub(crate) const HEADING_SEPARATOR: char = '\u{1f}';

/// Number of changed files below which starting threads is not worthwhile.
const MIN_FILES_FOR_THREADS: usize = 8;

/// Maximum number of prepared files waiting to be written, to limit memory use.
const MAX_QUEUED: usize = 16;

/// Maximum number of texts and of words of a file that are indexed, and maximum length of a text in bytes.
const MAX_TEXTS: usize = 30_000;
const MAX_WORDS: usize = 500_000;
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// Number of bytes from which the language of a file is detected.
const SAMPLE_BYTES: usize = 8 * 1024;

/// A file as recorded in the index.
struct Recorded {
    id: i64,
    source: usize,
    stamp: Vec<u8>,
    digest: Vec<u8>,
}

/// A file that has changed, and what the index has of it.
type Changed<'a> = (&'a IndexFile, Option<Recorded>);

/// The outcome of preparing a file.
enum Prepared {
    /// It does not exist or cannot be read.
    Unreadable(Option<Warning>),
    /// Its passages are already indexed.
    Unchanged,
    /// Its passages are new or have changed.
    New(Content),
}

/// The indexable content of a file.
struct Content {
    digest: Vec<u8>,
    language: Language,
    units: Vec<Unit>,
    /// Line number of the first passage that is not indexed, or not whole.
    left_out: Option<usize>,
}

/// A passage with its words and its vector.
struct Unit {
    passage: Passage,
    /// Shared by all passages with the same text under the same headings.
    identity: i64,
    /// Its stems, separated by spaces.
    words: String,
    /// Number of the run of passages under the same headings that it belongs to.
    section: usize,
    /// The scale of its vector, and the vector.
    vector: Vec<u8>,
}

impl Index {
    /// Indexes what has changed; warns of unreadable files, whose old texts are dropped.
    pub(crate) fn update(
        &mut self,
        files: &[IndexFile],
        reader: &dyn PassageReader,
        progress: &Progress,
    ) -> Result<Vec<Warning>> {
        let mut warnings = Vec::new();
        let (changed, gone) = compare(&self.db, files)?;
        if !changed.is_empty() || !gone.is_empty() {
            let behavior = TransactionBehavior::Immediate;
            let transaction = self.db.transaction_with_behavior(behavior)?;
            // Another process may have updated the index meanwhile.
            let (changed, gone) = compare(&transaction, files)?;
            for file in gone {
                delete(&transaction, file)?;
            }
            let store = |file: &Changed<'_>, prepared| match prepared {
                Prepared::Unreadable(warning) => {
                    warnings.extend(warning);
                    file.1.as_ref().map_or(Ok(()), |known| delete(&transaction, known.id))
                }
                Prepared::Unchanged => restamp(&transaction, file),
                Prepared::New(content) => replace(&transaction, file, &content),
            };
            each_prepared(&changed, reader, progress, store)?;
            transaction.commit()?;
        }
        let query = "SELECT name, left_out FROM files WHERE left_out IS NOT NULL ORDER BY name";
        let mut statement = self.db.prepare(query)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (name, line): (String, usize) = row.try_into()?;
            if let Ok(at) = files.binary_search_by(|file| file.name.cmp(&name)) {
                let message = "is too long: some text from this line on is not searched";
                warnings.push(Warning::at(&files[at].path, line, message));
            }
        }
        Ok(warnings)
    }
}

/// Compares the disk with the index: returns the changed files, and the numbers of those that are gone.
fn compare<'f>(db: &Connection, files: &'f [IndexFile]) -> Result<(Vec<Changed<'f>>, Vec<i64>)> {
    let mut statement = db.prepare("SELECT name, id, source, stamp, digest FROM files")?;
    let rows = statement.query_map([], |row| {
        let (id, source) = (row.get(1)?, row.get(2)?);
        let known = Recorded { id, source, stamp: row.get(3)?, digest: row.get(4)? };
        Ok((row.get::<_, String>(0)?, known))
    })?;
    let mut known: HashMap<String, Recorded> = rows.collect::<Result<_>>()?;
    let mut changed = Vec::new();
    for file in files {
        let recorded = known.remove(&file.name);
        let is_same = |known: &Recorded| known.source == file.source && known.stamp == file.stamp;
        if !recorded.as_ref().is_some_and(is_same) {
            changed.push((file, recorded));
        }
    }
    Ok((changed, known.into_values().map(|known| known.id).collect()))
}

/// Prepares the files, in parallel if there are many, and stores them in the order of the list, so that the same files
/// yield the same index.
fn each_prepared(
    changed: &[Changed<'_>],
    reader: &dyn PassageReader,
    progress: &Progress,
    mut store: impl FnMut(&Changed<'_>, Prepared) -> Result<()>,
) -> Result<()> {
    if changed.len() < MIN_FILES_FOR_THREADS {
        let mut preparer = Preparer::default();
        return changed.iter().try_for_each(|file| store(file, preparer.prepare(reader, file)));
    }
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, receiver): (_, Receiver<(usize, Prepared)>) = sync_channel(MAX_QUEUED);
        let next = &next;
        let start = |sender: SyncSender<_>| {
            let work = move || {
                let mut preparer = Preparer::default();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = changed.get(index) else {
                        break;
                    };
                    // The receiver is dropped if writing fails.
                    if sender.send((index, preparer.prepare(reader, file))).is_err() {
                        break;
                    }
                }
            };
            thread::Builder::new().spawn_scoped(scope, work).is_ok()
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let started = (0..threads).filter(|_| start(sender.clone())).count();
        drop(sender);
        let mut preparer = Preparer::default();
        let mut early: HashMap<usize, Prepared> = HashMap::new();
        for (position, file) in progress.track("Indexing", changed).enumerate() {
            while started > 0 && !early.contains_key(&position) {
                let Ok((index, prepared)) = receiver.recv() else {
                    break;
                };
                early.insert(index, prepared);
            }
            // The system may refuse every thread.
            let prepared = early.remove(&position);
            store(file, prepared.unwrap_or_else(|| preparer.prepare(reader, file)))?;
        }
        Ok(())
    })
}

/// Prepares files one after the other and caches the results of stemming and embedding.
#[derive(Default)]
struct Preparer {
    tokenizers: HashMap<Language, Tokenizer>,
    adder: Adder,
}

impl Preparer {
    fn prepare(&mut self, reader: &dyn PassageReader, (file, known): &Changed<'_>) -> Prepared {
        let passages = match reader.passages(file) {
            Ok(Some(passages)) => passages,
            Ok(None) => return Prepared::Unreadable(None),
            Err(error) => {
                let warning = Warning::file(&file.path, error.reason());
                return Prepared::Unreadable(Some(warning));
            }
        };
        let digest = digest(&passages);
        if known.as_ref().is_some_and(|known| known.source == file.source && known.digest == digest)
        {
            return Prepared::Unchanged;
        }
        let mut sample = String::new();
        for passage in &passages {
            if sample.len() > SAMPLE_BYTES {
                break;
            }
            sample.extend([passage.text.as_str(), "\n"]);
        }
        let language = Language::detect(&sample);
        let mut content = Content { digest, language, units: Vec::new(), left_out: None };
        self.add(passages, &mut content);
        Prepared::New(content)
    }

    fn add(&mut self, passages: Vec<Passage>, content: &mut Content) {
        let new = || Tokenizer::new(content.language);
        let tokenizer = self.tokenizers.entry(content.language).or_insert_with(new);
        let mut section = 0;
        let (mut head, mut head_sum) = (String::new(), Sum::default());
        let mut count = 0;
        for mut passage in passages {
            let is_full = content.units.len() >= MAX_TEXTS || count >= MAX_WORDS;
            if is_full || passage.text.len() > MAX_TEXT_BYTES {
                content.left_out.get_or_insert(passage.line.max(1));
            }
            if is_full {
                break;
            }
            passage.text.truncate(passage.text.floor_char_boundary(MAX_TEXT_BYTES));
            let before = content.units.last().map(|unit| &unit.passage.headings);
            if before != Some(&passage.headings) {
                section += 1;
                (head, head_sum) = (String::new(), Sum::default());
                for heading in &passage.headings {
                    tokenizer.join(heading, &mut head);
                    self.adder.add(heading, &mut head_sum);
                }
            }
            let mut words = head.clone();
            count += tokenizer.join(&passage.text, &mut words);
            let parts = self::passages(&passage.text).into_iter().map(|part| {
                let mut sum = head_sum.clone();
                self.adder.add(part, &mut sum);
                sum.vector()
            });
            let mean = Vector::mean(parts).quantized();
            let vector = [&mean.scale.to_le_bytes()[..], &mean.values].concat();
            let identity = identity(&passage);
            content.units.push(Unit { passage, identity, words, section, vector });
        }
    }
}

/// Returns the digest of everything that is stored of these passages.
fn digest(passages: &[Passage]) -> Vec<u8> {
    let mut digest = Sha256::new();
    for passage in passages {
        digest.update(identity(passage).to_le_bytes());
        digest.update(format!(
            "{} {:?} {} {}",
            passage.line, passage.date, passage.flags, passage.weight
        ));
    }
    digest.finalize().to_vec()
}

fn identity(passage: &Passage) -> i64 {
    let mut digest = Sha256::new();
    for heading in &passage.headings {
        digest.update(heading.as_bytes());
        digest.update([0]);
    }
    digest.update([1]);
    digest.update(passage.id.as_deref().unwrap_or_default());
    digest.update([1]);
    digest.update(passage.text.as_bytes());
    digest.finalize().iter().take(8).fold(0, |number, byte| number << 8 | i64::from(*byte))
}

fn restamp(db: &Connection, (file, known): &Changed<'_>) -> Result<()> {
    let values = params![known.as_ref().map(|known| known.id), file.stamp];
    db.prepare_cached("UPDATE files SET stamp = ?2 WHERE id = ?1")?.execute(values).map(|_| ())
}

fn delete(db: &Connection, file: i64) -> Result<()> {
    delete_units(db, file)?;
    db.prepare_cached("DELETE FROM files WHERE id = ?1")?.execute([file]).map(|_| ())
}

fn delete_units(db: &Connection, file: i64) -> Result<()> {
    let of_file = "IN (SELECT id FROM units WHERE file = ?1)";
    for statement in [
        &format!("DELETE FROM texts WHERE id {of_file}"),
        &format!("DELETE FROM encoded WHERE id {of_file}"),
        &format!("DELETE FROM words WHERE rowid {of_file}"),
        "DELETE FROM units WHERE file = ?1",
    ] {
        db.prepare_cached(statement)?.execute([file])?;
    }
    Ok(())
}

/// Replaces the indexed content of a file.
fn replace(db: &Connection, (file, known): &Changed<'_>, content: &Content) -> Result<()> {
    let old = known.as_ref().map(|known| known.id);
    if let Some(old) = old {
        delete_units(db, old)?;
    }
    db.prepare_cached("INSERT OR REPLACE INTO files VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)")?.execute(
        params![
            old,
            file.source,
            file.name,
            file.stamp,
            content.digest,
            content.language.number(),
            content.left_out
        ],
    )?;
    let number = old.unwrap_or_else(|| db.last_insert_rowid());
    for Unit { passage, identity, words, section, vector } in &content.units {
        let day = passage.date.map(|date| date.num_days_from_ce());
        db.prepare_cached("INSERT INTO units VALUES(NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?
            .execute(params![
                number, identity, passage.line, day, passage.flags, passage.weight, section, vector
            ])?;
        let id = db.last_insert_rowid();
        let headings = passage.headings.join(&HEADING_SEPARATOR.to_string());
        db.prepare_cached("INSERT INTO texts VALUES(?1, ?2, ?3, ?4)")?
            .execute(params![id, headings, passage.id, passage.text])?;
        db.prepare_cached("INSERT INTO words(rowid, text) VALUES(?1, ?2)")?
            .execute(params![id, words])?;
    }
    Ok(())
}
