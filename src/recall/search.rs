//! Finds the texts that fit a query: by words and by meaning, the same text once, the best first.

use std::collections::HashMap;

use chrono::NaiveDate;
use rusqlite::Result;
use serde::Serialize;

use crate::embedding::Quantized;
use crate::embedding::VectorTable;
use crate::project::vocabulary;
use crate::ranking::SIBLINGS;
use crate::ranking::Term;
use crate::ranking::TextEvidence;
use crate::ranking::WeightedQuestion;
use crate::ranking::adaptive_weight;
use crate::ranking::bm25;
use crate::ranking::idf;
use crate::ranking::real;
use crate::ranking::recency;
use crate::ranking::terms;
use crate::recall::document::Flag;
use crate::recall::index::Index;
use crate::recall::index::StoredUnit;
use crate::recall::query::RecallQuery;

/// A text that shares no word with the query must be this near to be found: the nearest of unrelated ones came to .2 or .3.
const NEAR: f64 = 0.3;

/// The newest text gains this much over one of no day: enough to part equal ones.
const RECENCY: f64 = 0.02;

/// In how many days that is halved.
const HALF_LIFE: f64 = 90.0;

/// A word that only stands inside others counts this much of its idf.
const PART: f64 = 0.5;

/// In a query of so many words, one that stands nowhere is looked for in every text, as a piece of any word.
const FEW_TERMS: usize = 2;

/// By what texts are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// By words alone.
    Words,
    /// By meaning alone.
    Vectors,
    /// By both.
    Both,
}

impl Method {
    /// All ways of searching.
    pub const ALL: [Self; 3] = [Self::Words, Self::Vectors, Self::Both];

    /// Returns the way's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Vectors => "vectors",
            Self::Both => "both",
        }
    }
}

/// What a score is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Parts {
    /// How well it fits by words: 1 is the best text.
    pub words: f64,
    /// How well it fits by meaning: 1 is the nearest text.
    pub meaning: f64,
    /// How much words weigh in this query; meaning has the rest.
    pub words_weight: f64,
    /// What is left of both: less for reports and papers than for what stands, less for each flag.
    pub weight: f64,
    /// What the texts beside it under the same heading add.
    pub siblings: f64,
    /// What its day adds.
    pub recency: f64,
}

impl Parts {
    /// Returns the score without what comes from other texts and from the day.
    fn own(&self) -> f64 {
        let both = self.words_weight * self.words + (1.0 - self.words_weight) * self.meaning;
        both * self.weight
    }

    fn score(&self) -> f64 {
        self.own() + self.siblings + self.recency
    }
}

/// A text that was found.
pub(crate) struct Scored {
    /// Which one, by its place among the units.
    pub(crate) unit: usize,
    pub(crate) score: f64,
    pub(crate) parts: Parts,
    pub(crate) flags: Vec<Flag>,
    /// Others that say the same.
    pub(crate) twins: Vec<usize>,
}

impl Scored {
    /// Returns the score as it is told.
    pub(crate) fn rounded(&self) -> f64 {
        (self.score * 10_000.0).round() / 10_000.0
    }
}

/// All texts of the stores that are searched, and how well each fits the query.
pub(crate) struct Scan {
    pub(crate) files: Vec<String>,
    pub(crate) units: Vec<StoredUnit>,
    /// What the query asks for, weighed by these texts.
    pub(crate) question: WeightedQuestion,
    terms: Vec<Term>,
    /// By place among the units: 0 where no word is shared.
    words: Vec<f64>,
    /// By place among the units: which of the terms it has, a bit each; there are fewer than 64.
    has: Vec<u64>,
    /// What share of the query's idf mass the best text has.
    covered: f64,
    /// The twins of each text that stands for several, and which ones those are.
    stand_ins: Vec<(usize, Vec<usize>)>,
}

impl Scan {
    /// Compares every text with the query.
    pub(crate) fn compare(index: &Index, query: &RecallQuery) -> Result<Self> {
        let vector = VectorTable::built_in().vector(&query.text).quantized();
        let (files, mut units) = index.units(|stored| nearness(&vector, stored))?;
        units.retain(|unit| query.sources.contains(&unit.source));
        let terms = terms(&query.text, &index.languages()?);
        let mut scan = Self {
            words: vec![0.0; units.len()],
            has: vec![0; units.len()],
            covered: 0.0,
            stand_ins: Vec::new(),
            question: WeightedQuestion::new(&query.text, Vec::new(), 0),
            terms,
            files,
            units,
        };
        let places = scan.places();
        scan.group_twins(&places);
        scan.score_words(index, &query.text, &places)?;
        Ok(scan)
    }

