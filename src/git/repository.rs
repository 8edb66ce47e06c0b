//! Reads the repository from disk: its folders, and the checked-out commit.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use crate::git::hash::is_full_hash;

/// The folders of a repository.
#[derive(Clone, Debug)]
pub(crate) struct Repository {
    /// The folder that contains `.git`, where the files are checked out.
    pub(crate) top: PathBuf,
    /// `.git`, or a worktree's own folder inside the main one.
    pub(crate) git_dir: PathBuf,
    /// The folder of the refs of all worktrees.
    pub(crate) common_dir: PathBuf,
}

/// The kind of repository that a folder is in.
#[derive(Debug)]
pub(crate) enum Discovery {
    /// No repository, or a bare one.
    NotFound,
    /// A `.git` that git might read differently than we do.
    Invalid(PathBuf),
    /// A repository.
    Repository(Repository),
}

/// The checked-out commit or branch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// A commit, by its full hash.
    Commit(String),
    /// A branch without a commit yet.
    Unborn,
    /// Stored in a format that only git can read.
    Unknown,
}

/// Maximum length of a chain of symbolic refs, as in git.
const MAX_CHAIN_LENGTH: usize = 5;
const MAX_LINE_BYTES: u64 = 1 << 12;
/// Maximum size of a file read here, enough for 100,000 refs; git reads larger ones.
const MAX_PACKED_REFS_BYTES: u64 = 16 << 20;

impl Repository {
    /// Searches upward for `.git`, no further than git would: a bare repository ends the search.
    pub(crate) fn discover(folder: &Path) -> Discovery {
        for folder in folder.ancestors() {
            let dot_git = folder.join(".git");
            if dot_git.symlink_metadata().is_ok() {
                let is_empty = || dot_git.is_dir() && !exists(&dot_git.join("HEAD"));
                return match Self::open(folder) {
                    Some(repository) => Discovery::Repository(repository),
                    None if is_empty() => Discovery::NotFound,
                    None => Discovery::Invalid(dot_git),
                };
            }
            if is_bare(folder) {
                break;
            }
        }
        Discovery::NotFound
    }

    fn open(folder: &Path) -> Option<Self> {
        let dot_git = folder.join(".git");
        let git_dir = if dot_git.is_dir() {
            dot_git
        } else {
            // A worktree or a submodule: a file that names the folder.
            folder.join(read_line(&dot_git, "gitdir: ")?)
        };
        let link = git_dir.join("commondir");
        let common_dir =
            if exists(&link) { git_dir.join(read_line(&link, "")?) } else { git_dir.clone() };
        let is_folder = |name: &&str| common_dir.join(name).is_dir();
        let is_valid = git_dir.join("HEAD").is_file() && ["objects", "refs"].iter().all(is_folder);
        is_valid.then(|| Self { top: folder.to_owned(), git_dir, common_dir })
    }

    /// Returns whether the clone is shallow, so that its oldest commits are not the first ones.
    pub(crate) fn is_shallow(&self) -> bool {
        self.common_dir.join("shallow").exists()
    }

    /// Returns the folders of all worktrees, the main one included.
    #[expect(
        clippy::disallowed_methods,
        reason = "git's own folder, which may be outside the project"
    )]
    pub(crate) fn worktrees(&self) -> Vec<PathBuf> {
        let Ok(common) = self.common_dir.canonicalize() else {
            return Vec::new();
        };
        let main = common.file_name().filter(|name| *name == ".git").and(common.parent());
        let entries = std::fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
        let others = entries.filter_map(|entry| {
            let dot_git = read_line(&entry.path().join("gitdir"), "")?;
            let named = read_line(&dot_git, "gitdir: ")?;
            let top = dot_git.parent()?;
            let is_mutual = top.join(named).canonicalize().ok()? == entry.path();
            is_mutual.then(|| top.to_owned())
        });
        main.map(Path::to_owned).into_iter().chain(others).collect()
    }

    /// Returns whether the checkout is sparse.
    pub(crate) fn is_sparse(&self) -> bool {
        self.git_dir.join("info/sparse-checkout").exists()
    }

    /// Returns the checked-out commit, as far as it can be read from files.
    pub(crate) fn head(&self) -> Head {
        let Some(mut text) = read(&self.git_dir.join("HEAD"), MAX_LINE_BYTES) else {
            return Head::Unknown;
        };
        for _ in 0..MAX_CHAIN_LENGTH {
            let Some(name) = text.strip_prefix("ref:") else {
                return match parse_hash(&text) {
                    Some(hash) => Head::Commit(hash),
                    None => Head::Unknown,
                };
            };
            let name = name.trim().to_owned();
            // With the reftable format, HEAD contains this name.
            if name == "refs/heads/.invalid" || !is_ref_name(&name) {
                return Head::Unknown;
            }
            let file = self.common_dir.join(&name);
            if !self.contains_ref(&file) {
                return Head::Unknown;
            }
            match read(&file, MAX_LINE_BYTES) {
                Some(target) => text = target,
                None => return self.packed_ref(&name),
            }
        }
        Head::Unknown
    }

    /// Returns whether a file is inside the common folder or missing; a link may point outside it.
    fn contains_ref(&self, file: &Path) -> bool {
        match (file.canonicalize(), self.common_dir.canonicalize()) {
            (Ok(file), Ok(common_dir)) => file.starts_with(common_dir),
            _ => file.symlink_metadata().is_err(),
        }
    }

    /// Returns the commit of a branch without its own file.
    fn packed_ref(&self, name: &str) -> Head {
        let path = self.common_dir.join("packed-refs");
        if !path.exists() {
            return Head::Unborn;
        }
        let Some(refs) = read(&path, MAX_PACKED_REFS_BYTES) else {
            return Head::Unknown;
        };
        let line = refs.lines().find_map(|line| line.strip_suffix(name)?.strip_suffix(' '));
        match line.map(parse_hash) {
            Some(Some(hash)) => Head::Commit(hash),
            Some(None) => Head::Unknown,
            None => Head::Unborn,
        }
    }
}

/// Returns whether git would treat the folder itself as a bare repository.
fn is_bare(folder: &Path) -> bool {
    let has = |name: &str| exists(&folder.join(name));
    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Returns the path in a file after a prefix, or `None` if git might read a different one.
pub(crate) fn read_line(file: &Path, prefix: &str) -> Option<PathBuf> {
    let text = read(file, MAX_LINE_BYTES)?;
    let path = text.strip_prefix(prefix)?;
    let path = path.trim_end_matches(['\r', '\n']);
    let is_plain = !path.is_empty()
        && path.trim() == path
        && !path.contains(|c: char| c.is_control() || c == char::REPLACEMENT_CHARACTER);
    is_plain.then(|| PathBuf::from(path))
}

/// Returns whether a name stays inside the folder of the refs.
fn is_ref_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    name.starts_with("refs/") && parts.all(|part| matches!(part, Component::Normal(_)))
}

fn parse_hash(text: &str) -> Option<String> {
    let text = text.trim();
    is_full_hash(text).then(|| text.to_owned())
}

/// Returns the text of a regular file of at most `max_bytes`, with U+FFFD for invalid UTF-8; otherwise
/// `None`.
#[expect(
    clippy::disallowed_methods,
    reason = "a bounded read of git's own files, which may be outside the project"
)]
pub(crate) fn read(path: &Path, max_bytes: u64) -> Option<String> {
    // Reading a pipe would never end.
    if !path.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    let length = file.take(max_bytes + 1).read_to_end(&mut bytes).ok()?;
    (length as u64 <= max_bytes).then(|| String::from_utf8_lossy(&bytes).into_owned())
}
