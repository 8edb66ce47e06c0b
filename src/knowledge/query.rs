//! Finds entries by keyword, tag and type: deterministic, without vectors or fuzzy matching.

use std::cmp::Reverse;
use std::path::Path;

use chrono::NaiveDate;
use serde::Serialize;

use crate::error::Result;
use crate::knowledge::entry::title_line;
use crate::knowledge::filter::folded;
use crate::knowledge::scan::scan;
use crate::knowledge::words::Word;
use crate::knowledge::{Entry, EntryFilter, EntryType, KnowledgeDir, words};
use crate::project::Project;
use crate::warning::Parsed;

const EXACT_KEY: u32 = 10;
const TAG: u32 = 5;
const TYPE: u32 = 5;
const TITLE: u32 = 3;
const BODY: u32 = 1;

/// A query for entries.
#[derive(Clone, Debug, Default)]
pub struct EntryQuery {
    /// The search words; an entry must contain at least one of them.
    pub text: String,
    /// The entries to search.
    pub filter: EntryFilter,
}

/// An entry that matches a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EntryHit {
    /// Its key.
    pub key: String,
    /// Its type, or `None` if it has none or an unknown one.
    #[serde(rename = "type")]
    pub kind: Option<EntryType>,
    /// The first matching line, verbatim.
    pub snippet: String,
    /// The relevance score.
    pub score: u32,
    #[serde(skip)]
    updated: Option<NaiveDate>,
}

/// The results, best first. It is the document of `annals entry query --json`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Hits {
    /// The entries.
    pub hits: Vec<EntryHit>,
}

/// Returns the entries that match a query.
pub fn query(project: &Project, query: &EntryQuery) -> Result<Parsed<Hits>> {
    let place = KnowledgeDir::in_project(project);
    let search = Search::new(query);
    let found = scan(&place, |file| {
        let text = String::from_utf8_lossy(&file.bytes);
        if !search.may_match(file.key, &text) {
            return None;
        }
        search.hit(&text, &file.path)
    })?;
    Ok(found.map(|mut hits| {
        hits.sort_by(|a, b| {
            let rank = |hit: &EntryHit| (Reverse(hit.score), Reverse(hit.updated));
            rank(a).cmp(&rank(b)).then_with(|| a.key.cmp(&b.key))
        });
        Hits { hits }
    }))
}

/// A query prepared for matching many entries.
struct Search<'q> {
    query: &'q EntryQuery,
    key: String,
    words: Vec<Word>,
    tags: Vec<String>,
}

impl<'q> Search<'q> {
    fn new(query: &'q EntryQuery) -> Self {
        Self {
            query,
            key: words::folded(query.text.trim()).into_owned(),
            words: words::words(&query.text),
            tags: folded(&query.filter.tags),
        }
    }

    /// Returns whether an entry must be parsed to decide; an empty query may match any.
    fn may_match(&self, key: &str, text: &str) -> bool {
        if self.words.is_empty() {
            return self.query.text.trim().is_empty();
        }
        let folded = words::folded(text);
        let words = self.words.iter();
        words.into_iter().any(|word| word.is_in(&folded) || word.is_part_of(key))
    }

    fn hit(&self, text: &str, path: &Path) -> Option<EntryHit> {
        let entry = Entry::parse(text, path).value;
        let filter = &self.query.filter;
        if !filter.selects(&entry.tags, entry.kind, entry.is_active()) {
            return None;
        }
        let tags = folded(&entry.tags);
        let by_words = self.score_of_words(&entry, &tags, text);
        if by_words == 0 && !self.query.text.trim().is_empty() {
            return None;
        }
        let tag_asked = |tag: &&String| self.tags.contains(tag) && !self.is_word(tag);
        let type_asked = filter.kind.is_some_and(|kind| !self.is_word(kind.as_str()));
        let asked = count(tags.iter().filter(tag_asked)) * TAG + u32::from(type_asked) * TYPE;
        Some(EntryHit {
            snippet: self.snippet(&entry, text).to_owned(),
            score: by_words + asked,
            updated: entry.dated(),
            kind: entry.kind,
            key: entry.key,
        })
    }

    fn score_of_words(&self, entry: &Entry, tags: &[String], text: &str) -> u32 {
        let body = &text[entry.body.clone()];
        let title = title_line(body).unwrap_or(0..0);
        let (before, after) =
            (words::folded(&body[..title.start]), words::folded(&body[title.end..]));
        let title = words::folded(&body[title]);
        let in_title = self.words.iter().filter(|word| word.is_in(&title));
        let in_body = self.words.iter().filter(|word| word.is_in(&before) || word.is_in(&after));
        let is_key =
            self.key == entry.key || self.key.split_whitespace().any(|word| word == entry.key);
        let is_type = entry.kind.is_some_and(|kind| self.is_word(kind.as_str()));
        u32::from(is_key) * EXACT_KEY
            + count(tags.iter().filter(|tag| self.is_word(tag))) * TAG
            + u32::from(is_type) * TYPE
            + count(in_title) * TITLE
            + count(in_body) * BODY
    }

    /// Returns whether the query names a tag or a type: as one of its words, or literally.
    fn is_word(&self, name: &str) -> bool {
        self.words.iter().any(|word| word.as_str() == name)
            || self.key.split_whitespace().any(|word| word == name)
    }

    /// Returns the first matching line of the body, or else of the front matter, or else the body's first
    /// line.
    fn snippet<'t>(&self, entry: &Entry, text: &'t str) -> &'t str {
        let matches = |line: &&str| {
            let line = words::folded(line);
            self.words.iter().any(|word| word.is_in(&line))
        };
        let body = &text[entry.body.clone()];
        let mut front = text[..entry.body.start].lines();
        let first = || body.lines().find(|line| !line.trim().is_empty());
        body.lines()
            .find(matches)
            .or_else(|| front.find(matches))
            .or_else(first)
            .unwrap_or_default()
    }
}

fn count<T>(of: impl Iterator<Item = T>) -> u32 {
    u32::try_from(of.count()).unwrap_or(u32::MAX)
}
