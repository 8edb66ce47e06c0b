//! Ranks the texts that match a query, by words and by meaning, and groups duplicates.

use std::collections::HashMap;

use chrono::NaiveDate;
use rusqlite::Result;
use serde::Serialize;

use crate::project::vocabulary;
use crate::ranking::{Term, TextEvidence, WeightedQuestion, bm25, idf, recency, terms, to_f64};
use crate::recall::document::Flag;
use crate::recall::index::{Index, StoredUnit};
use crate::recall::query::RecallQuery;
use crate::search::{
    Encoder, FusedParts, Known, Question, QuestionVectors, ReadText, Reread, fuse, greatest_cosine,
    passage_vectors,
};
use crate::text::word_enum;

/// Minimum similarity at which a text that shares no word with the query is a hit: the best unrelated texts
/// reached 0.2 to 0.3.
const MIN_SIMILARITY: f64 = 0.3;

/// Minimum similarity by the encoder at which such a text is a hit.
const MIN_COSINE: f64 = 0.3;

/// Bonus of the newest text over one without a date: enough to break ties.
const RECENCY_BONUS: f64 = 0.02;

/// Half-life of that bonus, in days.
const HALF_LIFE_DAYS: f64 = 90.0;

/// Factor applied to the idf of a term that occurs only inside other words.
const SUBSTRING_WEIGHT: f64 = 0.5;

/// Maximum number of terms of a query for which a term that is not indexed is searched for as a substring of
/// every text.
const MAX_TERMS_TO_SCAN_FOR: usize = 2;

word_enum! {
    /// Method of matching texts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub enum Method {
        /// By words alone.
        Words = "words",
        /// By meaning alone.
        Vectors = "vectors",
        /// By both.
        Both = "both",
    }
}

/// A text that matched.
pub(crate) struct Scored {
    /// Index of the text among the units.
    pub(crate) unit: usize,
    pub(crate) score: f64,
    pub(crate) parts: FusedParts,
    /// Its similarity to the query by the encoder, if it was read.
    pub(crate) cosine: Option<f64>,
    pub(crate) flags: Vec<Flag>,
    /// The other units with the same text.
    pub(crate) duplicates: Vec<usize>,
}

impl Scored {
    /// Returns the score rounded for output.
    pub(crate) fn rounded(&self) -> f64 {
        (self.score * 10_000.0).round() / 10_000.0
    }
}

/// All texts of the searched stores, each scored against the query.
pub(crate) struct Scan {
    pub(crate) files: Vec<String>,
    pub(crate) units: Vec<StoredUnit>,
    /// The query, weighted by how often its terms occur in these texts.
    pub(crate) question: WeightedQuestion,
    terms: Vec<Term>,
    /// Score by words of each unit; 0 if it shares no word with the query.
    word_scores: Vec<f64>,
    /// Bit mask of the terms that each unit contains; there are fewer than 64 terms.
    term_masks: Vec<u64>,
    /// The terms of the query, each with the number of texts that contain it.
    term_counts: Vec<(Term, usize)>,
    /// Number of distinct texts.
    text_count: usize,
    /// The query.
    query: String,
    /// The representative of each distinct text, with its duplicates.
    representatives: Vec<(usize, Vec<usize>)>,
}

impl Scan {
    /// Compares every text with the query.
    pub(crate) fn compare(index: &Index, query: &RecallQuery) -> Result<Self> {
        let terms = terms(&query.text, &index.languages()?);
        let vectors = QuestionVectors::built_in(&query.text, &terms);
        let (files, mut units) = index.units(&vectors)?;
        units.retain(|unit| query.sources.contains(&unit.source));
        let mut scan = Self {
            word_scores: vec![0.0; units.len()],
            term_masks: vec![0; units.len()],
            term_counts: Vec::new(),
            text_count: 0,
            query: query.text.clone(),
            representatives: Vec::new(),
            question: WeightedQuestion::new(&query.text, Vec::new(), 0),
            terms,
            files,
            units,
        };
        let units_by_text = scan.units_by_text();
        scan.group_duplicates(&units_by_text);
        scan.score_words(index, &query.text, &units_by_text)?;
        Ok(scan)
    }

    /// Returns the indexes of the units of each text, by the text's id.
    fn units_by_text(&self) -> HashMap<i64, Vec<usize>> {
        let mut units_by_text: HashMap<i64, Vec<usize>> = HashMap::with_capacity(self.units.len());
        for (index, unit) in self.units.iter().enumerate() {
            units_by_text.entry(unit.id).or_default().push(index);
        }
        units_by_text
    }

