//! Searches the user's facts, which are not indexed: a project keeps no copy of them.
//!
//! The database selects candidates; here they are scored with the same terms and vectors as the project's
//! texts, so that the scores are comparable.

use std::collections::HashSet;

use crate::clock::parse_date;
use crate::embedding::{Quantized, VectorTable};
use crate::error::{Error, Result};
use crate::facts;
use crate::facts::{Fact, FactStatus, Facts, Method, ProjectScope, Purpose, Selection};
use crate::project::Project;
use crate::ranking::{Term, idf, passages, words};
use crate::recall::document::{Authority, Flag, Flags};
use crate::recall::index::{Index, StoredText, StoredUnit};
use crate::recall::query::RecallQuery;
use crate::recall::search::Scan;
use crate::recall::sources::SourceName;
use crate::search::QuestionVectors;
use crate::warning::Warning;

/// Maximum number of facts that are scored against the project's texts.
const MAX_FACTS: usize = 50;

/// Confidence below which a fact is flagged.
const MIN_SURE_CONFIDENCE: f64 = 0.5;

/// The facts that match a query; none if no user is set.
#[derive(Default)]
pub(crate) struct FactHits(Vec<Fact>);

impl FactHits {
    /// Queries the facts of the configured user; a failure to query the database becomes a warning.
    ///
    /// If only facts are searched, no user and a failed query are errors: nothing else can answer.
    pub(crate) fn fetch(
        project: &Project,
        query: &RecallQuery,
        warnings: &mut Vec<Warning>,
    ) -> Result<Self> {
        if !query.sources.contains(&SourceName::Facts) {
            return Ok(Self::default());
        }
        let is_only_source = query.sources == [SourceName::Facts];
        if project.settings.user.is_none() && !is_only_source {
            return Ok(Self::default());
        }
        match query_facts(project, query) {
            Err(error) if !is_only_source => {
                warnings.push(not_included(project, &error));
                Ok(Self::default())
            }
            result => result,
        }
    }

    /// Adds the facts to the texts to be ranked.
    pub(crate) fn add_to(
        &self,
        scan: &mut Scan,
        index: &Index,
        query: &RecallQuery,
    ) -> rusqlite::Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let texts: Vec<_> = self.0.iter().map(|fact| words(&fact.to_string())).collect();
        let idfs = idfs(&texts, scan, index)?;
        let file = scan.files.len();
        scan.files.push(String::new());
        let vectors = QuestionVectors::built_in(&query.text, scan.terms());
        for (id, (fact, words)) in (1..).zip(self.0.iter().zip(&texts)) {
            let has = |term: &Term| has_term(words, term);
            let shared = idfs.iter().filter(|(term, _)| has(term));
            let passages: Vec<Quantized> = passages(&fact.value_text)
                .into_iter()
                .map(|passage| VectorTable::built_in().vector(passage).quantized())
                .collect();
            let stored: Vec<Vec<u8>> = passages.iter().map(|one| one.bytes().collect()).collect();
            let stored = passages.iter().zip(&stored).map(|(one, bytes)| (one.scale, &bytes[..]));
            let unit = StoredUnit {
                id: -id,
                source: SourceName::Facts,
                file,
                line: 0,
                date: parse_date(&fact.last_mentioned_at),
                flags: flags(fact),
                authority: Authority::Canonical,
                // No fact is a sibling of another.
                section: usize::try_from(id).unwrap_or_default(),
                length: words.len(),
                meaning: vectors.similarity(stored),
            };
            let score = shared.map(|(_, idf)| idf).sum();
            scan.add(unit, score, has);
        }
        Ok(())
    }

    /// Returns the text of a unit that is a fact, or `None` for any other unit.
    pub(crate) fn text(&self, unit: &StoredUnit) -> Option<StoredText> {
        let index = usize::try_from(-unit.id).ok()?.checked_sub(1)?;
        let fact = self.0.get(index)?;
        Some(StoredText {
            headings: Vec::new(),
            key: Some(fact.fact_id.clone()),
            body: fact.to_string(),
        })
    }
}

/// Returns the idf of each term among the searched texts; if there are none, among the words of the facts.
fn idfs(facts: &[Vec<String>], scan: &Scan, index: &Index) -> rusqlite::Result<Vec<(Term, f64)>> {
    let searched: HashSet<i64> = scan.units.iter().map(|unit| unit.id).collect();
    let mut idfs = Vec::new();
    for term in scan.terms() {
        let idf = if searched.is_empty() {
            let containing = facts.iter().filter(|words| has_term(words, term));
            idf(containing.count(), facts.len())
        } else {
            let mut matches = index.containing_any(&term.stems)?;
            matches.retain(|(text, _)| searched.contains(text));
            idf(matches.len(), searched.len())
        };
        idfs.push((term.clone(), idf));
    }
    Ok(idfs)
}

fn has_term(words: &[String], term: &Term) -> bool {
    term.stems.iter().any(|stem| words.contains(stem))
}

fn query_facts(project: &Project, query: &RecallQuery) -> Result<FactHits> {
    let user = facts::user(project, None)?;
    let mut database = Facts::open(project, None, Purpose::Read)?;
    let fact_query = facts::FactQuery {
        text: query.text.clone(),
        limit: query.limit.max(MAX_FACTS),
        scope: ProjectScope::General,
        method: Method::from(project.settings.facts.fusion),
        // Relevance is judged here, together with the texts of the project.
        selection: Selection::Candidates,
        uses_encoder: false,
    };
    let embedder = facts::embedder(project)?;
    let found = facts::retrieve(&mut database, &user, &fact_query, &embedder)?;
    Ok(FactHits(found.hits.into_iter().map(|hit| hit.fact).collect()))
}

fn flags(fact: &Fact) -> Flags {
    let is_unsure =
        fact.status == FactStatus::PendingConfirmation || fact.confidence < MIN_SURE_CONFIDENCE;
    Flags::default().with(Flag::LowConfidence, is_unsure)
}

fn not_included(project: &Project, error: &Error) -> Warning {
    let file = error.place.as_ref().map(|place| place.file.clone());
    let file = file.unwrap_or_else(|| project.root.clone());
    Warning::file(&file, format!("facts are not included: {}", error.reason()))
}
