//! Queries git about history, renames and dates; the absence of git is an answer, not an error.

mod log;
mod program;
mod repository;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub use log::{Addition, ChangedFile, Commit, CommitNode, Timeline};
pub(crate) use repository::is_hash_prefix;

use crate::error::{Error, Result};
use crate::git::program::successful;
use crate::git::repository::{Head, Repository, is_full_hash};
use crate::process::Output;
use crate::warning::Warning;

/// The content of the index, as paths relative to the top of the repository.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TrackedFiles {
    /// The files, sorted as git sorts them.
    pub files: Vec<String>,
    /// The submodules; their content belongs to other repositories.
    pub submodules: Vec<String>,
}

/// A submodule's mode in the index.
const SUBMODULE: &str = "160000";

/// The git repository that contains a project, if any.
///
/// Without a git program, a repository or commits, methods return `None`, not an error. An error means that
/// git ran and failed, for example on a repository that belongs to another user.
#[derive(Clone, Debug, Default)]
pub struct Git {
    repository: Option<Repository>,
    /// A part of `.git` that points elsewhere; if there is one, git is not run.
    obstacle: Option<Warning>,
    /// The same in nested folders, checked before git is first started.
    nested_obstacle: OnceLock<Option<Warning>>,
}

impl Git {
    /// Returns the repository that contains `root`, found by searching upward for `.git`; starts no process.
    pub fn discover(root: &Path) -> Self {
        let (repository, obstacle) = match Repository::discover(root) {
            Ok(repository) => {
                let obstacle = repository.as_ref().and_then(repository::check_git_dir);
                (repository, obstacle)
            }
            Err(obstacle) => (None, Some(obstacle)),
        };
        Self { repository, obstacle, ..Self::default() }
    }

    /// Returns the reason why git is not run, if any.
    pub fn warning(&self) -> Option<Warning> {
        self.obstacle.clone()
    }

    /// Returns whether the project is in a repository.
    pub fn is_repository(&self) -> bool {
        self.repository.is_some()
    }

    /// Returns the full hash of the checked-out commit.
    ///
    /// It is read from the files of the repository, since a process takes longer than most commands may; git
    /// runs only if the refs are stored in another format.
    pub fn head(&self) -> Result<Option<String>> {
        match self.readable().map(Repository::head) {
            None | Some(Head::Unborn) => Ok(None),
            Some(Head::Commit(hash)) => Ok(Some(hash)),
            Some(Head::Unknown) => self.resolve("HEAD"),
        }
    }

    /// Returns the number of commits since the one with a full hash, or `None` if it is unknown here.
    pub fn commits_since(&self, hash: &str) -> Result<Option<u32>> {
        if !is_full_hash(hash) {
            return Ok(None);
        }
        let Some(from) = self.resolve(hash)? else {
            return Ok(None);
        };
        Ok(self.history("rev-list", Some(&from), &["--count"], None)?.trim().parse().ok())
    }

    /// Returns the value of a key of the repository's own configuration.
    pub fn local_config(&self, key: &str) -> Result<Option<String>> {
        let value = self.query(&["config", "--local", "--get", key])?;
        Ok(value.map(|value| value.trim_end_matches('\n').to_owned()))
    }

    /// Resolves a revision to the full hash of its commit.
    fn resolve(&self, revision: &str) -> Result<Option<String>> {
        let commit = format!("{revision}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
        let hash = self.query(&arguments)?;
        Ok(hash.map(|hash| hash.trim().to_owned()))
    }

    /// Returns the top of the worktree: the project's root or a folder above it.
    pub fn top(&self) -> Option<&Path> {
        self.repository.as_ref().map(|repository| repository.top.as_path())
    }

    /// Returns whether the checkout is sparse: some tracked files are intentionally absent.
    pub fn is_sparse(&self) -> bool {
        self.repository
            .as_ref()
            .is_some_and(|own| own.git_dir.join("info/sparse-checkout").exists())
    }

    /// Returns the paths in the index, relative to the top of the repository.
    ///
    /// Names that are not valid UTF-8 contain U+FFFD.
    pub fn tracked(&self) -> Result<Option<TrackedFiles>> {
        // Not `--stage`, which takes twice as long; submodules are few and listed in a file.
        let Some(output) = self.query(&["ls-files", "-z"])? else {
            return Ok(None);
        };
        let mut files: Vec<String> = output.split_terminator('\0').map(str::to_owned).collect();
        // A file in conflict is listed once per side.
        files.dedup();
        let mut submodules = Vec::new();
        if files.iter().any(|name| name == ".gitmodules") {
            submodules = self
                .text(&["ls-files", "-z", "--stage"])?
                .split('\0')
                .filter_map(|line| {
                    Some(line.strip_prefix(SUBMODULE)?.split_once('\t')?.1.to_owned())
                })
                .collect();
            files.retain(|name| !submodules.contains(name));
        }
        Ok(Some(TrackedFiles { files, submodules }))
    }

    /// Returns a project's root and the same folder in every other worktree of its repository.
    ///
    /// A worktree counts only if the repository and the worktree name each other; starts no process.
    pub fn worktrees(&self, root: &Path) -> Vec<PathBuf> {
        let mut roots = vec![root.to_owned()];
        let Some(repository) = self.readable() else {
            return roots;
        };
        let inside = root.strip_prefix(&repository.top).unwrap_or(Path::new(""));
        for top in repository.worktrees() {
            let other = if inside.as_os_str().is_empty() { top } else { top.join(inside) };
            if !roots.contains(&other) {
                roots.push(other);
            }
        }
        roots
    }

    /// Returns whether the clone is shallow, so that its oldest commits are not the first ones.
    pub fn is_shallow(&self) -> bool {
        self.repository.as_ref().is_some_and(|own| own.common_dir.join("shallow").exists())
    }

    /// Resolves a hash, which may be abbreviated, to the full hash of a commit in this repository.
    pub fn resolve_hash(&self, hash: &str) -> Result<Option<String>> {
        if !is_hash_prefix(hash) {
            return Ok(None);
        }
        self.resolve(hash)
    }

    /// Returns the repository, unless it has an obstacle.
    fn readable(&self) -> Option<&Repository> {
        self.repository.as_ref().filter(|_| self.obstacle.is_none())
    }

    /// Runs git at the top of the repository; `None` without git or repository, or if it may not be run there.
    fn run(&self, arguments: &[&str], input: &[u8]) -> Result<Option<Output>> {
        let Some(repository) = self.readable() else {
            return Ok(None);
        };
        match self.nested_obstacle.get_or_init(|| repository::check_nested(repository)) {
            Some(Warning { place, message }) => {
                Err(Error::refused(message.as_str()).about(&place.file))
            }
            None => program::run(&repository.top, arguments, input),
        }
    }

    /// Returns the output of a command that reads this input; empty without git or repository.
    fn output(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>> {
        self.run(arguments, input)?.map_or(Ok(Vec::new()), |output| successful(output, arguments))
    }

    /// Returns the output of a command as text; empty without git or repository.
    fn text(&self, arguments: &[&str]) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.output(arguments, &[])?).into_owned())
    }

    /// Returns the output of a command whose exit code 1 means "none".
    fn query(&self, arguments: &[&str]) -> Result<Option<String>> {
        let output = self
            .run(arguments, &[])?
            .filter(|output| output.status.code() != Some(1))
            .map(|output| successful(output, arguments))
            .transpose()?;
        Ok(output.map(|output| String::from_utf8_lossy(&output).into_owned()))
    }
}

#[cfg(test)]
pub(crate) mod tests;
