//! A file as the cache takes it in: read, split, stemmed and embedded, all of which needs no database.

use std::collections::HashMap;

use chrono::Datelike;
use sha2::Digest;
use sha2::Sha256;

use crate::embedding::Quantized;
use crate::embedding::Table;
use crate::embedding::Vector;
use crate::ranking::Language;
use crate::ranking::Tokenizer;
use crate::ranking::passages;
use crate::recall::document::Document;
use crate::recall::index::files::Found;
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
    Changed(Content),
}

/// What a file holds.
pub(crate) struct Content {
    pub(crate) digest: Vec<u8>,
    pub(crate) language: Language,
    pub(crate) vectors: Vec<u8>,
    pub(crate) texts: Vec<Text>,
}

/// A text of a file.
pub(crate) struct Text {
    pub(crate) document: Document,
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

impl Text {
    /// Returns the day of the text as a number.
    pub(crate) fn day(&self) -> Option<i32> {
        self.document.date.map(|date| date.num_days_from_ce())
    }
}

/// Makes files ready one after the other, and remembers the stems of their words.
#[derive(Default)]
pub(crate) struct Preparer {
    tokenizers: HashMap<Language, Tokenizer>,
}

impl Preparer {
    /// Reads a file; `known` is the digest of what the cache has of it.
    pub(crate) fn prepare(&mut self, found: &Found, known: Option<&[u8]>) -> Prepared {
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
        let language = Language::of(&text);
        let mut content = Content {
            digest,
            language,
            vectors: Vec::new(),
            texts: Vec::new(),
        };
        let new = || Tokenizer::new(language);
        let tokenizer = self.tokenizers.entry(language).or_insert_with(new);
        for document in found.store().documents(&text, &found.path) {
            content.add(document, tokenizer);
        }
        Prepared::Changed(content)
    }
}

impl Content {
    fn add(&mut self, document: Document, tokenizer: &mut Tokenizer) {
        let (mut words, mut length) = (String::new(), 0);
        for part in document.headings.iter().chain([&document.text]) {
            tokenizer.each(part, |word| {
                words.push_str(word);
                words.push(' ');
                length += 1;
            });
        }
        let section = match self.texts.last() {
            Some(last) if last.document.headings == document.headings => last.section,
            Some(last) => last.section + 1,
            None => 0,
        };
        let first = self.vectors.len() / VECTOR;
        for vector in vectors(&document.headings, &document.text) {
            let small: Quantized = vector.quantized();
            self.vectors.extend(small.scale.to_le_bytes());
            self.vectors.extend(small.bytes());
        }
        self.texts.push(Text {
            identity: identity(&document, self.language),
            words,
            length,
            section,
            vectors: (first, self.vectors.len() / VECTOR - first),
            document,
        });
    }
}

/// Returns the vectors of a text: one for each passage, under its headings.
pub(crate) fn vectors(headings: &[String], text: &str) -> impl Iterator<Item = Vector> {
    let headings = headings.join(" ");
    let passages = passages(text).into_iter();
    passages.map(move |passage| Table::built_in().vector(&format!("{headings}\n{passage}")))
}

fn identity(document: &Document, language: Language) -> i64 {
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
