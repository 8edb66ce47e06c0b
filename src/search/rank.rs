//! Combines words, meaning and neighbours into one score, and has the best texts read again by the encoder.
//!
//! ```text
//! words, vectors ── of every text ──┐
//! late interaction ── of the first 100 ── own score ── neighbours ── the encoder: the first 30 ── score
//! ```
//!
//! A part is here because it found more on at least two of the sets of questions and cost less than a point on the
//! others; docs/recall.md has the figures.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::embedding::{Quantized, Vector, VectorTable};
use crate::ranking::{
    Language, Term, Tokenizer, content_words, idf, passages, question_share, to_f64,
};
use crate::search::encoder::Encoder;

/// Weight of the words beside that of the meaning.
const WORDS_WEIGHT: f64 = 0.35;

/// Weight of late interaction beside that of both.
const LATE_WEIGHT: f64 = 0.3;

/// Share of long texts from which neither late interaction nor questions count: a long text resembles everything, and a
/// long turn that ends in a question holds facts too.
const MAX_LONG: f64 = 0.5;

/// Weight of the encoder, beside a score of at most 1.
const ENCODER_WEIGHT: f64 = 0.35;

/// Number of texts that are read for late interaction.
const READ: usize = 100;

/// Number of texts that the encoder reads.
const REREAD: usize = 30;

/// Number of passages of a text that the encoder reads.
const PASSAGES: usize = 6;

/// Share of the better of the two scores beside it that is added to a text of a section; the sum of both would put
/// whole sections before the one text that answers.
const SIBLING_SHARE: f64 = 0.2;

/// Share of its score that a turn of a conversation adds to the turns beside it, and to those beside these.
const NEIGHBOUR_SHARES: [f64; 2] = [0.2, 0.1];

/// Additional share of its score that a question adds to the turn after it, which answers it.
const ANSWER_SHARE: f64 = 0.3;

/// Share of its score that a question loses: a similar question is not an answer.
const QUESTION_PENALTY: f64 = 0.3;

/// A question, as texts are compared with it.
#[derive(Debug)]
pub struct Question {
    /// Each word with its weight and its vector.
    terms: Vec<(Term, f64, Vector)>,
}

/// A text that is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadText {
    /// What it is about: its headings, or its key.
    pub heading: String,
    /// The text.
    pub body: String,
}

/// What is known of a text before it is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    /// Its score by words; 0 if it shares none with the question.
    pub words: f64,
    /// The similarity of its vectors to the question's.
    pub meaning: f64,
    /// Factor applied to its own score.
    pub weight: f64,
    /// Added to its score.
    pub bonus: f64,
    /// Index of the text before it, in the same section or conversation.
    pub before: Option<usize>,
    /// Index of the text after it.
    pub after: Option<usize>,
    /// Whether these are turns of a conversation, of which the answer is often beside what was found.
    pub is_turn: bool,
}

/// A text with its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fused {
    /// Its index.
    pub index: usize,
    /// Its score, comparable within one answer.
    pub score: f64,
    /// The components of the score.
    pub parts: FusedParts,
    /// Its similarity to the question by the encoder, if it was read.
    pub cosine: Option<f64>,
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
}

impl FusedParts {
    fn own(&self) -> f64 {
        self.weight * (self.words + self.meaning + self.late + self.encoder)
    }
}

/// Returns the greatest similarity of each text to a question, by the encoder.
pub type Reread<'a, E> = dyn FnMut(&[(usize, &ReadText)]) -> Result<Vec<f64>, E> + 'a;

impl Question {
    /// Returns a question of these terms, each with the number of texts that contain it, out of `all`.
    pub fn new(terms: &[(Term, usize)], all: usize) -> Self {
        let weighted = terms.iter().map(|(term, containing)| {
            let vector = VectorTable::built_in().vector(&term.word);
            (term.clone(), idf(*containing, all), vector)
        });
        Self { terms: weighted.collect() }
    }

    /// Returns how well the words of the best passage cover those of the question, from 0 to 1.
    fn late(&self, text: &ReadText, reader: &mut Reader) -> f64 {
        let total: f64 = self.terms.iter().map(|(_, idf, _)| idf).sum();
        if total <= 0.0 {
            return 0.0;
        }
        let of_passage = |passage: String| {
            let (stems, vectors) = reader.read(&passage);
            let nearest = |vector: &Vector| {
                let near = vectors.iter().map(|other| vector.dot(reader.vector(*other)));
                f64::from(near.fold(0.0, f32::max))
            };
            let covered = self.terms.iter().map(|(term, idf, vector)| {
                let is_contained = term.stems.iter().any(|stem| stems.contains(stem));
                idf * if is_contained { 1.0 } else { nearest(vector) }
            });
            covered.sum::<f64>() / total
        };
        text.passages(usize::MAX).map(of_passage).fold(0.0, f64::max)
    }
}

