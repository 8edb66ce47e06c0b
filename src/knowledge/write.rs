//! Creates or updates an entry: its file, its row in INDEX.md, and a line in log.md.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::knowledge::edit::written;
use crate::knowledge::likeness::Likeness;
use crate::knowledge::store::{bytes, digest, log, refuse_secrets, scan};
use crate::knowledge::{Confidence, Entry, EntryKey, EntryStatus, EntryType, KnowledgeDir, index};
use crate::markdown::FrontMatter;
use crate::project::Project;
use crate::secrets::SecretPolicy;
use crate::storage::{Changes, Store, WriteRequest};
use crate::text::without_byte_order_mark;
use crate::warning::Warning;

/// The data to write.
#[derive(Clone, Debug)]
pub struct EntryWrite {
    /// The entry's key.
    pub key: String,
    /// The type of knowledge.
    pub kind: EntryType,
    /// How certain the author is.
    pub confidence: Confidence,
    /// The tags, or `None` to keep the existing ones.
    pub tags: Option<Vec<String>>,
    /// The text below the front matter, or `None` to keep the existing text; a new entry needs one.
    pub body: Option<Vec<u8>>,
    /// The title, if the body has none; it needs a body.
    pub title: Option<String>,
    /// The hash that the existing file must have.
    pub if_match: Option<String>,
    /// Whether to accept what looks like a secret.
    pub secrets: SecretPolicy,
    /// The caller's id for this write, which makes it idempotent.
    pub request_id: Option<String>,
}

/// Whether the entry was created or updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteOutcome {
    /// It was created.
    Stored,
    /// It was updated.
    Updated,
}

/// The outcome of writing an entry. It is the document of `annals entry write --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EntryWriteReport {
    /// The entry's key.
    pub key: String,
    /// Whether it was created or updated.
    pub outcome: WriteOutcome,
    /// Number of lines added to the body.
    pub added: usize,
    /// Number of lines removed from the body.
    pub removed: usize,
    /// Whether the entry was as requested already, so that nothing was written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
    /// The new hash, for the next `--if-match`.
    pub hash: String,
    /// The changes, on a dry run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Warnings from the operation.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

impl fmt::Display for EntryWriteReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, added, removed, .. } = self;
        match self.outcome {
            _ if self.unchanged => write!(f, "Unchanged: {key}."),
            WriteOutcome::Stored => write!(f, "Stored: {key}."),
            WriteOutcome::Updated => write!(f, "Updated {key} (+{added}/-{removed} lines)."),
        }
    }
}

/// Writes an entry; a new one without a body and a near-duplicate of another entry are refused.
pub fn write(project: &Project, write: &EntryWrite) -> Result<EntryWriteReport> {
    let key = EntryKey::parse(&write.key)?;
    let write = &EntryWrite {
        body: write.body.as_deref().map(|body| without_byte_order_mark(body).to_owned()),
        ..write.clone()
    };
    check(write)?;
    let request = write.request_id.as_deref();
    let request = request.map(|id| WriteRequest::new(id, "entry write")).transpose()?;
    let place = KnowledgeDir::in_project(project);
    let operation = format!("entry write {key}");
    let (mut written, applied) =
        project.storage().transact_once(&operation, &[Store::Entries], request.as_ref(), || {
            plan(project, &place, &key, write)
        })?;
    written.diff = applied.diff;
    written.warnings.extend(project.named(applied.warnings));
    Ok(written)
}

/// Refuses invalid input before anything is read.
pub(crate) fn check(write: &EntryWrite) -> Result<()> {
    let body = write.body.as_deref().map(String::from_utf8_lossy);
    if let Some(title) = &write.title {
        if title.trim().is_empty() || title.contains(char::is_control) {
            return Err(Error::usage("a title is one line of text"));
        }
        if body.is_none() {
            return Err(Error::usage("a title needs a body")
                .hint("pass it with --body @FILE or --body-stdin"));
        }
    }
    if let Some(body) = &body {
        refuse_front_matter(body)?;
        if body.trim().is_empty() {
            return Err(Error::refused("the body is empty")
                .hint("an update without --body and --body-stdin changes only the front matter"));
        }
    }
    if write.secrets == SecretPolicy::Allow {
        return Ok(());
    }
    let tags = write.tags.as_deref().unwrap_or_default().join(", ");
    refuse_secrets("body", body.as_deref().unwrap_or_default())?;
    refuse_secrets("title", write.title.as_deref().unwrap_or_default())?;
    refuse_secrets("list of tags", &tags)
}

/// Refuses a body that begins with an entry's front matter, which would be stored twice.
fn refuse_front_matter(body: &str) -> Result<()> {
    let found = FrontMatter::parse(body, "body".as_ref()).value;
    if found.text(&["key"]).is_some() && found.text(&["type"]).is_some() {
        return Err(Error::refused("the body begins with an entry's front matter")
            .hint("pass only the text below it; the options set the fields"));
    }
    Ok(())
}

