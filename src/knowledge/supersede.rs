//! Puts an entry in the place of another, which stays on disk.

use std::collections::HashSet;
use std::path::Path;

use serde::Serialize;

use crate::error::Error;
use crate::error::Result;
use crate::knowledge::Entry;
use crate::knowledge::KnowledgeDir;
use crate::knowledge::Status;
use crate::knowledge::front_edit;
use crate::knowledge::index;
use crate::knowledge::index::Row;
use crate::knowledge::log;
use crate::knowledge::read;
use crate::knowledge::write::existing;
use crate::markdown::front_matter;
use crate::project::Project;
use crate::storage::Changes;
use crate::storage::Store;
use crate::warning::Warning;

/// What was superseded. It is the document of `annals entry supersede --json`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Superseded {
    /// The entry that no longer holds.
    pub old: String,
    /// The one that holds in its place.
    pub new: String,
    /// On a dry run, what would change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// What was odd on the way.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Marks `old` as superseded, and has `new` name it.
pub fn supersede(project: &Project, old: &str, new: &str) -> Result<Superseded> {
    let place = KnowledgeDir::of(project);
    let operation = format!("entry supersede {old} -> {new}");
    let (mut done, applied) = project
        .storage()
        .transact(&operation, &[Store::Entries], || {
            plan(project, &place, old, new)
        })?;
    done.diff = applied.dry_run.then_some(applied.diff);
    done.warnings.extend(project.named(applied.warnings));
    Ok(done)
}

fn plan(
    project: &Project,
    place: &KnowledgeDir,
    old: &str,
    new: &str,
) -> Result<(Superseded, Changes)> {
    let (old_path, old_bytes) = existing(place, old)?;
    let (new_path, new_bytes) = existing(place, new)?;
    let (old_entry, new_entry) = (parse(&old_bytes, &old_path), parse(&new_bytes, &new_path));
    check(place, &old_entry, &new_entry)?;
    let mut done = Superseded {
        old: old.to_owned(),
        new: new.to_owned(),
        ..Superseded::default()
    };
    let earlier = new_entry.supersedes.as_deref();
    if let Some(earlier) = earlier.filter(|earlier| *earlier != old && *earlier != new) {
        let message =
            format!("no longer names `{earlier}` as superseded; log.md and its status do");
        done.warnings
            .push(Warning::file(project.relative(&new_path), message));
    }
    let mut changes = Changes::new();
    let mut rows = Vec::new();
    if old_entry.status != Status::Superseded {
        let status = Status::Superseded.as_str().to_owned();
        let text = with(&old_bytes, &old_path, "status", status)?;
        rows.push((old, Some(Row::of(&parse(&text, &old_path)))));
        changes.edit(&old_path, Some(old_bytes), text)?;
    }
    if earlier != Some(old) {
        let text = with(&new_bytes, &new_path, "supersedes", old.to_owned())?;
        rows.push((new, Some(Row::of(&parse(&text, &new_path)))));
        changes.edit(&new_path, Some(new_bytes), text)?;
    }
    if !changes.is_empty() {
        index::update(place, &mut changes, &rows)?;
        let what = format!("supersede {old} -> {new}");
        log::add(&mut changes, place, &project.clock, &what)?;
    }
    Ok((done, changes))
}

fn check(place: &KnowledgeDir, old: &Entry, new: &Entry) -> Result<()> {
    if old.key == new.key {
        return Err(Error::refused("an entry cannot supersede itself"));
    }
    if new.status == Status::Superseded {
        let message = format!("the entry `{}` is itself superseded", new.key);
        return Err(Error::refused(message).hint("name the entry that is valid today as --new"));
    }
    let mut seen = HashSet::new();
    let mut next = old.supersedes.clone();
    while let Some(key) = next.filter(|key| seen.insert(key.clone())) {
        if key == new.key {
            let message = format!(
                "the entry `{}` supersedes `{}` already, so they would form a cycle",
                old.key, new.key
            );
            return Err(Error::refused(message));
        }
        let path = place.entry(&key);
        let is_key = crate::knowledge::key::fault(&key).is_none();
        let bytes = if is_key {
            read::bytes(place, &path)?
        } else {
            None
        };
        next = bytes.and_then(|bytes| parse(&bytes, &path).supersedes);
    }
    Ok(())
}

fn parse(bytes: &[u8], path: &Path) -> Entry {
    Entry::parse(&String::from_utf8_lossy(bytes), path).value
}

/// Returns an entry's bytes with one field set.
fn with(bytes: &[u8], path: &Path, name: &str, value: String) -> Result<Vec<u8>> {
    let end = match str::from_utf8(bytes) {
        Ok(text) => text.len(),
        Err(error) => error.valid_up_to(),
    };
    let head = str::from_utf8(&bytes[..end]).unwrap_or_default();
    if front_matter::inner(head).is_none() {
        return Err(Error::refused("has no front matter to record it in")
            .at(path, 1)
            .hint("`annals entry write` with its key, type and confidence adds it"));
    }
    let mut text = front_edit::set(head, &[(name, value)]).into_bytes();
    text.extend(&bytes[end..]);
    Ok(text)
}
