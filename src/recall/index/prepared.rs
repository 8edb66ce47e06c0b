//! Prepares a file for indexing: reads, splits, stems and embeds it, all without the database.

use std::collections::HashMap;

use chrono::Datelike;
use sha2::{Digest, Sha256};

use crate::embedding::{Adder, Quantized, Sum, Vector, VectorTable};
use crate::ranking::{Language, Tokenizer, passages};
use crate::recall::document::SearchDocument;
use crate::recall::index::files::StoreFile;
use crate::warning::Warning;

/// Size of a stored vector in bytes: its scale and its components.
pub(crate) const VECTOR_BYTES: usize = 4 + 128;

/// Maximum number of texts of a file that are indexed: each takes several rows.
const MAX_TEXTS: usize = 30_000;

/// Maximum number of words of a file that are indexed: among very many, each may occur nowhere else.
const MAX_WORDS: usize = 500_000;

/// Maximum length of an indexed text, in bytes; only a very long line exceeds it.
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// The outcome of preparing a file.
pub(crate) enum Prepared {
    /// It does not exist or cannot be read.
    Unreadable(Option<Warning>),
    /// Its content is already indexed.
    Unchanged,
    /// Its content is new or has changed.
    Changed(FileContent),
}

/// The indexable content of a file.
pub(crate) struct FileContent {
    pub(crate) digest: Vec<u8>,
    pub(crate) language: Language,
    pub(crate) vectors: Vec<u8>,
    pub(crate) texts: Vec<PreparedText>,
    /// Line number of the first text that is not indexed, or not whole.
    pub(crate) first_left_out: Option<usize>,
}

/// A text of a file.
pub(crate) struct PreparedText {
    pub(crate) document: SearchDocument,
    /// Hash shared by all units with the same text under the same headings.
    pub(crate) identity: i64,
    /// Its stemmed words, separated by spaces.
    pub(crate) words: String,
    pub(crate) length: usize,
    /// Number of the run of texts under the same headings that it belongs to.
    pub(crate) section: usize,
    /// Index of its first vector, and number of vectors.
    pub(crate) vectors: (usize, usize),
}

impl PreparedText {
    /// Returns the date of the text as a number of days.
    pub(crate) fn day(&self) -> Option<i32> {
        self.document.date.map(|date| date.num_days_from_ce())
    }
}

/// Prepares files one after the other and caches the results of stemming and embedding.
#[derive(Default)]
pub(crate) struct Preparer {
    tokenizers: HashMap<Language, Tokenizer>,
    adder: Adder,
}

impl Preparer {
    /// Prepares a file; `known` is the digest of its indexed content.
    pub(crate) fn prepare(&mut self, found: &StoreFile, known: Option<&[u8]>) -> Prepared {
        let text = match found.store().read(&found.path) {
            // Invalid UTF-8 is reported by the code that interprets the file.
            Ok(Some(text)) => text.value,
            Ok(None) => return Prepared::Unreadable(None),
            Err(error) => {
                let warning = Warning::file(&found.path, error.reason());
                return Prepared::Unreadable(Some(warning));
            }
        };
        let digest = Sha256::digest(text.as_bytes()).to_vec();
        if known == Some(digest.as_slice()) {
            return Prepared::Unchanged;
        }
        let language = Language::detect(&text);
        let new = || Tokenizer::new(language);
        let mut reader = FileReader {
            tokenizer: self.tokenizers.entry(language).or_insert_with(new),
            adder: &mut self.adder,
            section: SectionHead::default(),
            words: 0,
            content: FileContent {
                digest,
                language,
                vectors: Vec::new(),
                texts: Vec::new(),
                first_left_out: None,
            },
        };
        for mut document in found.store().documents(&text, &found.path) {
            let is_full = reader.is_full();
            if is_full || document.text.len() > MAX_TEXT_BYTES {
                let line = document.line.max(1);
                reader.content.first_left_out.get_or_insert(line);
            }
            if is_full {
                break;
            }
            let end = document.text.floor_char_boundary(MAX_TEXT_BYTES);
            document.text.truncate(end);
            reader.add(document);
        }
        Prepared::Changed(reader.content)
    }
}

/// Data shared by the texts under the same headings, computed once.
#[derive(Default)]
struct SectionHead {
    headings: Vec<String>,
    words: String,
    length: usize,
    sum: Sum,
    number: usize,
}

/// State of reading a file.
struct FileReader<'a> {
    tokenizer: &'a mut Tokenizer,
    adder: &'a mut Adder,
    section: SectionHead,
    /// Number of words of the texts so far, without their headings.
    words: usize,
    content: FileContent,
}

impl FileReader<'_> {
    fn is_full(&self) -> bool {
        self.content.texts.len() >= MAX_TEXTS || self.words >= MAX_WORDS
    }

    fn add(&mut self, document: SearchDocument) {
        if self.section.headings != document.headings {
            self.start_section(&document.headings);
        }
        let SectionHead { words, length, .. } = &self.section;
        let (mut words, mut length) = (words.clone(), *length);
        let own_words = self.tokenizer.join(&document.text, &mut words);
        self.words += own_words;
        length += own_words;
        let vectors = &mut self.content.vectors;
        let first = vectors.len() / VECTOR_BYTES;
        for passage in passages(&document.text) {
            let mut sum = self.section.sum.clone();
            self.adder.add(passage, &mut sum);
            let quantized: Quantized = sum.vector().quantized();
            vectors.extend(quantized.scale.to_le_bytes());
            vectors.extend(quantized.bytes());
        }
        let count = vectors.len() / VECTOR_BYTES - first;
        self.content.texts.push(PreparedText {
            identity: identity(&document, self.content.language),
            words,
            length,
            section: self.section.number,
            vectors: (first, count),
            document,
        });
    }

    /// Starts a section under new headings.
    fn start_section(&mut self, headings: &[String]) {
        let number = self.section.number + usize::from(!self.content.texts.is_empty());
        self.section =
            SectionHead { headings: headings.to_vec(), number, ..SectionHead::default() };
        for heading in headings {
            self.section.length += self.tokenizer.join(heading, &mut self.section.words);
            self.adder.add(heading, &mut self.section.sum);
        }
    }
}

/// Returns the vectors of a text, one per passage, each embedded together with the headings.
pub(crate) fn vectors(headings: &[String], text: &str) -> impl Iterator<Item = Vector> {
    let headings = headings.join(" ");
    let passages = passages(text).into_iter();
    passages.map(move |passage| VectorTable::built_in().vector(&format!("{headings}\n{passage}")))
}

fn identity(document: &SearchDocument, language: Language) -> i64 {
    let mut digest = Sha256::new();
    for heading in &document.headings {
        digest.update(heading.as_bytes());
        digest.update([0]);
    }
    digest.update([1]);
    digest.update(document.id.as_deref().unwrap_or_default());
    // The same text has other stems in another language.
    digest.update([1, language.number()]);
    digest.update(document.text.as_bytes());
    let digest = digest.finalize();
    digest.iter().take(8).fold(0, |number, byte| number << 8 | i64::from(*byte))
}
