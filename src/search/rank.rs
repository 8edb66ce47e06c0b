//! Combines words, meaning and neighbours into one score, has the best texts read by the encoder, and judges whether any
//! of them answers.
//!
//! ```text
//! words, vectors ── of every text ──┐
//! late interaction ── of the first 100 ── own score ── neighbours ── the encoder: the first 30 ── score, evidence
//! ```
//!
//! A part is here because it found more on at least two of the sets of questions and cost less than a point on the
//! others; docs/recall.md has the figures.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use foldhash::HashMap;
use rusqlite::{Connection, params};
use serde::Serialize;

use crate::search::encoder::{ENCODER_ID, Encoder};
use crate::search::table::VectorTable;
use crate::search::vector::{Quantized, Vector};
use crate::search::words::{Language, Term, Tokenizer, content_words, terms};
use crate::text::word_enum;

/// Weight of the words beside that of the meaning.
const WORDS_WEIGHT: f64 = 0.35;

/// Weight of late interaction without and with the encoder, which it takes from the meaning: it compares the same more
/// closely.
const LATE_WEIGHTS: [f64; 2] = [0.4, 0.5];

/// Share of long texts from which neither late interaction nor questions count: a long text resembles everything, and a
/// long turn that ends in a question holds facts too.
const MAX_LONG: f64 = 0.5;

/// Weight of the encoder, beside a score of at most 1.
const ENCODER_WEIGHT: f64 = 0.35;

/// Number of texts that are read for late interaction.
const READ: usize = 100;

/// Minimum difference between the most and the least similar text that it is given for in full.
const MIN_WIDTH: f64 = 0.2;

/// Number of texts that the encoder reads, and of passages of each.
const ENCODED: usize = 30;
const PASSAGES: usize = 6;

/// Share of the score of the better text beside it that a text gets, before and after the encoder has read them: what is
/// beside an answer helps to find it, but more would put whole sections before the one text that answers.
const SIBLING_SHARES: [f64; 2] = [0.2, 0.05];

/// What is added to a text that answers by where it stands: as much as a score may be without it, since words mislead.
const PLACE_BONUS: f64 = 1.0 + ENCODER_WEIGHT;

/// Share of its score that a turn of a conversation adds to the turns beside it, and to those beside these.
const TURN_SHARES: [f64; 2] = [0.2, 0.1];

/// Additional share of its score that a question adds to the turn after it, which answers it.
const ANSWER_SHARE: f64 = 0.3;

/// Share of its score that a question loses: a similar question is not an answer.
const QUESTION_PENALTY: f64 = 0.3;

/// Number of the first texts that count as the answer.
const JUDGED: usize = 10;

/// Number of texts in the first lot that is sorted; each further lot is eight times as large.
const FIRST_SORTED: usize = 100;

/// What is enough for an answer, by encoder or by table: the weight of the words of the best text, which is added to the
/// greatest similarity, and the threshold.
const BY_ENCODER: (f64, f64) = (0.15, 0.53);
const BY_TABLE: (f64, f64) = (2.0, 1.32);

/// The same for a question that neither understands: its words alone.
const BY_WORDS: (f64, f64) = (1.0, 0.55);

/// Length of a word in the Latin script from which a question in another script is understood, in characters.
const MIN_WORD_CHARS: usize = 3;

/// Weight of a unit of idf mass: three rare words in one text are significant, however long the question is.
const MASS_WEIGHT: f64 = 0.03;

/// Loss of the words for each text ranked before, of at most five: if nothing answers a question, its words meet by
/// chance, and rarely in the text that ranks first.
const RANK_PENALTY: f64 = 0.08;

/// Minimum of the words, or of half the similarity, for a text beside a better one: below it, a match is chance.
const MIN_TEXT_EVIDENCE: f64 = 0.1;

/// Number of texts below which idf is not meaningful for evidence; it is computed as for this many.
const MIN_TEXTS_FOR_IDF: usize = 300;

word_enum! {
    /// The relevance of a text to the question.
    pub enum Relevance {
        /// Probably relevant.
        High = "high",
        /// Among the most similar texts, but probably irrelevant.
        Low = "low",
    }
}

/// A question, as texts are compared with it.
#[derive(Debug)]
pub struct Question<'a> {
    text: &'a str,
    /// Each word with its weight for the score, its weight for the evidence, and its vector.
    terms: Vec<(Term, f64, f64, Vector)>,
    /// Whether table and encoder understand it, so that similarity is evidence.
    pub(crate) is_understood: bool,
}

/// A text that is read.
#[derive(Debug, Default)]
pub struct ReadText {
    /// What it is about: its headings, or its key.
    pub heading: String,
    /// The text.
    pub body: String,
}

