//! Lists the transcripts of a project, searches them through an index, and turns their reading on and off.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use chrono::NaiveDate;
use serde::Serialize;
use toml_edit::{Array, Document, value};

use crate::error::{Error, Result};
use crate::knowledge::{Proposal, Surface, classify};
use crate::project::{Origin, Project};
use crate::search::index::{Answer, Asked, Cache, IndexFile, Passage};
use crate::sessions::clients::{Client, folder_name, head, opencode_sessions, root_of};
use crate::sessions::{Session, UnitKind, ensure_on, read};
use crate::storage;
use crate::storage::listing::entries;
use crate::storage::read::PathKind;
use crate::storage::{Changes, Storage, Store, read};
use crate::text::{line_end, quantity, sha256};
use crate::warning::Warning;

/// Maximum size of the transcripts that are read, in bytes; the newest are.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;

/// The transcripts of a project, the newest first.
#[derive(Debug, Default)]
pub struct Transcripts {
    /// The files that are read; their source is the number of the client.
    pub newest: Vec<IndexFile>,
    /// Number of older ones that are not, since the newest fill the limit.
    pub left_out: usize,
    /// Warnings about what could not be listed.
    pub warnings: Vec<Warning>,
}

/// Lists the transcripts of a project, of the clients that the user has turned on, without reading them whole.
pub fn transcripts(project: &Project) -> Transcripts {
    let mut found = Transcripts::default();
    let places = Places::of(project);
    for client in &project.settings.sessions {
        // The user's own folder may be a link; nothing below it may.
        let folder = client.folder(&project.environment);
        let Some(folder) = folder.and_then(|folder| storage::real_path(&folder).ok()) else {
            continue;
        };
        match client {
            Client::Claude => places.claude(&folder, &mut found),
            Client::Codex => places.codex(&folder, &mut found),
            Client::Gemini => places.gemini(&folder, &mut found),
            Client::Opencode => {
                let named = project.environment.get("OPENCODE_DB");
                places.opencode(&folder, named, &mut found);
            }
        }
    }
    found.newest.sort_by_key(|one| std::cmp::Reverse(one.modified));
    let mut bytes = 0;
    let count = found.newest.len();
    found.newest.retain(|transcript| {
        bytes = u64::saturating_add(bytes, transcript.size);
        bytes <= MAX_BYTES
    });
    found.left_out = count - found.newest.len();
    found
}

/// The folders whose sessions are those of a project.
struct Places(Vec<PathBuf>);

impl Places {
    fn of(project: &Project) -> Self {
        let roots = project.git.worktrees(&project.root);
        let real = roots.iter().filter_map(|root| fs::canonicalize(root).ok());
        let mut places: Vec<PathBuf> = roots.iter().cloned().chain(real).collect();
        places.sort();
        places.dedup();
        Self(places)
    }

    /// Returns whether a working directory is one of the places, or inside one and not inside another project.
    fn contain(&self, directory: &str) -> bool {
        let directory = Path::new(directory);
        let is_plain = !directory.components().any(|part| part.as_os_str() == "..");
        is_plain
            && self.0.iter().any(|place| {
                directory.starts_with(place)
                    && !directory
                        .ancestors()
                        .take_while(|folder| *folder != place.as_path())
                        .any(|folder| folder.join(".git").symlink_metadata().is_ok())
            })
    }

    fn claude(&self, projects: &Path, found: &mut Transcripts) {
        let names: Vec<String> = self.0.iter().map(|place| folder_name(place)).collect();
        for folder in folders(projects) {
            let name = file_name(&folder);
            // Different folders can have the same name here, and what is inside a project begins with its name.
            if names.iter().any(|own| name.starts_with(own.as_str())) {
                let is_exact = names.contains(&name);
                for path in found.files(&folder, |name| has_extension(name, "jsonl")) {
                    self.add(Client::Claude, path, is_exact, found);
                }
            }
        }
    }

    fn codex(&self, sessions: &Path, found: &mut Transcripts) {
        for day in folders(sessions)
            .into_iter()
            .flat_map(|year| folders(&year))
            .flat_map(|month| folders(&month))
        {
            for path in found.files(&day, |name| name.starts_with("rollout-")) {
                self.add(Client::Codex, path, true, found);
            }
        }
    }

    /// Adds a transcript if its first records name a working directory of the project.
    fn add(&self, client: Client, path: PathBuf, is_likely: bool, found: &mut Transcripts) {
        let head = head(&path);
        match (head.directory, head.version) {
            (Some(directory), _) if self.contain(&directory) && !head.is_of_subagent => {
                found.add(client, path);
            }
            (None, Some(version)) if is_likely => found.warn_unknown(&path, client, &version),
            _ => {}
        }
    }

