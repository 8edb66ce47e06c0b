//! Reads a single entry, with its original text.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{At, Error, Result};
use crate::knowledge::dir::stem;
use crate::knowledge::{Entry, EntryKey, KnowledgeDir, key};
use crate::project::Project;
use crate::storage::{digest, read};
use crate::warning::Warning;

/// An entry with its text. It is the document of `annals entry read --json`.
#[derive(Clone, Debug, Serialize)]
pub struct EntryText {
    /// Path of the file, relative to the project.
    pub file: PathBuf,
    /// The hash that `write --if-match` expects.
    pub hash: String,
    /// The fields of the front matter.
    #[serde(flatten)]
    pub entry: Entry,
    /// The text below the front matter.
    pub body: String,
    /// Problems with the entry's format.
    pub problems: Vec<Warning>,
    /// The original bytes of the file.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

/// Returns an entry; if there is none, the error names the closest keys.
pub fn read(project: &Project, key: &str) -> Result<EntryText> {
    let place = KnowledgeDir::in_project(project);
    let path = place.entry(key);
    let is_name = !key.contains(['/', '\\', '\0']) && stem(&format!("{key}.md")).is_some();
    if key::fault(key).is_some() && !(is_name && read::is_file(&path)) {
        EntryKey::parse(key)?;
    }
    let Some(bytes) = bytes(&place, &path)? else {
        return Err(not_found(&place, key));
    };
    let hash = digest(&bytes);
    let decoded = read::decode(bytes.clone(), &path);
    let mut problems = decoded.warnings;
    let entry = Entry::parse(&decoded.value, &path).into_value(&mut problems);
    Ok(EntryText {
        file: project.relative(&path).to_owned(),
        hash,
        body: decoded.value[entry.body.clone()].to_owned(),
        entry,
        problems: project.named(problems),
        bytes,
    })
}

/// Returns the bytes of an entry's file, or `None` if there is none; a link out of the store is refused.
pub(crate) fn bytes(place: &KnowledgeDir, path: &Path) -> Result<Option<Vec<u8>>> {
    if leads_out(place, path)? {
        return Err(Error::refused("is a symbolic link out of the store, which is not followed")
            .at(path, None)
            .hint("put the file itself there"));
    }
    read::bytes(path)
}

/// Returns whether a path is a symbolic link to a target outside the store.
pub(crate) fn leads_out(place: &KnowledgeDir, path: &Path) -> Result<bool> {
    if !path.is_symlink() {
        return Ok(false);
    }
    let store = fs::canonicalize(place.root()).at("open", place.root())?;
    Ok(fs::canonicalize(path).is_ok_and(|target| !target.starts_with(store)))
}

/// Returns the file of an entry, which must exist.
pub(crate) fn existing(place: &KnowledgeDir, key: &str) -> Result<(PathBuf, Vec<u8>)> {
    let key = EntryKey::parse(key)?;
    let path = place.entry(key.as_str());
    match bytes(place, &path)? {
        Some(bytes) => Ok((path, bytes)),
        None => Err(not_found(place, key.as_str())),
    }
}

/// Returns the error for an unknown key, with the three closest keys.
pub(crate) fn not_found(place: &KnowledgeDir, key: &str) -> Error {
    let mut keys = place.keys();
    keys.sort_by_cached_key(|other| (strsim::levenshtein(key, other), other.clone()));
    let closest: Vec<&str> = keys.iter().take(3).map(String::as_str).collect();
    let error = Error::not_found(format!("not found: {key}"));
    if closest.is_empty() {
        return error.hint("there are no entries yet; `annals entry write` creates one");
    }
    error.hint(format!("closest keys: {}", closest.join(", ")))
}
