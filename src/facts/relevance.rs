//! Whether a fact has to do with a query. The one place that decides it.

use crate::facts::fact::Fact;
use crate::ranking::Corpus;

/// A fact that shares less of the query's words than this, by how rare they are, has nothing to do with it.
const LEAST: f64 = 0.1;

/// Returns for each fact the share of the query that it covers; nothing where it has nothing to do with it.
pub(crate) fn relevance(query: &str, facts: &[Fact]) -> Vec<Option<f64>> {
    let corpus = Corpus::new(facts.iter().map(text));
    let shares = corpus.shares(query);
    shares
        .into_iter()
        .map(|share| Some(share).filter(|share| *share >= LEAST))
        .collect()
}

/// What a fact says; the first part of its key says only what kind of fact it is.
fn text(fact: &Fact) -> String {
    let about = fact
        .key
        .split_once('.')
        .map_or(fact.key.as_str(), |(_, about)| about);
    format!("{about} {}", fact.value_text)
}