impl ReadText {
    /// Returns the first passages, each after the heading.
    fn passages(&self, count: usize) -> impl Iterator<Item = String> {
        let between = if self.heading.is_empty() { "" } else { ": " };
        let passages = passages(&self.body).into_iter().take(count);
        passages.map(move |passage| format!("{}{between}{passage}", self.heading))
    }
}

/// Ranks texts, best first; `read` returns the text at an index, and `reread` has the best read by the encoder.
pub fn fuse<E>(
    question: &Question,
    known: &[Known],
    mut read: impl FnMut(usize) -> Result<ReadText, E>,
    reread: Option<&mut Reread<'_, E>>,
) -> Result<Vec<Fused>, E> {
    let (words, meaning) = (greatest(known, |one| one.words), greatest(known, |one| one.meaning));
    let mut parts: Vec<FusedParts> = known
        .iter()
        .map(|one| FusedParts {
            words: WORDS_WEIGHT * one.words.max(0.0) / words,
            meaning: (1.0 - WORDS_WEIGHT) * one.meaning.max(0.0) / meaning,
            weight: one.weight,
            recency: one.bonus,
            ..FusedParts::default()
        })
        .collect();
    let scores = |parts: &[FusedParts]| -> Vec<f64> {
        let beside = neighbours(known, parts);
        parts.iter().zip(beside).map(|(parts, beside)| parts.own() + beside).collect()
    };
    let mut texts = Vec::new();
    for index in best(&scores(&parts), READ) {
        texts.push((index, read(index)?));
    }
    let mut reader = Reader::default();
    let late: Vec<f64> = texts.iter().map(|(_, text)| question.late(text, &mut reader)).collect();
    let most = late.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let short = texts.iter().filter(|(_, text)| passages(&text.body).len() == 1).count();
    let long = 1.0 - to_f64(short) / to_f64(texts.len().max(1));
    let brevity = (1.0 - long / MAX_LONG).max(0.0);
    let late_weight = LATE_WEIGHT * brevity;
    for parts in &mut parts {
        parts.words *= 1.0 - late_weight;
        parts.meaning *= 1.0 - late_weight;
    }
    for ((index, _), late) in texts.iter().zip(late) {
        parts[*index].late = late_weight * late / most;
    }
    let mut cosines: HashMap<usize, f64> = HashMap::new();
    if let Some(reread) = reread {
        let texts: HashMap<usize, &ReadText> =
            texts.iter().map(|(index, text)| (*index, text)).collect();
        let first = best(&scores(&parts), REREAD).into_iter();
        let first: Vec<(usize, &ReadText)> =
            first.filter_map(|index| Some((index, *texts.get(&index)?))).collect();
        let found = reread(&first)?;
        let least = found.iter().copied().fold(f64::INFINITY, f64::min);
        let width = found.iter().map(|cosine| cosine - least).fold(f64::MIN_POSITIVE, f64::max);
        for ((index, _), cosine) in first.iter().zip(found) {
            parts[*index].encoder = ENCODER_WEIGHT * (cosine - least) / width;
            cosines.insert(*index, cosine);
        }
    }
    let mut beside = neighbours(known, &parts);
    let mut questions = vec![0.0; known.len()];
    for (index, text) in texts.iter().filter(|(index, _)| known[*index].is_turn) {
        let share = brevity * question_share(&text.body);
        questions[*index] = QUESTION_PENALTY * share;
        if let Some(answer) = known[*index].after {
            beside[answer] += ANSWER_SHARE * share * parts[*index].own();
        }
    }
    let mut ranked: Vec<Fused> = (0..known.len())
        .map(|index| {
            let neighbours = beside[index];
            let question = questions[index] * (parts[index].own() + neighbours);
            let parts = FusedParts { neighbours, question, ..parts[index] };
            Fused {
                index,
                score: parts.own() + neighbours - question + parts.recency,
                parts,
                cosine: cosines.get(&index).copied(),
            }
        })
        .collect();
    // The sort is stable: ties stay in the order of the texts.
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(ranked)
}

/// Returns the vectors of the first passages of each text by the encoder, those of a text side by side.
pub fn passage_vectors(encoder: &Encoder, texts: &[&ReadText]) -> Vec<Quantized> {
    let passages: Vec<Vec<String>> =
        texts.iter().map(|text| text.passages(PASSAGES).collect()).collect();
    let all: Vec<&str> = passages.iter().flatten().map(String::as_str).collect();
    let vectors = encoder.vectors(&all);
    let mut rest = vectors.as_slice();
    let mut of_text = |passages: &Vec<String>| {
        let (own, after) = rest.split_at(passages.len().min(rest.len()));
        rest = after;
        Quantized::concatenated(own).unwrap_or_default()
    };
    passages.iter().map(&mut of_text).collect()
}

