//! Proposes by fixed rules where to keep a finding; most are not worth keeping.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use regex_lite::Regex;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::error::{Error, Result};
use crate::knowledge::entry::key_fault;
use crate::knowledge::store::indexed;
use crate::knowledge::{Confidence, Entry, EntryStatus, EntryType};
use crate::project::Project;
use crate::search::words;
use crate::text::{first_chars, join, listed, negates, sha256, slug_of, word_enum};

/// Number of leading characters of a finding that are examined; real findings are shorter.
const MAX_CHARACTERS: usize = 4_000;
/// Maximum number of words in a proposed key.
const KEY_WORDS: usize = 5;

word_enum! {
    /// A place to keep a finding.
    pub enum Surface {
        /// An entry.
        Entry = "entry",
        /// The Priority Context of the notepad.
        NotepadPriority = "notepad-priority",
        /// The Working Memory of the notepad.
        NotepadWorking = "notepad-working",
        /// The Manual section of the notepad.
        NotepadManual = "notepad-manual",
        /// Not kept.
        None = "none",
    }
}

/// The proposal for a finding. It is the document of `annals entry classify --json`.
#[derive(Debug, Serialize)]
pub struct Classification {
    /// The finding, verbatim.
    pub finding: String,
    /// The proposal.
    pub proposed: Proposal,
}

/// Where to keep a finding, and with which properties.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proposal {
    /// The place.
    pub surface: Surface,
    /// The key of the proposed entry, if any.
    pub key: Option<String>,
    /// The type of the proposed entry, if any.
    #[serde(rename = "type")]
    pub entry_type: Option<EntryType>,
    /// Tags of existing entries that occur in the finding.
    pub tags: Vec<String>,
    /// The confidence in the proposal; never high, because no rule can tell whether a finding is true.
    pub confidence: Confidence,
    /// The reason, in one line.
    pub reason: String,
}

/// Proposes where to keep a finding in this project.
pub fn classify(project: &Project, finding: &str) -> Result<Classification> {
    if finding.trim().is_empty() {
        return Err(Error::usage("the finding is empty"));
    }
    let known = indexed(project)?.value;
    Ok(Classification { finding: finding.to_owned(), proposed: proposal(finding, &known) })
}

/// Proposes where to keep a finding.
fn proposal(finding: &str, known: &[Entry]) -> Proposal {
    let beginning = first_chars(finding.trim(), MAX_CHARACTERS);
    let words = content_words(beginning);
    let nowhere = Proposal {
        surface: Surface::None,
        key: None,
        entry_type: None,
        tags: Vec::new(),
        confidence: Confidence::Medium,
        reason: String::new(),
    };
    let mut similar = known.iter().filter(|known| is_similar(known, &words));
    if let Some(same) = similar.clone().find(|known| words.is_subset(&words_of(known))) {
        return Proposal { reason: format!("already known as {}", same.key), ..nowhere };
    }
    // A similar entry is about the same subject, but the finding is new.
    let similar = similar.next();
    let Some(rule) = deciding(beginning) else {
        return Proposal {
            confidence: Confidence::Low,
            reason: "no sign that it is durable and reusable".to_owned(),
            ..nowhere
        };
    };
    let proposal = Proposal { surface: rule.to, reason: rule.reason.clone(), ..nowhere };
    let Some((entry_type, confidence)) = rule.entry_type.zip(rule.confidence) else {
        return proposal;
    };
    let key = match similar {
        Some(similar) => similar.key.clone(),
        None => key_from_words(beginning, entry_type),
    };
    let exists = known.iter().any(|known| known.key == key);
    let hint = if exists { "; the key exists, update or supersede it" } else { "" };
    Proposal {
        tags: tags(known, &words),
        key: Some(key),
        entry_type: similar.and_then(|known| known.kind).or(Some(entry_type)),
        confidence,
        reason: format!("{}{hint}", rule.reason),
        ..proposal
    }
}

/// Returns whether an active entry is about the subject of a finding: each shares most of its words with the
/// other.
fn is_similar(known: &Entry, words: &HashSet<String>) -> bool {
    let named = words_of(known);
    let both = words.intersection(&named).count();
    let most = |all: usize| both >= 2 && both * 5 >= all * 3;
    known.status != EntryStatus::Superseded && most(words.len()) && most(named.len())
}

/// Returns the words of an entry's key and title.
fn words_of(known: &Entry) -> HashSet<String> {
    let title = first_chars(known.title.as_deref().unwrap_or_default(), MAX_CHARACTERS);
    content_words(&format!("{} {title}", known.key.replace('-', " ")))
}

