//! Ranks the texts that match a query, by words and by meaning, and groups duplicates.

use std::collections::HashMap;

use chrono::NaiveDate;
use rusqlite::Result;
use serde::Serialize;

use crate::embedding::{Quantized, VectorTable};
use crate::project::vocabulary;
use crate::ranking::{
    SIBLING_SHARE, Term, TextEvidence, WeightedQuestion, adaptive_weight, bm25, idf, recency,
    terms, to_f64,
};
use crate::recall::document::Flag;
use crate::recall::index::{Index, StoredUnit};
use crate::recall::query::RecallQuery;
use crate::text::word_enum;

/// Minimum similarity at which a text that shares no word with the query is a hit: the best unrelated texts
/// reached 0.2 to 0.3.
const MIN_SIMILARITY: f64 = 0.3;

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

/// The components of a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Parts {
    /// Score by words, relative to the best text, which has 1.
    pub words: f64,
    /// Score by meaning, relative to the nearest text, which has 1.
    pub meaning: f64,
    /// Weight of the words in this query; the meaning has the rest.
    pub words_weight: f64,
    /// Factor applied to the weighted sum of both: lower for reports and working papers than for canonical
    /// texts, and lower for each flag.
    pub weight: f64,
    /// Bonus from adjacent texts under the same heading.
    pub siblings: f64,
    /// Bonus from the date.
    pub recency: f64,
}

impl Parts {
    /// Returns the score without the bonuses from other texts and from the date.
    fn own(&self) -> f64 {
        let both = self.words_weight * self.words + (1.0 - self.words_weight) * self.meaning;
        both * self.weight
    }

    fn score(&self) -> f64 {
        self.own() + self.siblings + self.recency
    }
}

/// A text that matched.
pub(crate) struct Scored {
    /// Index of the text among the units.
    pub(crate) unit: usize,
    pub(crate) score: f64,
    pub(crate) parts: Parts,
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
    /// Largest share of the query's total idf that a single text covers.
    max_coverage: f64,
    /// The representative of each distinct text, with its duplicates.
    representatives: Vec<(usize, Vec<usize>)>,
}

impl Scan {
    /// Compares every text with the query.
    pub(crate) fn compare(index: &Index, query: &RecallQuery) -> Result<Self> {
        let vector = VectorTable::built_in().vector(&query.text).quantized();
        let (files, mut units) = index.units(|stored| similarity(&vector, stored))?;
        units.retain(|unit| query.sources.contains(&unit.source));
        let terms = terms(&query.text, &index.languages()?);
        let mut scan = Self {
            word_scores: vec![0.0; units.len()],
            term_masks: vec![0; units.len()],
            max_coverage: 0.0,
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
        let share = self.question.evidence(None, has).share;
        self.max_coverage = self.max_coverage.max(share);
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
        self.question = WeightedQuestion::new(query, term_counts, units_by_text.len());
        // Cached, since many texts contain the same set of terms.
        let mut shares: HashMap<u64, f64> = HashMap::new();
        for (unit, _) in &self.representatives {
            shares.entry(self.term_masks[*unit]).or_insert_with(|| self.evidence(*unit, 0.0).share);
        }
        self.max_coverage = shares.into_values().fold(0.0, f64::max);
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

    /// Returns the matching texts, best first; `is_stale` tells whether a text is outdated.
    pub(crate) fn ranked(&self, method: Method, is_stale: impl Fn(usize) -> bool) -> Vec<Scored> {
        let parts = self.parts(method, &is_stale);
        let mut ranked = Vec::new();
        for (unit, duplicates) in &self.representatives {
            if !self.matches(*unit, method) {
                continue;
            }
            let mut unit_parts = parts[*unit];
            unit_parts.siblings = SIBLING_SHARE * self.best_sibling(*unit, &parts);
            ranked.push(Scored {
                unit: *unit,
                score: unit_parts.score(),
                parts: unit_parts,
                flags: self.flags(*unit, &is_stale),
                duplicates: duplicates.clone(),
            });
        }
        // The sort is stable: ties stay in the order of files and lines.
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        ranked
    }

    /// Returns the components of the score of each text, without the sibling bonus.
    fn parts(&self, method: Method, is_stale: &impl Fn(usize) -> bool) -> Vec<Parts> {
        let mut words = self.word_scores.clone();
        let mut meaning: Vec<f64> = self.units.iter().map(|unit| unit.meaning).collect();
        normalise_by_max(&mut words);
        normalise_by_max(&mut meaning);
        let weight = match method {
            Method::Words => 1.0,
            Method::Vectors => 0.0,
            Method::Both => adaptive_weight(self.max_coverage),
        };
        let newest = self.units.iter().filter_map(|unit| unit.date).max();
        let parts_of = |unit: usize| Parts {
            words: words[unit],
            meaning: meaning[unit],
            words_weight: weight,
            weight: self.weight(unit, &self.flags(unit, is_stale)),
            siblings: 0.0,
            recency: RECENCY_BONUS * recency_of(self.units[unit].date, newest),
        };
        (0..self.units.len()).map(parts_of).collect()
    }

    /// Returns the higher score of the two texts adjacent to one under the same heading.
    fn best_sibling(&self, unit: usize, parts: &[Parts]) -> f64 {
        let own = &self.units[unit];
        let adjacent = [unit.checked_sub(1), unit.checked_add(1)];
        let siblings = adjacent.into_iter().flatten().filter(|other| {
            let other = self.units.get(*other);
            other.is_some_and(|other| other.file == own.file && other.section == own.section)
        });
        siblings.map(|other| parts[other].own()).fold(0.0, f64::max)
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

fn similarity(query: &Quantized, stored: &[u8]) -> f64 {
    let Some((scale, values)) = stored.split_first_chunk::<4>() else {
        return 0.0;
    };
    f64::from(query.dot_stored(values, f32::from_le_bytes(*scale)))
}

/// Normalises scores to the range 0 to 1, from 0 or the lowest negative score to the highest.
///
/// Min-max normalisation would give the worse of two good texts a 0.
fn normalise_by_max(scores: &mut [f64]) {
    let lowest = scores.iter().copied().fold(0.0, f64::min);
    let highest = scores.iter().copied().fold(0.0, f64::max);
    for score in scores {
        *score = if highest > 0.0 { (*score - lowest) / (highest - lowest) } else { 0.0 };
    }
}

/// Returns 1 for the newest date, half of that for each half-life before it, and 0 without a date.
fn recency_of(date: Option<NaiveDate>, newest: Option<NaiveDate>) -> f64 {
    let (Some(date), Some(newest)) = (date, newest) else {
        return 0.0;
    };
    let age = u32::try_from((newest - date).num_days()).unwrap_or_default();
    recency(f64::from(age), HALF_LIFE_DAYS)
}
