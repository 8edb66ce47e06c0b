//! Imports knowledge from other memories as entries: all in one operation, and each item only once.
//!
//! The last line of such an entry states its origin, by which a later import recognises it:
//!
//! ```text
//! Imported from serena: auth_flow.md
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::knowledge::draft::EntryDraft;
use crate::knowledge::latin::transliterate;
use crate::knowledge::likeness::Likeness;
use crate::knowledge::scan::{scan, unread};
use crate::knowledge::{
    Confidence, EntryKey, EntryType, KnowledgeDir, entry, index, key, links, log,
};
use crate::markdown::line_start;
use crate::project::Project;
use crate::storage::{Changes, Store};
use crate::text;
use crate::text::hexadecimal;
use crate::warning::Warning;

/// Prefix of the line that states the origin of an entry.
const ORIGIN: &str = "Imported from ";

/// Maximum length of an origin's name, in bytes; a longer one is shortened.
const MAX_ORIGIN_BYTES: usize = 160;

/// Maximum number of entries with the same first line that are compared with an item, existing ones excepted.
const MAX_COMPARED: usize = 200;

/// An item of another memory.
#[derive(Clone, Debug)]
pub struct ImportItem {
    /// Its origin: the name of the other memory, and the name of the item there.
    pub origin: (&'static str, String),
    /// Names other than its title that `[[…]]` links of the same memory use for it.
    pub names: Vec<String>,
    /// Its title, on one line.
    pub title: String,
    /// The type of knowledge.
    pub kind: EntryType,
    /// How certain it is.
    pub confidence: Confidence,
    /// The tags for the entry.
    pub tags: Vec<String>,
    /// The text below the title.
    pub body: String,
}

/// The outcome for an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportOutcome {
    /// It was added as an entry with this key.
    New(String),
    /// It was imported before, under this key.
    Known(String),
    /// It was imported before, under this key, and either the item or the entry has changed since.
    Changed(String),
    /// The store has a nearly identical entry.
    NearDuplicate {
        /// The key of that entry.
        key: String,
        /// The percentage of common lines.
        shared_percent: usize,
    },
}

/// The outcome of an import.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// The outcome for each item, in input order.
    pub outcomes: Vec<ImportOutcome>,
    /// The changes, on a dry run.
    pub diff: Option<String>,
    /// Warnings from reading and writing the store.
    pub warnings: Vec<Warning>,
}

/// Creates entries for all items that the store does not contain, in one operation.
///
/// If an item's key is taken by another entry, the lowest free number is appended to it.
pub fn import(project: &Project, operation: &str, items: &[ImportItem]) -> Result<Imported> {
    let place = KnowledgeDir::in_project(project);
    let (mut done, applied) =
        project.transact(operation, &[Store::Entries], || plan(project, &place, items))?;
    done.diff = applied.diff;
    done.warnings.extend(applied.warnings);
    done.warnings = project.named(done.warnings);
    Ok(done)
}

/// Returns the key derived from a title: its letters and digits in lower case, joined by hyphens.
pub fn key_of(title: &str) -> String {
    let mut key = String::new();
    for word in transliterate(&text::fold(title))
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        let left = key::MAX_KEY.saturating_sub(key.len() + usize::from(!key.is_empty()));
        if word.len() > left && !key.is_empty() {
            break;
        }
        if !key.is_empty() {
            key.push('-');
        }
        key.extend(word.chars().take(left).map(|c| c.to_ascii_lowercase()));
    }
    if key.is_empty() {
        // A title without Latin letters still gets a key, a different one for each title.
        key = format!("entry-{}", &digest_of(title)[..8]);
    }
    key
}

/// An existing or planned entry.
struct KnownEntry {
    key: String,
    origin: Option<String>,
    body: String,
    likeness: Likeness,
}

impl KnownEntry {
    fn new(key: &str, body: &str) -> Self {
        let (text, origin) = without_origin(body);
        Self {
            key: key.to_owned(),
            origin: origin.map(str::to_owned),
            body: body.to_owned(),
            likeness: Likeness::new(text, key),
        }
    }