    /// Earlier versions of the client named a project's folder after the digest of its root.
    fn gemini(&self, projects: &Path, found: &mut Transcripts) {
        let digests: Vec<String> =
            self.0.iter().map(|place| sha256(place.as_os_str().as_encoded_bytes())).collect();
        for folder in folders(projects) {
            let is_own = root_of(&folder).is_some_and(|root| self.contain(&root));
            if is_own || digests.contains(&file_name(&folder)) {
                for path in found.files(&folder.join("chats"), |name| name.starts_with("session-"))
                {
                    found.add(Client::Gemini, path);
                }
            }
        }
    }

    fn opencode(&self, folder: &Path, named: Option<&str>, found: &mut Transcripts) {
        let is_database = |name: &str| match named {
            Some(named) => name == named,
            None => name.starts_with("opencode") && has_extension(name, "db"),
        };
        let mut databases = found.files(folder, is_database);
        databases.extend(named.map(PathBuf::from).filter(|path| path.is_absolute()));
        for database in databases {
            let sessions = opencode_sessions(&database).unwrap_or_else(|error| {
                found.warn_unknown(&database, Client::Opencode, &error.to_string());
                Vec::new()
            });
            for (id, directory, numbers) in sessions {
                if !self.contain(&directory) {
                    continue;
                }
                let number = |at: usize| numbers[at].try_into().unwrap_or_default();
                let path = database.join(id);
                found.newest.push(IndexFile {
                    source: Client::Opencode as usize,
                    name: path.to_string_lossy().into_owned(),
                    path,
                    role: 0,
                    size: number(2),
                    stamp: numbers.iter().flat_map(|n| n.to_le_bytes()).collect(),
                    modified: SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(number(0))),
                });
            }
        }
    }
}

impl Transcripts {
    /// Returns the regular files in a folder with a wanted name; those that a client has compressed get a warning.
    fn files(&mut self, folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
        let plain = |name: &str| is_wanted(name.strip_suffix(".zst").unwrap_or(name));
        let mut files = listed(folder, |name, kind| kind == PathKind::File && plain(name));
        files.retain(|path| {
            let is_compressed = has_extension(&file_name(path), "zst");
            if is_compressed {
                self.warn(path, "is compressed by the client, so it is not read");
            }
            !is_compressed
        });
        files
    }

    fn add(&mut self, client: Client, path: PathBuf) {
        let name = path.to_string_lossy().into_owned();
        self.newest.extend(IndexFile::stat(client as usize, name, path));
    }

    fn warn(&mut self, path: &Path, message: &str) {
        self.warnings.push(Warning::file(path, message));
    }

    fn warn_unknown(&mut self, path: &Path, client: Client, version: &str) {
        let title = client.title();
        self.warn(path, &format!("is in a format that annals does not know ({title}, {version})"));
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the folders in a folder, without links.
fn folders(folder: &Path) -> Vec<PathBuf> {
    listed(folder, |_, kind| kind == PathKind::Folder)
}

fn listed(folder: &Path, is_wanted: impl Fn(&str, PathKind) -> bool) -> Vec<PathBuf> {
    entries(folder)
        .unwrap_or_default()
        .into_iter()
        .filter(|(name, kind)| is_wanted(name, *kind))
        .map(|(name, _)| folder.join(name))
        .collect()
}

fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|own| own == extension)
}

/// Maximum size of the transcripts that are read for a search without an index, in bytes.
const MAX_WITHOUT_INDEX: u64 = 64 * 1024 * 1024;

/// Searches the transcripts of a project; the source of a hit is the number of its client.
pub(crate) fn search(project: &Project, asked: &Asked<'_>) -> Result<Answer> {
    ensure_on(project)?;
    let storage = index_storage(project)
        .filter(|_| !project.dry_run)
        .filter(|storage| storage.write_cache("used", b"").is_ok());
    let has_index = storage.is_some();
    let files = files_to_search(project, has_index);
    let count = quantity(files.len(), "newest session");
    let progress = project.progress.clone();
    let reader = |file: &IndexFile| Ok(read(file)?.map(passages));
    let mut answer = Cache { storage, files, reader, progress }.search(&Asked {
        sources: &[0, 1, 2, 3],
        extras: &[],
        ..*asked
    })?;
    if !has_index && !asked.is_urgent {
        let message = format!("cannot be written, so there is no index: {count} were searched");
        let folder = project.environment.cache_dir().unwrap_or_default();
        answer.warnings.push(Warning::file(&folder, message));
    }
    Ok(answer)
}

/// Returns the transcripts, sorted by name; without an index, those that can be read at once, at least one.
fn files_to_search(project: &Project, has_index: bool) -> Vec<IndexFile> {
    let mut files = transcripts(project).newest;
    let mut bytes = 0;
    files.retain(|file| {
        bytes += file.size;
        has_index || bytes <= MAX_WITHOUT_INDEX || bytes == file.size
    });
    files.sort_by(|one, other| one.name.cmp(&other.name));
    files
}

