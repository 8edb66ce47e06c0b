//! Judges which of the facts found are relevant to the question.

use rusqlite::Connection;

use crate::embedding::{Vector, VectorTable};
use crate::error::Result;
use crate::facts::Fact;
use crate::facts::UserId;
use crate::facts::search::{candidates, lexical};
use crate::facts::{fact, vectors};
use crate::ranking::{
    AnswerEvidence, Language, Relevance, Term, TextEvidence, WeightedQuestion, passages, terms,
    words,
};

/// Judges the facts of one answer against a question, the best first: returns the evidence for all of them together,
/// and the relevance of each. `all` is the number of the user's facts, if it is known.
pub(crate) fn judge<'f>(
    connection: &Connection,
    user: &UserId,
    text: &str,
    all: Option<usize>,
    facts: impl Iterator<Item = &'f Fact>,
) -> Result<(AnswerEvidence, Vec<Relevance>)> {
    let (question, evidence) = evidence(connection, user, text, all, facts)?;
    Ok((question.verdict(&evidence), question.relevance(&evidence)))
}

/// Judges each fact separately against a question; returns the evidence for the relevant ones.
pub(crate) fn judge_each<'f>(
    connection: &Connection,
    user: &UserId,
    text: &str,
    facts: impl Iterator<Item = &'f Fact>,
) -> Result<Vec<Option<f64>>> {
    let (question, evidence) = evidence(connection, user, text, None, facts)?;
    let of_one = |one: TextEvidence| {
        let is_relevant = question.relevance(&[one]) == [Relevance::High];
        is_relevant.then(|| one.sum())
    };
    Ok(evidence.into_iter().map(of_one).collect())
}

/// Returns the question, weighted by the user's facts, and the evidence for each of these facts.
///
/// Similarity is that of the built-in vectors, for which the thresholds were set, whatever the search method.
fn evidence<'f>(
    connection: &Connection,
    user: &UserId,
    text: &str,
    all: Option<usize>,
    facts: impl Iterator<Item = &'f Fact>,
) -> Result<(WeightedQuestion, Vec<TextEvidence>)> {
    let terms = terms(text, &[]);
    let question = question(connection, user, text, all, &terms)?;
    let content: Vec<&str> = terms.iter().map(|term| term.word.as_str()).collect();
    let content = VectorTable::built_in().vector(&content.join(" "));
    let of_fact = |fact: &Fact| {
        let words = words(&format!("{fact} {}", fact.source_excerpt));
        question.evidence(Some(similarity(fact, &content)), |term| {
            term.stems.iter().any(|stem| words.contains(stem))
        })
    };
    let evidence = facts.map(of_fact).collect();
    Ok((question, evidence))
}

/// Weights the words of a question by the number of the user's facts that contain them.
fn question(
    connection: &Connection,
    user: &UserId,
    text: &str,
    all: Option<usize>,
    terms: &[Term],
) -> Result<WeightedQuestion> {
    let language = Language::detect(text);
    let is_bound = !candidates::owns_most_rows(connection, user)?;
    let mut counted = Vec::with_capacity(terms.len());
    for term in terms {
        let with = lexical::count(connection, user, &term.word, language, is_bound)?;
        counted.push((term.clone(), with));
    }
    let all = match all {
        Some(all) => all,
        None => fact::count_retrievable(connection, user)?,
    };
    Ok(WeightedQuestion::new(text, counted, all))
}

/// Returns the similarity of the most similar passage of a fact.
fn similarity(fact: &Fact, question: &Vector) -> f64 {
    let near = passages(&fact.value_text).into_iter().map(|passage| {
        question.dot(&VectorTable::built_in().vector(&vectors::text(&fact.key, passage)))
    });
    f64::from(near.fold(0.0, f32::max))
}