    /// Returns the terms of the query.
    pub(crate) fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Adds a text that is not from a file, with its score by words and the terms that it contains.
    pub(crate) fn add(&mut self, unit: StoredUnit, words: f64, has: impl Fn(&Term) -> bool) {
        let mask = self.mask(&has);
        self.representatives.push((self.units.len(), Vec::new()));
        self.units.push(unit);
        self.word_scores.push(words);
        self.term_masks.push(mask);
    }

    fn mask(&self, has: impl Fn(&Term) -> bool) -> u64 {
        let terms = self.terms.iter().enumerate();
        let bits = terms.filter(|(_, term)| has(term)).map(|(bit, _)| 1 << bit);
        bits.fold(0, |mask, bit: u64| mask | bit)
    }

    /// Returns the evidence that a text is relevant.
    pub(crate) fn evidence(&self, unit: usize, similarity: f64) -> TextEvidence {
        self.question.evidence(Some(similarity), |term| self.has_term(unit, term))
    }

    fn has_term(&self, unit: usize, term: &Term) -> bool {
        let bit = self.terms.iter().position(|known| known == term);
        bit.is_some_and(|bit| self.term_masks[unit] & 1 << bit != 0)
    }

    fn score_words(
        &mut self,
        index: &Index,
        query: &str,
        units_by_text: &HashMap<i64, Vec<usize>>,
    ) -> Result<()> {
        let total: usize = self.units.iter().map(|unit| unit.length).sum();
        let mean = to_f64(total) / to_f64(self.units.len().max(1));
        let mut term_counts = Vec::with_capacity(self.terms.len());
        for (bit, term) in self.terms.iter().enumerate() {
            let mut matches = index.containing_any(&term.stems)?;
            let mut weight = 1.0;
            if matches.is_empty() {
                matches = index.containing_inside_word(&term.stems)?;
                weight = SUBSTRING_WEIGHT;
            }
            if matches.is_empty() && self.terms.len() <= MAX_TERMS_TO_SCAN_FOR {
                matches = index.containing_substring(&term.word)?;
            }
            matches.retain(|(text, _)| units_by_text.contains_key(text));
            let idf = weight * idf(matches.len(), units_by_text.len());
            for (text, count) in &matches {
                for &unit in &units_by_text[text] {
                    self.word_scores[unit] += idf * bm25(*count, self.units[unit].length, mean);
                    self.term_masks[unit] |= 1 << bit;
                }
            }
            term_counts.push((term.clone(), matches.len()));
        }
        if self.terms.is_empty() {
            for text in index.containing_symbols(query.trim())? {
                for &unit in units_by_text.get(&text).into_iter().flatten() {
                    self.word_scores[unit] = 1.0;
                }
            }
        }
        self.text_count = units_by_text.len();
        self.question = WeightedQuestion::new(query, term_counts.clone(), self.text_count);
        self.term_counts = term_counts;
        Ok(())
    }

    /// Groups the units with the same text; a unit that is not archived represents them, if there is one.
    fn group_duplicates(&mut self, units_by_text: &HashMap<i64, Vec<usize>>) {
        let is_archived = |unit: &usize| is_archived(&self.files[self.units[*unit].file]);
        self.representatives = units_by_text
            .values()
            .filter_map(|group| {
                if let [only] = group[..] {
                    return Some((only, Vec::new()));
                }
                let representative =
                    *group.iter().min_by_key(|unit| (is_archived(unit), **unit))?;
                let mut duplicates: Vec<usize> =
                    group.iter().copied().filter(|unit| *unit != representative).collect();
                duplicates.sort_by_key(|unit| (is_archived(unit), *unit));
                Some((representative, duplicates))
            })
            .collect();
        self.representatives.sort_unstable();
    }

    /// Returns the matching texts, best first; `read` returns the text of a unit, and `is_stale` tells whether it is
    /// outdated.
    pub(crate) fn ranked(
        &self,
        method: Method,
        read: impl FnMut(usize) -> Result<ReadText>,
        reread: Option<&mut Reread<'_, rusqlite::Error>>,
        is_stale: impl Fn(usize) -> bool,
    ) -> Result<Vec<Scored>> {
        let known = self.known(method, &is_stale);
        let terms = if method == Method::Both { &self.term_counts[..] } else { &[] };
        let question = Question::new(terms, self.text_count);
        let mut duplicates: HashMap<usize, &Vec<usize>> =
            self.representatives.iter().map(|(unit, duplicates)| (*unit, duplicates)).collect();
        let mut ranked = Vec::new();
        for fused in fuse(&question, &known, read, reread)? {
            let unit = fused.index;
            let Some(duplicates) = duplicates.remove(&unit) else {
                continue;
            };
            if self.matches(unit, method) || fused.cosine.is_some_and(|near| near >= MIN_COSINE) {
                ranked.push(Scored {
                    unit,
                    score: fused.score,
                    parts: fused.parts,
                    cosine: fused.cosine,
                    flags: self.flags(unit, &is_stale),
                    duplicates: duplicates.clone(),
                });
            }
        }
        Ok(ranked)
    }

