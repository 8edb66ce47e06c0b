//! Lists the transcripts of a project: sessions whose working directory is the project or a worktree of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use crate::project::Project;
use crate::search::index::IndexFile;
use crate::sessions::client::Client;
use crate::sessions::{claude, gemini, opencode, records};
use crate::storage;
use crate::storage::listing::entries;
use crate::storage::read::PathKind;
use crate::text::hexadecimal;
use crate::warning::Warning;

/// Maximum size of the transcripts that are read, in bytes; the newest are.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;

/// The transcripts of a project, the newest first.
#[derive(Clone, Debug, Default)]
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
                let mut between =
                    directory.ancestors().take_while(|folder| *folder != place.as_path());
                directory.starts_with(place)
                    && !between.any(|folder| folder.join(".git").symlink_metadata().is_ok())
            })
    }

    fn claude(&self, projects: &Path, found: &mut Transcripts) {
        let names: Vec<String> = self.0.iter().map(|place| claude::folder_name(place)).collect();
        for folder in folders(projects) {
            let name = file_name(&folder);
            // Different folders can have the same name here, and what is inside a project begins with its name.
            if names.iter().any(|own| name.starts_with(own.as_str())) {
                let is_exact = names.contains(&name);
                for path in files(&folder, |name| has_extension(name, "jsonl")) {
                    self.add(Client::Claude, path, is_exact, found);
                }
            }
        }
    }

    fn codex(&self, sessions: &Path, found: &mut Transcripts) {
        let months = folders(sessions).into_iter().flat_map(|year| folders(&year));
        for day in months.flat_map(|month| folders(&month)) {
            for path in files(&day, |name| name.starts_with("rollout-")) {
                if path.extension().is_some_and(|extension| extension == "zst") {
                    found.warn(&path, "is compressed by Codex, so it is not read");
                } else {
                    self.add(Client::Codex, path, true, found);
                }
            }
        }
    }

    /// Adds a transcript if its first records name a working directory of the project.
    fn add(&self, client: Client, path: PathBuf, is_likely: bool, found: &mut Transcripts) {
        let head = records::head(&path);
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
        let digest = |place: &PathBuf| Sha256::digest(place.as_os_str().as_encoded_bytes());
        let digests: Vec<String> = self.0.iter().map(|place| hexadecimal(&digest(place))).collect();
        for folder in folders(projects) {
            let is_own = gemini::root_of(&folder).is_some_and(|root| self.contain(&root));
            if is_own || digests.contains(&file_name(&folder)) {
                for path in files(&folder.join("chats"), |name| name.starts_with("session-")) {
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
        let mut databases = files(folder, is_database);
        databases.extend(named.map(PathBuf::from).filter(|path| path.is_absolute()));
        for database in databases {
            let sessions = opencode::sessions(&database).unwrap_or_else(|error| {
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
                    size: number(2),
                    stamp: numbers.iter().flat_map(|n| n.to_le_bytes()).collect(),
                    modified: SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(number(0))),
                });
            }
        }
    }
}

impl Transcripts {
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

/// Returns the regular files in a folder with a wanted name.
fn files(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    listed(folder, |name, kind| kind == PathKind::File && is_wanted(name))
}

fn listed(folder: &Path, is_wanted: impl Fn(&str, PathKind) -> bool) -> Vec<PathBuf> {
    let entries = entries(folder).unwrap_or_default().into_iter();
    let wanted = entries.filter(|(name, kind)| is_wanted(name, *kind));
    wanted.map(|(name, _)| folder.join(name)).collect()
}

fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|own| own == extension)
}
