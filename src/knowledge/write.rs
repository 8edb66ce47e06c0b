//! Creates, updates, supersedes and deletes entries: each with its row in INDEX.md and a line in log.md.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::knowledge::audit::Likeness;
use crate::knowledge::classify::{content_words, key_from_words, type_by_rules};
use crate::knowledge::edit::{refuse_unreadable_front_matter, set, valid, written};
use crate::knowledge::entry::{MAX_KEY, check_key};
use crate::knowledge::store::{bytes, digest, existing, log, scan, update_index};
use crate::knowledge::{Confidence, Entry, EntryStatus, EntryType, KnowledgeDir, yaml};
use crate::markdown::{FrontMatter, front_matter};
use crate::project::Project;
use crate::secrets::SecretPolicy;
use crate::storage::{Changes, Store, read};
use crate::text::{capitalized, clip, is_line, join, line_end, sentences, shell_word};
use crate::warning::Warning;

/// The data to write.
#[derive(Args, Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryWrite {
    /// Lower-case words with hyphens, 60 characters at most
    #[arg(long)]
    pub key: String,
    /// What kind of knowledge it is
    #[arg(long = "type", value_name = "TYPE")]
    #[serde(rename = "type")]
    pub kind: EntryType,
    /// How sure you are: high if the user said so or the code shows it
    #[arg(long, value_name = "GRADE")]
    pub confidence: Confidence,
    /// Tags [default: unchanged]
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    pub tags: Option<Vec<String>>,
    /// The text below the front matter, or `None` to keep the existing text; a new entry needs one.
    #[arg(skip)]
    pub body: Option<String>,
    /// The title, put above the body as a heading
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub title: Option<String>,
    /// Write only if the entry still has this hash, which `read --json` prints
    #[arg(long, value_name = "HASH")]
    pub if_match: Option<String>,
    /// Store it even if it looks like a secret
    #[arg(long)]
    #[serde(skip)]
    pub allow_secret: bool,
    /// An id of your choice: repeating it returns the first answer and writes nothing
    #[arg(long, value_name = "ID")]
    #[serde(skip)]
    pub request_id: Option<String>,
}

/// Whether the entry was created or updated.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteOutcome {
    /// It was created.
    Stored,
    /// It was updated.
    Updated,
}

/// The outcome of writing an entry. It is the document of `annals entry write --json`.
#[derive(Debug, Serialize, Deserialize)]
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
    check_key(&write.key)?;
    check(write)?;
    let request = write.request_id.as_deref();
    let place = KnowledgeDir::in_project(project);
    let operation = format!("entry write {}", write.key);
    let (mut written, applied) =
        project.storage().transact_once(&operation, &[Store::Entries], request, || {
            plan(project, &place, write)
        })?;
    written.diff = applied.diff;
    written.warnings.extend(project.memory_above());
    written.warnings.extend(project.named(applied.warnings));
    Ok(written)
}

/// How a body is passed, on the command line and over MCP.
const PASS_BODY: &str = "pass `body`, on the command line --body @FILE or --body-stdin";

/// Refuses invalid input before anything is read.
fn check(write: &EntryWrite) -> Result<()> {
    let body = write.body.as_deref().map(|body| body.trim_start_matches('\u{feff}'));
    if let Some(title) = &write.title {
        if !is_line(title) {
            return Err(Error::usage("a title is one line of text"));
        }
        if body.is_none() {
            return Err(Error::usage("a title needs a body").hint(PASS_BODY));
        }
    }
    if let Some(body) = body {
        refuse_front_matter(body)?;
        if body.trim().is_empty() {
            return Err(Error::refused("the body is empty").hint(
                "an update without a body changes only the front matter; a new entry needs one",
            ));
        }
    }
    let tags = write.tags.as_deref().unwrap_or_default().join(", ");
    let secrets = SecretPolicy::from(write.allow_secret);
    secrets.check("the key", &write.key)?;
    secrets.check("the body", body.unwrap_or_default())?;
    secrets.check("the title", write.title.as_deref().unwrap_or_default())?;
    secrets.check("the list of tags", &tags)
}

/// Refuses a body that begins with an entry's front matter, which would be stored twice.
fn refuse_front_matter(body: &str) -> Result<()> {
    let found = FrontMatter::parse(body, "body".as_ref()).value;
    if found.text(&["key"]).is_some() && found.text(&["type"]).is_some() {
        return Err(Error::refused("the body begins with an entry's front matter")
            .hint("pass only the text below it, and the fields beside it"));
    }
    Ok(())
}

