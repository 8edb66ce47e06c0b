//! Stores plain words as an entry: its key, type and title follow from them.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::knowledge::classify::{content_words, key_from_words, type_by_rules};
use crate::knowledge::key::MAX_KEY;
use crate::knowledge::store::{bytes as entry_bytes, scan};
use crate::knowledge::{
    Confidence, Entry, EntryKey, EntryType, EntryWrite, EntryWriteReport, KnowledgeDir, write,
};
use crate::project::Project;
use crate::secrets::SecretPolicy;
use crate::storage::{Store, WriteRequest};
use crate::text::clip;

/// Share of common words at which two texts say the same, in percent.
const MIN_SHARED_PERCENT: usize = 80;

/// Maximum length of a title, in characters.
const MAX_TITLE: usize = 72;

/// A text to remember.
#[derive(Clone, Debug)]
pub struct Remember {
    /// The text.
    pub text: String,
    /// The key; an existing entry with it is updated. Without one, a new key is made.
    pub key: Option<String>,
    /// The type, else by the rules of `classify`, else reference.
    pub kind: Option<EntryType>,
    /// The tags, or `None` to keep the existing ones.
    pub tags: Option<Vec<String>>,
    /// How certain the author is.
    pub confidence: Confidence,
    /// Whether to accept what looks like a secret.
    pub secrets: SecretPolicy,
    /// The caller's id for this write, which makes it idempotent.
    pub request_id: Option<String>,
}

/// What was remembered. It is the document of `annals remember --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Remembered {
    /// The entry.
    #[serde(flatten)]
    pub written: EntryWriteReport,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: EntryType,
    /// Whether the type was derived from the text.
    pub type_derived: bool,
    /// Its confidence.
    pub confidence: Confidence,
}

/// Stores a text as an entry. An existing key is overwritten only if the caller named it, and a text that says
/// the same as an active entry is refused.
pub fn remember(project: &Project, asked: &Remember) -> Result<Remembered> {
    let text = asked.text.trim();
    if text.is_empty() {
        return Err(Error::usage("there is nothing to remember"));
    }
    let named = asked.key.as_deref().map(EntryKey::parse).transpose()?;
    let derived = type_by_rules(text);
    let place = KnowledgeDir::in_project(project);
    let body = body(text).into_bytes();
    let request = asked.request_id.as_deref();
    let request = request.map(|id| WriteRequest::new(id, "remember")).transpose()?;
    let ended =
        project.storage().transact_once("remember", &[Store::Entries], request.as_ref(), || {
            let key = match &named {
                Some(key) => key.clone(),
                None => free_key(&place, &key_from_words(text, derived.unwrap_or_default()))?,
            };
            refuse_same(&place, &key, text)?;
            let path = place.entry(key.as_str());
            let known = entry_bytes(&place, &path)?;
            let known = known.and_then(|bytes| Entry::from_bytes(&bytes, &path).kind);
            let kind = asked.kind.or(known).or(derived).unwrap_or_default();
            let write = EntryWrite {
                key: key.to_string(),
                kind,
                confidence: asked.confidence,
                tags: asked.tags.clone(),
                body: Some(body.clone()),
                title: None,
                if_match: None,
                secrets: asked.secrets,
                request_id: None,
            };
            write::check(&write)?;
            let (written, changes) = write::plan(project, &place, &key, &write)?;
            let type_derived = asked.kind.is_none() && known.is_none();
            let remembered =
                Remembered { written, kind, type_derived, confidence: asked.confidence };
            Ok((remembered, changes))
        });
    let (mut done, applied) = ended?;
    done.written.diff = applied.diff;
    done.written.warnings.extend(project.named(applied.warnings));
    Ok(done)
}

/// Returns the text as a paragraph below a title; a text that has a title stays as it is.
fn body(text: &str) -> String {
    if text.starts_with("# ") {
        return format!("{text}\n");
    }
    let first = text.lines().next().unwrap_or_default();
    let sentence = first.split_once(". ").map_or(first, |(sentence, _)| sentence);
    let title = clip(sentence.trim_end_matches('.'), MAX_TITLE);
    let mut letters = title.chars();
    let title: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("# {title}{}\n\n{text}\n", letters.as_str())
}

/// Returns the key, with a number if an entry has it already.
fn free_key(place: &KnowledgeDir, key: &str) -> Result<EntryKey> {
    let mut number = 1;
    loop {
        let end = if number == 1 { String::new() } else { format!("-{number}") };
        let start = key[..key.len().min(MAX_KEY - end.len())].trim_end_matches('-');
        let candidate = EntryKey::parse(&format!("{start}{end}"))?;
        if entry_bytes(place, &place.entry(candidate.as_str()))?.is_none() {
            return Ok(candidate);
        }
        number += 1;
    }
}

/// Refuses a text that has nearly all of its words in common with another active entry.
fn refuse_same(place: &KnowledgeDir, key: &EntryKey, text: &str) -> Result<()> {
    let words = content_words(text);
    let found = scan(place, |file| {
        let entry = Entry::from_bytes(&file.bytes, &file.path);
        if file.key == key.as_str() || !entry.is_active() {
            return None;
        }
        let text = String::from_utf8_lossy(&file.bytes);
        let other = content_words(text.get(entry.body)?);
        let both = words.intersection(&other).count();
        let all = words.len() + other.len() - both;
        (both > 0 && both * 100 >= all * MIN_SHARED_PERCENT).then(|| (both, file.key.to_owned()))
    })?;
    match found.value.into_iter().max() {
        None => Ok(()),
        Some((_, other)) => Err(Error::refused(format!("`{other}` says nearly the same")).hint(
            format!("`annals remember --key {other} TEXT` updates it; `annals entry read {other}` prints it"),
        )),
    }
}
