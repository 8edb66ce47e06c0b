//! Proposes where a finding belongs, by rules alone; most belong nowhere.

mod rules;

use serde::Serialize;

use crate::error::Error;
use crate::error::Result;
use crate::knowledge::Confidence;
use crate::knowledge::EntryStatus;
use crate::knowledge::EntryType;
use crate::knowledge::KnowledgeDir;
use crate::knowledge::classify::rules::Destination;
use crate::knowledge::classify::rules::RULES;
use crate::knowledge::index;
use crate::knowledge::key::MAX_KEY;
use crate::knowledge::latin::latin;
use crate::knowledge::notepad::NotepadSection;
use crate::project::Project;
use crate::ranking::words;
use crate::storage::read;
use crate::text::hexadecimal;
use crate::text::word_enum;

/// As much of a finding as is looked at: a longer one is no finding.
const LOOKED_AT: usize = 4_000;
/// How many words a proposed key has.
const KEY_WORDS: usize = 5;

word_enum! {
    /// Where a finding could be kept.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub enum Surface {
        /// An entry.
        Entry = "entry",
        /// The notepad's Priority Context.
        NotepadPriority = "notepad-priority",
        /// The notepad's Working Memory.
        NotepadWorking = "notepad-working",
        /// The notepad's Manual.
        NotepadManual = "notepad-manual",
        /// Nowhere.
        None = "none",
    }
}

/// What is proposed for a finding. It is the document of `annals entry classify --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Classification {
    /// The finding, verbatim.
    pub finding: String,
    /// Where it belongs.
    pub proposed: Proposal,
}

/// Where a finding belongs, and as what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proposal {
    /// The place.
    pub surface: Surface,
    /// The key of the entry, where it is one.
    pub key: Option<String>,
    /// The type of the entry, where it is one.
    #[serde(rename = "type")]
    pub entry_type: Option<EntryType>,
    /// Tags of other entries that the finding names.
    pub tags: Vec<String>,
    /// How sure the proposal is; never high, because no rule knows that a finding is true.
    pub confidence: Confidence,
    /// Why, in one line.
    pub reason: String,
}

/// An entry, as INDEX.md lists it.
struct IndexedEntry {
    key: String,
    /// The words of key and title.
    words: Vec<String>,
    tags: Vec<String>,
    is_superseded: bool,
}

/// Proposes where a finding belongs in this project.
pub fn classify(project: &Project, finding: &str) -> Result<Classification> {
    if finding.trim().is_empty() {
        return Err(Error::usage("the finding is empty"));
    }
    let index = read::text(&KnowledgeDir::in_project(project).index())?;
    let index = index.map(|parsed| parsed.value).unwrap_or_default();
    Ok(Classification {
        finding: finding.to_owned(),
        proposed: proposal(finding, &indexed_entries(&index)),
    })
}

fn proposal(finding: &str, known: &[IndexedEntry]) -> Proposal {
    let looked_at: String = finding.trim().chars().take(LOOKED_AT).collect();
    let said = content_words(&looked_at);
    let nowhere = Proposal {
        surface: Surface::None,
        key: None,
        entry_type: None,
        tags: Vec::new(),
        confidence: Confidence::Medium,
        reason: String::new(),
    };
    if let Some(same) = known.iter().find(|known| is_said_by(known, &said)) {
        return Proposal {
            reason: format!("already known as {}", same.key),
            ..nowhere
        };
    }
    let Some(rule) = RULES.iter().find(|rule| rule.applies(&looked_at)) else {
        return Proposal {
            confidence: Confidence::Low,
            reason: "nothing says that it is durable and reusable".to_owned(),
            ..nowhere
        };
    };
    let reason = rule.reason.to_owned();
    match rule.verdict {
        Destination::Nowhere => Proposal { reason, ..nowhere },
        Destination::Note(section) => Proposal {
            surface: match section {
                NotepadSection::Priority => Surface::NotepadPriority,
                NotepadSection::Working => Surface::NotepadWorking,
                NotepadSection::Manual => Surface::NotepadManual,
            },
            reason,
            ..nowhere
        },
        Destination::Entry(entry_type, confidence) => {
            let key = key(&looked_at, entry_type);
            let exists = known.iter().any(|known| known.key == key);
            let hint = if exists {
                "; the key exists, update or supersede it"
            } else {
                ""
            };
            Proposal {
                surface: Surface::Entry,
                tags: tags(known, &said),
                key: Some(key),
                entry_type: Some(entry_type),
                confidence,
                reason: format!("{reason}{hint}"),
            }
        }
    }
}