/// Returns the words of a text that are not stop words.
pub(crate) fn content_words(text: &str) -> HashSet<String> {
    let words = words(text).into_iter();
    words.filter(|word| !listed(STOP_WORDS, word)).collect()
}

/// Stop words.
const STOP_WORDS: &str = "a about all alwai always an and any are as at be because been but by can chose decid decided \
    do does for from had has have i if in into is it its must need never not of on or our should \
    since so than that the their them then there they thi this to us use used using was we were \
    when which will with you your";

/// Returns the tags of existing entries that occur in the finding, sorted.
fn tags(known: &[Entry], words: &HashSet<String>) -> Vec<String> {
    let all = known.iter().flat_map(|known| &known.tags);
    let named = all.filter(|tag| {
        let parts = content_words(tag);
        !parts.is_empty() && parts.iter().all(|part| words.contains(part))
    });
    let mut tags: Vec<String> = named.cloned().collect();
    tags.sort();
    tags.dedup();
    tags
}

/// Returns the type of entry that the rules give a text, if any.
pub(crate) fn type_by_rules(text: &str) -> Option<EntryType> {
    deciding(first_chars(text, MAX_CHARACTERS))?.entry_type
}

/// Returns a key made of the first words of a finding that are not stop words, or negate: without those it would say the
/// opposite.
pub(crate) fn key_from_words(finding: &str, entry_type: EntryType) -> String {
    let spoken = transliterate(finding).replace(['\'', '\u{2019}'], "");
    let parts = spoken.split(|c: char| !c.is_ascii_alphanumeric());
    let is_kept = |part: &&str| !part.is_empty() && (negates(part) || !listed(STOP_WORDS, part));
    let mut key = slug_of(&join(parts.filter(is_kept).take(KEY_WORDS), " "));
    // A finding without Latin letters yields no words; a checksum makes its key unique.
    let is_number = key.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number && key_fault(&key).is_some() {
        // A single word can be the name of one of the store's own files.
        key = format!("{}-{key}", entry_type.as_str());
    }
    if is_number {
        key = format!("{}-{}", entry_type.as_str(), &sha256(finding)[..8]);
    }
    key
}

/// The rules, in one table, which says how it is read.
const TABLE: &str = include_str!("classify.toml");

/// A rule; its conditions are compiled when it is tried, since an earlier rule usually decides.
#[derive(Deserialize)]
struct ClassifyRule {
    /// Where to keep the finding if the rule applies.
    to: Surface,
    /// The type of an entry, also of one that only `remember` makes, and how certain the rule is of it.
    #[serde(rename = "type")]
    entry_type: Option<EntryType>,
    confidence: Option<Confidence>,
    /// The reason, in one short line.
    reason: String,
    /// The expressions that all have to match; none of those in `unless` may.
    #[serde(default, rename = "if")]
    wanted: Vec<String>,
    #[serde(default)]
    unless: Vec<String>,
}

#[derive(Deserialize)]
struct Rules {
    /// The expressions with a name.
    parts: BTreeMap<String, String>,
    rule: Vec<ClassifyRule>,
}

static RULES: LazyLock<Rules> =
    LazyLock::new(|| toml::from_str(TABLE).expect("the built-in table"));

/// Returns the first rule that applies to a finding.
fn deciding(finding: &str) -> Option<&'static ClassifyRule> {
    let holds =
        |expression: &String| compiled(expression).is_ok_and(|regex| regex.is_match(finding));
    let mut rules = RULES.rule.iter();
    rules.find(|rule| rule.wanted.iter().all(holds) && !rule.unless.iter().any(holds))
}

/// Compiles an expression with its names replaced.
fn compiled(expression: &str) -> std::result::Result<Regex, regex_lite::Error> {
    let parts = RULES.parts.iter();
    let filled = parts.fold(expression.to_owned(), |text, (name, part)| text.replace(name, part));
    Regex::new(&format!("(?i){filled}"))
}

/// Letters that are not simply a base letter with an accent to drop, each with its spelling in a key.
const SPELLED: &str = "äae æae öoe œoe üue ßss øo łl đd ðd þth ıi";

/// Returns a text in lower case without accents: `fuer` for `für`, `cafe` for `café`.
fn transliterate(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.nfc().flat_map(char::to_lowercase) {
        match SPELLED.split(' ').find_map(|letter| letter.strip_prefix(c)) {
            Some(letters) => plain.push_str(letters),
            None => plain.extend(c.nfd().filter(|c| !is_combining_mark(*c))),
        }
    }
    plain
}

#[cfg(test)]
mod tests;