/// What is known of texts before they are read: lists in the order of the texts, of which there may be very many.
#[derive(Debug, Default)]
pub struct Known {
    /// The score of each by words; 0 if it shares none with the question.
    pub words: Vec<f64>,
    /// The similarity of the vector of each to the question's.
    pub meaning: Vec<f32>,
    /// Whether that is by the vectors of an endpoint, which may know other scripts than the built-in ones.
    pub is_by_endpoint: bool,
    /// What else counts of each; without, all count alike.
    pub standings: Vec<Standing>,
    /// The texts that have others beside them, in their order, each with the number of its section or conversation.
    pub sequence: Vec<(u32, u32)>,
    /// Whether these are turns of conversations, of which the answer is often beside what was found.
    pub are_turns: bool,
}

/// What counts of a text beside what it says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standing {
    /// Factor applied to its own score.
    pub weight: f64,
    /// Added to its score.
    pub bonus: f64,
    /// The share of the question that it answers by where it stands, whatever its words.
    pub place: f64,
}

impl Standing {
    /// Returns what is added for the place where it stands.
    fn place(&self) -> f64 {
        PLACE_BONUS * self.weight * self.place
    }
}

impl Known {
    fn standing(&self, index: usize) -> Standing {
        let alike = Standing { weight: 1.0, ..Standing::default() };
        self.standings.get(index).copied().unwrap_or(alike)
    }

    fn meaning(&self, index: usize) -> f64 {
        f64::from(self.meaning[index]).max(0.0)
    }
}

/// What was found: whether it answers, and each text's score.
#[derive(Debug)]
pub struct Ranking<'a> {
    /// The evidence that one of the first is an answer; 1 is just enough.
    pub evidence: f64,
    known: &'a Known,
    scale: Scale,
    /// The texts that were read, by their index.
    judged: HashMap<usize, JudgedText>,
    is_understood: bool,
    /// What its neighbours add to each text.
    beside: Vec<f64>,
    scores: Vec<f64>,
}

/// A text with its score.
#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    /// Its index.
    pub index: usize,
    /// Its score, comparable within one answer.
    pub score: f64,
    /// The components of the score.
    pub parts: FusedParts,
    /// Its similarity to the question by the encoder, if it was read.
    pub cosine: Option<f64>,
    /// Whether it is relevant.
    pub relevance: Relevance,
}

/// The components of a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FusedParts {
    /// Contribution of the words.
    pub words: f64,
    /// Contribution of the vectors.
    pub meaning: f64,
    /// Contribution of late interaction, each word of the question with the words of a passage.
    pub late: f64,
    /// Contribution of the encoder.
    pub encoder: f64,
    /// Factor applied to the sum of these: lower for reports, working papers and flagged texts.
    pub weight: f64,
    /// Contribution of the texts beside it.
    pub neighbours: f64,
    /// Deduction for a turn that is a question.
    pub question: f64,
    /// Contribution of the date.
    pub recency: f64,
    /// Contribution of the place where it stands.
    pub place: f64,
}

impl FusedParts {
    fn own(&self) -> f64 {
        self.weight * (self.words + self.meaning + self.late + self.encoder)
    }
}

/// How the scores of words and of vectors become parts of one score.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// The greatest score of any text by words, and by vectors.
    greatest: [f64; 2],
    /// The share of late interaction.
    late: f64,
}

impl Scale {
    /// Returns the parts that are known of a text that is not read.
    fn parts(&self, known: &Known, index: usize) -> FusedParts {
        let [words, meaning] = self.greatest;
        let meaning = (1.0 - WORDS_WEIGHT) * known.meaning(index) / meaning;
        let standing = known.standing(index);
        FusedParts {
            words: WORDS_WEIGHT * known.words[index].max(0.0) / words,
            meaning: meaning * (1.0 - self.late / (1.0 - WORDS_WEIGHT)),
            weight: standing.weight,
            recency: standing.bonus,
            place: standing.place(),
            ..FusedParts::default()
        }
    }
}

/// A text that was read, with the parts of its score.
#[derive(Clone, Copy, Debug)]
struct JudgedText {
    reading: Reading,
    parts: FusedParts,
    cosine: Option<f64>,
}

/// What reading a text says of a question.
#[derive(Clone, Copy, Debug, Default)]
struct Reading {
    /// How well the words of the best passage cover those of the question, from 0 to 1.
    late: f64,
    /// Share of the weight of its words that the text contains.
    share: f64,
    /// That share, and a little for the weight itself.
    words: f64,
}

impl<'a> Question<'a> {
    /// Returns a question of these terms, each with the number of texts that contain it, out of `all`.
    pub fn new(text: &'a str, terms: &[(Term, usize)], all: usize) -> Self {
        let weighted = terms.iter().map(|(term, containing)| {
            let vector = VectorTable::built_in().vector(&term.word);
            let evidence = idf(*containing, all.max(MIN_TEXTS_FOR_IDF));
            let evidence = if term.is_compound { 0.0 } else { evidence };
            (term.clone(), idf(*containing, all), evidence, vector)
        });
        Self { text, terms: weighted.collect(), is_understood: is_understood(text) }
    }

