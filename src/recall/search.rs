//! Finds the texts that fit a query: by words and by meaning, the same text once, the best first.

use std::collections::HashMap;

use chrono::NaiveDate;
use rusqlite::Result;
use serde::Serialize;

use crate::embedding::Quantized;
use crate::embedding::Table;
use crate::ranking::adaptive_weight;
use crate::ranking::recency;
use crate::recall::document::Flag;
use crate::recall::index::Index;
use crate::recall::index::Unit;
use crate::recall::index::terms;
use crate::recall::query::Query;

/// A text that shares no word with the query must be this near to be found: the nearest of unrelated ones came to .2 or .3.
const NEAR: f64 = 0.3;

/// The newest text gains this much over one of no day: enough to part equal ones.
const RECENCY: f64 = 0.02;

/// In how many days that is halved.
const HALF_LIFE: f64 = 90.0;

/// A word that only stands inside others counts this much of its rarity.
const PART: f64 = 0.5;

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
    /// What its day adds.
    pub recency: f64,
}

impl Parts {
    /// Returns the score that these parts make.
    fn score(&self) -> f64 {
        let both = self.words_weight * self.words + (1.0 - self.words_weight) * self.meaning;
        both * self.weight + self.recency
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
    pub(crate) units: Vec<Unit>,
    /// By place among the units: 0 where no word is shared.
    words: Vec<f64>,
    /// What share of the query's rarity the best text has.
    covered: f64,
    /// The twins of each text that stands for several, and which ones those are.
    stand_ins: Vec<(usize, Vec<usize>)>,
}

impl Scan {
    /// Compares every text with the query.
    pub(crate) fn take(index: &Index, query: &Query) -> Result<Self> {
        let vector = Table::built_in().vector(&query.text).quantized();
        let (files, mut units) = index.units(|stored| nearness(&vector, stored))?;
        units.retain(|unit| query.sources.contains(&unit.source));
        let mut scan = Self {
            words: vec![0.0; units.len()],
            covered: 0.0,
            stand_ins: Vec::new(),
            files,
            units,
        };
        scan.take_words(index, &query.text)?;
        scan.take_twins();
        Ok(scan)
    }

    /// Adds a text that no file holds, with how well it fits by words and what share of the query's rarity it has.
    pub(crate) fn add(&mut self, unit: Unit, words: f64, covered: f64) {
        self.stand_ins.push((self.units.len(), Vec::new()));
        self.units.push(unit);
        self.words.push(words);
        self.covered = self.covered.max(covered);
    }

    fn take_words(&mut self, index: &Index, query: &str) -> Result<()> {
        let places: HashMap<i64, usize> = self
            .units
            .iter()
            .enumerate()
            .map(|(at, unit)| (unit.id, at))
            .collect();
        let mut rarities = vec![0.0; self.units.len()];
        let mut total = 0.0;
        let terms = terms(query);
        for term in &terms {
            let mut found = index.having(term)?;
            let is_part = found.is_empty();
            if is_part {
                let parts = index.having_part(term)?;
                let worth = PART * rarity(parts.len(), self.units.len());
                found = parts.into_iter().map(|unit| (unit, worth)).collect();
            }
            let rarity = rarity(found.len(), self.units.len());
            total += rarity;
            let share = if is_part { PART } else { 1.0 };
            for (unit, score) in found {
                if let Some(&at) = places.get(&unit) {
                    self.words[at] += score;
                    rarities[at] += rarity * share;
                }
            }
        }
        if terms.is_empty() {
            for unit in index.having_signs(query.trim())? {
                if let Some(&at) = places.get(&unit) {
                    self.words[at] = 1.0;
                }
            }
        }
        let best = rarities.into_iter().fold(0.0, f64::max);
        self.covered = if total > 0.0 { best / total } else { 0.0 };
        Ok(())
    }

    /// Finds the texts that say the same: one stands for all, not archived where one is not.
    fn take_twins(&mut self) {
        let mut of_twin: HashMap<i64, usize> = HashMap::new();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (at, unit) in self.units.iter().enumerate() {
            let group = *of_twin.entry(unit.twin).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(at);
        }
        let is_archived = |at: &usize| is_archived(&self.files[self.units[*at].file]);
        self.stand_ins = groups
            .into_iter()
            .filter_map(|mut group| {
                group.sort_by_key(|at| (is_archived(at), *at));
                let (first, rest) = group.split_first()?;
                Some((*first, rest.to_vec()))
            })
            .collect();
        self.stand_ins.sort_unstable();
    }

    /// Returns the texts that fit, the best first; `is_stale` tells which no longer hold.
    pub(crate) fn ranked(&self, method: Method, is_stale: impl Fn(usize) -> bool) -> Vec<Scored> {
        let of = |value: &dyn Fn(usize) -> f64| -> Vec<f64> {
            self.stand_ins.iter().map(|(at, _)| value(*at)).collect()
        };
        let mut words = of(&|at| self.words[at]);
        let mut meaning = of(&|at| self.units[at].meaning);
        to_greatest(&mut words);
        to_greatest(&mut meaning);
        let weight = match method {
            Method::Words => 1.0,
            Method::Vectors => 0.0,
            Method::Both => adaptive_weight(self.covered),
        };
        let newest = self.units.iter().filter_map(|unit| unit.date).max();
        let mut ranked = Vec::new();
        for (at, (unit, twins)) in self.stand_ins.iter().enumerate() {
            if !self.is_found(*unit, method) {
                continue;
            }
            let flags = self.flags(*unit, &is_stale);
            let parts = Parts {
                words: words[at],
                meaning: meaning[at],
                words_weight: weight,
                weight: self.weight(*unit, &flags),
                recency: RECENCY * age(self.units[*unit].date, newest),
            };
            ranked.push(Scored {
                unit: *unit,
                score: parts.score(),
                parts,
                flags,
                twins: twins.clone(),
            });
        }
        // Equal ones stay in the order of their files and lines.
        ranked.sort_by(|one, other| other.score.total_cmp(&one.score));
        ranked
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
    pub(crate) fn place(&self, unit: usize) -> (&str, usize) {
        let unit = &self.units[unit];
        (&self.files[unit.file], unit.line)
    }
}

/// Tells whether a file belongs to a finished milestone.
fn is_archived(file: &str) -> bool {
    let mut folders = file.split('/').rev().skip(1);
    folders.any(|folder| matches!(folder, "milestones" | "gsd-archive" | "archive"))
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

/// Returns how much it says of a text that it has a word which so many of all have.
pub(crate) fn rarity(with: usize, all: usize) -> f64 {
    let (with, all) = (real(with), real(all));
    (1.0 + (all - with + 0.5).max(0.5) / (with + 0.5)).ln()
}

/// Returns 1 for the newest day there is, half of it for each half-life before, 0 for no day.
fn age(date: Option<NaiveDate>, newest: Option<NaiveDate>) -> f64 {
    let (Some(date), Some(newest)) = (date, newest) else {
        return 0.0;
    };
    let days = u32::try_from((newest - date).num_days()).unwrap_or_default();
    recency(f64::from(days), HALF_LIFE)
}

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn real(count: usize) -> f64 {
    count as f64
}
