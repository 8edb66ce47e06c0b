//! Searches all stores at once and cites the source of each hit.
//!
//! ```text
//! sources ── documents ── index (a cache) ── words ─┬─ one score ── judged ── hits
//!                                      └── vectors ─┘
//! ```
//!
//! The files are the source of truth: the index is derived from them and updated before each search.
//! Facts are not files: they are queried each time, and a project keeps no copy of them.

mod answer;
mod document;
mod evaluation;
mod facts;
mod hit;
mod index;
mod markdown_file;
mod passage;
mod query;
mod search;
mod sources;
mod staleness;

pub use document::Flag;
pub use evaluation::{Evaluation, EvaluationRow, evaluate};
pub use hit::RecallHit;
pub use index::{CacheState, cache_state};
pub use query::RecallQuery;
pub use search::Method;
use serde::Serialize;
pub(crate) use sources::SOURCES;
pub use sources::SourceName;

use crate::error::Result;
use crate::project::Project;
use crate::recall::answer::{Extent, JudgedText, RecallAnswer};
use crate::recall::facts::FactHits;
use crate::recall::index::{Index, search_index};
use crate::recall::search::Scan;
use crate::recall::staleness::Staleness;
use crate::search::{Encoder, ReadText, Reread};
use crate::warning::Parsed;

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recalled {
    /// The query.
    pub query: String,
    /// The matching texts, best first.
    pub hits: Vec<RecallHit>,
    /// Whether more texts match than were asked for.
    pub truncated: bool,
    /// Number of texts left out of the best because they are irrelevant to the query.
    #[serde(skip_serializing_if = "is_zero")]
    pub withheld: usize,
    /// Number of newest files searched, if there was no time to search all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest_files: Option<usize>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "required by serde")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Searches the stores that the query names.
pub fn recall(project: &Project, query: &RecallQuery) -> Result<Parsed<Recalled>> {
    let mut fact_warnings = Vec::new();
    let facts = FactHits::fetch(project, query, &mut fact_warnings)?;
    let outcome = search_index(project, query.is_urgent, |index| {
        search_texts(project, index, query, &facts)
    })?;
    let mut warnings = outcome.warnings;
    let mut value = outcome.answer.into_value(&mut warnings);
    value.newest_files = outcome.newest_files;
    warnings.extend(fact_warnings);
    Ok(Parsed::new(value, project.named(warnings)))
}

fn search_texts(
    project: &Project,
    index: &Index,
    query: &RecallQuery,
    facts: &FactHits,
) -> rusqlite::Result<Parsed<Recalled>> {
    let mut scan = Scan::compare(index, query)?;
    facts.add_to(&mut scan, index, query)?;
    let mut warnings = Vec::new();
    let stale = Staleness::check(project, index, &scan)?.into_value(&mut warnings);
    let encoder = query.uses_encoder.then(Encoder::built_in).flatten();
    let mut reread = |texts: &[(usize, &ReadText)]| match encoder {
        Some(encoder) => search::reread(encoder, index, &scan, texts),
        None => Ok(Vec::new()),
    };
    let ranked = scan.ranked(
        Method::Both,
        |unit| read_text(index, &scan, facts, unit),
        encoder.is_some().then_some(&mut reread as &mut Reread<'_, _>),
        |unit| stale.contains(unit),
    )?;
    let extent = Extent { limit: query.limit, include_irrelevant: query.include_irrelevant };
    let answer = RecallAnswer::judge(index, &scan, ranked, facts, extent)?;
    let hits = answer.texts.into_iter();
    let value = Recalled {
        query: query.text.clone(),
        hits: hits.map(|judged| recall_hit(&scan, judged)).collect(),
        truncated: answer.truncated,
        withheld: answer.withheld,
        newest_files: None,
    };
    Ok(Parsed { value, warnings })
}

/// Returns the text of a unit, under its headings.
fn read_text(
    index: &Index,
    scan: &Scan,
    facts: &FactHits,
    unit: usize,
) -> rusqlite::Result<ReadText> {
    let unit = &scan.units[unit];
    let text = match facts.text(unit) {
        Some(text) => text,
        None => index.text(unit.id)?,
    };
    Ok(ReadText { heading: text.headings.join(": "), body: text.body })
}

fn recall_hit(scan: &Scan, judged: JudgedText) -> RecallHit {
    let JudgedText { scored, text, relevance } = judged;
    let unit = &scan.units[scored.unit];
    let (headings, snippet) = hit::display_text(&text, scan.terms());
    let (file, line) = scan.location(scored.unit);
    let copies = scored.duplicates.iter().map(|duplicate| scan.location(*duplicate));
    RecallHit {
        source: unit.source,
        file: (unit.source != SourceName::Facts).then(|| file.to_owned()),
        line: Some(line).filter(|line| *line > 0),
        id: text.key,
        headings,
        snippet,
        score: scored.rounded(),
        relevance,
        date: unit.date,
        copies: copies.map(|(file, line)| format_location(file, line)).collect(),
        parts: Some(scored.parts),
        flags: scored.flags,
    }
}

/// Returns the location of a text as shown to the user.
fn format_location(file: &str, line: usize) -> String {
    match line {
        0 => file.to_owned(),
        line => format!("{file}:{line}"),
    }
}