    /// Returns whether a text alone is evidence enough, and how much, by words and table.
    pub fn judge(&self, text: &ReadText) -> Option<f64> {
        let table = VectorTable::built_in();
        let near = table.mean_vector(&text.passages(usize::MAX).collect::<Vec<_>>());
        let near = f64::from(table.vector(self.text).dot(&near).max(0.0));
        let words = self.read(text, &mut Reader::default()).words;
        let evidence = evidence(self.is_understood, near, words, BY_TABLE);
        (evidence >= 1.0).then_some(evidence)
    }

    fn read(&self, text: &ReadText, reader: &mut Reader) -> Reading {
        let total: f64 = self.terms.iter().map(|(_, idf, ..)| idf).sum();
        if total <= 0.0 {
            return Reading::default();
        }
        let mut contained = vec![false; self.terms.len()];
        let mut late = 0.0_f64;
        for passage in text.passages(usize::MAX) {
            let (stems, vectors) = reader.read(&passage);
            let mut covered = 0.0;
            for (number, (term, idf, _, vector)) in self.terms.iter().enumerate() {
                if term.stems.iter().any(|stem| stems.contains(&stem.as_str())) {
                    contained[number] = true;
                    covered += idf;
                } else {
                    let near = vectors.iter().map(|other| vector.dot(other));
                    covered += idf * f64::from(near.fold(0.0, f32::max));
                }
            }
            late = late.max(covered / total);
        }
        // In the order of the terms: the share of a text that contains all of them is then exactly 1.
        let found = self.terms.iter().zip(contained).filter(|(_, is_contained)| *is_contained);
        let mass: f64 = found.map(|((.., mass, _), _)| mass).sum();
        let all: f64 = self.terms.iter().map(|(.., mass, _)| mass).sum();
        let share = mass / all.max(f64::MIN_POSITIVE);
        Reading { late, share, words: MASS_WEIGHT * mass + share }
    }
}

/// Returns the evidence; 1 is just enough.
fn evidence(is_understood: bool, near: f64, words: f64, by: (f64, f64)) -> f64 {
    let (near, (weight, threshold)) = if is_understood { (near, by) } else { (0.0, BY_WORDS) };
    (near + weight * words) / threshold
}

/// Returns whether table and encoder understand a question, or a word of it: they know the words of the Latin script, and
/// of others only the letters, in which all texts are alike.
fn is_understood(question: &str) -> bool {
    let is_latin =
        |c: char| c.is_alphabetic() && matches!(c, '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}');
    let letters = || question.chars().filter(|c| c.is_alphabetic());
    let mut words = question.split(|c| !is_latin(c));
    letters().filter(|c| is_latin(*c)).count() * 2 >= letters().count()
        || words.any(|word| word.chars().count() >= MIN_WORD_CHARS)
}

impl ReadText {
    /// Returns the first passages, each after the heading.
    fn passages(&self, count: usize) -> impl Iterator<Item = String> {
        let between = if self.heading.is_empty() { "" } else { ": " };
        let passages = passages(&self.body).into_iter().take(count);
        passages.map(move |passage| format!("{}{between}{passage}", self.heading))
    }
}

