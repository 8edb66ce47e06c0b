//! Searches the index: scores every unit, ranks those that match, and returns the best that are relevant.

use std::collections::{HashMap, HashSet};

use chrono::NaiveDate;
use rusqlite::Result;

use crate::search::index::file::{Index, UnitRecord, units};
use crate::search::index::update::HEADING_SEPARATOR;
use crate::search::index::{Answer, Asked, Hit, NEAREST, Passage, share};
use crate::search::rank::{
    Known, Matches, Question, Ranked, Ranking, ReadText, Relevance, Standing, add_term, encoded,
    passages, rank, to_u32,
};
use crate::search::table::VectorTable;
use crate::search::vector::Quantized;
use crate::search::words::{Language, Term, answers_anew, corrects, terms, words};

/// Minimum similarity, by table or encoder, at which a text that shares no word with the query is a hit: the best
/// unrelated texts reached 0.2 to 0.3.
const MIN_SIMILARITY: f64 = 0.3;

/// Minimum evidence at which the nearest texts are given if none is relevant, among few texts and among more: the best of
/// many resembles any question. docs/recall.md has the figures.
const MIN_NEAREST_EVIDENCE: [f64; 2] = [0.6, 0.85];
const FEW_TEXTS: usize = 100;

/// Bonus of the newest text over one without a date, enough to break ties, and its half-life in days.
const RECENCY_BONUS: f64 = 0.02;
const HALF_LIFE_DAYS: f64 = 90.0;

/// Minimum number of texts judged to decide whether anything is relevant.
const MIN_JUDGED: usize = 10;

/// An indexed passage without its text.
struct Unit {
    /// Its number; below 0 for one of the extras.
    id: i64,
    /// Number of its source; `None` for one of the extras.
    source: Option<usize>,
    /// Index of its file in the list of names.
    file: usize,
    /// Similarity to the query by its vector.
    meaning: f32,
    record: UnitRecord,
}

impl Unit {
    /// Returns its file and its section.
    fn section(&self) -> (usize, u32) {
        (self.file, self.record.section)
    }
}

/// Every unit of the searched sources, compared with the query.
struct Scan<'a> {
    index: &'a Index,
    asked: &'a Asked<'a>,
    names: Vec<String>,
    /// The role of each file.
    roles: Vec<usize>,
    units: Vec<Unit>,
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
        let snapshot = self.db.unchecked_transaction()?;
        let mut scan = Scan {
            index: self,
            asked,
            names: vec![],
            roles: vec![],
            units: vec![],
            words: vec![],
            counts: vec![],
            copies: HashMap::new(),
        };
        let vector = VectorTable::built_in().vector(asked.text).quantized();
        let (languages, numbers) = scan.read_units(&vector)?;
        scan.add_extras(&vector);
        scan.score(&terms(asked.text, &languages), &numbers)?;
        scan.group_copies();
        let answer = scan.answer()?;
        // The encoder's vectors are kept, unless the file cannot be written.
        let _is_kept = snapshot.commit().is_ok();
        Ok(answer)
    }

    /// Returns the passage of a unit.
    fn passage(&self, unit: &Unit) -> Result<Passage> {
        let sql = "SELECT headings, key, text FROM texts WHERE id = ?1";
        self.db.prepare_cached(sql)?.query_row([unit.id], |row| {
            let headings: String = row.get(0)?;
            let headings = headings.split(HEADING_SEPARATOR).filter(|title| !title.is_empty());
            Ok(Passage {
                headings: headings.map(str::to_owned).collect(),
                line: unit.record.line as usize,
                id: row.get(1)?,
                text: row.get(2)?,
                date: unit.record.date,
                flags: unit.record.flags,
                weight: unit.record.weight,
            })
        })
    }
}

/// The numbers of a file's units in the lists, and the index of the first one in the scan.
struct Numbers {
    units: std::ops::Range<u32>,
    start: usize,
}

