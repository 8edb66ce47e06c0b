//! Brings the index up to date: the files that have changed are read, split, stemmed and embedded on all processors, and
//! written in their order.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use rusqlite::{Connection, Result, TransactionBehavior, params};
use sha2::{Digest, Sha256};

use crate::progress::Progress;
use crate::search::index::file::{Index, Postings, UnitRecord, of_file};
use crate::search::index::{IndexFile, Passage, PassageReader};
use crate::search::rank::{passages, to_u32};
use crate::search::table::{Adder, Sum};
use crate::search::vector::Vector;
use crate::search::words::{Language, Tokenizer};
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

/// Number of different stems that a thread remembers: file names and digests never end.
const MAX_STEMS: usize = 1 << 18;

/// A file that has changed, and its number if the index has it.
type Changed<'a> = (&'a IndexFile, Option<i64>);

/// The outcome of preparing a file; if it cannot be read, the reason, unless it does not exist.
type Prepared = std::result::Result<Content, Option<Warning>>;

/// The indexable content of a file.
struct Content {
    language: Language,
    /// The passages, and what is stored of each, side by side.
    passages: Vec<Passage>,
    units: Vec<u8>,
    /// The words, as [`of_file`] returns them.
    words: Vec<u8>,
    /// Line number of the first passage that is not indexed, or not whole.
    left_out: Option<usize>,
}

impl Index {
    /// Indexes what has changed; warns of unreadable files, whose old texts are dropped.
    pub(crate) fn update(
        &mut self,
        files: &[IndexFile],
        reader: PassageReader,
        progress: &Progress,
    ) -> Result<Vec<Warning>> {
        let mut warnings = Vec::new();
        let (changed, gone) = compare(&self.db, files)?;
        if !changed.is_empty() || !gone.is_empty() {
            let behavior = TransactionBehavior::Immediate;
            let transaction = self.db.transaction_with_behavior(behavior)?;
            // Another process may have updated the index meanwhile.
            let (changed, gone) = compare(&transaction, files)?;
            let mut writer = Writer::new(&transaction)?;
            gone.into_iter().try_for_each(|file| writer.delete(file))?;
            each_prepared(&changed, reader, progress, |file, prepared| match prepared {
                Err(warning) => {
                    warnings.extend(warning);
                    file.1.map_or(Ok(()), |known| writer.delete(known))
                }
                Ok(content) => writer.replace(file, &content),
            })?;
            writer.finish()?;
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
    let mut statement = db.prepare("SELECT name, id, source, role, stamp FROM files")?;
    let rows = statement.query_map([], |row| {
        let state = (row.get(2)?, row.get(3)?, row.get(4)?);
        Ok((row.get::<_, String>(0)?, (row.get(1)?, state)))
    })?;
    let mut known: HashMap<String, (i64, _)> = rows.collect::<Result<_>>()?;
    let mut changed = Vec::new();
    for file in files {
        let (id, state) = known.remove(&file.name).unzip();
        let state = state.as_ref().map(|(source, role, stamp)| (source, role, stamp));
        if state != Some((&file.source, &file.role, &file.stamp)) {
            changed.push((file, id));
        }
    }
    Ok((changed, known.into_values().map(|(id, _)| id).collect()))
}

/// Prepares the files, in parallel if there are many, and stores them in the order of the list, so that the same files
/// yield the same index.
fn each_prepared(
    changed: &[Changed<'_>],
    reader: PassageReader,
    progress: &Progress,
    mut store: impl FnMut(&Changed<'_>, Prepared) -> Result<()>,
) -> Result<()> {
    let mut preparer = Preparer::default();
    if changed.len() < MIN_FILES_FOR_THREADS {
        return changed.iter().try_for_each(|file| store(file, preparer.prepare(reader, file)));
    }
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, receiver): (_, Receiver<(usize, Prepared)>) = sync_channel(MAX_QUEUED);
        let next = &next;
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            let sender = sender.clone();
            let work = move || {
                let mut preparer = Preparer::default();
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let prepared = changed.get(at).map(|file| preparer.prepare(reader, file));
                    // The receiver is dropped if writing fails.
                    if prepared.is_none_or(|prepared| sender.send((at, prepared)).is_err()) {
                        break;
                    }
                }
            };
            // Without any thread, the files are prepared here.
            let _started = thread::Builder::new().spawn_scoped(scope, work).is_ok();
        }
        drop(sender);
        let mut early: HashMap<usize, Prepared> = HashMap::new();
        for (position, file) in progress.track("Indexing", changed).enumerate() {
            while !early.contains_key(&position) {
                let Ok((at, prepared)) = receiver.recv() else {
                    break;
                };
                early.insert(at, prepared);
            }
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
    fn prepare(&mut self, reader: PassageReader, (file, _): &Changed<'_>) -> Prepared {
        let passages = reader(file);
        let passages = passages
            .map_err(|error| Some(Warning::file(&file.path, error.reason())))?
            .ok_or(None)?;
        let mut sample = String::new();
        for passage in &passages {
            if sample.len() > SAMPLE_BYTES {
                break;
            }
            sample.extend([passage.text.as_str(), "\n"]);
        }
        Ok(self.content(passages, Language::detect(&sample)))
    }

    fn content(&mut self, mut passages: Vec<Passage>, language: Language) -> Content {
        self.tokenizers.retain(|_, tokenizer| tokenizer.len() < MAX_STEMS);
        let tokenizer = self.tokenizers.entry(language).or_insert_with(|| Tokenizer::new(language));
        let (mut units, mut words, mut stems) = (Vec::new(), Vec::new(), Vec::new());
        let (mut section, mut head, mut head_sum) = (0, 0, Sum::default());
        let mut left_out = None;
        let (mut number, mut count) = (0_u32, 0);
        for at in 0..passages.len() {
            let is_full = at >= MAX_TEXTS || count >= MAX_WORDS;
            if is_full || passages[at].text.len() > MAX_TEXT_BYTES {
                left_out.get_or_insert(passages[at].line.max(1));
            }
            if is_full {
                passages.truncate(at);
                break;
            }
            let identity = identity(&passages[at]);
            let text = &mut passages[at].text;
            text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
            if at == 0 || passages[at - 1].headings != passages[at].headings {
                section += 1;
                head_sum = Sum::default();
                stems.clear();
                for heading in &passages[at].headings {
                    tokenizer.stems(heading, &mut stems);
                    self.adder.add(heading, &mut head_sum);
                }
                head = stems.len();
            }
            let passage = &passages[at];
            stems.truncate(head);
            tokenizer.stems(&passage.text, &mut stems);
            words.extend(stems.iter().map(|stem| (*stem, number)));
            let vectors = self::passages(&passage.text).into_iter().map(|part| {
                let mut sum = head_sum.clone();
                self.adder.add(part, &mut sum);
                sum.vector()
            });
            let length = to_u32(stems.len());
            let vector = Vector::mean(vectors).quantized();
            UnitRecord::new(passage, identity, section, length).write(&vector, &mut units);
            count += stems.len() - head;
            number += 1;
        }
        let words = of_file(words, |stem| tokenizer.text(stem));
        Content { language, passages, units, words, left_out }
    }
}

/// Returns a number that all passages with the same text under the same headings share.
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

/// Largest number of a unit from which an update may start: the lists keep a bit of each number for themselves.
const MAX_NEXT: u32 = 1 << 30;

/// Writes files in one transaction.
struct Writer<'a> {
    db: &'a Connection,
    postings: Postings,
    /// Number of the next unit, and of the next batch of lists.
    next: u32,
    batch: i64,
}

impl<'a> Writer<'a> {
    fn new(db: &'a Connection) -> Result<Self> {
        let sql = "SELECT next, batch FROM owner";
        let (next, batch): (u32, i64) = db.query_row(sql, [], |row| row.try_into())?;
        // Only a damaged file has given so many numbers.
        if next > MAX_NEXT || batch == i64::MAX {
            return Err(rusqlite::Error::IntegralValueOutOfRange(0, batch));
        }
        Ok(Self { db, postings: Postings::default(), next, batch })
    }