/// Reads the rows of the index; without one nothing is known.
fn indexed_entries(index: &str) -> Vec<IndexedEntry> {
    let rows = index::parse(index).unwrap_or_default().into_iter();
    rows.map(|row| IndexedEntry {
        words: content_words(&format!("{} {}", row.key.replace('-', " "), row.title)),
        is_superseded: EntryStatus::from_any_case(&row.status) == Some(EntryStatus::Superseded),
        tags: row.tags,
        key: row.key,
    })
    .collect()
}

/// Returns whether an entry's key and title say most of what the finding says, and the finding most of the title.
fn is_said_by(known: &IndexedEntry, said: &[String]) -> bool {
    let both = said
        .iter()
        .filter(|word| known.words.contains(word))
        .count();
    let most = |both: usize, all: usize| both >= 2 && both * 5 >= all * 3;
    !known.is_superseded && most(both, said.len()) && most(both, known.words.len())
}

/// Returns the words that carry meaning, each once.
fn content_words(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in words(text) {
        if !is_filler(&word) && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// Words that say nothing about what a finding is about.
const FILLERS: &[&str] = &[
    "a", "about", "all", "alwai", "always", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "but", "by", "can", "chose", "decid", "decided", "do", "does", "for", "from", "had",
    "has", "have", "i", "if", "in", "into", "is", "it", "its", "must", "need", "never", "not",
    "of", "on", "or", "our", "should", "since", "so", "than", "that", "the", "their", "them",
    "then", "there", "they", "thi", "this", "to", "us", "use", "used", "using", "was", "we",
    "were", "when", "which", "will", "with", "you", "your",
];

fn is_filler(word: &str) -> bool {
    FILLERS.contains(&word)
}

/// Returns the tags of other entries that the finding names, sorted.
fn tags(known: &[IndexedEntry], said: &[String]) -> Vec<String> {
    let all = known.iter().flat_map(|known| &known.tags);
    let named = all.filter(|tag| {
        let parts = content_words(tag);
        !parts.is_empty() && parts.iter().all(|part| said.contains(part))
    });
    let mut tags: Vec<String> = named.cloned().collect();
    tags.sort();
    tags.dedup();
    tags
}

/// Returns a key of the finding's first words that carry meaning.
fn key(finding: &str, entry_type: EntryType) -> String {
    let mut key = String::new();
    let spoken = latin(finding).replace(['\'', '\u{2019}'], "");
    let parts = spoken.split(|c: char| !c.is_ascii_alphanumeric());
    let parts = parts.filter(|part| !part.is_empty() && !is_filler(part));
    for part in parts.take(KEY_WORDS) {
        if key.len() + 1 + part.len() > MAX_KEY {
            break;
        }
        if !key.is_empty() {
            key.push('-');
        }
        key.push_str(part);
    }
    // A script without Latin letters gives none; its bytes tell one finding from another.
    if key.is_empty() || key.bytes().all(|byte| byte.is_ascii_digit()) {
        let sum = checksum(finding.as_bytes());
        key = format!(
            "{}-{}",
            entry_type.as_str(),
            hexadecimal(&sum.to_be_bytes())
        );
    }
    key
}

/// Returns a short sum of bytes (FNV-1a), to name what has no words for a key.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, byte| {
        (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests;