/// Plans to write an entry, and returns the report.
fn plan(
    project: &Project,
    place: &KnowledgeDir,
    write: &EntryWrite,
) -> Result<(EntryWriteReport, Changes)> {
    let key = write.key.as_str();
    let path = place.entry(key);
    let old = bytes(place, &path)?;
    let bytes = old.as_deref().unwrap_or_default();
    read::refuse_wide(bytes, &path)?;
    read::refuse_conflict(bytes, &path)?;
    if let Some(wanted) = &write.if_match {
        match_hash(key, wanted, old.as_deref())?;
    }
    if old.is_none() && write.body.is_none() {
        return Err(Error::usage(format!("the new entry `{key}` has no body")).hint(PASS_BODY));
    }
    let today = project.clock.today();
    let new = written(write, bytes, &path, today)?;
    let text = String::from_utf8_lossy(&new);
    let entry = Entry::parse(&text, &path).value;
    let mut warnings = Vec::new();
    if write.body.is_some() || old.is_none() {
        let body = Likeness::new(&text[entry.body.clone()], key);
        refuse_duplicate(place, key, &body, &mut warnings)?;
    }
    if !entry.is_active() {
        let status = entry.status.as_str();
        let message = format!(
            "is {status} and stays {status}, so searches leave it out; `status: active` in it changes that"
        );
        warnings.push(Warning::file(&path, message));
    }
    let (added, removed) = differences(old.as_deref(), &new);
    let written = EntryWriteReport {
        key: key.to_owned(),
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
        update_index(place, &mut changes, [key.to_owned()])?;
        let (kind, confidence) = (write.kind.as_str(), write.confidence.as_str());
        let what = format!("write {key} ({kind}, {confidence})");
        log(&mut changes, place, &project.clock, &what)?;
    }
    Ok((written, changes))
}

fn match_hash(key: &str, wanted: &str, old: Option<&[u8]>) -> Result<()> {
    let (what, hint) = match old.map(digest) {
        Some(now) if now == wanted => return Ok(()),
        Some(_) => (
            "has changed since it was read",
            format!("read it again with its hash: `annals entry read --json --key {key}`"),
        ),
        None => ("does not exist", "without a hash to match, the write creates it".to_owned()),
    };
    Err(Error::refused(format!("the entry `{key}` {what}")).hint(hint))
}