    /// Returns the planned entry of an item; a number appended to its key does not count as a word of its
    /// title.
    fn planned(item: &ImportItem, key: &str, body: &str) -> Self {
        let (text, _) = without_origin(body);
        Self { likeness: Likeness::new(text, &key_of(&item.title)), ..Self::new(key, body) }
    }
}

/// The existing and the planned entries, indexed to find near-duplicates.
struct KnownEntries {
    all: Vec<KnownEntry>,
    by_first: BTreeMap<u64, Vec<usize>>,
    by_title: BTreeMap<u64, Vec<usize>>,
}

impl KnownEntries {
    fn new(existing: Vec<KnownEntry>) -> Self {
        let mut known =
            Self { all: Vec::new(), by_first: BTreeMap::new(), by_title: BTreeMap::new() };
        for one in existing {
            let same = known.by_first.entry(one.likeness.first).or_default();
            same.push(known.all.len());
            known.add_title(one.likeness.title);
            known.all.push(one);
        }
        known
    }

    /// Adds a planned entry; later items are compared with the first [`MAX_COMPARED`] of the same first line.
    fn add(&mut self, planned: KnownEntry) {
        let same = self.by_first.entry(planned.likeness.first).or_default();
        if same.len() < MAX_COMPARED {
            same.push(self.all.len());
        }
        self.add_title(planned.likeness.title);
        self.all.push(planned);
    }

    /// Indexes the title of the entry that is added next, if it has one.
    fn add_title(&mut self, title: u64) {
        let same = self.by_title.entry(title).or_default();
        if title != 0 && same.len() < MAX_COMPARED {
            same.push(self.all.len());
        }
    }

    /// Returns the most similar entry, the first one if several are equally similar.
    fn most_similar(&self, one: &KnownEntry) -> Option<(String, usize)> {
        let by_first = self.by_first.get(&one.likeness.first);
        let by_title = self.by_title.get(&one.likeness.title);
        let same = by_first.into_iter().chain(by_title).flatten();
        let similar = same.filter_map(|index| {
            let percent = one.likeness.overlap(&self.all[*index].likeness)?;
            Some((percent, Reverse(*index)))
        });
        let (percent, Reverse(index)) = similar.max()?;
        Some((self.all[index].key.clone(), percent))
    }

    /// Returns the body of each key.
    fn bodies(&self) -> BTreeMap<&str, &str> {
        let all = self.all.iter();
        all.map(|one| (one.key.as_str(), one.body.as_str())).collect()
    }
}

fn plan(
    project: &Project,
    place: &KnowledgeDir,
    items: &[ImportItem],
) -> Result<(Imported, Changes)> {
    let mut done = Imported::default();
    let existing = scan(place, |file| {
        let text = String::from_utf8_lossy(&file.bytes);
        let start = entry::body_start(&text);
        Some(KnownEntry::new(file.key, &text[start..]))
    })?
    .into_value(&mut done.warnings);
    refuse_unread(place, &existing)?;
    let mut keys = assigned(place, &existing, items);
    let known: BTreeSet<String> = existing.iter().filter_map(|one| one.origin.clone()).collect();
    let mut resolved = names(items, &keys);
    let mut existing = KnownEntries::new(existing);
    // An item that duplicates an existing entry is linked under that entry's key.
    let mut near_duplicates = BTreeMap::new();
    for (index, item) in project.progress.track("Comparing", items).enumerate() {
        if known.contains(&origin(item)) {
            continue;
        }
        let one = KnownEntry::planned(item, &keys[index], &body(item, &resolved));
        if let Some((key, shared_percent)) = existing.most_similar(&one) {
            keys[index].clone_from(&key);
            let outcome = ImportOutcome::NearDuplicate { key, shared_percent };
            near_duplicates.insert(index, outcome);
        } else {
            existing.add(one);
        }
    }
    resolved.extend(names(items, &keys));
    let bodies = existing.bodies();
    let mut changes = Changes::new();
    let mut new = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if let Some(outcome) = near_duplicates.remove(&index) {
            done.outcomes.push(outcome);
            continue;
        }
        let (key, body) = (&keys[index], body(item, &resolved));
        let outcome = if known.contains(&origin(item)) {
            repeated(bodies.get(key.as_str()).copied(), key, &body)
        } else {
            write(project, place, &mut changes, item, key, &body)?;
            new.push(key.clone());
            ImportOutcome::New(key.clone())
        };
        done.outcomes.push(outcome);
    }
    index::update(place, &mut changes, new)?;
    Ok((done, changes))
}

