//! Finds entries by keyword, tag and type: deterministic, without vectors or fuzzy matching.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::path::Path;

use chrono::NaiveDate;
use memchr::memmem::Finder;
use serde::Serialize;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::error::Result;
use crate::knowledge::entry::title_line;
use crate::knowledge::store::scan;
use crate::knowledge::{Entry, EntryType, KnowledgeDir};
use crate::project::Project;
use crate::text::{is_combining, is_unspaced};
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
            key: folded(query.text.trim()).into_owned(),
            words: words(&query.text),
            tags: folded_tags(&query.filter.tags),
        }
    }

    /// Returns whether an entry must be parsed to decide; an empty query may match any.
    fn may_match(&self, key: &str, text: &str) -> bool {
        if self.words.is_empty() {
            return self.query.text.trim().is_empty();
        }
        let folded = folded(text);
        let words = self.words.iter();
        words.into_iter().any(|word| word.is_in(&folded) || word.is_part_of(key))
    }

    fn hit(&self, text: &str, path: &Path) -> Option<EntryHit> {
        let entry = Entry::parse(text, path).value;
        let filter = &self.query.filter;
        if !filter.selects(&entry.tags, entry.kind, entry.is_active()) {
            return None;
        }
        let tags = folded_tags(&entry.tags);
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
        let (before, after) = (folded(&body[..title.start]), folded(&body[title.end..]));
        let title = folded(&body[title]);
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
            let line = folded(line);
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

/// A filter for entries.
#[derive(Clone, Debug, Default)]
pub struct EntryFilter {
    /// Only entries with one of these tags; empty for all.
    pub tags: Vec<String>,
    /// Only entries of this type; `None` for all.
    pub kind: Option<EntryType>,
    /// Whether to include entries that are not active.
    pub include_superseded: bool,
}

impl EntryFilter {
    /// Returns whether an entry is selected.
    pub(crate) fn selects(
        &self,
        tags: &[String],
        kind: Option<EntryType>,
        is_active: bool,
    ) -> bool {
        let wanted = folded_tags(&self.tags);
        let has_tag = || folded_tags(tags).iter().any(|tag| wanted.contains(tag));
        (is_active || self.include_superseded)
            && (self.kind.is_none() || self.kind == kind)
            && (wanted.is_empty() || has_tag())
    }
}

/// Returns tags normalised for comparison.
fn folded_tags(tags: &[String]) -> Vec<String> {
    tags.iter().map(|tag| folded(tag).into_owned()).collect()
}

/// A word to search for in lower-case text.
struct Word {
    text: String,
    finder: Finder<'static>,
}

impl Word {
    fn new(text: String) -> Self {
        let finder = Finder::new(text.as_bytes()).into_owned();
        Self { text, finder }
    }

    /// Returns the word, in lower case.
    fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether a key contains the word, even as part of another word.
    fn is_part_of(&self, key: &str) -> bool {
        self.finder.find(key.as_bytes()).is_some()
    }

    /// Returns whether a text in lower case contains the word as a whole; in scripts without spaces,
    /// anywhere.
    fn is_in(&self, folded: &str) -> bool {
        let mut rest = 0;
        while let Some(found) = self.finder.find(&folded.as_bytes()[rest..]) {
            let start = rest + found;
            let end = start + self.text.len();
            let before = folded[..start].chars().next_back();
            let after = folded[end..].chars().next();
            let first = self.text.chars().next();
            let last = self.text.chars().next_back();
            if is_border(before, first, first) && is_border(after, last, after) {
                return true;
            }
            // No match can start inside the first character.
            rest = start + first.map_or(1, char::len_utf8);
        }
        false
    }
}

/// Returns the distinct words of a query, in order.
fn words(query: &str) -> Vec<Word> {
    let query = folded(query);
    let mut found: Vec<String> = Vec::new();
    let mut add = |word: &str| {
        if !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    };
    each(&query, &mut add);
    found.into_iter().map(Word::new).collect()
}

/// Calls `add` with every word of a text in lower case, including repeated ones.
fn each(folded: &str, add: &mut impl FnMut(&str)) {
    let mut add = |word: &str| {
        if !word.is_empty() {
            add(word);
        }
    };
    for chunk in folded.split_whitespace() {
        if chunk.contains(char::is_alphanumeric) {
            parts(chunk, &mut add);
        } else {
            // A symbol or an emoji is a word by itself.
            add(chunk);
        }
    }
}

/// Calls `add` with the runs of letters and digits, splitting between scripts with and without spaces; some
/// runs are empty.
fn parts(chunk: &str, add: &mut impl FnMut(&str)) {
    let mut start = 0;
    let mut previous: Option<char> = None;
    for (at, c) in chunk.char_indices() {
        let goes_on = belongs(c)
            && previous.is_none_or(|previous| {
                belongs(previous) && (is_unspaced(previous) == is_unspaced(c) || is_combining(c))
            });
        if !goes_on {
            add(&chunk[start..at]);
            start = if belongs(c) { at } else { at + c.len_utf8() };
        }
        previous = belongs(c).then_some(c);
    }
    add(&chunk[start..]);
}

fn belongs(c: char) -> bool {
    c.is_alphanumeric() || is_combining(c)
}

/// Returns whether there is a word boundary between a word's character and its neighbour; `second` is the
/// later of the two, which may be a combining mark that belongs to the earlier one.
fn is_border(neighbour: Option<char>, own: Option<char>, second: Option<char>) -> bool {
    let (Some(neighbour), Some(own)) = (neighbour, own) else {
        return true;
    };
    let is_joined = second.is_some_and(is_combining);
    !belongs(neighbour) || !belongs(own) || is_unspaced(own) || is_unspaced(neighbour) && !is_joined
}

/// Returns a text in lower case and in composed form (NFC), since some systems store accents separately.
fn folded(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() {
        return Cow::Owned(lowered(text));
    }
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Owned(text.to_ascii_lowercase());
    }
    Cow::Borrowed(text)
}