/// Ranks texts; `read` returns the text at an index, and `encode` the vectors of the best texts' passages, if the encoder
/// is to read them.
pub fn rank<'a, E>(
    question: &Question<'_>,
    known: &'a Known,
    uses_encoder: bool,
    mut read: impl FnMut(usize) -> Result<ReadText, E>,
    encode: impl FnOnce(&Encoder, &[(usize, &ReadText)]) -> Vec<Quantized>,
) -> Result<Ranking<'a>, E> {
    let words = known.words.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let meaning = known.meaning.iter().copied().map(f64::from).fold(f64::MIN_POSITIVE, f64::max);
    let mut scale = Scale { greatest: [words, meaning], late: 0.0 };
    // The parts are kept only of the texts that are read.
    let own = |scale: Scale| -> Vec<f64> {
        (0..known.words.len()).map(|index| scale.parts(known, index).own()).collect()
    };
    let first = |own: &[f64], count: usize| {
        let beside = neighbours(known, own, SIBLING_SHARES[0]);
        let own = own.iter().enumerate().map(|(index, own)| own + known.standing(index).place());
        best(own.zip(beside).map(|(own, beside)| own + beside), count)
    };
    let mut texts = Vec::new();
    for index in first(&own(scale), READ) {
        texts.push((index, read(index)?));
    }
    let mut reader = Reader::default();
    let readings: Vec<Reading> =
        texts.iter().map(|(_, text)| question.read(text, &mut reader)).collect();
    let brevity = brevity(&texts);
    let uses_encoder = uses_encoder && !question.terms.is_empty();
    let encoder = uses_encoder.then(Encoder::built_in).flatten();
    let with_encoder = usize::from(encoder.is_some());
    scale.late = LATE_WEIGHTS[with_encoder] * brevity;
    let most = readings.iter().map(|reading| reading.late).fold(f64::MIN_POSITIVE, f64::max);
    let mut own = own(scale);
    let mut judged: HashMap<usize, JudgedText> = HashMap::default();
    for ((index, _), reading) in texts.iter().zip(readings) {
        let late = scale.late * reading.late / most;
        let parts = FusedParts { late, ..scale.parts(known, *index) };
        own[*index] = parts.own();
        judged.insert(*index, JudgedText { reading, parts, cosine: None });
    }
    if let Some(encoder) = encoder {
        let texts: HashMap<usize, &ReadText> =
            texts.iter().map(|(index, text)| (*index, text)).collect();
        let first = first(&own, ENCODED).into_iter();
        let first: Vec<(usize, &ReadText)> =
            first.filter_map(|index| Some((index, *texts.get(&index)?))).collect();
        let cosines = cosines(encoder, question.text, &encode(encoder, &first));
        let least = cosines.iter().copied().fold(f64::INFINITY, f64::min);
        let width = cosines.iter().map(|cosine| cosine - least).fold(MIN_WIDTH, f64::max);
        for ((index, _), cosine) in first.iter().zip(cosines) {
            if let Some(JudgedText { parts, cosine: known, .. }) = judged.get_mut(index) {
                parts.encoder = ENCODER_WEIGHT * (cosine - least) / width;
                own[*index] = parts.own();
                *known = Some(cosine);
            }
        }
    }
    let mut beside = neighbours(known, &own, SIBLING_SHARES[with_encoder]);
    let mut lent: HashMap<u32, f64> = HashMap::default();
    for (index, text) in texts.iter().filter(|_| known.are_turns) {
        let share = brevity * question_share(&text.body);
        if let Some(text) = judged.get_mut(index).filter(|_| share > 0.0) {
            text.parts.question = QUESTION_PENALTY * share;
            lent.insert(to_u32(*index), ANSWER_SHARE * share * own[*index]);
        }
    }
    for pair in known.sequence.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        beside[pair[1].1 as usize] += lent.get(&pair[0].1).copied().unwrap_or_default();
    }
    let mut scores = own;
    for (score, beside) in scores.iter_mut().zip(&beside) {
        *score += beside;
    }
    for (index, text) in &mut judged {
        text.parts.question *= scores[*index];
        scores[*index] -= text.parts.question;
    }
    for (score, standing) in scores.iter_mut().zip(&known.standings) {
        *score += standing.bonus + standing.place();
    }
    let is_understood = question.is_understood;
    let mut ranking =
        Ranking { evidence: 0.0, known, scale, judged, is_understood, beside, scores };
    ranking.evidence = ranking.judge();
    Ok(ranking)
}

impl Ranking<'_> {
    /// Returns the texts, best first; equal ones keep their order.
    pub fn best(&self) -> impl Iterator<Item = Ranked> + '_ {
        // Callers take a few of very many, so more are sorted only when they reach them.
        let all = self.scores.len();
        let lot =
            move |(_, end): &(usize, usize)| (*end < all).then(|| (*end, end.saturating_mul(8)));
        let lots = std::iter::successors(Some((0, FIRST_SORTED)), lot);
        let sorted = |end| best(self.scores.iter().copied(), end);
        lots.flat_map(move |(start, end)| sorted(end).split_off(start))
            .map(|index| self.text(index))
    }

    /// Returns a text with its score.
    pub fn text(&self, index: usize) -> Ranked {
        let cosine = self.judged.get(&index).and_then(|text| text.cosine);
        let near = match cosine.filter(|_| self.is_understood) {
            Some(cosine) => cosine,
            None if self.is_understood || self.known.is_by_endpoint => self.known.meaning(index),
            None => 0.0,
        };
        let is_relevant = self.evidence >= 1.0
            && (self.known.standing(index).place > 0.0
                || self.words(index) + near / 2.0 >= MIN_TEXT_EVIDENCE);
        Ranked {
            index,
            score: self.scores[index],
            parts: self.parts(index),
            cosine,
            relevance: if is_relevant { Relevance::High } else { Relevance::Low },
        }
    }

    fn parts(&self, index: usize) -> FusedParts {
        let parts = match self.judged.get(&index) {
            Some(text) => text.parts,
            None => self.scale.parts(self.known, index),
        };
        FusedParts { neighbours: self.beside[index], ..parts }
    }

    fn words(&self, index: usize) -> f64 {
        self.judged.get(&index).map_or(0.0, |text| text.reading.words)
    }

    /// Judges the first texts together: returns the evidence that one of them answers.
    fn judge(&self) -> f64 {
        let first = best(self.scores.iter().copied(), JUDGED);
        let first = || first.iter().copied();
        let words = (0_u32..).zip(first()).map(|(before, index)| {
            self.words(index) * (1.0 - RANK_PENALTY * f64::from(before.min(5)))
        });
        let words = words.fold(0.0, f64::max);
        let judged = || first().filter_map(|index| self.judged.get(&index));
        let near = first().map(|index| self.known.meaning(index)).fold(0.0, f64::max);
        let evidence = match judged().filter_map(|text| text.cosine).reduce(f64::max) {
            Some(cosine) if self.is_understood => evidence(true, cosine, words, BY_ENCODER),
            // The model of an endpoint is an encoder, too.
            _ if !self.is_understood && self.known.is_by_endpoint => {
                evidence(true, near, words, BY_ENCODER)
            }
            _ => evidence(self.is_understood, near, words, BY_TABLE),
        };
        // A text that has every word of a question is what was asked for, however little a few words resemble it.
        let evidence = judged().map(|text| text.reading.share).fold(evidence, f64::max);
        if first().any(|index| self.known.standing(index).place > 0.0) {
            evidence.max(1.0)
        } else {
            evidence
        }
    }
}