/// Refuses to import if an entry was not read, since the same note could be imported again.
fn refuse_unread(place: &KnowledgeDir, existing: &[KnownEntry]) -> Result<()> {
    let unread = unread(place, existing.iter().map(|one| one.key.as_str()));
    let Some(first) = unread.first() else {
        return Ok(());
    };
    let entries = match unread.len() {
        1 => "an entry is".to_owned(),
        count => format!("{count} entries are"),
    };
    let message = format!("{entries} not read, so a note could be imported a second time");
    Err(Error::refused(message)
        .at(&place.entry(first), None)
        .hint("`annals entry audit --dry-run` names the reason"))
}

/// Returns the outcome of an item that was imported before, as the entry with this key and body.
fn repeated(existing: Option<&str>, key: &str, body: &str) -> ImportOutcome {
    if existing.is_some_and(|existing| existing.trim_end() == body.trim_end()) {
        ImportOutcome::Known(key.to_owned())
    } else {
        ImportOutcome::Changed(key.to_owned())
    }
}

/// Plans a new entry with its line in log.md.
fn write(
    project: &Project,
    place: &KnowledgeDir,
    changes: &mut Changes,
    item: &ImportItem,
    key: &str,
    body: &str,
) -> Result<()> {
    let draft = EntryDraft {
        key: &EntryKey::parse(key)?,
        kind: item.kind,
        confidence: item.confidence,
        tags: Some(&item.tags),
        body: Some(body.as_bytes()),
        title: None,
        today: project.clock.today(),
    };
    changes.edit(&place.entry(key), None, draft.fresh())?;
    let (kind, confidence) = (item.kind.as_str(), item.confidence.as_str());
    let what = format!("import {key} ({kind}, {confidence}) from {}", item.origin.0);
    log::add(changes, place, &project.clock, &what)
}

/// Returns the key of each item: the existing one if it was imported before, or else an unused one.
fn assigned(place: &KnowledgeDir, existing: &[KnownEntry], items: &[ImportItem]) -> Vec<String> {
    let there: BTreeMap<&str, &str> = existing
        .iter()
        .rev()
        .filter_map(|one| Some((one.origin.as_deref()?, one.key.as_str())))
        .collect();
    let mut taken: BTreeSet<String> =
        place.keys().into_iter().map(|key| key.to_lowercase()).collect();
    let mut last: BTreeMap<String, usize> = BTreeMap::new();
    items
        .iter()
        .map(|item| match there.get(origin(item).as_str()) {
            Some(key) => (*key).to_owned(),
            None => unused_key(key_of(&item.title), &mut taken, &mut last),
        })
        .collect()
}

/// Returns a key that is not taken: the desired one, or that with the lowest possible number appended.
fn unused_key(
    desired: String,
    taken: &mut BTreeSet<String>,
    last: &mut BTreeMap<String, usize>,
) -> String {
    let mut number = last.get(&desired).copied().unwrap_or(1);
    let mut key = desired.clone();
    while number > 1 || key::fault(&key).is_some() || taken.contains(&key) {
        number = number.max(1) + 1;
        let end = format!("-{number}");
        let length = desired.len().min(key::MAX_KEY - end.len());
        key = format!("{}{end}", desired[..length].trim_end_matches('-'));
        if key::fault(&key).is_none() && !taken.contains(&key) {
            break;
        }
    }
    last.insert(desired, number);
    taken.insert(key.clone());
    key
}