fn refuse_duplicate(
    place: &KnowledgeDir,
    key: &str,
    body: &Likeness,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    if body.first == 0 {
        return Ok(());
    }
    let found = scan(place, |file| {
        if file.key == key {
            return None;
        }
        let entry = file.entry();
        let other = Likeness::new(&file.text[entry.body], file.key);
        let percent = body.overlap(&other)?;
        let same = if body.first == other.first { "first line" } else { "title" };
        Some((percent, file.key.to_owned(), same, entry.status))
    })?
    .into_value(warnings);
    // The most similar entry, the first one if several are.
    let most_similar = found.into_iter().rev().max_by_key(|(percent, ..)| *percent);
    let Some((percent, other, same, status)) = most_similar else { return Ok(()) };
    let (is, hint) = match status {
        EntryStatus::Superseded => (
            ", which is superseded",
            format!(
                "if it holds again, set `status: active` in {other}.md; else say what is different now"
            ),
        ),
        _ => (
            "",
            format!(
                "update it (`annals entry write --key {0} …`), or give this one its own content and \
                 supersede it (`annals entry supersede --old {0} --new {key}`)",
                shell_word(&other)
            ),
        ),
    };
    let message =
        format!("near-duplicate of `{other}`{is} (same {same}, {percent} % of lines shared)");
    Err(Error::refused(message).hint(hint))
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

/// The outcome of superseding an entry. It is the document of `annals entry supersede --json`.
#[derive(Debug, Default, Serialize)]
pub struct Superseded {
    /// The key of the superseded entry.
    pub old: String,
    /// The key of the entry that replaces it.
    pub new: String,
    /// Whether the old entry was superseded by the new one already, so that nothing was written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
    /// The changes, on a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Warnings from the operation.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Marks `old` as superseded by `new`, which must be active.
pub fn supersede(project: &Project, old: &str, new: &str) -> Result<Superseded> {
    let place = KnowledgeDir::in_project(project);
    let operation = format!("entry supersede {old} -> {new}");
    let (mut done, applied) = project
        .transact(&operation, &[Store::Entries], || plan_supersession(project, &place, old, new))?;
    done.diff = applied.diff;
    done.warnings.extend(project.named(applied.warnings));
    Ok(done)
}

fn plan_supersession(
    project: &Project,
    place: &KnowledgeDir,
    old: &str,
    new: &str,
) -> Result<(Superseded, Changes)> {
    let (old_file, new_file) = (existing(place, old)?, existing(place, new)?);
    let [old_entry, new_entry] =
        [&old_file, &new_file].map(|(path, bytes)| Entry::from_bytes(bytes, path));
    if old == new {
        return Err(Error::refused("an entry cannot supersede itself"));
    }
    if new_entry.status == EntryStatus::Superseded {
        return Err(Error::refused(format!("the entry `{new}` is itself superseded")).hint(
            format!(
                "name the currently active entry as --new, or set `status: active` in {new}.md"
            ),
        ));
    }
    if supersedes_in_turn(place, &old_entry, new)? {
        let message =
            format!("the entry `{old}` already supersedes `{new}`, so they would form a cycle");
        return Err(Error::refused(message));
    }
    let mut changes = Changes::new();
    if old_entry.status != EntryStatus::Superseded {
        set_field(&mut changes, old_file, "status", EntryStatus::Superseded.as_str())?;
    }
    if !names(&new_entry, old) {
        // Some tools use `supersedes` differently and let an entry name itself; that is dropped.
        let known = new_entry.supersedes.iter().filter(|key| *key != new);
        set_field(&mut changes, new_file, "supersedes", &list(known.chain([&old.to_owned()])))?;
    }
    if !changes.is_empty() {
        update_index(place, &mut changes, [old.to_owned(), new.to_owned()])?;
        let what = format!("supersede {old} -> {new}");
        log(&mut changes, place, &project.clock, &what)?;
    }
    let done = Superseded {
        old: old.to_owned(),
        new: new.to_owned(),
        unchanged: changes.is_empty(),
        ..Superseded::default()
    };
    Ok((done, changes))
}

fn names(entry: &Entry, key: &str) -> bool {
    entry.supersedes.iter().any(|named| named == key)
}

/// Returns whether an entry supersedes another one, directly or through others.
fn supersedes_in_turn(place: &KnowledgeDir, old: &Entry, new: &str) -> Result<bool> {
    let all = scan(place, |file| Some(file.entry()))?.value;
    let all: HashMap<&str, &Entry> = all.iter().map(|one| (one.key.as_str(), one)).collect();
    let (mut seen, mut open) = (HashSet::new(), vec![old]);
    while let Some(entry) = open.pop() {
        if names(entry, new) {
            return Ok(true);
        }
        let below = entry.supersedes.iter().filter(|key| seen.insert(key.as_str()));
        open.extend(below.filter_map(|key| all.get(key.as_str())));
    }
    Ok(false)
}

/// Returns keys as the value of `supersedes`: separated by commas, or as a list if one has to be quoted.
fn list<'a>(keys: impl Iterator<Item = &'a String>) -> String {
    let keys: Vec<&String> = keys.collect();
    let scalars: Vec<String> = keys.iter().map(|key| yaml::scalar(key)).collect();
    if scalars.iter().eq(keys) { scalars.join(", ") } else { yaml::list(scalars) }
}

/// Plans to set a field of an entry.
fn set_field(
    changes: &mut Changes,
    (path, bytes): (PathBuf, Vec<u8>),
    name: &str,
    value: &str,
) -> Result<()> {
    let head = valid(&bytes);
    if front_matter::inner_range(head).is_none() {
        refuse_unreadable_front_matter(&bytes, &path)?;
        return Err(Error::refused("has no front matter to record it in")
            .at(&path, 1)
            .hint("`annals entry write` with its key, type and confidence adds it"));
    }
    let edited = set(head, &[(name, value.to_owned())]);
    let new = [edited.as_bytes(), &bytes[head.len()..]].concat();
    changes.edit(&path, Some(bytes), new)
}

/// A deleted entry. It is the document of `annals entry delete --json`.
#[derive(Debug, Serialize)]
pub struct Deleted {
    /// The entry's key.
    pub key: String,
    /// The reason, verbatim except for line breaks.
    pub reason: String,
    /// The changes, on a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Warnings from the operation.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Deletes an entry; a reason is required. Links to the entry remain, and are reported by `audit`.
pub fn delete(
    project: &Project,
    key: &str,
    reason: Option<&str>,
    policy: SecretPolicy,
) -> Result<Deleted> {
    let place = KnowledgeDir::in_project(project);
    existing(&place, key)?;
    let Some(reason) = reason.filter(|reason| !reason.trim().is_empty()) else {
        return Err(Error::refused("deleting an entry requires a reason").hint(format!(
            "say why: `annals forget {key} WHY`; or keep the history: `annals entry supersede --old {key} --new …`"
        )));
    };
    policy.check("the reason", reason)?;
    let lines = reason.lines().map(str::trim).filter(|line| !line.is_empty());
    let reason = &join(lines, " ");
    let operation = format!("entry delete {key}");
    let (replaced, applied) = project.transact(&operation, &[Store::Entries], || {
        let (path, entry) = existing(&place, key)?;
        let mut changes = Changes::new();
        changes.delete(&path)?;
        update_index(&place, &mut changes, [key.to_owned()])?;
        let what = format!("delete {key} — Reason: {reason}");
        log(&mut changes, &place, &project.clock, &what)?;
        Ok((Entry::from_bytes(&entry, &path).supersedes, changes))
    })?;
    let left = replaced.iter().filter(|old| place.entry(old).exists()).map(|old| {
        let message = format!(
            "stays superseded by `{key}`, which is deleted; `status: active` in this file makes it valid again"
        );
        Warning::file(&place.entry(old), message)
    });
    let warnings = applied.warnings.into_iter().chain(left).collect();
    Ok(Deleted {
        key: key.to_owned(),
        reason: reason.to_owned(),
        diff: applied.diff,
        warnings: project.named(warnings),
    })
}

/// Share of common words at which two texts say the same, in percent.
const MIN_SHARED_PERCENT: usize = 80;

/// Share of the new one's words at which they may be about the same thing, so that one is named beside the other.
const NEAR_PERCENT: usize = 50;

/// Maximum length of a title, in characters.
const MAX_TITLE: usize = 72;

/// A text to remember.
#[derive(Args, Clone, Debug)]
pub struct Remember {
    /// The text.
    #[arg(skip)]
    pub text: String,
    /// The key; an existing entry with it is updated. Without one, a new key is made.
    #[arg(skip)]
    pub key: Option<String>,
    /// What kind of knowledge it is [default: by its words, else reference]
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<EntryType>,
    /// Tags
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    pub tags: Option<Vec<String>>,
    /// How certain the author is.
    #[arg(skip = Confidence::Low)]
    pub confidence: Confidence,
    /// Store it even if it looks like a secret
    #[arg(long)]
    pub allow_secret: bool,
    /// An id of your choice: repeating it returns the first answer and writes nothing
    #[arg(long, value_name = "ID")]
    pub request_id: Option<String>,
}

/// What was remembered. It is the document of `annals remember --json`.
#[derive(Debug, Serialize, Deserialize)]
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
    /// The confidence of the entry before, if it was another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence_before: Option<Confidence>,
}

/// Stores a text as an entry. An existing key is overwritten only if the caller named it, and a text that says
/// the same as an active entry is refused.
pub fn remember(project: &Project, asked: &Remember) -> Result<Remembered> {
    let text = asked.text.trim();
    if text.is_empty() {
        return Err(Error::usage("there is nothing to remember"));
    }
    // Before a title is put over it, which would be line 1.
    SecretPolicy::from(asked.allow_secret).check("the text", text)?;
    asked.key.as_deref().map_or(Ok(()), check_key)?;
    let derived = type_by_rules(text);
    let place = KnowledgeDir::in_project(project);
    let request = asked.request_id.as_deref();
    let ended = project.storage().transact_once("remember", &[Store::Entries], request, || {
        let again = if asked.key.is_none() { key_of(&place, text)? } else { None };
        let key = match again.as_ref().or(asked.key.as_ref()) {
            Some(key) => key.clone(),
            None => free_key(&place, &key_from_words(text, derived.unwrap_or_default()))?,
        };
        let near = refuse_same(&place, &key, text)?;
        let path = place.entry(&key);
        let known = bytes(&place, &path)?;
        let body = body(text, known.as_ref().map_or("\n", line_end));
        let known = known.map(|bytes| Entry::from_bytes(&bytes, &path)).unwrap_or_default();
        let kind = asked.kind.or(known.kind).or(derived).unwrap_or_default();
        // Repeating an entry never lowers its confidence.
        let sure = known.confidence.filter(|_| again.is_some());
        let confidence = sure.map_or(asked.confidence, |sure| sure.min(asked.confidence));
        let write = EntryWrite {
            key,
            kind,
            confidence,
            tags: asked.tags.clone(),
            body: Some(body),
            title: None,
            if_match: None,
            allow_secret: asked.allow_secret,
            request_id: None,
        };
        check(&write)?;
        let (mut written, changes) = plan(project, &place, &write)?;
        written.warnings.extend(near);
        let remembered = Remembered {
            written,
            kind,
            type_derived: asked.kind.is_none() && known.kind.is_none(),
            confidence,
            confidence_before: known.confidence.filter(|before| *before != confidence),
        };
        Ok((remembered, changes))
    });
    let (mut done, applied) = ended?;
    done.written.diff = applied.diff;
    done.written.warnings.extend(project.memory_above());
    done.written.warnings.extend(project.named(applied.warnings));
    Ok(done)
}

/// Returns the text as a paragraph below a title; a text that has a title stays as it is. `end` ends its lines.
fn body(text: &str, end: &str) -> String {
    if text.starts_with("# ") {
        return format!("{text}{end}");
    }
    let first = text.lines().next().unwrap_or_default();
    let sentence = sentences(first).first().copied().unwrap_or(first);
    let title = clip(sentence.trim_end_matches('.'), MAX_TITLE);
    // An identifier, a path, an address or a version stays as it is written.
    let is_name = |c: char| c.is_numeric() || c.is_uppercase() || "_/.".contains(c);
    let first = title.split_whitespace().next().unwrap_or_default();
    let title = if first.contains(is_name) { title } else { capitalized(&title).into() };
    format!("# {title}{end}{end}{text}{end}")
}

/// Returns the key of the active entry that this text was remembered as.
fn key_of(place: &KnowledgeDir, text: &str) -> Result<Option<String>> {
    let body = body(text, "\n");
    let same = scan(place, |file| {
        let entry = file.entry();
        let is_it = entry.is_active() && file.text.get(entry.body)?.trim() == body.trim();
        is_it.then(|| file.key.to_owned())
    })?;
    Ok(same.value.into_iter().next())
}

/// Returns the key, with a number if an entry has it already.
fn free_key(place: &KnowledgeDir, key: &str) -> Result<String> {
    let mut number = 1;
    loop {
        let end = if number == 1 { String::new() } else { format!("-{number}") };
        let start = key[..key.len().min(MAX_KEY - end.len())].trim_end_matches('-');
        let candidate = format!("{start}{end}");
        if bytes(place, &place.entry(&candidate))?.is_none() {
            return Ok(candidate);
        }
        number += 1;
    }
}

/// Refuses a text that has nearly all of its words in common with another active entry; returns a remark on one that it has
/// most of them in common with.
fn refuse_same(place: &KnowledgeDir, key: &str, text: &str) -> Result<Option<Warning>> {
    let words = content_words(text);
    let found = scan(place, |file| {
        let entry = file.entry();
        if file.key == key || !entry.is_active() {
            return None;
        }
        let other = content_words(file.text.get(entry.body)?);
        let both = words.intersection(&other).count();
        let share = (both * 100).checked_div(words.len() + other.len() - both)?;
        let is_near = both > 1 && both * 100 >= NEAR_PERCENT * words.len();
        is_near.then(|| (share, file.key.to_owned()))
    })?;
    let Some((share, other)) = found.value.into_iter().max() else { return Ok(None) };
    let word = shell_word(&other);
    if share < MIN_SHARED_PERCENT {
        let message = format!(
            "this entry has half or more of the new one's words; if one of the two is out of date, `annals entry supersede --old {word} --new {key}`"
        );
        return Ok(Some(Warning::file(&place.entry(&other), message)));
    }
    Err(Error::refused(format!("`{other}` has nearly the same words")).hint(format!(
        "`annals remember --key {word} TEXT` replaces what `annals entry read {word}` prints; `annals entry write` with a new --key keeps both"
    )))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_list_of_keys_is_read_back() {
        for (keys, expected) in [
            (&["a"][..], "a"),
            (&["a", "b-c"], "a, b-c"),
            (&["old thing #1"], "[\"old thing #1\"]"),
            (&["a", "x, y"], "[a, \"x, y\"]"),
            (&["null"], "[\"null\"]"),
            (&["12"], "[\"12\"]"),
        ] {
            let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
            let value = list(keys.iter());
            assert_eq!(value, expected);
            let text = format!("---\nsupersedes: {value}\n---\n");
            assert_eq!(Entry::from_bytes(text.as_bytes(), Path::new("a.md")).supersedes, keys);
        }
        assert_eq!(list([].iter()), "");
    }
}
