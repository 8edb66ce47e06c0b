//! A file as the cache takes it in: read, split, stemmed and embedded, all of which needs no database.

use std::collections::HashMap;

use chrono::Datelike;
use sha2::Digest;
use sha2::Sha256;

use crate::embedding::Adder;
use crate::embedding::Quantized;
use crate::embedding::Sum;
use crate::embedding::Vector;
use crate::embedding::VectorTable;
use crate::ranking::Language;
use crate::ranking::Tokenizer;
use crate::ranking::passages;
use crate::recall::document::SearchDocument;
use crate::recall::index::files::StoreFile;
use crate::warning::Warning;

/// The bytes of a stored vector: its scale, then its numbers.
pub(crate) const VECTOR: usize = 4 + 128;

/// What was made of a file.
pub(crate) enum Prepared {
    /// It is not there, or cannot be read.
    Unreadable(Option<Warning>),
    /// It holds what the cache has already.
    Unchanged,
    /// It holds something else than before.
    Changed(FileContent),
}

/// What a file holds.
pub(crate) struct FileContent {
    pub(crate) digest: Vec<u8>,
    pub(crate) language: Language,
    pub(crate) vectors: Vec<u8>,
    pub(crate) texts: Vec<PreparedText>,
}

/// A text of a file.
pub(crate) struct PreparedText {
    pub(crate) document: SearchDocument,
    /// What it shares with every text that says the same under the same headings.
    pub(crate) identity: i64,
    /// Its words, with spaces between.
    pub(crate) words: String,
    pub(crate) length: usize,
    /// Which run of texts under the same headings it belongs to.
    pub(crate) section: usize,
    /// The first of its vectors, and how many there are.
    pub(crate) vectors: (usize, usize),
}

impl PreparedText {
    /// Returns the day of the text as a number.
    pub(crate) fn day(&self) -> Option<i32> {
        self.document.date.map(|date| date.num_days_from_ce())
    }
}

/// Makes files ready one after the other, and remembers what is made of their words.
#[derive(Default)]
pub(crate) struct Preparer {
    tokenizers: HashMap<Language, Tokenizer>,
    adder: Adder,
}

impl Preparer {
    /// Reads a file; `known` is the digest of what the cache has of it.
    pub(crate) fn prepare(&mut self, found: &StoreFile, known: Option<&[u8]>) -> Prepared {
        let text = match found.store().read(&found.path) {
            // Bytes that are no text are reported by those who read the file for what it means.
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
        let mut reading = FileReader {
            tokenizer: self.tokenizers.entry(language).or_insert_with(new),
            adder: &mut self.adder,
            section: SectionHead::default(),
            content: FileContent {
                digest,
                language,
                vectors: Vec::new(),
                texts: Vec::new(),
            },
        };
        for document in found.store().documents(&text, &found.path) {
            reading.add(document);
        }
        Prepared::Changed(reading.content)
    }
}

/// What the texts under the same headings share: it is made once.
#[derive(Default)]
struct SectionHead {
    headings: Vec<String>,
    words: String,
    length: usize,
    sum: Sum,
    number: usize,
}

/// A file that is being read.
struct FileReader<'a> {
    tokenizer: &'a mut Tokenizer,
    adder: &'a mut Adder,
    section: SectionHead,
    content: FileContent,
}

impl FileReader<'_> {
    fn add(&mut self, document: SearchDocument) {
        if self.section.headings != document.headings {
            self.enter(&document.headings);
        }
        let SectionHead { words, length, .. } = &self.section;
        let (mut words, mut length) = (words.clone(), *length);
        length += self.tokenizer.join(&document.text, &mut words);
        let vectors = &mut self.content.vectors;
        let first = vectors.len() / VECTOR;
        for passage in passages(&document.text) {
            let mut sum = self.section.sum.clone();
            self.adder.add(passage, &mut sum);
            let small: Quantized = sum.vector().quantized();
            vectors.extend(small.scale.to_le_bytes());
            vectors.extend(small.bytes());
        }
        let count = vectors.len() / VECTOR - first;
        self.content.texts.push(PreparedText {
            identity: identity(&document, self.content.language),
            words,
            length,
            section: self.section.number,
            vectors: (first, count),
            document,
        });
    }

    /// Begins the texts under other headings.
    fn enter(&mut self, headings: &[String]) {
        let number = self.section.number + usize::from(!self.content.texts.is_empty());
        self.section = SectionHead {
            headings: headings.to_vec(),
            number,
            ..SectionHead::default()
        };
        for heading in headings {
            self.section.length += self.tokenizer.join(heading, &mut self.section.words);
            self.adder.add(heading, &mut self.section.sum);
        }
    }
}

/// Returns the vectors of a text: one for each passage, under its headings.
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
    // Texts of two languages have other stems.
    digest.update([1, language.number()]);
    digest.update(document.text.as_bytes());
    let digest = digest.finalize();
    digest
        .iter()
        .take(8)
        .fold(0, |number, byte| number << 8 | i64::from(*byte))
}