impl Scan<'_> {
    /// Reads the units of the searched sources, ordered by file and place; returns their languages and numbers.
    fn read_units(&mut self, query: &Quantized) -> Result<(Vec<Language>, Vec<Numbers>)> {
        let (mut languages, mut numbers) = (Vec::new(), Vec::new());
        let mut statement = self.index.db.prepare(
            "SELECT name, source, language, first, units, role FROM files ORDER BY name",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (source, language, first) = (row.get(1)?, row.get(2)?, row.get(3)?);
            if !self.asked.sources.contains(&source) {
                continue;
            }
            let language = Language::from_number(language);
            if !languages.contains(&language) {
                languages.push(language);
            }
            let (records, _) = row.get_ref(4)?.as_blob()?.as_chunks::<{ UnitRecord::SIZE }>();
            let end = u32::try_from(records.len()).unwrap_or_default().saturating_add(first);
            numbers.push(Numbers { units: first..end, start: self.units.len() });
            for (id, stored) in (i64::from(first)..).zip(records) {
                let (record, scale, values) = UnitRecord::read(stored);
                let meaning = query.dot(values, scale).max(0.0);
                let file = self.names.len();
                self.units.push(Unit { id, source: Some(source), file, meaning, record });
            }
            self.names.push(row.get(0)?);
            self.roles.push(row.get(5)?);
        }
        numbers.sort_unstable_by_key(|numbers| numbers.units.start);
        Ok((languages, numbers))
    }

    /// Adds the extras, compared by the same vectors.
    fn add_extras(&mut self, query: &Quantized) {
        for (number, extra) in (1..).zip(self.asked.extras) {
            let vector = VectorTable::built_in().mean_vector(&passages(&extra.text)).quantized();
            let length = to_u32(words(&extra.text).len());
            // None is a sibling or a copy of another.
            let section = u32::try_from(number).unwrap_or_default();
            self.units.push(Unit {
                id: -number,
                source: None,
                file: self.names.len(),
                meaning: query.dot(&vector.values, vector.scale).max(0.0),
                record: UnitRecord::new(extra, -number, section, length),
            });
        }
        self.names.push(String::new());
    }

    /// Scores the units by the words that they share with the query.
    fn score(&mut self, terms: &[Term], numbers: &[Numbers]) -> Result<()> {
        self.words = vec![0.0; self.units.len()];
        let lengths: Vec<u32> = self.units.iter().map(|unit| unit.record.length).collect();
        let extras: Vec<Vec<String>> =
            self.asked.extras.iter().map(|extra| words(&extra.text)).collect();
        let sql = "SELECT list FROM postings WHERE stem = ?1";
        let mut lists = self.index.db.prepare(sql)?;
        for term in terms {
            let mut matches = Matches::new();
            for stem in &term.stems {
                let mut rows = lists.query([stem.as_bytes()])?;
                while let Some(row) = rows.next()? {
                    add_matches(row.get_ref(0)?.as_blob()?, numbers, &mut matches);
                }
                for (index, words) in (self.units.len() - extras.len()..).zip(&extras) {
                    let count = words.iter().filter(|word| *word == stem).count();
                    matches.extend((count > 0).then_some((index, to_u32(count))));
                }
            }
            let count = add_term(matches, &lengths, &mut self.words);
            self.counts.push((term.clone(), count));
        }
        Ok(())
    }

    /// Groups the units with the same text; the first one of the lowest role represents them.
    fn group_copies(&mut self) {
        let mut firsts: foldhash::HashMap<i64, usize> = foldhash::HashMap::default();
        firsts.reserve(self.units.len());
        let mut groups: HashMap<usize, Vec<usize>> = HashMap::new();
        for (number, unit) in self.units.iter().enumerate() {
            let first = *firsts.entry(unit.record.identity).or_insert(number);
            if first != number {
                groups.entry(first).or_insert_with(|| vec![first]).push(number);
            }
        }
        for mut group in groups.into_values() {
            let role = |number: &usize| self.roles.get(self.units[*number].file);
            group.sort_by_key(|number| (role(number), *number));
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
        let question = Question::new(self.asked.text, &self.counts, self.units.len());
        let read = |unit: usize| -> Result<ReadText> {
            let passage = self.passage(unit)?;
            Ok(ReadText { heading: passage.headings.join(": "), body: passage.text })
        };
        let wanted = self.asked.limit.max(MIN_JUDGED);
        let ranking = rank(&question, &known, self.asked.uses_encoder, read, |encoder, texts| {
            let texts = texts.iter().map(|(unit, text)| (self.units[*unit].id, *text));
            encoded(&self.index.db, "", encoder, &texts.collect::<Vec<_>>())
        })?;
        let (mut hits, has_more) = self.best(&ranking, wanted)?;
        move_corrections_first(&mut hits, self.asked.text);
        let judged = hits.len();
        let has_many = usize::from(self.units.len() > FEW_TEXTS);
        let may_answer = ranking.evidence >= MIN_NEAREST_EVIDENCE[has_many];
        let nearest = hits[..judged.min(if may_answer { NEAREST } else { 0 })].to_vec();
        hits.retain(|hit| self.is_shown(hit.relevance));
        let relevant = hits.len();
        hits.truncate(self.asked.limit);
        // Texts that have nothing of the question are not judged, but `all` shows the nearest of them.
        let is_hidden = |one: &Ranked| judged == 0 && !self.asked.all && one.parts.weight > 0.0;
        let others = ranking.best().filter(is_hidden).take(wanted).count();
        Ok(Answer {
            withheld: judged - relevant + others,
            truncated: relevant > self.asked.limit || has_more,
            evidence: ranking.evidence,
            nearest: if hits.is_empty() { nearest } else { Vec::new() },
            hits,
            ..Answer::default()
        })
    }

    fn is_shown(&self, relevance: Relevance) -> bool {
        self.asked.all || relevance == Relevance::High
    }

    /// Returns the first texts, not too many of one section, and whether more of them would be shown.
    fn best(&self, ranking: &Ranking<'_>, wanted: usize) -> Result<(Vec<Hit>, bool)> {
        let mut hits = Vec::new();
        let mut sections: HashMap<(usize, u32), usize> = HashMap::new();
        let may_be_shown = self.asked.all || ranking.evidence >= 1.0;
        for one in ranking.best().filter(|one| self.matches(one)) {
            let unit = &self.units[one.index];
            let of_section = sections.entry(unit.section()).or_default();
            *of_section += 1;
            if *of_section > self.asked.max_of_section {
                continue;
            }
            if hits.len() == wanted {
                let is_shown = self.is_shown(one.relevance);
                if is_shown || !may_be_shown {
                    return Ok((hits, is_shown));
                }
                continue;
            }
            let copies =
                self.copies.get(&one.index).into_iter().flatten().map(|copy| {
                    (self.name(*copy).to_owned(), self.units[*copy].record.line as usize)
                });
            hits.push(Hit {
                source: unit.source,
                file: self.name(one.index).to_owned(),
                passage: self.passage(one.index)?,
                score: one.score,
                parts: one.parts,
                relevance: one.relevance,
                copies: copies.collect(),
            });
        }
        Ok((hits, false))
    }

    /// Returns what is known of each unit; a copy counts for nothing.
    fn known(&self) -> Known {
        let newest = self.units.iter().filter_map(|unit| unit.record.date).max();
        let mut known = Known { words: self.words.clone(), ..Known::default() };
        known.meaning.extend(self.units.iter().map(|unit| unit.meaning));
        known.standings.extend(self.units.iter().map(|unit| Standing {
            weight: unit.record.weight,
            bonus: RECENCY_BONUS * recency(unit.record.date, newest),
            place: share(unit.record.flags, self.asked.place),
        }));
        for copy in self.copies.values().flatten() {
            (known.words[*copy], known.meaning[*copy]) = (0.0, 0.0);
            known.standings[*copy] = Standing::default();
        }
        let copies: HashSet<&usize> = self.copies.values().flatten().collect();
        let mut section = 0;
        for (number, index) in (0..self.units.len()).zip(0..) {
            let is_copy = copies.contains(&number);
            let before = number.checked_sub(1).filter(|_| !is_copy);
            if !before.is_some_and(|before| self.are_siblings(before, number)) {
                section += 1;
            }
            // What is beside a copy is beside nothing.
            known.sequence.extend((!is_copy).then_some((section, index)));
        }
        known
    }

    /// Returns whether two units stand under the same headings of a file.
    fn are_siblings(&self, one: usize, other: usize) -> bool {
        self.units.get(one).map(Unit::section) == self.units.get(other).map(Unit::section)
    }

    /// Returns whether a text is a hit; a copy is none.
    fn matches(&self, ranked: &Ranked) -> bool {
        let meaning = f64::from(self.units[ranked.index].meaning);
        let meaning = meaning.max(ranked.cosine.unwrap_or_default());
        let is_place = share(self.units[ranked.index].record.flags, self.asked.place) > 0.0;
        ranked.parts.weight > 0.0
            && (self.asked.all
                || is_place
                || self.words[ranked.index] > 0.0
                || meaning >= MIN_SIMILARITY)
    }
}

/// Adds the units of a list that are searched, by their index.
fn add_matches(list: &[u8], numbers: &[Numbers], matches: &mut Matches) {
    // Both are in the order of the numbers.
    let mut files = numbers.iter().peekable();
    for (unit, count) in units(list) {
        while files.next_if(|file| file.units.end <= unit).is_some() {}
        if let Some(file) = files.peek().filter(|file| file.units.contains(&unit)) {
            matches.push((file.start + (unit - file.units.start) as usize, count));
        }
    }
}

/// Moves each correction before the first text that it corrects, and an entry or a record before an older one that answers
/// no other part of the question.
fn move_corrections_first(hits: &mut [Hit], question: &str) {
    for at in 1..hits.len() {
        let Hit { source, passage: new, .. } = &hits[at];
        let is_corrected = |hit: &Hit| {
            let old = &hit.passage;
            old.date <= new.date && corrects(&new.text, &old.text)
                || old.date < new.date
                    && new.id.is_some()
                    && hit.source == *source
                    && answers_anew(question, &new.text, &old.text)
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