/// Returns 1 if all texts are short, and 0 if [`MAX_LONG`] of them are long.
fn brevity(texts: &[(usize, ReadText)]) -> f64 {
    let long = texts.iter().filter(|(_, text)| passages(&text.body).len() > 1).count();
    (1.0 - to_f64(long) / to_f64(texts.len().max(1)) / MAX_LONG).max(0.0)
}

/// Returns what its neighbours add to the score of each text; `share` is that of texts other than turns.
fn neighbours(known: &Known, own: &[f64], share: f64) -> Vec<f64> {
    let mut sums = vec![0.0; own.len()];
    for texts in known.sequence.chunk_by(|a, b| a.0 == b.0) {
        for (at, (_, text)) in texts.iter().enumerate() {
            // Numbers before 0 wrap round, and are beyond the end.
            let score = |at: usize| texts.get(at).map_or(0.0, |(_, text)| own[*text as usize]);
            let [before, after] = [score(at.wrapping_sub(1)), score(at + 1)];
            sums[*text as usize] = if known.are_turns {
                let further = [score(at.wrapping_sub(2)), score(at + 2)];
                let [beside, beyond] = TURN_SHARES;
                beyond * further[0] + beside * before + beside * after + beyond * further[1]
            } else {
                share * before.max(after)
            };
        }
    }
    sums
}

/// Returns the indexes of the greatest scores, best first; equal ones keep their order.
pub(crate) fn best(scores: impl Iterator<Item = f64>, count: usize) -> Vec<usize> {
    let order = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    let mut taken: Vec<(f64, usize)> = Vec::new();
    // The last of the best so far, with which those that come later must not be equal.
    let mut least = None;
    for (index, score) in scores.enumerate() {
        if least.is_none_or(|least| score.total_cmp(&least).is_gt()) {
            taken.push((score, index));
        }
        if count > 0 && taken.len() == count.saturating_mul(2) {
            let (_, last, _) = taken.select_nth_unstable_by(count - 1, order);
            least = Some(last.0);
            taken.truncate(count);
        }
    }
    taken.sort_unstable_by(order);
    taken.truncate(count);
    taken.into_iter().map(|(_, index)| index).collect()
}

/// Returns the encoder's vectors of the first passages of each text, concatenated per text.
///
/// They are kept in the table `encoded`, in the running transaction, so that the encoder reads each text once. A text is
/// identified by its id; vectors of an id below 1 are not kept. `tables` is the SQL that creates the table if it may be
/// missing. If the database cannot be written now, the next search makes the vectors again.
pub(crate) fn encoded(
    db: &Connection,
    tables: &str,
    encoder: &Encoder,
    texts: &[(i64, &ReadText)],
) -> Vec<Quantized> {
    let find = |id: i64| {
        let sql = "SELECT scale, vectors FROM encoded WHERE id = ?1 AND encoder = ?2";
        db.prepare_cached(sql)?.query_row(params![id, ENCODER_ID], |row| {
            Ok(Quantized { scale: f32::from_le_bytes(row.get(0)?), values: row.get(1)? })
        })
    };
    let known: Vec<Option<Quantized>> = texts.iter().map(|(id, _)| find(*id).ok()).collect();
    let unread = texts.iter().zip(&known).filter(|(_, known)| known.is_none());
    let (ids, unread): (Vec<i64>, Vec<&ReadText>) = unread.map(|(text, _)| *text).unzip();
    let made = passage_vectors(encoder, &unread);
    let keep = || {
        let mut insert =
            db.prepare_cached("INSERT OR REPLACE INTO encoded VALUES(?1, ?2, ?3, ?4)")?;
        ids.iter().zip(&made).filter(|(id, _)| **id > 0).try_for_each(|(id, made)| {
            let values = params![id, ENCODER_ID, made.scale.to_le_bytes(), made.values];
            insert.execute(values).map(drop)
        })
    };
    let _is_kept = ids.is_empty() || write_now(db, tables, keep).is_ok();
    let mut made = made.into_iter();
    known.into_iter().map(|known| known.or_else(|| made.next()).unwrap_or_default()).collect()
}

