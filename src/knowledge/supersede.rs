//! Marks an entry as superseded by another one, whose file is kept, or deletes it.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::knowledge::edit::{refuse_unreadable_front_matter, set, valid};
use crate::knowledge::store::{existing, log, refuse_secrets, scan};
use crate::knowledge::{Entry, EntryStatus, KnowledgeDir, index, yaml};
use crate::markdown::front_matter;
use crate::project::Project;
use crate::secrets::SecretPolicy;
use crate::storage::{Changes, Store};
use crate::warning::Warning;

/// The outcome of superseding an entry. It is the document of `annals entry supersede --json`.
#[derive(Clone, Debug, Default, Serialize)]
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
    let (mut done, applied) =
        project.transact(&operation, &[Store::Entries], || plan(project, &place, old, new))?;
    done.diff = applied.diff;
    done.warnings.extend(project.named(applied.warnings));
    Ok(done)
}

fn plan(
    project: &Project,
    place: &KnowledgeDir,
    old: &str,
    new: &str,
) -> Result<(Superseded, Changes)> {
    let known = [existing(place, old)?, existing(place, new)?];
    let [old_entry, new_entry] = known.map(|(path, bytes)| Entry::from_bytes(&bytes, &path));
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
    let is_named = names(&new_entry, old);
    let superseded = EntryStatus::Superseded.as_str().to_owned();
    let mut fields = vec![(old, "status", superseded)];
    if !is_named {
        // Some tools use `supersedes` differently and let an entry name itself; that is dropped.
        let known = new_entry.supersedes.iter().filter(|key| *key != new);
        fields.push((new, "supersedes", list(known.chain([&old.to_owned()]))));
    }
    let mut changes = Changes::new();
    for (key, name, value) in &fields {
        set_field(&mut changes, place, key, name, value)?;
    }
    if !changes.is_empty() {
        index::update(place, &mut changes, [old.to_owned(), new.to_owned()])?;
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
    let all = scan(place, |file| Some(Entry::from_bytes(&file.bytes, &file.path)))?.value;
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

/// Plans to set a field of an entry; an equal status keeps its spelling.
fn set_field(
    changes: &mut Changes,
    place: &KnowledgeDir,
    key: &str,
    name: &str,
    value: &str,
) -> Result<()> {
    let (path, bytes) = existing(place, key)?;
    let bytes = changes.current(&path)?.unwrap_or(bytes);
    if name == "status" && Entry::from_bytes(&bytes, &path).status.as_str() == value {
        return Ok(());
    }
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
#[derive(Clone, Debug, Serialize)]
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
    let Some(reason) = reason.filter(|reason| !reason.trim().is_empty()) else {
        return Err(Error::refused("deleting an entry requires a reason").hint(format!(
            "add --reason, or keep the history: `annals entry supersede --old {key} --new …`"
        )));
    };
    if policy == SecretPolicy::Refuse {
        refuse_secrets("reason", reason)?;
    }
    let lines: Vec<&str> = reason.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let reason = &lines.join(" ");
    let place = KnowledgeDir::in_project(project);
    let operation = format!("entry delete {key}");
    let ((), applied) = project.transact(&operation, &[Store::Entries], || {
        let (path, _) = existing(&place, key)?;
        let mut changes = Changes::new();
        changes.delete(&path)?;
        index::update(&place, &mut changes, [key.to_owned()])?;
        let what = format!("delete {key} — Reason: {reason}");
        log(&mut changes, &place, &project.clock, &what)?;
        Ok(((), changes))
    })?;
    Ok(Deleted {
        key: key.to_owned(),
        reason: reason.to_owned(),
        diff: applied.diff,
        warnings: project.named(applied.warnings),
    })
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
