//! Finds entries by keyword, tag and type, deterministically, without vectors or fuzzy matching; and summarises each
//! active entry in one line.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use chrono::{Days, NaiveDate};
use clap::Args;
use serde::Serialize;
use unicode_normalization::UnicodeNormalization;

use crate::error::Result;
use crate::knowledge::entry::{links, title_line};
use crate::knowledge::store::{EntryFile, order_of_writes, scan};
use crate::knowledge::{Confidence, Entry, EntryType, KnowledgeDir};
use crate::project::Project;
use crate::text::{
    around_words, is_combining, is_unspaced, join, one_line, sanitized, sentence_ends,
};
use crate::warning::{Parsed, Warning};

const EXACT_KEY: usize = 10;
const TAG: usize = 5;
const TYPE: usize = 5;
const TITLE: usize = 3;
const BODY: usize = 1;

/// An entry that matches a query.
#[derive(Debug, Serialize)]
pub struct EntryHit {
    /// Its key.
    pub key: String,
    /// Its type, or `None` if it has none or an unknown one.
    #[serde(rename = "type")]
    pub kind: Option<EntryType>,
    /// The first matching line, verbatim except for what no agent may read.
    pub snippet: String,
    /// The relevance score.
    pub score: usize,
    #[serde(skip)]
    updated: Option<NaiveDate>,
}

/// The results, best first. It is the document of `annals entry query --json`.
#[derive(Debug, Serialize)]
pub struct Hits {
    /// The entries.
    pub hits: Vec<EntryHit>,
}

/// Returns the selected entries that contain at least one of the words of a text.
pub fn query(project: &Project, text: &str, filter: &EntryFilter) -> Result<Parsed<Hits>> {
    let place = KnowledgeDir::in_project(project);
    let search = Search {
        filter,
        text: folded(text.trim()),
        words: words(text),
        tags: folded_tags(&filter.tags),
    };
    let found = scan(&place, |file| search.hit(file))?;
    Ok(found.map(|mut hits| {
        hits.sort_by(|a, b| (b.score, b.updated, &a.key).cmp(&(a.score, a.updated, &b.key)));
        Hits { hits }
    }))
}

/// A query prepared for matching many entries.
struct Search<'q> {
    filter: &'q EntryFilter,
    text: String,
    words: Vec<String>,
    tags: Vec<String>,
}

impl Search<'_> {
    fn hit(&self, file: &EntryFile<'_>) -> Option<EntryHit> {
        let text = &file.text;
        let is_named = || self.words.iter().any(|word| file.key.contains(word));
        if !self.text.is_empty() && !self.is_in(text) && !is_named() {
            return None;
        }
        let entry = file.entry();
        if !self.filter.selects(&entry) {
            return None;
        }
        let tags = folded_tags(&entry.tags);
        let by_words = self.score_of_words(&entry, &tags, text);
        if by_words == 0 && !self.text.is_empty() {
            return None;
        }
        let tag_asked = |tag: &&String| self.tags.contains(tag) && !self.is_word(tag);
        let type_asked = self.filter.kind.is_some_and(|kind| !self.is_word(kind.as_str()));
        let asked = tags.iter().filter(tag_asked).count() * TAG + usize::from(type_asked) * TYPE;
        Some(EntryHit {
            snippet: sanitized(self.snippet(&entry, text)).into_owned(),
            score: by_words + asked,
            updated: entry.dated(),
            kind: entry.kind,
            key: entry.key,
        })
    }

    fn score_of_words(&self, entry: &Entry, tags: &[String], text: &str) -> usize {
        let body = &text[entry.body.clone()];
        let title = title_line(body).unwrap_or(0..0);
        let around = [folded(&body[..title.start]), folded(&body[title.end..])];
        let title = folded(&body[title]);
        let in_title = self.words.iter().filter(|word| is_in(word, &title));
        let in_body = self.words.iter().filter(|word| around.iter().any(|text| is_in(word, text)));
        let is_key = self.text == entry.key || self.is_part(&entry.key);
        let is_type = entry.kind.is_some_and(|kind| self.is_word(kind.as_str()));
        usize::from(is_key) * EXACT_KEY
            + tags.iter().filter(|tag| self.is_word(tag)).count() * TAG
            + usize::from(is_type) * TYPE
            + in_title.count() * TITLE
            + in_body.count() * BODY
    }

    /// Returns whether the query names a tag or a type: as one of its words, or literally.
    fn is_word(&self, name: &str) -> bool {
        self.words.iter().any(|word| word == name) || self.is_part(name)
    }

    fn is_part(&self, name: &str) -> bool {
        self.text.split_whitespace().any(|part| part == name)
    }

    fn is_in(&self, text: &str) -> bool {
        let text = folded(text);
        self.words.iter().any(|word| is_in(word, &text))
    }

    /// Returns the first matching line of the body, or else of the front matter, or else the body's first line.
    fn snippet<'t>(&self, entry: &Entry, text: &'t str) -> &'t str {
        let (front, body) = text.split_at(entry.body.start);
        let found = body.lines().chain(front.lines()).find(|line| self.is_in(line));
        let first = || body.lines().find(|line| !line.trim().is_empty());
        found.or_else(first).unwrap_or_default()
    }
}

