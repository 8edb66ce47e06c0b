//! Judges which of the facts that were found have to do with the question.

use rusqlite::Connection;

use crate::embedding::Table;
use crate::embedding::Vector;
use crate::error::Result;
use crate::facts::fact::Fact;
use crate::facts::failure::Stored;
use crate::facts::search::candidates;
use crate::facts::search::lexical;
use crate::facts::user::UserId;
use crate::facts::vectors;
use crate::ranking::Evidence;
use crate::ranking::Language;
use crate::ranking::Question;
use crate::ranking::Relevance;
use crate::ranking::Term;
use crate::ranking::Verdict;
use crate::ranking::passages;
use crate::ranking::terms;
use crate::ranking::words;

/// Facts held against a question.
pub(crate) struct Judged {
    /// What speaks for all of them together.
    pub(crate) verdict: Verdict,
    /// What speaks for each, in their order, and what follows from it.
    pub(crate) facts: Vec<(Evidence, Relevance)>,
}

/// Holds facts of a user against a question.
///
/// Meaning is compared with the built-in vectors, by which the rule was set, whatever the search went by.
pub(crate) fn judge<'f>(
    connection: &Connection,
    user: &UserId,
    text: &str,
    facts: impl Iterator<Item = &'f Fact>,
) -> Result<Judged> {
    let asked = terms(text, &[]);
    let question = question(connection, user, text, &asked)?;
    let content: Vec<&str> = asked.iter().map(|term| term.word.as_str()).collect();
    let content = Table::built_in().vector(&content.join(" "));
    let evidence: Vec<Evidence> = facts
        .map(|fact| {
            let of_fact = words(&format!("{fact} {}", fact.source_excerpt));
            question.evidence(Some(closeness(fact, &content)), |term| {
                term.stems.iter().any(|stem| of_fact.contains(stem))
            })
        })
        .collect();
    let relevance = question.relevance(&evidence);
    Ok(Judged {
        verdict: question.verdict(&evidence),
        facts: evidence.into_iter().zip(relevance).collect(),
    })
}

/// Weighs the words of a question by how many facts of the user have them.
fn question(
    connection: &Connection,
    user: &UserId,
    text: &str,
    asked: &[Term],
) -> Result<Question> {
    let language = Language::of(text);
    let is_bound = !candidates::has_most(connection, user)?;
    let mut counted = Vec::with_capacity(asked.len());
    for term in asked {
        let with = lexical::count(connection, user, (&term.word, language), is_bound)?;
        counted.push((term.clone(), with));
    }
    let sql = "SELECT count(*) FROM facts INDEXED BY facts_status \
               WHERE user_id = ?1 AND status IN ('active', 'pending_confirmation')";
    let all: usize = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.query_row([user.as_str()], |row| row.get(0)))
        .stored("count the facts")?;
    Ok(Question::new(text, counted, all))
}

/// Returns how near the nearest passage of a fact is.
fn closeness(fact: &Fact, asked: &Vector) -> f64 {
    let near = passages(&fact.value_text)
        .into_iter()
        .map(|passage| asked.dot(&Table::built_in().vector(&vectors::text(&fact.key, passage))));
    f64::from(near.fold(0.0, f32::max))
}