    /// Returns the indexes of the units of each text, by the text's id.
    fn places(&self) -> HashMap<i64, Vec<usize>> {
        let mut places: HashMap<i64, Vec<usize>> = HashMap::with_capacity(self.units.len());
        for (at, unit) in self.units.iter().enumerate() {
            places.entry(unit.id).or_default().push(at);
        }
        places
    }

    /// Returns the terms of the query, with the idf of each.
    pub(crate) fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Adds a text that no file holds, with how well it fits by words and which of the terms it has.
    pub(crate) fn add(&mut self, unit: StoredUnit, words: f64, has: impl Fn(&Term) -> bool) {
        let mask = self.mask(&has);
        self.stand_ins.push((self.units.len(), Vec::new()));
        self.units.push(unit);
        self.words.push(words);
        self.has.push(mask);
        let share = self.question.evidence(None, has).share;
        self.covered = self.covered.max(share);
    }

    fn mask(&self, has: impl Fn(&Term) -> bool) -> u64 {
        let terms = self.terms.iter().enumerate();
        let bits = terms.filter(|(_, term)| has(term)).map(|(bit, _)| 1 << bit);
        bits.fold(0, |mask, bit: u64| mask | bit)
    }

    /// Returns what speaks for a text as an answer.
    pub(crate) fn evidence(&self, unit: usize, closeness: f64) -> TextEvidence {
        self.question
            .evidence(Some(closeness), |term| self.has_term(unit, term))
    }

    fn has_term(&self, unit: usize, term: &Term) -> bool {
        let bit = self.terms.iter().position(|known| known == term);
        bit.is_some_and(|bit| self.has[unit] & 1 << bit != 0)
    }

    fn score_words(
        &mut self,
        index: &Index,
        query: &str,
        places: &HashMap<i64, Vec<usize>>,
    ) -> Result<()> {
        let total: usize = self.units.iter().map(|unit| unit.length).sum();
        let mean = real(total) / real(self.units.len().max(1));
        let mut counted = Vec::with_capacity(self.terms.len());
        for (bit, term) in self.terms.iter().enumerate() {
            let mut found = index.having(&term.stems)?;
            let mut share = 1.0;
            if found.is_empty() {
                found = index.having_part(&term.stems)?;
                share = PART;
            }
            if found.is_empty() && self.terms.len() <= FEW_TERMS {
                found = index.having_piece(&term.word)?;
            }
            found.retain(|(text, _)| places.contains_key(text));
            let idf = share * idf(found.len(), places.len());
            for (text, count) in &found {
                for &at in &places[text] {
                    self.words[at] += idf * bm25(*count, self.units[at].length, mean);
                    self.has[at] |= 1 << bit;
                }
            }
            counted.push((term.clone(), found.len()));
        }
        if self.terms.is_empty() {
            for text in index.having_signs(query.trim())? {
                for &at in places.get(&text).into_iter().flatten() {
                    self.words[at] = 1.0;
                }
            }
        }
        self.question = WeightedQuestion::new(query, counted, places.len());
        // Many texts have the same set of terms.
        let mut shares: HashMap<u64, f64> = HashMap::new();
        for (at, _) in &self.stand_ins {
            shares
                .entry(self.has[*at])
                .or_insert_with(|| self.evidence(*at, 0.0).share);
        }
        self.covered = shares.into_values().fold(0.0, f64::max);
        Ok(())
    }

    /// Finds the texts that say the same: one stands for all, not archived where one is not.
    fn group_twins(&mut self, places: &HashMap<i64, Vec<usize>>) {
        let is_archived = |at: &usize| is_archived(&self.files[self.units[*at].file]);
        self.stand_ins = places
            .values()
            .filter_map(|group| {
                if let [only] = group[..] {
                    return Some((only, Vec::new()));
                }
                let first = *group.iter().min_by_key(|at| (is_archived(at), **at))?;
                let mut twins: Vec<usize> =
                    group.iter().copied().filter(|at| *at != first).collect();
                twins.sort_by_key(|at| (is_archived(at), *at));
                Some((first, twins))
            })
            .collect();
        self.stand_ins.sort_unstable();
    }