/// Returns a text in lower case and in composed form; ASCII runs, usually most of a text, are handled faster.
fn lowered(text: &str) -> String {
    // Lower case first: that of `İ` is two characters, which may have to be reordered with what follows.
    let others = text.chars().filter(|c| !c.is_ascii());
    if is_nfc_quick(others.flat_map(char::to_lowercase)) != IsNormalized::Yes {
        return text.chars().flat_map(char::to_lowercase).nfc().collect();
    }
    let mut lower = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.bytes().position(|byte| !byte.is_ascii());
        let (ascii, after) = rest.split_at(end.unwrap_or(rest.len()));
        let start = lower.len();
        lower.push_str(ascii);
        lower[start..].make_ascii_lowercase();
        let mut chars = after.chars();
        lower.extend(chars.next().into_iter().flat_map(char::to_lowercase));
        rest = chars.as_str();
    }
    lower
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(query: &str) -> Vec<String> {
        words(query).into_iter().map(|word| word.text).collect()
    }

    fn is_in(word: &str, text: &str) -> bool {
        words(word)[0].is_in(&folded(text))
    }

    #[test]
    fn a_query_is_its_distinct_words() {
        assert_eq!(texts("Test runner, test-Runner!"), ["test", "runner"]);
        assert_eq!(texts("src/auth_v2.rs"), ["src", "auth", "v2", "rs"]);
        assert_eq!(texts("重试queue 🚀 ++"), ["重试", "queue", "🚀", "++"]);
        assert_eq!(texts("שלום עולם"), ["שלום", "עולם"]);
        assert_eq!(texts("ÄPFEL"), ["äpfel"]);
        assert_eq!(texts("  \n"), Vec::<String>::new());
        assert_eq!(texts("\"AND* -x"), ["and", "x"]);
    }

    #[test]
    fn words_are_found_whole() {
        assert!(is_in("test", "a Test."));
        assert!(is_in("test", "latest test"));
        assert!(!is_in("test", "latest tests test2"));
        assert!(is_in("重试", "请重试一次"));
        assert!(is_in("api", "用api调用"));
        assert!(is_in("🚀", "go🚀go"));
        assert!(is_in("été", "L'ÉTÉ"));
        assert!(!is_in("e", "e\u{301}"));
        assert!(is_in("0", "\u{e47}0"));
    }

    #[test]
    fn composed_and_decomposed_accents_match() {
        for (composed, parted) in [
            ("caf\u{e9}", "cafe\u{301}"),
            ("\u{c9}T\u{c9}", "E\u{301}TE\u{301}"),
            ("\u{d55c}\u{ae00}", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}"),
            ("\u{304c}", "\u{304b}\u{3099}"),
            ("\u{1ec7}", "e\u{302}\u{323}"),
        ] {
            assert!(is_in(composed, parted), "{composed}");
            assert!(is_in(parted, composed), "{parted}");
            assert_eq!(texts(composed), texts(parted));
        }
        assert!(!is_in("cafe", "cafe\u{301}"));
    }

    proptest! {
        #[test]
        fn the_fast_path_for_ascii_gives_the_same(text in "([a-zA-Z —]|[À-ɏͰ-῾가-힣\u{300}-\u{345}]|\\PC){0,16}") {
            let slow: String = text.chars().flat_map(char::to_lowercase).nfc().collect();
            prop_assert_eq!(folded(&text), slow);
        }

        #[test]
        fn equal_texts_are_folded_alike(text in "[a-zA-ZÀ-ɏͰ-῾가-힣ぁ-ヿ\u{300}-\u{345} ]{0,12}") {
            let composed: String = text.nfc().collect();
            let parted: String = text.nfd().collect();
            prop_assert_eq!(folded(&composed), folded(&parted));
        }

        #[test]
        fn a_text_contains_its_own_words(text in "\\PC{0,40}") {
            let lower = folded(&text);
            for word in words(&text) {
                prop_assert!(word.is_part_of(&lower));
                prop_assert!(word.is_in(&lower), "{} in {lower}", word.text);
            }
        }
    }
}