/// A filter for entries.
#[derive(Args, Debug, Default)]
pub struct EntryFilter {
    /// Only entries with one of these tags
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    pub tags: Vec<String>,
    /// Only entries of this type
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<EntryType>,
    /// Include entries that are superseded or stale
    #[arg(long)]
    pub include_superseded: bool,
}

impl EntryFilter {
    /// Returns whether an entry is selected.
    pub(crate) fn selects(&self, entry: &Entry) -> bool {
        let wanted = folded_tags(&self.tags);
        let has_tag = || folded_tags(&entry.tags).iter().any(|tag| wanted.contains(tag));
        (entry.is_active() || self.include_superseded)
            && (self.kind.is_none() || self.kind == entry.kind)
            && (wanted.is_empty() || has_tag())
    }
}

/// Returns tags normalised for comparison.
fn folded_tags(tags: &[String]) -> Vec<String> {
    tags.iter().map(|tag| folded(tag)).collect()
}

/// Returns whether a folded text contains a word as a whole; in scripts without spaces, anywhere.
fn is_in(word: &str, text: &str) -> bool {
    around_words(text, word).next().is_some()
}

/// Returns the distinct words of a query, in order: runs of letters and digits of one kind of script, and symbols that
/// stand alone.
fn words(query: &str) -> Vec<String> {
    let query = folded(query);
    let mut found: Vec<String> = Vec::new();
    for chunk in query.split_whitespace() {
        let letters: Vec<char> = chunk.chars().collect();
        let is_symbol = !letters.iter().any(|c| belongs(*c));
        let goes_on = |a: &char, b: &char| {
            belongs(*a) && belongs(*b) && (is_combining(*b) || is_unspaced(*a) == is_unspaced(*b))
        };
        for part in letters.chunk_by(|a, b| is_symbol || goes_on(a, b)) {
            let word: String = part.iter().collect();
            if (is_symbol || part.iter().any(|c| belongs(*c))) && !found.contains(&word) {
                found.push(word);
            }
        }
    }
    found
}

fn belongs(c: char) -> bool {
    c.is_alphanumeric() || is_combining(c)
}

/// Returns a text in lower case and in composed form (NFC), since some systems store accents separately.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    // Lower case first: that of `İ` is two characters, which may have to be reordered with what follows.
    let lower = text.chars().flat_map(char::to_lowercase);
    // Letters that have one upper case.
    let one_case = lower.map(|c| match c {
        '\u{3c2}' => '\u{3c3}',
        '\u{b5}' => '\u{3bc}',
        c => c,
    });
    one_case.nfc().collect()
}

/// Number of days by which each link to an entry makes it count as newer.
const DAYS_PER_LINK: u64 = 30;

/// An active entry in a line.
#[derive(Debug, Serialize)]
pub struct EntrySummary {
    /// Its key.
    pub key: String,
    /// Its title.
    pub title: Option<String>,
    /// The text below the title, on one line.
    pub text: String,
    /// How certain its author was.
    pub confidence: Option<Confidence>,
    /// The day from which its age is counted.
    pub dated: Option<NaiveDate>,
    /// Number of active entries that link to it.
    pub cited: usize,
}

impl EntrySummary {
    /// Returns the entry as a reference: its key, its title and its first sentence, or with `whole` its text.
    pub fn line(&self, whole: bool) -> String {
        let end = sentence_ends(&self.text).first().copied().filter(|_| !whole);
        let said = self.text[..end.unwrap_or(self.text.len())].trim();
        let title = self.title.as_deref().unwrap_or_default();
        let same = |text: &str| one_line(text).trim_end_matches('.').to_lowercase();
        // A title made of the text itself would only repeat it.
        let begins = same(title.trim_end_matches('…'));
        let parts = match (title, said) {
            (title, "") => title.to_owned(),
            (_, said) if same(said).starts_with(&begins) => said.to_owned(),
            (title, said) => format!("{title}: {said}"),
        };
        // In front, where no limit cuts it off.
        let doubt = match self.confidence {
            Some(Confidence::Low) => "(unconfirmed) ",
            _ => "",
        };
        format!("[[{}]] {doubt}{parts}", self.key)
    }
}