/// Returns the greatest similarity of a question to the passages of a text, from their vectors.
pub fn greatest_cosine(question: &Quantized, passages: &Quantized) -> f64 {
    let bytes: Vec<u8> = passages.bytes().collect();
    let near = bytes.chunks_exact(question.values.len().max(1));
    let near = near.map(|vector| question.dot_stored(vector, passages.scale));
    f64::from(near.fold(0.0, f32::max))
}

/// The vectors of a question.
#[derive(Clone, Debug)]
pub struct QuestionVectors {
    /// That of the whole question, for whole texts.
    whole: Quantized,
    /// That of its content words, for passages.
    content: Quantized,
}

impl QuestionVectors {
    /// Returns the vectors of a question by the built-in table.
    pub fn built_in(text: &str, terms: &[Term]) -> Self {
        let content: Vec<&str> =
            terms.iter().filter(|term| !term.is_compound).map(|term| term.word.as_str()).collect();
        let table = VectorTable::built_in();
        Self {
            whole: table.vector(text).quantized(),
            content: table.vector(&content.join(" ")).quantized(),
        }
    }

    /// Returns the only vector of a question.
    pub fn one(vector: &Vector) -> Self {
        Self { whole: vector.quantized(), content: vector.quantized() }
    }

    /// Returns the similarity of a text to the question, from its passages' vectors, each with its scale: the mean of
    /// that of the whole text and that of the best passage.
    pub fn similarity<'v>(&self, passages: impl IntoIterator<Item = (f32, &'v [u8])>) -> f64 {
        let (mut nearest, mut near_sum, mut count) = (0.0_f32, 0.0_f32, 0);
        let mut sum: Vec<f32> = Vec::new();
        let mut first: Option<(f32, &[u8])> = None;
        let add = |sum: &mut Vec<f32>, (scale, values): (f32, &[u8])| {
            sum.resize(values.len(), 0.0);
            for (sum, value) in sum.iter_mut().zip(values) {
                *sum += scale * f32::from(value.cast_signed());
            }
        };
        for (scale, values) in passages {
            count += 1;
            nearest = nearest.max(self.content.dot_stored(values, scale));
            near_sum += self.whole.dot_stored(values, scale);
            match first {
                None => first = Some((scale, values)),
                Some(one) => {
                    if count == 2 {
                        add(&mut sum, one);
                    }
                    add(&mut sum, (scale, values));
                }
            }
        }
        let length = if count > 1 {
            sum.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE)
        } else {
            1.0
        };
        f64::from(nearest.midpoint((near_sum / length).max(0.0)))
    }
}

/// Returns what the texts beside each text add to its score.
fn neighbours(known: &[Known], parts: &[FusedParts]) -> Vec<f64> {
    let mut sums = vec![0.0; known.len()];
    for (index, one) in known.iter().enumerate() {
        if !one.is_turn {
            let beside = [one.before, one.after].into_iter().flatten();
            let beside = beside.filter_map(|other| parts.get(other)).map(FusedParts::own);
            sums[index] += SIBLING_SHARE * beside.fold(0.0, f64::max);
            continue;
        }
        let own = parts[index].own();
        for next in [|one: &Known| one.before, |one: &Known| one.after] {
            let mut at = index;
            for share in NEIGHBOUR_SHARES {
                let Some(other) = next(&known[at]).filter(|other| *other < known.len()) else {
                    break;
                };
                sums[other] += share * own;
                at = other;
            }
        }
    }
    sums
}

/// Returns the indexes of the greatest scores, best first.
fn best(scores: &[f64], count: usize) -> Vec<usize> {
    let order = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
    let mut indexes: Vec<usize> = (0..scores.len()).collect();
    if indexes.len() > count {
        indexes.select_nth_unstable_by(count, order);
        indexes.truncate(count);
    }
    indexes.sort_unstable_by(order);
    indexes
}

fn greatest(known: &[Known], of: impl Fn(&Known) -> f64) -> f64 {
    known.iter().map(of).fold(f64::MIN_POSITIVE, f64::max)
}

/// Reads passages as sets of stems and of words, and remembers the vectors of words.
#[derive(Default)]
struct Reader {
    tokenizers: HashMap<Language, Tokenizer>,
    numbers: HashMap<String, usize>,
    vectors: Vec<Vector>,
}

impl Reader {
    /// Returns the stems of a passage, and the numbers of its content words.
    fn read(&mut self, passage: &str) -> (HashSet<String>, Vec<usize>) {
        let language = Language::detect(passage);
        let new = || Tokenizer::new(language);
        let mut stems = HashSet::new();
        self.tokenizers.entry(language).or_insert_with(new).each(passage, |stem| {
            stems.insert(stem.to_owned());
        });
        let words = content_words(passage).into_iter();
        let numbers = words.map(|word| match self.numbers.entry(word) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.vectors.push(VectorTable::built_in().vector(new.key()));
                *new.insert(self.vectors.len() - 1)
            }
        });
        (stems, numbers.collect())
    }

    fn vector(&self, number: usize) -> &Vector {
        &self.vectors[number]
    }
}
