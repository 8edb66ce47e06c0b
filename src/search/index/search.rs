//! Searches the index: scores every unit, ranks those that match, and returns the best that are relevant.

use std::collections::HashMap;

use chrono::NaiveDate;
use rusqlite::Result;

use crate::search::corpus::{bm25, idf};
use crate::search::encoder::Encoder;
use crate::search::index::file::Index;
use crate::search::index::lookup::StoredUnit;
use crate::search::index::{Answer, Asked, Hit, Method, Passage};
use crate::search::passages::passages;
use crate::search::rank::{Known, Question, Ranked, ReadText, Relevance, passage_vectors, rank};
use crate::search::table::VectorTable;
use crate::search::vector::Quantized;
use crate::search::word_set::corrects;
use crate::search::words::{Term, terms, words};

/// Minimum similarity, by table or encoder, at which a text that shares no word with the query is a hit: the best
/// unrelated texts reached 0.2 to 0.3.
const MIN_SIMILARITY: f64 = 0.3;

/// Bonus of the newest text over one without a date, enough to break ties, and its half-life in days.
const RECENCY_BONUS: f64 = 0.02;
const HALF_LIFE_DAYS: f64 = 90.0;

/// Minimum number of texts judged to decide whether anything is relevant, and maximum number from one section.
const MIN_JUDGED: usize = 10;
const MAX_OF_SECTION: usize = 2;

/// Every unit of the searched sources, compared with the query.
struct Scan<'a> {
    index: &'a Index,
    asked: &'a Asked<'a>,
    names: Vec<String>,
    units: Vec<StoredUnit>,
    /// Score by words of each unit; 0 if it shares none with the query.
    words: Vec<f64>,
    /// The terms of the query, each with the number of texts that contain it.
    counts: Vec<(Term, usize)>,
    /// The units with the same text as another one, by that one.
    copies: HashMap<usize, Vec<usize>>,
}

impl Index {
    /// Returns the best texts.
    pub(crate) fn search(&self, asked: &Asked<'_>) -> Result<Answer> {
        let terms = terms(asked.text, &self.languages()?);
        let vector = VectorTable::built_in().vector(asked.text).quantized();
        let (names, units) = self.units(asked.sources, &vector)?;
        let words = vec![0.0; units.len()];
        let copies = HashMap::new();
        let mut scan = Scan { index: self, asked, names, units, words, counts: Vec::new(), copies };
        scan.score(terms)?;
        scan.add_extras(&vector);
        scan.group_copies();
        scan.answer()
    }
}