/// Returns the active entries, the newest and most cited first; of those of the same age, the one written last.
pub fn summaries(project: &Project) -> Result<Parsed<Vec<EntrySummary>>> {
    let place = KnowledgeDir::in_project(project);
    let mut warnings = Vec::new();
    let written = order_of_writes(&place).unwrap_or_else(|error| {
        warnings.push(Warning::file(&place.log(), error.reason()));
        HashMap::new()
    });
    let mut found = linked(project)?.map(|mut all| {
        all.retain(|one| one.entry.is_active());
        let mut cited: HashMap<&str, usize> = HashMap::new();
        for key in all.iter().flat_map(|one| &one.links) {
            *cited.entry(key).or_default() += 1;
        }
        let summary = |LinkedEntry { entry, text, .. }: &LinkedEntry| EntrySummary {
            key: entry.key.clone(),
            title: entry.title.clone(),
            text: text.clone(),
            confidence: entry.confidence,
            dated: entry.dated(),
            cited: cited.get(entry.key.as_str()).copied().unwrap_or_default(),
        };
        let mut all: Vec<EntrySummary> = all.iter().map(summary).collect();
        all.sort_by_key(|one| {
            let day = one.dated.unwrap_or_default();
            let day = day.checked_add_days(Days::new(one.cited as u64 * DAYS_PER_LINK));
            Reverse((day, written.get(&one.key)))
        });
        all
    });
    found.warnings.extend(warnings);
    Ok(found)
}

/// Returns the prose of a body on one line: without headings.
fn prose(body: &str) -> String {
    let lines = body.lines().filter(|line| !line.trim_start().starts_with('#'));
    one_line(&join(lines, " "))
}

/// An entry with its links.
#[derive(Debug)]
pub struct LinkedEntry {
    /// The entry.
    pub entry: Entry,
    /// The keys in `[[…]]` and `supersedes`, sorted and without duplicates; the entries may not exist.
    pub links: Vec<String>,
    /// The text below the title, on one line.
    text: String,
}

/// Returns all entries with their links, sorted by key.
pub fn linked(project: &Project) -> Result<Parsed<Vec<LinkedEntry>>> {
    let place = KnowledgeDir::in_project(project);
    let mut found = scan(&place, |file| {
        let entry = file.entry();
        let body = &file.text[entry.body.clone()];
        let named = links(body, 1).map(|(to, _)| to.to_owned());
        let named: BTreeSet<String> = named.chain(entry.supersedes.iter().cloned()).collect();
        let links = named.into_iter().filter(|key| *key != entry.key).collect();
        let text = prose(&body[title_line(body).map_or(0, |line| line.end)..]);
        Some(LinkedEntry { entry, links, text })
    })?;
    found.value.sort_by(|a, b| a.entry.key.cmp(&b.entry.key));
    Ok(found)
}

/// Returns which entry has replaced which, by the key of the old one; of several, an active one.
pub(crate) fn successors(project: &Project) -> Result<HashMap<String, String>> {
    let mut all = scan(&KnowledgeDir::in_project(project), |file| Some(file.entry()))?.value;
    all.sort_by_key(Entry::is_active);
    let named = |new: &Entry| {
        let key = new.key.clone();
        new.supersedes.clone().into_iter().map(move |old| (old, key.clone()))
    };
    Ok(all.iter().flat_map(named).filter(|(old, new)| old != new).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(word: &str, text: &str) -> bool {
        is_in(&words(word)[0], &folded(text))
    }

    #[test]
    fn a_query_is_its_distinct_words() {
        assert_eq!(words("Test runner, test-Runner!"), ["test", "runner"]);
        assert_eq!(words("src/auth_v2.rs"), ["src", "auth", "v2", "rs"]);
        assert_eq!(words("重试queue 🚀 ++"), ["重试", "queue", "🚀", "++"]);
        assert_eq!(words("שלום ÄPFEL"), ["שלום", "äpfel"]);
        assert_eq!(words("  \n"), Vec::<String>::new());
        assert_eq!(words("\"AND* -x"), ["and", "x"]);
    }

    #[test]
    fn words_are_found_whole() {
        assert!(finds("test", "a Test."));
        assert!(finds("test", "latest test"));
        assert!(!finds("test", "latest tests test2"));
        assert!(finds("重试", "请重试一次"));
        assert!(finds("api", "用api调用"));
        assert!(finds("🚀", "go🚀go"));
        assert!(finds("été", "L'ÉTÉ"));
        assert!(finds("ΛΟΓΟΣ", "λογος"));
        assert!(finds("µs", "5 \u{3bc}s"));
        assert!(!finds("e", "e\u{301}"));
        assert!(finds("0", "\u{e47}0"));
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
            assert!(finds(composed, parted), "{composed}");
            assert!(finds(parted, composed), "{parted}");
            assert_eq!(words(composed), words(parted));
        }
        assert!(!finds("cafe", "cafe\u{301}"));
    }
}