/// Writes what a search has made, into tables that this SQL creates; it does not wait for another writer.
pub(crate) fn write_now(
    db: &Connection,
    tables: &str,
    write: impl FnOnce() -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let wait = db.pragma_query_value(None, "busy_timeout", |row| row.get(0))?;
    db.busy_timeout(Duration::ZERO)?;
    let written = db.execute_batch(tables).and_then(|()| write());
    db.busy_timeout(Duration::from_millis(wait))?;
    written
}

fn passage_vectors(encoder: &Encoder, texts: &[&ReadText]) -> Vec<Quantized> {
    let passages: Vec<Vec<String>> =
        texts.iter().map(|text| text.passages(PASSAGES).collect()).collect();
    let all: Vec<&str> = passages.iter().flatten().map(String::as_str).collect();
    let vectors = encoder.vectors(&all);
    let mut rest = vectors.as_slice();
    let of_text = |passages: &Vec<String>| {
        let (own, after) = rest.split_at(passages.len().min(rest.len()));
        rest = after;
        Quantized::concatenated(own)
    };
    passages.iter().map(of_text).collect()
}

/// Returns the similarity of each text to a question, from the encoder's vectors of the text's passages.
pub(crate) fn cosines(encoder: &Encoder, question: &str, vectors: &[Quantized]) -> Vec<f64> {
    let asked = encoder.vector(question).quantized();
    let greatest = |passages: &Quantized| {
        let near = passages.values.chunks_exact(asked.values.len().max(1));
        f64::from(near.map(|vector| asked.dot(vector, passages.scale)).fold(0.0, f32::max))
    };
    vectors.iter().map(greatest).collect()
}

/// Reads passages as stems and as vectors of words, and remembers those.
#[derive(Default)]
struct Reader {
    tokenizers: HashMap<Language, Tokenizer>,
    vectors: HashMap<String, Rc<Vector>>,
}

impl Reader {
    /// Returns the stems of a passage, and the vectors of its content words.
    fn read(&mut self, passage: &str) -> (Vec<&str>, Vec<Rc<Vector>>) {
        let language = Language::detect(passage);
        let new = || Tokenizer::new(language);
        let tokenizer = self.tokenizers.entry(language).or_insert_with(new);
        let mut stems = Vec::new();
        tokenizer.stems(passage, &mut stems);
        let stems = stems.into_iter().map(|stem| tokenizer.text(stem)).collect();
        let vectors = content_words(passage, language).into_iter().map(|word| {
            let vector = |word: &String| Rc::new(VectorTable::built_in().vector(word));
            Rc::clone(self.vectors.entry(word).or_insert_with_key(vector))
        });
        (stems, vectors.collect())
    }
}

/// BM25's k1 (saturation of repeated words) and b (normalisation by length), the usual values: with lower ones, long
/// turns of a conversation found seven points less, and short texts one more.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The texts that contain a stem of a term, by their index, with how often.
pub(crate) type Matches = Vec<(usize, u32)>;

/// Returns the score of each text by BM25; 0 if it shares no word with the query.
pub fn bm25<T: AsRef<str>>(texts: impl IntoIterator<Item = T>, query: &str) -> Vec<f64> {
    let mut tokenizers: BTreeMap<Language, Tokenizer> = BTreeMap::new();
    let texts = texts.into_iter().map(|text| {
        let language = Language::detect(text.as_ref());
        let tokenizer = tokenizers.entry(language).or_insert_with(|| Tokenizer::new(language));
        tokenizer.words(text.as_ref())
    });
    let texts: Vec<Vec<String>> = texts.collect();
    let languages: Vec<Language> = tokenizers.into_keys().collect();
    let lengths: Vec<u32> = texts.iter().map(|words| to_u32(words.len())).collect();
    let mut scores = vec![0.0; texts.len()];
    for term in terms(query, &languages) {
        let mut matches = Matches::new();
        for (index, words) in texts.iter().enumerate() {
            let count = |stem: &String| words.iter().filter(|word| *word == stem).count();
            let most = term.stems.iter().map(count).max().unwrap_or_default();
            if most > 0 {
                matches.push((index, to_u32(most)));
            }
        }
        add_term(matches, &lengths, &mut scores);
    }
    scores
}

/// Adds to the scores of texts of these lengths what a term is worth that occurs in some of them; returns in how many.
#[expect(
    clippy::stable_sort_primitive,
    reason = "a stable sort makes use of lists that are in order one by one"
)]
pub(crate) fn add_term(mut matches: Matches, lengths: &[u32], scores: &mut [f64]) -> usize {
    // The most frequent stem of each text counts.
    matches.sort();
    matches.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 = if is_same { next.1 } else { kept.1 };
        is_same
    });
    let total: f64 = lengths.iter().copied().map(f64::from).sum();
    let mean = (total / to_f64(lengths.len().max(1))).max(1.0);
    let idf = idf(matches.len(), lengths.len());
    for (index, count) in &matches {
        let (count, length) = (f64::from(*count), f64::from(lengths[*index]) / mean);
        scores[*index] += idf * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length));
    }
    matches.len()
}

