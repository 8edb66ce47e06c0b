//! Judges which of the facts found are relevant to the question.

use rusqlite::Connection;

use crate::embedding::{Vector, VectorTable};
use crate::error::Result;
use crate::facts::search::hit::FactHit;
use crate::facts::search::{candidates, lexical};
use crate::facts::{Fact, UserId, fact, vectors};
use crate::ranking::{
    AnswerEvidence, Language, Relevance, Term, TextEvidence, WeightedQuestion, passages, terms,
    words,
};

/// Judges the facts of one answer against a question, the best first: returns the evidence for all of them together,
/// and the relevance of each.
pub(crate) fn judge(
    question: &WeightedQuestion,
    text: &str,
    hits: &[FactHit],
) -> (AnswerEvidence, Vec<Relevance>) {
    let evidence = evidence(question, text, hits.iter().map(|hit| &hit.fact));
    let read = evidence.into_iter().zip(hits);
    let evidence: Vec<TextEvidence> = read
        .map(|(evidence, hit)| TextEvidence { cosine: hit.components.encoder_cosine, ..evidence })
        .collect();
    (question.verdict(&evidence), question.relevance(&evidence))
}

/// Judges each fact separately against a question; returns the evidence for the relevant ones.
pub(crate) fn judge_each<'f>(
    connection: &Connection,
    user: &UserId,
    text: &str,
    facts: impl Iterator<Item = &'f Fact>,
) -> Result<Vec<Option<f64>>> {
    let (counted, all) = counted_terms(connection, user, text, None)?;
    let question = WeightedQuestion::new(text, counted, all);
    let evidence = evidence(&question, text, facts);
    let of_one = |one: TextEvidence| {
        let is_relevant = question.relevance(&[one]) == [Relevance::High];
        is_relevant.then(|| one.sum())
    };
    Ok(evidence.into_iter().map(of_one).collect())
}

/// Returns the evidence for each of these facts.
///
/// Similarity is that of the built-in vectors, for which the thresholds were set, whatever the search method.
fn evidence<'f>(
    question: &WeightedQuestion,
    text: &str,
    facts: impl Iterator<Item = &'f Fact>,
) -> Vec<TextEvidence> {
    let terms = terms(text, &[]);
    let content: Vec<&str> = terms.iter().map(|term| term.word.as_str()).collect();
    let content = VectorTable::built_in().vector(&content.join(" "));
    let of_fact = |fact: &Fact| {
        let words = words(&format!("{fact} {}", fact.source_excerpt));
        question.evidence(Some(similarity(fact, &content)), |term| {
            term.stems.iter().any(|stem| words.contains(stem))
        })
    };
    facts.map(of_fact).collect()
}

/// Returns the words of a question, each with the number of the user's facts that contain it, and the number of all
/// facts, which is `all` if it is known.
pub(crate) fn counted_terms(
    connection: &Connection,
    user: &UserId,
    text: &str,
    all: Option<usize>,
) -> Result<(Vec<(Term, usize)>, usize)> {
    let language = Language::detect(text);
    let is_bound = !candidates::owns_most_rows(connection, user)?;
    let mut counted = Vec::new();
    for term in terms(text, &[]) {
        let with = lexical::count(connection, user, &term.word, language, is_bound)?;
        counted.push((term, with));
    }
    let all = match all {
        Some(all) => all,
        None => fact::count_retrievable(connection, user)?,
    };
    Ok((counted, all))
}

/// Returns the similarity of the most similar passage of a fact.
fn similarity(fact: &Fact, question: &Vector) -> f64 {
    let near = passages(&fact.value_text).into_iter().map(|passage| {
        question.dot(&VectorTable::built_in().vector(&vectors::text(&fact.key, passage)))
    });
    f64::from(near.fold(0.0, f32::max))
}