/// Returns the units of a session as passages, each under what the user had asked.
fn passages(session: Session) -> Vec<Passage> {
    let passages = session.units.into_iter().map(|unit| Passage {
        headings: match unit.kind {
            UnitKind::Asked => Vec::new(),
            _ => vec![unit.question],
        },
        line: unit.line,
        id: session.session.clone(),
        text: unit.text,
        date: unit.date,
        flags: 0,
        weight: match unit.kind {
            // A question is answered by what follows it, which stands under its words, too.
            UnitKind::Asked => 0.7,
            UnitKind::Worked => 0.5,
            _ => 1.0,
        },
    });
    passages.collect()
}

/// The key in the user's settings.
const KEY: &str = "sessions";
/// Blanks within a line.
const BLANK: [char; 2] = [' ', '\t'];

/// Sets whose transcripts are read, in the user's own settings; returns the file if it was changed.
pub fn switch(project: &Project, clients: &[Client]) -> Result<Option<PathBuf>> {
    if let Origin::Environment { variable } = project.settings.origin(KEY) {
        return Err(Error::usage(format!(
            "{variable} says whose transcripts are read, and comes before the file"
        ))
        .hint(format!("unset {variable}")));
    }
    let folder = project
        .environment
        .config_dir()
        .ok_or_else(|| Error::failed("HOME is not set to an absolute path"))?;
    let path = folder.join("config.toml");
    let storage = project.storage_of_user(&folder)?;
    let ((), applied) = storage.transact("sessions", &[Store::Context], || {
        let mut changes = Changes::new();
        let old = read::users_text(&path)?.map(|text| text.value);
        let text = old.clone().unwrap_or_default();
        let document = Document::parse(&*text).map_err(|error| {
            Error::refused(format!("is not valid TOML: {}", error.message())).about(&path)
        })?;
        let wanted = clients.iter().map(|client| client.as_str()).collect::<Array>();
        let found = document
            .get_key_value(KEY)
            .and_then(|(key, value)| Some((key.span()?.start, value.span()?)));
        // Around a value that is there, the text stays as it is, comments included.
        let new = match found {
            Some((start, value)) if clients.is_empty() => {
                let (before, after) = (&text[..start], text[value.end..].trim_start_matches(BLANK));
                let after = after.strip_prefix(line_end(&text)).unwrap_or(after);
                format!("{}{after}", before.trim_end_matches(BLANK))
            }
            Some((_, value)) => format!("{}{wanted}{}", &text[..value.start], &text[value.end..]),
            None if clients.is_empty() => text.clone(),
            None => {
                let mut document = document.into_mut();
                document[KEY] = value(wanted);
                document.to_string()
            }
        };
        match old {
            Some(old) if old == new => {}
            None if clients.is_empty() => {}
            _ if new.trim().is_empty() => changes.delete(&path)?,
            old => changes.edit(&path, old.map(String::into_bytes), new.into_bytes())?,
        }
        Ok(((), changes))
    })?;
    Ok(applied.changed.into_iter().next().map(|_| path))
}

/// Returns the storage of a project's index in the user's cache folder; `None` without such a folder.
fn index_storage(project: &Project) -> Option<Storage> {
    storage_in(project, &sha256(project.root.as_os_str().as_encoded_bytes())[..16])
}

/// Removes the index of this project, or those of all projects; returns whether there was one.
pub fn forget(project: &Project, all: bool) -> Result<bool> {
    let storage = if all { storage_in(project, "") } else { index_storage(project) };
    storage.map_or(Ok(false), |storage| storage.remove_caches())
}

fn storage_in(project: &Project, name: &str) -> Option<Storage> {
    let folder = project.environment.cache_dir()?.join("sessions").join(name);
    Some(Storage::new(&project.root, project.clock).with_folder(&folder).dry_run(project.dry_run))
}

/// Maximum length of a paragraph that is proposed, in bytes; a longer one is no single finding.
const MAX_FINDING: usize = 600;

/// A statement that may be worth an entry.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// The statement, verbatim.
    pub finding: String,
    /// The entry that it could be.
    pub proposed: Proposal,
    /// The session, as `claude:7f3c…`.
    pub session: Option<String>,
    /// Its date.
    pub date: Option<NaiveDate>,
}

/// Returns what the rules of `classify` would keep as an entry; most texts are nothing worth keeping.
pub fn propose(project: &Project, sessions: &[Session]) -> Result<Vec<Finding>> {
    let mut findings: Vec<Finding> = Vec::new();
    let said = sessions
        .iter()
        .flat_map(|session| session.units.iter().map(move |u| (session, u)))
        .filter(|(_, u)| !matches!(u.kind, UnitKind::Worked | UnitKind::Failed));
    for (session, unit) in said {
        for text in unit.text.split("\n\n").map(str::trim) {
            let is_known = findings.iter().any(|known| known.finding == text);
            if text.is_empty() || text.len() > MAX_FINDING || is_known {
                continue;
            }
            let proposed = classify(project, text)?.proposed;
            if proposed.surface == Surface::Entry {
                let (finding, session) = (text.to_owned(), session.session.clone());
                findings.push(Finding { finding, proposed, session, date: unit.date });
            }
        }
    }
    Ok(findings)
}