impl Scan<'_> {
    /// Scores the units by the words that they share with the query.
    fn score(&mut self, terms: Vec<Term>) -> Result<()> {
        let numbers: HashMap<i64, usize> =
            self.units.iter().enumerate().map(|(number, unit)| (unit.id, number)).collect();
        for term in terms {
            let found = self.index.containing(&term.stems)?.into_iter();
            let found = found.filter_map(|(id, score)| Some((*numbers.get(&id)?, score)));
            let count = found.map(|(number, score)| self.words[number] += score).count();
            self.counts.push((term, count));
        }
        Ok(())
    }

    /// Adds the extras, scored by the same words and vectors.
    fn add_extras(&mut self, query: &Quantized) {
        let texts: Vec<Vec<String>> =
            self.asked.extras.iter().map(|extra| words(&extra.text)).collect();
        let count = |term: &Term, words: &[String]| {
            words.iter().filter(|word| term.stems.contains(word)).count()
        };
        let all = self.units.len();
        if all == 0 {
            for (term, containing) in &mut self.counts {
                *containing = texts.iter().filter(|words| count(term, words) > 0).count();
            }
        }
        let all = all.max(texts.len());
        self.names.push(String::new());
        for ((number, extra), words) in (1..).zip(self.asked.extras).zip(&texts) {
            let score = self
                .counts
                .iter()
                .map(|(term, containing)| idf(*containing, all) * bm25(count(term, words), 1, 1.0));
            self.words.push(score.sum());
            let vector = VectorTable::built_in().mean_vector(&passages(&extra.text)).quantized();
            self.units.push(StoredUnit {
                id: -number,
                source: None,
                file: self.names.len() - 1,
                identity: -number,
                line: extra.line,
                date: extra.date,
                flags: extra.flags,
                weight: extra.weight,
                // None is a sibling of another.
                section: usize::try_from(number).unwrap_or_default(),
                meaning: f64::from(query.dot(&vector.values, vector.scale).max(0.0)),
            });
        }
    }

    /// Groups the units with the same text; the first one that is no copy by its name represents them.
    fn group_copies(&mut self) {
        let mut groups: HashMap<i64, Vec<usize>> = HashMap::with_capacity(self.units.len());
        for (number, unit) in self.units.iter().enumerate() {
            groups.entry(unit.identity).or_default().push(number);
        }
        for mut group in groups.into_values().filter(|group| group.len() > 1) {
            let is_copy = |number: &usize| (self.asked.is_copy)(self.name(*number));
            group.sort_by_key(|number| (is_copy(number), *number));
            let first = group.remove(0);
            self.copies.insert(first, group);
        }
    }

    fn name(&self, unit: usize) -> &str {
        &self.names[self.units[unit].file]
    }

    fn passage(&self, unit: usize) -> Result<Passage> {
        let unit = &self.units[unit];
        let extra = usize::try_from(-unit.id).ok().and_then(|number| number.checked_sub(1));
        match extra {
            Some(extra) => Ok(self.asked.extras[extra].clone()),
            None => self.index.passage(unit),
        }
    }

    fn answer(&self) -> Result<Answer> {
        let known = self.known();
        let counts = if self.asked.method == Method::Both { &self.counts[..] } else { &[] };
        let question = Question::new(self.asked.text, counts, self.units.len());
        let read = |unit: usize| {
            let passage = self.passage(unit)?;
            Ok(ReadText { heading: passage.headings.join(": "), body: passage.text })
        };
        let uses_encoder = self.asked.uses_encoder;
        let ranking = rank(&question, &known, uses_encoder, read, |encoder, texts| {
            self.encoded(encoder, texts)
        })?;
        let copies: Vec<usize> = self.copies.values().flatten().copied().collect();
        let mut is_copy = vec![false; self.units.len()];
        for copy in copies {
            is_copy[copy] = true;
        }
        let ranked = ranking.texts.into_iter();
        let ranked: Vec<Ranked> =
            ranked.filter(|one| !is_copy[one.index] && self.matches(one)).collect();
        let mut hits = self.best(&ranked)?;
        move_corrections_first(&mut hits);
        let judged = hits.len();
        if self.asked.method != Method::Both {
            // Every match is exact.
            for hit in &mut hits {
                hit.relevance = Relevance::High;
            }
        }
        if !self.asked.all {
            hits.retain(|hit| hit.relevance == Relevance::High);
        }
        let relevant = hits.len();
        hits.truncate(self.asked.limit);
        Ok(Answer {
            withheld: judged - relevant,
            truncated: relevant > self.asked.limit || (relevant > 0 && ranked.len() > judged),
            evidence: ranking.evidence,
            hits,
            ..Answer::default()
        })
    }

    /// Returns the first texts, at most two of one section.
    fn best(&self, ranked: &[Ranked]) -> Result<Vec<Hit>> {
        let mut hits = Vec::new();
        let mut sections: HashMap<(usize, usize), usize> = HashMap::new();
        for one in ranked {
            let unit = &self.units[one.index];
            let of_section = sections.entry((unit.file, unit.section)).or_default();
            *of_section += 1;
            if *of_section > MAX_OF_SECTION {
                continue;
            }
            let copies = self.copies.get(&one.index).into_iter().flatten();
            let copies = copies.map(|copy| (self.name(*copy).to_owned(), self.units[*copy].line));
            hits.push(Hit {
                source: unit.source,
                file: self.name(one.index).to_owned(),
                passage: self.passage(one.index)?,
                score: one.score,
                parts: one.parts,
                relevance: one.relevance,
                copies: copies.collect(),
            });
            if hits.len() == self.asked.limit.max(MIN_JUDGED) {
                break;
            }
        }
        Ok(hits)
    }

    /// Returns what is known of each unit; a copy counts for nothing.
    fn known(&self) -> Vec<Known> {
        let by_words = self.asked.method != Method::Vectors;
        let by_meaning = self.asked.method != Method::Words;
        let newest = self.units.iter().filter_map(|unit| unit.date).max();
        let known = |(number, unit): (usize, &StoredUnit)| Known {
            words: if by_words { self.words[number] } else { 0.0 },
            meaning: if by_meaning { unit.meaning } else { 0.0 },
            weight: unit.weight,
            bonus: RECENCY_BONUS * recency(unit.date, newest),
            before: number.checked_sub(1).filter(|before| self.are_siblings(*before, number)),
            after: Some(number + 1).filter(|after| self.are_siblings(number, *after)),
            is_turn: false,
        };
        let mut all: Vec<Known> = self.units.iter().enumerate().map(known).collect();
        for copy in self.copies.values().flatten() {
            all[*copy] = Known::default();
        }
        all
    }

    /// Returns whether two units stand under the same headings of a file.
    fn are_siblings(&self, one: usize, other: usize) -> bool {
        let (one, other) = (self.units.get(one), self.units.get(other));
        one.zip(other)
            .is_some_and(|(one, other)| one.file == other.file && one.section == other.section)
    }

    fn matches(&self, ranked: &Ranked) -> bool {
        let by_words = self.words[ranked.index] > 0.0;
        let meaning = self.units[ranked.index].meaning.max(ranked.cosine.unwrap_or_default());
        let by_meaning = meaning >= MIN_SIMILARITY;
        match self.asked.method {
            Method::Words => by_words,
            Method::Vectors => by_meaning,
            Method::Both => by_words || by_meaning,
        }
    }

    /// Has the encoder read texts, or takes the vectors of those that it has read before.
    fn encoded(&self, encoder: &Encoder, texts: &[(usize, &ReadText)]) -> Result<Vec<Quantized>> {
        let known = texts.iter().map(|(unit, _)| self.index.encoded(self.units[*unit].id));
        let known: Vec<_> = known.collect::<Result<_>>()?;
        let unread = texts.iter().zip(&known).filter(|(_, known)| known.is_none());
        let (ids, new): (Vec<i64>, Vec<&ReadText>) =
            unread.map(|((unit, text), _)| (self.units[*unit].id, *text)).unzip();
        let new = passage_vectors(encoder, &new);
        self.index.remember(&ids, &new);
        let mut new = new.into_iter();
        Ok(known
            .into_iter()
            .map(|known| known.or_else(|| new.next()).unwrap_or_default())
            .collect())
    }
}

/// Moves each correction before the first text that it corrects.
fn move_corrections_first(hits: &mut [Hit]) {
    for at in 1..hits.len() {
        let correction = &hits[at].passage;
        let is_corrected = |wrong: &Hit| {
            wrong.passage.date <= correction.date && corrects(&correction.text, &wrong.passage.text)
        };
        if let Some(corrected) = hits[..at].iter().position(is_corrected) {
            let score = hits[corrected].score;
            hits[corrected..=at].rotate_right(1);
            hits[corrected].score = score;
        }
    }
}

/// Returns 1 for the newest date, half of that for each half-life before it, and 0 without a date.
fn recency(date: Option<NaiveDate>, newest: Option<NaiveDate>) -> f64 {
    let Some((date, newest)) = date.zip(newest) else {
        return 0.0;
    };
    let age = u32::try_from((newest - date).num_days()).unwrap_or_default();
    0.5_f64.powf(f64::from(age) / HALF_LIFE_DAYS)
}