/// Plans to write an entry, and returns the report.
pub(crate) fn plan(
    project: &Project,
    place: &KnowledgeDir,
    key: &EntryKey,
    write: &EntryWrite,
) -> Result<(EntryWriteReport, Changes)> {
    let path = place.entry(key.as_str());
    let old = bytes(place, &path)?;
    if let Some(wanted) = &write.if_match {
        match_hash(key, wanted, old.as_deref())?;
    }
    if old.is_none() && write.body.is_none() {
        return Err(Error::usage(format!("the new entry `{key}` has no body"))
            .hint("pass it with --body @FILE or --body-stdin"));
    }
    let today = project.clock.today();
    let new = written(write, key, old.as_deref().unwrap_or_default(), &path, today)?;
    let text = String::from_utf8_lossy(&new);
    let entry = Entry::parse(&text, &path).value;
    let mut warnings = Vec::new();
    if write.body.is_some() || old.is_none() {
        let body = Likeness::new(&text[entry.body.clone()], key.as_str());
        refuse_duplicate(place, key, &body, &mut warnings)?;
    }
    if entry.status == EntryStatus::Superseded {
        let message = "is superseded and stays superseded, so searches leave it out; `status: active` in it changes that";
        warnings.push(Warning::file(&path, message));
    }
    let (added, removed) = differences(old.as_deref(), &new);
    let written = EntryWriteReport {
        key: key.to_string(),
        outcome: if old.is_some() { WriteOutcome::Updated } else { WriteOutcome::Stored },
        added,
        removed,
        unchanged: old.as_ref() == Some(&new),
        hash: digest(&new),
        diff: None,
        warnings: project.named(warnings),
    };
    let mut changes = Changes::new();
    if !written.unchanged {
        changes.edit(&path, old, new.clone())?;
        index::update(place, &mut changes, [key.to_string()])?;
        let (kind, confidence) = (write.kind.as_str(), write.confidence.as_str());
        let what = format!("write {key} ({kind}, {confidence})");
        log(&mut changes, place, &project.clock, &what)?;
    }
    Ok((written, changes))
}

fn match_hash(key: &EntryKey, wanted: &str, old: Option<&[u8]>) -> Result<()> {
    let now = old.map(digest);
    if now.as_deref() == Some(wanted) {
        return Ok(());
    }
    let what = if now.is_some() { "has changed since it was read" } else { "does not exist" };
    Err(Error::refused(format!("the entry `{key}` {what}"))
        .hint(format!("`annals entry read --json --key {key}` prints it with its hash")))
}

fn refuse_duplicate(
    place: &KnowledgeDir,
    key: &EntryKey,
    body: &Likeness,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    if body.first == 0 {
        return Ok(());
    }
    let found = scan(place, |file| {
        if file.key == key.as_str() {
            return None;
        }
        let text = String::from_utf8_lossy(&file.bytes);
        let entry = Entry::parse(&text, &file.path).value;
        let other = Likeness::new(&text[entry.body], file.key);
        let percent = body.overlap(&other)?;
        let same = if body.first == other.first { "first line" } else { "title" };
        Some((percent, file.key.to_owned(), same))
    })?
    .into_value(warnings);
    // The most similar entry, the first one if several are.
    match found.into_iter().rev().max_by_key(|(percent, ..)| *percent) {
        None => Ok(()),
        Some((percent, other, same)) => Err(Error::refused(format!(
            "near-duplicate of `{other}` (same {same}, {percent} % of lines shared)"
        ))
        .hint(format!(
            "update it (`annals entry write --key {other} …`), or give this one its own content and \
             supersede it (`annals entry supersede --old {other} --new {key}`)"
        ))),
    }
}

/// Counts the lines added to and removed from the body; a line that only moved is neither.
fn differences(old: Option<&[u8]>, new: &[u8]) -> (usize, usize) {
    let old = old.map(String::from_utf8_lossy).unwrap_or_default();
    let new = String::from_utf8_lossy(new);
    let body = |text: &'_ str| Entry::parse(text, Path::new("")).value.body;
    let mut balance: HashMap<&str, isize> = HashMap::new();
    new[body(&new)].lines().for_each(|line| *balance.entry(line).or_default() += 1);
    old[body(&old)].lines().for_each(|line| *balance.entry(line).or_default() -= 1);
    let (added, removed): (Vec<isize>, Vec<isize>) =
        balance.into_values().partition(|count| *count > 0);
    let sum = |counts: &[isize]| counts.iter().map(|count| count.unsigned_abs()).sum();
    (sum(&added), sum(&removed))
}
