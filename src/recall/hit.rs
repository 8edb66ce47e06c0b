//! Formats a hit for output.

use chrono::NaiveDate;
use serde::Serialize;

use crate::recall::flags::{Flag, Flags};
use crate::recall::sources::{SourceName, name_of};
use crate::search::index::Hit;
use crate::search::{FusedParts, Relevance, Term, passages};
use crate::sessions;
use crate::text::sanitized;

/// A text that was found, with its location.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecallHit {
    /// Its store.
    pub source: SourceName,
    /// Path of its file, relative to the project if inside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Number of its first line there, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Its identifier in its store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The command that resumes the session that it is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// Titles of the headings above it, outermost first.
    pub headings: Vec<String>,
    /// Its text, verbatim except for redacted secrets; of a long text, the passage that matches best.
    pub snippet: String,
    /// Its score, comparable only within one answer.
    pub score: f64,
    /// Its relevance to the query.
    pub relevance: Relevance,
    /// The date that it refers to.
    pub date: Option<NaiveDate>,
    /// Reasons to treat it with caution.
    pub flags: Vec<Flag>,
    /// Other locations of the same text, as `file:line`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<String>,
    /// Components of the score, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<FusedParts>,
}

impl RecallHit {
    /// Returns a hit as it is shown.
    pub(crate) fn new(hit: Hit, terms: &[Term]) -> Self {
        let clean = |text: &str| sanitized(text).into_owned();
        let passage = hit.passage;
        let is_session = hit.source.map(name_of) == Some(SourceName::Sessions);
        // Cut after redaction: a truncated key would not be recognised.
        let whole = clean(&passage.text);
        let place = |(file, line): (String, usize)| match line {
            0 => file,
            line => format!("{file}:{line}"),
        };
        Self {
            source: hit.source.map_or(SourceName::Facts, name_of),
            file: hit.source.map(|_| hit.file),
            line: Some(passage.line).filter(|line| *line > 0),
            resume: passage.id.as_deref().filter(|_| is_session).and_then(sessions::resume),
            id: passage.id,
            headings: passage.headings.iter().map(|title| clean(title)).collect(),
            snippet: excerpt(&whole, terms).to_owned(),
            score: (hit.score * 10_000.0).round() / 10_000.0,
            relevance: hit.relevance,
            date: passage.date,
            flags: Flags::from_bits(passage.flags).list().collect(),
            copies: hit.copies.into_iter().map(place).collect(),
            parts: Some(hit.parts),
        }
    }
}

/// Returns the first passage of those that contain the most terms.
fn excerpt<'a>(text: &'a str, terms: &[Term]) -> &'a str {
    let count = |passage: &&str| {
        let passage = passage.to_lowercase();
        let occurs = |term: &&Term| {
            passage.contains(&term.word) || term.stems.iter().any(|stem| passage.contains(stem))
        };
        terms.iter().filter(occurs).count()
    };
    let best = |text: &'a str| passages(text).into_iter().rev().max_by_key(count).unwrap_or(text);
    // The last passage of a very long text is all the rest.
    best(best(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_text_the_best_passage_is_shown() {
        let lines: Vec<String> = (0..100).map(|n| format!("line {n} of many")).collect();
        let text = lines.join("\n").replace("line 60 of many", "line 60 has the needle");
        let found = excerpt(&text, &crate::search::terms("needle", &[]));
        assert!(found.contains("line 60 has the needle"), "{found}");
        assert!(found.len() <= 750 && text.contains(found));
        assert!(found.starts_with("line ") && found.len() > 300);
        assert_eq!(excerpt("short", &[]), "short");
        let text = format!("{} the needle", "many words ".repeat(5500));
        let found = excerpt(&text, &crate::search::terms("needle", &[]));
        assert!(found.ends_with("needle") && found.len() <= 750, "{}", found.len());
    }
}