/// Returns the BM25 inverse document frequency of a word that occurs in `containing` of `all` texts.
pub fn idf(containing: usize, all: usize) -> f64 {
    let (containing, all) = (to_f64(containing), to_f64(all));
    (1.0 + (all - containing + 0.5).max(0.5) / (containing + 0.5)).ln()
}

/// Converts a count to a float: no count here comes near 2^53, above which floats skip integers.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
pub(crate) fn to_f64(count: usize) -> f64 {
    count as f64
}

pub(crate) fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Maximum length of a passage, in bytes; the last one may be a quarter longer.
const MAX_PASSAGE_LENGTH: usize = 600;

/// Maximum number of passages; the last one contains the rest of the text.
const MAX_PASSAGES: usize = 64;

/// Returns the passages of a text in order; a short text is a single passage.
///
/// They end after a sentence or a line if possible, otherwise between words.
pub fn passages(text: &str) -> Vec<&str> {
    let mut passages = Vec::new();
    let mut rest = text.trim();
    while rest.len() > MAX_PASSAGE_LENGTH + MAX_PASSAGE_LENGTH / 4
        && passages.len() + 1 < MAX_PASSAGES
    {
        let end = end(rest);
        let (passage, remainder) = rest.split_at(end);
        if !passage.trim().is_empty() {
            passages.push(passage.trim());
        }
        rest = remainder.trim_start();
    }
    if !rest.is_empty() || passages.is_empty() {
        passages.push(rest);
    }
    passages
}

/// Returns the end of the first passage of a text, as a byte offset.
fn end(text: &str) -> usize {
    let limit = (0..=MAX_PASSAGE_LENGTH).rev().find(|end| text.is_char_boundary(*end));
    let head = &text[..limit.unwrap_or_default()];
    let half = head.len() / 2;
    let sentence = head.char_indices().rev().find_map(|(at, c)| {
        let after = at + c.len_utf8();
        let ends_sentence =
            matches!(c, '.' | '!' | '?') && text[after..].starts_with(char::is_whitespace);
        (c == '\n' || ends_sentence || matches!(c, '。' | '！' | '？')).then_some(after)
    });
    sentence
        .filter(|end| *end >= half)
        .or_else(|| head.rfind(char::is_whitespace).filter(|end| *end >= half))
        .unwrap_or(head.len())
        .max(1)
}