    /// Returns the texts that fit, the best first; `is_stale` tells which no longer hold.
    pub(crate) fn ranked(&self, method: Method, is_stale: impl Fn(usize) -> bool) -> Vec<Scored> {
        let parts = self.parts(method, &is_stale);
        let mut ranked = Vec::new();
        for (unit, twins) in &self.stand_ins {
            if !self.is_found(*unit, method) {
                continue;
            }
            let mut parts_of = parts[*unit];
            parts_of.siblings = SIBLINGS * self.best_sibling(*unit, &parts);
            ranked.push(Scored {
                unit: *unit,
                score: parts_of.score(),
                parts: parts_of,
                flags: self.flags(*unit, &is_stale),
                twins: twins.clone(),
            });
        }
        // Equal ones stay in the order of their files and lines.
        ranked.sort_by(|one, other| other.score.total_cmp(&one.score));
        ranked
    }

    /// Returns what the score of each text is made of, but for what its siblings add.
    fn parts(&self, method: Method, is_stale: &impl Fn(usize) -> bool) -> Vec<Parts> {
        let mut words = self.words.clone();
        let mut meaning: Vec<f64> = self.units.iter().map(|unit| unit.meaning).collect();
        to_greatest(&mut words);
        to_greatest(&mut meaning);
        let weight = match method {
            Method::Words => 1.0,
            Method::Vectors => 0.0,
            Method::Both => adaptive_weight(self.covered),
        };
        let newest = self.units.iter().filter_map(|unit| unit.date).max();
        let of = |unit: usize| Parts {
            words: words[unit],
            meaning: meaning[unit],
            words_weight: weight,
            weight: self.weight(unit, &self.flags(unit, is_stale)),
            siblings: 0.0,
            recency: RECENCY * age(self.units[unit].date, newest),
        };
        (0..self.units.len()).map(of).collect()
    }

    /// Returns the score of the better of the two texts beside one, under the same heading.
    fn best_sibling(&self, unit: usize, parts: &[Parts]) -> f64 {
        let own = &self.units[unit];
        let beside = [unit.checked_sub(1), unit.checked_add(1)];
        let siblings = beside.into_iter().flatten().filter(|other| {
            let other = self.units.get(*other);
            other.is_some_and(|other| other.file == own.file && other.section == own.section)
        });
        siblings.map(|other| parts[other].own()).fold(0.0, f64::max)
    }

    fn is_found(&self, unit: usize, method: Method) -> bool {
        let by_words = self.words[unit] > 0.0;
        let by_meaning = self.units[unit].meaning >= NEAR;
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
        self.units[unit].rank.weight() * flags
    }

    /// Returns the file of a text and its line there, counted from 1.
    pub(crate) fn location(&self, unit: usize) -> (&str, usize) {
        let unit = &self.units[unit];
        (&self.files[unit.file], unit.line)
    }
}

/// Returns whether a file belongs to a finished milestone.
fn is_archived(file: &str) -> bool {
    let mut folders = file.split('/').rev().skip(1);
    folders.any(vocabulary::is_archive)
}

fn nearness(query: &Quantized, stored: &[u8]) -> f64 {
    let Some((scale, values)) = stored.split_first_chunk::<4>() else {
        return 0.0;
    };
    f64::from(query.dot_stored(values, f32::from_le_bytes(*scale)))
}

/// Moves scores to 0 to 1 by their greatest, and by their least where that is below 0.
///
/// With many texts this is their range. Of two that both fit well, the range would make one nothing.
fn to_greatest(scores: &mut [f64]) {
    let least = scores.iter().copied().fold(0.0, f64::min);
    let greatest = scores.iter().copied().fold(0.0, f64::max);
    for score in scores {
        *score = if greatest > 0.0 {
            (*score - least) / (greatest - least)
        } else {
            0.0
        };
    }
}

/// Returns 1 for the newest day there is, half of it for each half-life before, 0 for no day.
fn age(date: Option<NaiveDate>, newest: Option<NaiveDate>) -> f64 {
    let (Some(date), Some(newest)) = (date, newest) else {
        return 0.0;
    };
    let days = u32::try_from((newest - date).num_days()).unwrap_or_default();
    recency(f64::from(days), HALF_LIFE)
}