/// Returns the key for each name; if two items share a name, the key of the first one.
fn names(items: &[ImportItem], keys: &[String]) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for (item, key) in items.iter().zip(keys) {
        for name in item.names.iter().chain([&item.title]) {
            names.entry(text::fold(name)).or_insert(key.clone());
        }
    }
    names
}

/// Returns the whole body of an entry: title, text with links by key, and origin.
fn body(item: &ImportItem, names: &BTreeMap<String, String>) -> String {
    let text = item.body.trim_matches(['\n', '\r']).trim_end();
    let mut body = format!("# {}\n\n", item.title);
    let mut copied = 0;
    for link in links::links(text, 1) {
        let name = link.to.split(['|', '#']).next().unwrap_or(link.to).trim();
        body.push_str(&text[copied..link.range.start]);
        match names.get(&text::fold(name)) {
            Some(key) => body.extend(["[[", key, "]]"]),
            // A link to an unknown name becomes plain text, since a broken link would be reported by the
            // audit.
            None => body.push_str(link.to),
        }
        copied = link.range.end;
    }
    body.push_str(&text[copied..]);
    if !text.is_empty() {
        body.push_str("\n\n");
    }
    body.push_str(&origin(item));
    body.push('\n');
    body
}

fn origin(item: &ImportItem) -> String {
    let (memory, name) = &item.origin;
    let stripped = text::strip_controls(name);
    let mut line = text::one_line(&stripped);
    if line.len() > MAX_ORIGIN_BYTES || line != *name {
        let sum = digest_of(name);
        line = format!("{} ({})", text::clip(&line, MAX_ORIGIN_BYTES / 2), &sum[..12]);
    }
    format!("{ORIGIN}{memory}: {line}")
}

/// Splits a body into its text and the line that states its origin.
fn without_origin(body: &str) -> (&str, Option<&str>) {
    let trimmed = body.trim_end();
    let start = line_start(trimmed, trimmed.len());
    if trimmed[start..].starts_with(ORIGIN) {
        (&trimmed[..start], Some(&trimmed[start..]))
    } else {
        (body, None)
    }
}

fn digest_of(text: &str) -> String {
    hexadecimal(&Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_gives_one_key() {
        assert_eq!(key_of("Auth flow (v2)"), "auth-flow-v2");
        assert_eq!(key_of("../../etc/passwd"), "etc-passwd");
        assert_eq!(key_of(&"a".repeat(90)).len(), key::MAX_KEY);
        let japanese = key_of("日本");
        assert!(key::fault(&japanese).is_none() && japanese != key_of("中国"), "{japanese}");
        let long = key_of(&"word ".repeat(30));
        assert!(long.len() <= key::MAX_KEY && long.ends_with("word"), "{long}");
    }

    #[test]
    fn keys_that_are_taken_get_a_number() {
        let (mut taken, mut last) = (BTreeSet::from(["a".to_owned()]), BTreeMap::new());
        let mut next = |desired: &str| unused_key(desired.to_owned(), &mut taken, &mut last);
        assert_eq!([next("a"), next("a"), next("b"), next("b")], ["a-2", "a-3", "b", "b-2"]);
        assert_eq!(next("index"), "index-2");
        let long = "x".repeat(key::MAX_KEY);
        assert_eq!(next(&long), long);
        assert_eq!(next(&long).len(), key::MAX_KEY);
    }

    #[test]
    fn where_an_entry_is_from_is_its_last_line() {
        let body = "# T\n\nText.\n\nImported from serena: a.md\n";
        assert_eq!(without_origin(body), ("# T\n\nText.\n\n", Some("Imported from serena: a.md")));
        assert_eq!(without_origin("# T\n"), ("# T\n", None));
    }
}