/// Returns the share of a text, from 0 to 1, that consists of questions.
fn question_share(text: &str) -> f64 {
    let (mut in_questions, mut all) = (0, 0);
    for sentence in text.split_inclusive(['.', '!', '?', '\n', '？', '。']) {
        let letters = sentence.chars().filter(|c| c.is_alphanumeric()).count();
        all += letters;
        if sentence.ends_with(['?', '？']) {
            in_questions += letters;
        }
    }
    if all == 0 {
        return 0.0;
    }
    to_f64(in_questions) / to_f64(all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::search::words::terms;

    fn text(body: &str) -> ReadText {
        ReadText { heading: String::new(), body: body.to_owned() }
    }

    #[test]
    fn a_text_alone_needs_words_and_meaning_together() {
        let judge = |question: &str, answer: &str| {
            let terms: Vec<(Term, usize)> =
                terms(question, &[]).into_iter().map(|term| (term, 10)).collect();
            Question::new(question, &terms, 1000).judge(&text(answer)).is_some()
        };
        let question = "Why do we lock the file before reading?";
        assert!(judge(question, "The lock is held while the file is read."));
        assert!(!judge(question, "The colour of the button is red."));
        assert!(!judge("zzzz qqqq", "The colour of the button is red."));
        assert!(!judge("", "The colour of the button is red."));
    }

    #[test]
    fn a_question_is_understood_if_a_word_of_it_is_in_the_latin_script() {
        for question in ["деплой в kubernetes", "kubernetesのデプロイ", "is it ok", "42"]
        {
            assert!(is_understood(question), "{question}");
        }
        for question in ["как запускаются тесты", "τεστ v2", "デプロイ"]
        {
            assert!(!is_understood(question), "{question}");
        }
    }

    #[test]
    fn the_vectors_of_an_endpoint_are_evidence_in_any_script() {
        let evidence = |is_by_endpoint| {
            let (words, meaning) = (vec![0.0], vec![0.7]);
            let known = Known { words, meaning, is_by_endpoint, ..Known::default() };
            let question = Question::new("питомец", &[], 1000);
            let read = |_| Ok::<_, ()>(text("собака"));
            rank(&question, &known, false, read, |_, _| Vec::new()).unwrap().evidence
        };
        assert!(evidence(true) > 1.0 && evidence(false) < 0.1);
    }

    #[test]
    fn the_best_are_those_of_a_full_sort() {
        let scores = [2.0, 5.0, 3.0, 5.0, 1.0];
        for (count, expected) in
            [(0, &[][..]), (1, &[1]), (2, &[1, 3]), (3, &[1, 3, 2]), (9, &[1, 3, 2, 0, 4])]
        {
            assert_eq!(best(scores.into_iter(), count), expected, "{count}");
        }
    }

    #[test]
    fn a_text_gets_a_share_of_what_is_beside_it_in_its_section_or_conversation() {
        let sequence = vec![(0, 3), (0, 1), (0, 0), (0, 4), (1, 2), (1, 5)];
        let own = [10.0, 20.0, 40.0, 80.0, 160.0, 320.0];
        let known = Known { sequence, ..Known::default() };
        assert_eq!(neighbours(&known, &own, 0.5), [80.0, 40.0, 160.0, 10.0, 5.0, 20.0]);
        let known = Known { are_turns: true, ..known };
        assert_eq!(neighbours(&known, &own, 0.5), [44.0, 34.0, 64.0, 5.0, 4.0, 8.0]);
    }

    fn order(documents: &[&str], query: &str) -> Vec<usize> {
        let scores = bm25(documents, query);
        let mut order: Vec<usize> = (0..scores.len()).filter(|at| scores[*at] > 0.0).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        order
    }

    #[test]
    fn scores_follow_the_bm25_formula() {
        // Lengths 3 and 1, mean 2; `apple` in one of two texts, twice.
        let idf = (1.0_f64 + 1.5 / 1.5).ln();
        let expected = idf * 2.0 * 2.2 / (2.0 + 1.2 * (0.25 + 0.75 * 1.5));
        let scores = bm25(["apple apple pear", "pear"], "apple");
        assert!((scores[0] - expected).abs() < 1e-12, "{scores:?}");
        assert!(scores[1].abs() < f64::EPSILON, "{scores:?}");
    }

    #[test]
    fn rare_words_weigh_more_and_ties_keep_their_order() {
        let documents = [
            "the queue is retried", "the cache is cleared", "the queue is cleared", "nothing",
            "the cache is cleared",
        ];
        assert_eq!(order(&documents, "retry the queue"), [0, 2]);
        assert_eq!(order(&documents, "clear cache"), [1, 4, 2]);
        assert_eq!(order(&documents, "absent"), [0_usize; 0]);
    }

    #[test]
    fn parts_of_identifiers_and_any_script_are_found() {
        let documents = [
            "`src/http_client.rs` grew",
            "HttpClient grew",
            "再試行キューが遅い",
            "очередь повторов",
        ];
        assert_eq!(order(&documents, "client"), [1, 0]);
        assert_eq!(order(&documents, "httpclient"), [1]);
        assert_eq!(order(&documents, "キュー"), [2]);
        assert_eq!(order(&documents, "Повторов"), [3]);
    }

    #[test]
    fn operators_and_stop_words_match_as_words() {
        let documents = ["a - \"quoted\" * AND b", "who is the best"];
        for query in ["-", "\"", "*", "", "  ", "AND OR NOT NEAR("] {
            bm25(documents, query);
        }
        assert_eq!(order(&documents, "the who"), [1]);
        assert_eq!(order(&documents, "the"), [0_usize; 0]);
        assert_eq!(order(&documents, "\"quoted\" -x"), [0]);
        assert_eq!(bm25([""; 0], "x"), [0.0; 0]);
        assert_eq!(order(&["", ""], "x"), [0_usize; 0]);
    }

    #[test]
    fn a_long_text_is_split_after_sentences() {
        assert_eq!(passages("short"), ["short"]);
        assert_eq!(passages(""), [""]);
        let sentence = "The queue is read at the start of the program. ";
        let text = sentence.repeat(30);
        let found = passages(&text);
        assert!(found.len() >= 3, "{}", found.len());
        for passage in &found {
            assert!(
                passage.ends_with('.') && passage.len() <= MAX_PASSAGE_LENGTH * 5 / 4,
                "{passage}"
            );
        }
        assert!(passages(&"x".repeat(100 * MAX_PASSAGE_LENGTH)).len() <= MAX_PASSAGES);
    }

    #[test]
    fn questions_are_distinguished_from_statements() {
        let is = |text: &str, share: f64| (question_share(text) - share).abs() < 1e-9;
        assert!(is("Where is it?", 1.0));
        assert!(is("It is here.", 0.0));
        assert!(is("abcd. efgh?", 0.5));
        assert!(is("重試在哪裡？", 1.0));
        assert!(is("", 0.0) && is("?!", 0.0));
        assert!(is("see https://a.test/x", 0.0));
    }

    proptest! {
        #[test]
        fn passages_are_substrings_in_order(text in "([a-z é再]{0,80}[.\n ]?){0,40}") {
            let mut rest = text.as_str();
            for passage in passages(&text) {
                let at = rest.find(passage);
                prop_assert!(at.is_some(), "{passage}");
                rest = &rest[at.unwrap_or_default() + passage.len()..];
            }
            prop_assert!(rest.trim().is_empty());
        }
    }
}
