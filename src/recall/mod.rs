//! One search over every store, each hit cited.
//!
//! ```text
//! sources ── documents ── index (a cache) ── words ─┬─ one score ── hits
//!                                      └── vectors ─┘
//! ```
//!
//! The files are the truth: the index holds nothing else, and is brought up to date before each search.
//! Facts are no files: they are asked for each time, and no copy of them is kept in a project.

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
pub use document::SourceName;
pub use evaluation::Evaluation;
pub use evaluation::EvaluationRow;
pub use evaluation::evaluate;
pub use hit::Hit;
pub use index::CacheState;
pub use index::cache_state;
pub use query::Query;
pub use search::Method;
pub use search::Parts;

use serde::Serialize;

use crate::error::Result;
use crate::project::Project;
use crate::recall::facts::Asked;
use crate::recall::index::Index;
use crate::recall::index::searched;
use crate::recall::search::Scan;
use crate::recall::search::Scored;
use crate::recall::staleness::Staleness;
use crate::warning::Parsed;

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recalled {
    /// What was looked for.
    pub query: String,
    /// The texts that fit, the best first.
    pub hits: Vec<Hit>,
    /// Whether more fit than were asked for.
    pub truncated: bool,
}

/// Looks for a query in the stores that it names.
pub fn recall(project: &Project, query: &Query) -> Result<Parsed<Recalled>> {
    let mut told = Vec::new();
    let facts = Asked::of(project, query, &mut told)?;
    let (found, mut warnings) = searched(project, |index| found(project, index, query, &facts))?;
    let value = found.into_value(&mut warnings);
    warnings.extend(told);
    Ok(Parsed {
        value,
        warnings: project.named(warnings),
    })
}

fn found(
    project: &Project,
    index: &Index,
    query: &Query,
    facts: &Asked,
) -> rusqlite::Result<Parsed<Recalled>> {
    let mut scan = Scan::take(index, query)?;
    facts.add_to(&mut scan, index, query)?;
    let mut warnings = Vec::new();
    let stale = Staleness::of(project, index, &scan)?.into_value(&mut warnings);
    let ranked = scan.ranked(Method::Both, |unit| stale.has(unit));
    let hits = ranked.iter().take(query.limit);
    let value = Recalled {
        query: query.text.clone(),
        hits: hits
            .map(|scored| match facts.hit(&scan, scored) {
                Some(hit) => Ok(hit),
                None => hit(index, &scan, scored, &query.text),
            })
            .collect::<rusqlite::Result<_>>()?,
        truncated: ranked.len() > query.limit,
    };
    Ok(Parsed { value, warnings })
}

fn hit(index: &Index, scan: &Scan, scored: &Scored, query: &str) -> rusqlite::Result<Hit> {
    let unit = &scan.units[scored.unit];
    let text = index.text(unit.id)?;
    let (headings, snippet) = hit::shown(&text, query);
    let (file, line) = scan.place(scored.unit);
    let copies = scored.twins.iter().map(|twin| scan.place(*twin));
    Ok(Hit {
        source: unit.source,
        file: Some(file.to_owned()),
        line: Some(line).filter(|line| *line > 0),
        id: text.key,
        headings,
        snippet,
        score: scored.rounded(),
        date: unit.date,
        flags: scored.flags.clone(),
        copies: copies.map(|(file, line)| place(file, line)).collect(),
        parts: Some(scored.parts),
    })
}

/// Returns where a text stands, as it is shown.
fn place(file: &str, line: usize) -> String {
    match line {
        0 => file.to_owned(),
        line => format!("{file}:{line}"),
    }
}