    /// Returns what is known of each unit; a text that stands in several places is ranked once.
    fn known(&self, method: Method, is_stale: &impl Fn(usize) -> bool) -> Vec<Known> {
        let (by_words, by_meaning) = (method != Method::Vectors, method != Method::Words);
        let newest = self.units.iter().filter_map(|unit| unit.date).max();
        let known = |unit: usize| Known {
            words: if by_words { self.word_scores[unit] } else { 0.0 },
            meaning: if by_meaning { self.units[unit].meaning } else { 0.0 },
            weight: self.weight(unit, &self.flags(unit, is_stale)),
            bonus: RECENCY_BONUS * recency_of(self.units[unit].date, newest),
            before: unit.checked_sub(1).filter(|before| self.are_siblings(*before, unit)),
            after: Some(unit + 1).filter(|after| self.are_siblings(unit, *after)),
            is_turn: false,
        };
        let mut all: Vec<Known> = (0..self.units.len()).map(known).collect();
        for (_, duplicates) in &self.representatives {
            for duplicate in duplicates {
                all[*duplicate] = Known::default();
            }
        }
        all
    }

    /// Returns whether two units stand under the same headings of a file.
    fn are_siblings(&self, one: usize, other: usize) -> bool {
        let (Some(one), Some(other)) = (self.units.get(one), self.units.get(other)) else {
            return false;
        };
        one.file == other.file && one.section == other.section
    }

    fn matches(&self, unit: usize, method: Method) -> bool {
        let by_words = self.word_scores[unit] > 0.0;
        let by_meaning = self.units[unit].meaning >= MIN_SIMILARITY;
        match method {
            Method::Words => by_words,
            Method::Vectors => by_meaning,
            Method::Both => by_words || by_meaning,
        }
    }

    fn flags(&self, unit: usize, is_stale: &impl Fn(usize) -> bool) -> Vec<Flag> {
        let flags = self.units[unit].flags;
        flags.with(Flag::Stale, is_stale(unit)).list().collect()
    }

    fn weight(&self, unit: usize, flags: &[Flag]) -> f64 {
        let flags: f64 = flags.iter().map(|flag| flag.weight()).product();
        self.units[unit].authority.weight() * flags
    }

    /// Returns the file of a text and its line number there, counted from 1.
    pub(crate) fn location(&self, unit: usize) -> (&str, usize) {
        let unit = &self.units[unit];
        (&self.files[unit.file], unit.line)
    }
}

/// Returns whether a file belongs to an archived milestone.
fn is_archived(file: &str) -> bool {
    let mut folders = file.split('/').rev().skip(1);
    folders.any(vocabulary::is_archive)
}

/// Has the encoder read texts, or takes the vectors of those that it has read before.
pub(crate) fn reread(
    encoder: &Encoder,
    index: &Index,
    scan: &Scan,
    texts: &[(usize, &ReadText)],
) -> Result<Vec<f64>> {
    let question = encoder.vector(&scan.query).quantized();
    let mut vectors = Vec::with_capacity(texts.len());
    for (unit, _) in texts {
        vectors.push(index.encoded(scan.units[*unit].id)?);
    }
    let unread = || texts.iter().zip(&vectors).filter(|(_, vectors)| vectors.is_none());
    let new: Vec<&ReadText> = unread().map(|((_, text), _)| *text).collect();
    let ids: Vec<i64> = unread().map(|((unit, _), _)| scan.units[*unit].id).collect();
    let new = passage_vectors(encoder, &new);
    index.remember(&ids, &new);
    let mut new = new.into_iter();
    let all = vectors.into_iter().map(|known| known.or_else(|| new.next()).unwrap_or_default());
    Ok(all.map(|vectors| greatest_cosine(&question, &vectors)).collect())
}

/// Returns 1 for the newest date, half of that for each half-life before it, and 0 without a date.
fn recency_of(date: Option<NaiveDate>, newest: Option<NaiveDate>) -> f64 {
    let (Some(date), Some(newest)) = (date, newest) else {
        return 0.0;
    };
    let age = u32::try_from((newest - date).num_days()).unwrap_or_default();
    recency(f64::from(age), HALF_LIFE_DAYS)
}
