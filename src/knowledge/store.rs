//! The store's files: where they are, and how entries are read, one or all of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::clock::Clock;
use crate::error::{At, Error, Result};
use crate::knowledge::{Entry, EntryKey, key};
use crate::project::Project;
use crate::secrets;
use crate::storage::stat::PathKind;
use crate::storage::{Boundary, Changes, listing, read};
use crate::text::hexadecimal;
use crate::warning::{Parsed, Warning};

/// Minimum number of files for reading in parallel; below it, starting threads takes longer than it saves.
const MIN_PARALLEL_FILES: usize = 256;

/// The name of the folder of the entry files.
pub(crate) const ENTRIES: &str = "memory";

/// Returns the first half of the SHA-256 of a file's bytes, by which a write says what it was made from.
pub(crate) fn digest(bytes: impl AsRef<[u8]>) -> String {
    hexadecimal(&Sha256::digest(bytes)[..16])
}

/// The folder of the entries and the notepad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnowledgeDir {
    root: PathBuf,
}

impl KnowledgeDir {
    /// Returns the folder of a project, which may not exist yet.
    pub fn in_project(project: &Project) -> Self {
        Self { root: project.root.join(&project.settings.store) }
    }

    /// Returns the folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of the entry files.
    pub fn memory(&self) -> PathBuf {
        self.root.join(ENTRIES)
    }

    /// Returns the file of an entry, which may not exist yet.
    pub fn entry(&self, key: &str) -> PathBuf {
        self.memory().join(format!("{key}.md"))
    }

    /// Returns the keys of all existing entries.
    pub(crate) fn keys(&self) -> BTreeSet<String> {
        let files = listing::entries(&self.memory()).unwrap_or_default();
        let files = files.iter().filter(|(_, kind)| *kind != PathKind::Folder);
        files.filter_map(|(name, _)| Some(stem(name)?.to_owned())).collect()
    }

    /// Returns the generated list of all entries.
    pub fn index(&self) -> PathBuf {
        self.memory().join("INDEX.md")
    }

    /// Returns the log of all writes.
    pub fn log(&self) -> PathBuf {
        self.memory().join("log.md")
    }

    /// Returns the notepad.
    pub fn notepad(&self) -> PathBuf {
        self.root.join("notepad.md")
    }
}

/// Returns the key of an entry file; `None` for INDEX.md, log.md and hidden files.
pub(crate) fn stem(name: &str) -> Option<&str> {
    let stem = name.strip_suffix(".md")?;
    let is_own = name == "INDEX.md" || name == "log.md" || name.starts_with('.');
    (!is_own).then_some(stem)
}

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
    let leads_out = || -> Result<bool> {
        let store = fs::canonicalize(place.root()).at("open", place.root())?;
        Ok(fs::canonicalize(path).is_ok_and(|target| !target.starts_with(store)))
    };
    if path.is_symlink() && leads_out()? {
        return Err(Error::refused("is a symbolic link out of the store, which is not followed")
            .at(path, None)
            .hint("put the file itself there"));
    }
    read::bytes(path)
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
    let mut keys: Vec<String> = place.keys().into_iter().collect();
    keys.sort_by_cached_key(|other| (strsim::levenshtein(key, other), other.clone()));
    let closest: Vec<&str> = keys.iter().take(3).map(String::as_str).collect();
    let error = Error::not_found(format!("not found: {key}"));
    if closest.is_empty() {
        return error.hint("there are no entries yet; `annals remember` creates one");
    }
    error.hint(format!("closest keys: {}", closest.join(", ")))
}

/// Appends a line to the log: `- 2026-02-17T10:11:12Z write test-runner (convention, high)`.
///
/// Line breaks in `what` are replaced by spaces.
pub(crate) fn log(
    changes: &mut Changes,
    place: &KnowledgeDir,
    clock: &Clock,
    what: &str,
) -> Result<()> {
    let what: Vec<&str> = what.lines().map(str::trim).collect();
    let line = format!("- {} {}\n", clock.timestamp(), what.join(" "));
    changes.append(&place.log(), line)
}

/// Refuses a text, which agents will read back, if it contains what looks like a secret.
pub(crate) fn refuse_secrets(what: &str, text: &str) -> Result<()> {
    let Some((rule, line)) = secrets::find_lines(text, 1).into_iter().next() else {
        return Ok(());
    };
    Err(Error::refused(format!(
        "the {what} contains what looks like a secret ({rule}, line {line})"
    ))
    .hint("say where it is kept instead; --allow-secret stores it anyway"))
}

/// The file of an entry.
pub(crate) struct EntryFile<'a> {
    pub(crate) key: &'a str,
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

/// Calls `visit` for every entry, in parallel if there are many, because `entry query` does so on each run, and returns
/// the results in the order of the file names.
///
/// A file that cannot be read, or is a link out of the store, becomes a warning; so do the files beyond the limits of one
/// command.
pub(crate) fn scan<T: Send>(
    place: &KnowledgeDir,
    visit: impl Fn(&EntryFile<'_>) -> Option<T> + Sync,
) -> Result<Parsed<Vec<T>>> {
    let folder = &place.memory();
    let mut listed = match listing::entries(folder) {
        Err(error) if read::is_absent(&error) => Vec::new(),
        listed => listed.at("list", folder)?,
    };
    listed.retain(|(name, _)| stem(name).is_some());
    let files = listed.iter().map(|(name, _)| folder.join(name)).collect();
    listed.truncate(Boundary::within_limit(folder, files).len());
    let read = |(name, kind): &(String, PathKind)| {
        let (key, path) = (stem(name)?, folder.join(name));
        match read_listed(place, &path, *kind) {
            Ok(bytes) => visit(&EntryFile { key, path, bytes: bytes? }).map(Ok),
            Err(error) => Some(Err(Warning::file(&path, error.reason()))),
        }
    };
    let threads = match listed.len() {
        ..MIN_PARALLEL_FILES => 1,
        _ => thread::available_parallelism().map_or(1, usize::from),
    };
    let mut all = Parsed::clean(Vec::new());
    thread::scope(|scope| {
        let parts = listed.chunks(listed.len().div_ceil(threads).max(1));
        let parts: Vec<_> = parts
            .map(|part| scope.spawn(|| part.iter().filter_map(read).collect::<Vec<_>>()))
            .collect();
        for part in parts {
            for read in part.join().map_err(|_| Error::failed("a thread panicked"))? {
                match read {
                    Ok(made) => all.value.push(made),
                    Err(warning) => all.warnings.push(warning),
                }
            }
        }
        Ok(all)
    })
}

fn read_listed(place: &KnowledgeDir, path: &Path, kind: PathKind) -> Result<Option<Vec<u8>>> {
    match kind {
        PathKind::Folder => Ok(None),
        // A dangling link fails here.
        PathKind::Link => fs::metadata(path).at("read", path).and_then(|_| bytes(place, path)),
        PathKind::File | PathKind::Other => match read::bytes(path)? {
            // The listing shows a name that is not UTF-8 with U+FFFD, and no file has that name.
            None if path.to_string_lossy().contains('\u{fffd}') => {
                Err(Error::failed("has a file name that is not valid UTF-8, so it is not read"))
            }
            found => Ok(found),
        },
    }
}
