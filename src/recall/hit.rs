//! What is shown of a text that was found.

use chrono::NaiveDate;
use serde::Serialize;

use crate::ranking::Relevance;
use crate::ranking::Term;
use crate::recall::document::Flag;
use crate::recall::index::StoredText;
use crate::recall::search::Parts;
use crate::recall::sources::SourceName;
use crate::text::sanitized;

/// A longer text is shown in part.
const EXCERPT: usize = 600;

/// A text that was found, and where it stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecallHit {
    /// The store that it comes from.
    pub source: SourceName,
    /// Its file, relative to the project where it lies inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its first line there, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// What its store knows it by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The headings that it stands under, the outermost first.
    pub headings: Vec<String>,
    /// Its text, verbatim but for secrets; of a long one whole lines around what fits best.
    pub snippet: String,
    /// How well it fits; comparable within one answer.
    pub score: f64,
    /// Whether it has to do with the query.
    pub relevance: Relevance,
    /// The day that it speaks of.
    pub date: Option<NaiveDate>,
    /// Why it is to be read with care.
    pub flags: Vec<Flag>,
    /// Where the same text stands again: `file:line`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<String>,
    /// What the score is made of, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Parts>,
}

/// Returns headings and snippet of a text as they are shown.
pub(crate) fn display_text(text: &StoredText, terms: &[Term]) -> (Vec<String>, String) {
    let clean = |text: &str| sanitized(text).into_owned();
    let headings = text.headings.iter().map(|title| clean(title));
    // Cut after cleaning: half of a key would not be known as one.
    let whole = clean(&text.body);
    (headings.collect(), excerpt(&whole, terms).to_owned())
}

/// Returns the whole lines around the one that has most of the words.
fn excerpt<'a>(text: &'a str, terms: &[Term]) -> &'a str {
    if text.len() <= EXCERPT {
        return text;
    }
    let mut lines: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        lines.push((at, at + line.len()));
        at += line.len();
    }
    let words_in = |(from, to): &(usize, usize)| {
        let line = text[*from..*to].to_lowercase();
        let stands_in = |term: &&Term| {
            let stems = term.stems.iter();
            line.contains(&term.word) || stems.into_iter().any(|stem| line.contains(stem))
        };
        terms.iter().filter(stands_in).count()
    };
    let counts: Vec<usize> = lines.iter().map(words_in).collect();
    let most = counts.iter().copied().max().unwrap_or_default();
    let best = counts
        .iter()
        .position(|count| *count == most)
        .unwrap_or_default();
    let (mut first, mut last) = (best, best);
    let length = |first: usize, last: usize| lines[last].1 - lines[first].0;
    loop {
        if last + 1 < lines.len() && length(first, last + 1) <= EXCERPT {
            last += 1;
        } else if first > 0 && length(first - 1, last) <= EXCERPT {
            first -= 1;
        } else {
            break;
        }
    }
    let part = text[lines[first].0..lines[last].1].trim();
    // One line alone may be as long as it likes.
    let end = (EXCERPT..=part.len()).find(|end| part.is_char_boundary(*end));
    &part[..end.filter(|_| part.len() > EXCERPT).unwrap_or(part.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shown_around_what_fits() {
        let lines: Vec<String> = (0..100).map(|n| format!("line {n} of many")).collect();
        let text = lines
            .join("\n")
            .replace("line 60 of many", "line 60 has the needle");
        let found = excerpt(&text, &crate::ranking::terms("needle", &[]));
        assert!(found.contains("line 60 has the needle"), "{found}");
        assert!(found.len() <= EXCERPT && text.contains(found));
        assert!(found.starts_with("line ") && found.len() > EXCERPT / 2);
        assert_eq!(excerpt("short", &[]), "short");
    }

    #[test]
    fn one_long_line_is_cut_at_a_character() {
        let text = format!("a{}", "é".repeat(1000));
        assert_eq!(excerpt(&text, &[]).chars().count(), 301);
    }
}