    fn run(&self, sql: &str, values: impl rusqlite::Params) -> Result<()> {
        self.db.prepare_cached(sql)?.execute(values).map(drop)
    }

    /// Deletes a file. The numbers of its units stay in the lists, and are never given again.
    fn delete(&self, file: i64) -> Result<()> {
        let sql = "SELECT first, first + length(units) / ?2 FROM files WHERE id = ?1";
        let range: (u32, u32) =
            self.db.query_row(sql, params![file, UnitRecord::SIZE], |row| row.try_into())?;
        self.run("DELETE FROM texts WHERE id >= ?1 AND id < ?2", range)?;
        self.run("DELETE FROM encoded WHERE id >= ?1 AND id < ?2", range)?;
        self.run("DELETE FROM files WHERE id = ?1", [file])
    }

    /// Replaces the indexed content of a file.
    fn replace(&mut self, (file, known): &Changed<'_>, content: &Content) -> Result<()> {
        if let Some(old) = known {
            self.delete(*old)?;
        }
        self.run(
            "INSERT INTO files VALUES(NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                file.source,
                file.name,
                file.role,
                file.stamp,
                content.language.number(),
                content.left_out,
                self.next,
                content.units
            ],
        )?;
        self.postings.add(&content.words, self.next);
        for passage in &content.passages {
            let headings = passage.headings.join(&HEADING_SEPARATOR.to_string());
            let values = params![self.next, headings, passage.id, passage.text];
            self.run("INSERT INTO texts VALUES(?1, ?2, ?3, ?4)", values)?;
            self.next += 1;
        }
        if self.postings.is_full() { self.write_lists() } else { Ok(()) }
    }

    fn write_lists(&mut self) -> Result<()> {
        self.batch += 1;
        self.postings.write(self.db, self.batch)
    }

    fn finish(mut self) -> Result<()> {
        self.write_lists()?;
        self.run("UPDATE owner SET next = ?1, batch = ?2", params![self.next, self.batch])
    }
}
