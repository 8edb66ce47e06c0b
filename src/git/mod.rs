//! Queries git about history, renames and dates; the absence of git is an answer, not an error.

mod additions;
mod bounds;
mod commits;
mod committable;
mod committing;
mod config;
mod hash;
mod listing;
mod objects;
mod program;
mod range;
mod renames;
mod repository;
mod running;
mod since;
mod timeline;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub use additions::Addition;
use chrono::{DateTime, NaiveDate, Utc};
pub use committing::NewCommit;
pub(crate) use hash::is_hash_prefix;
pub use listing::TrackedFiles;
pub use objects::{Object, Objects, TreeEntry};
pub use range::{ChangedFile, Commit, CommitNode, Distance};
pub use renames::Rename;
pub use running::{kill_all, use_process_groups};
pub use since::Removal;
pub use timeline::Timeline;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::git::bounds::UnsafeRepository;
use crate::git::hash::is_full_hash;
use crate::git::program::Program;
use crate::git::repository::{Discovery, Head, Repository};
use crate::warning::Warning;

/// The git repository that contains a project, if any.
///
/// Without a git program, a repository or commits, methods return `None`, not an error. An error means that
/// git ran and failed, for example on a repository that belongs to another user.
#[derive(Clone, Debug)]
pub struct Git {
    repository: Option<Repository>,
    /// A part of `.git` that points elsewhere; if there is one, git is not run.
    obstacle: Option<UnsafeRepository>,
    /// The same in nested folders, checked before git is first started.
    nested_obstacle: OnceLock<Option<UnsafeRepository>>,
}

impl Git {
    /// Returns the repository that contains `root`, found by searching upward for `.git`; starts no process.
    pub fn discover(root: &Path) -> Self {
        let (repository, invalid) = match Repository::discover(root) {
            Discovery::NotFound => (None, None),
            Discovery::Invalid(dot_git) => (None, Some(UnsafeRepository::invalid(&dot_git))),
            Discovery::Repository(repository) => (Some(repository), None),
        };
        Self {
            obstacle: invalid.or_else(|| repository.as_ref().and_then(bounds::check_git_dir)),
            nested_obstacle: OnceLock::new(),
            repository,
        }
    }

    /// Returns a value without a repository, for callers that must not start a process.
    pub fn absent() -> Self {
        Self { repository: None, obstacle: None, nested_obstacle: OnceLock::new() }
    }

    /// Returns the reason why git is not run, if any.
    pub fn warning(&self) -> Option<Warning> {
        self.obstacle.as_ref().map(UnsafeRepository::warning)
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

    /// Returns the author time of each commit, with one process; `None` for each unknown hash.
    ///
    /// Hashes may be abbreviated. A rebase sets all committer times to the time of the rebase, so the author
    /// time is used.
    pub fn commit_times(&self, hashes: &[&str]) -> Result<Vec<Option<DateTime<Utc>>>> {
        match self.program()? {
            Some(program) => commits::author_times(&program, hashes),
            None => Ok(vec![None; hashes.len()]),
        }
    }

    /// Returns the number of commits since the one with a full hash, or `None` if it is unknown here.
    pub fn commits_since(&self, hash: &str) -> Result<Option<u32>> {
        if !is_full_hash(hash) {
            return Ok(None);
        }
        let (Some(from), Some(head)) = (self.resolve(hash)?, self.head()?) else {
            return Ok(None);
        };
        let range = format!("{from}..{head}");
        let count =
            self.with_program(|program| program.run(&["rev-list", "--count", &range, "--"]))?;
        Ok(count.and_then(|count| count.trim().parse().ok()))
    }

    /// Returns the name of the repository that this one was cloned from, without its address.
    pub fn origin_name(&self) -> Result<Option<String>> {
        let url =
            self.with_program(|program| program.query(&["config", "--get", "remote.origin.url"]))?;
        Ok(url.and_then(|url| {
            let path = url.trim().trim_end_matches('/');
            let name = path.rsplit(['/', ':', '\\']).next()?;
            let name = name.strip_suffix(".git").unwrap_or(name);
            (!name.is_empty()).then(|| name.to_owned())
        }))
    }

    /// Creates an annotated tag on the checked-out commit, and returns whether it is new.
    ///
    /// A tag that exists on this commit is kept; on another one, it is refused. Tags are not signed: signing
    /// runs a program from the repository's own settings.
    pub fn tag(&self, name: &str, message: &str, clock: &Clock) -> Result<bool> {
        let Some(head) = self.commit_to_tag(name)? else {
            return Ok(false);
        };
        self.with_program(|program| program.tag(name, message, &head, clock))?
            .ok_or_else(no_program_for_tags)?;
        Ok(true)
    }

    /// Fails if [`Git::tag`] would refuse this name.
    pub fn check_tag(&self, name: &str) -> Result<()> {
        self.commit_to_tag(name).map(drop)
    }

    /// Returns the checked-out commit, or `None` if it has this tag.
    fn commit_to_tag(&self, name: &str) -> Result<Option<String>> {
        let Some(head) = self.head()? else {
            return Err(Error::not_found("there is no git commit here to tag"));
        };
        let reference = format!("refs/tags/{name}");
        let is_valid = self
            .with_program(|program| program.is_valid_ref(&reference))?
            .ok_or_else(no_program_for_tags)?;
        // Git would parse a name with a hyphen in front as an option.
        if !is_valid || name.starts_with('-') {
            return Err(Error::usage(format!("{name:?} is not a valid tag name")));
        }
        match self.resolve(&reference)? {
            Some(tagged) if tagged == head => return Ok(None),
            Some(tagged) => {
                let message = format!(
                    "the tag {name} is already on commit {}",
                    &tagged[..12.min(tagged.len())]
                );
                return Err(Error::refused(message).hint("choose another name for the tag"));
            }
            None => {}
        }
        self.refuse_unsafe()?;
        Ok(Some(head))
    }

    /// Returns the value of a key of the repository's own configuration.
    pub fn local_config(&self, key: &str) -> Result<Option<String>> {
        let value =
            self.with_program(|program| program.query(&["config", "--local", "--get", key]))?;
        Ok(value.map(|value| value.trim_end_matches('\n').to_owned()))
    }

    /// Resolves a revision to the full hash of its commit.
    fn resolve(&self, revision: &str) -> Result<Option<String>> {
        let commit = format!("{revision}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
        let hash = self.with_program(|program| program.query(&arguments))?;
        Ok(hash.map(|hash| hash.trim().to_owned()))
    }

    /// Returns the top of the worktree: the project's root or a folder above it.
    pub fn top(&self) -> Option<&Path> {
        self.repository.as_ref().map(|repository| repository.top.as_path())
    }

    /// Returns whether the checkout is sparse: some tracked files are intentionally absent.
    pub fn is_sparse(&self) -> bool {
        self.repository.as_ref().is_some_and(Repository::is_sparse)
    }

    /// Returns the paths in the index, relative to the top of the repository.
    pub fn tracked(&self) -> Result<Option<TrackedFiles>> {
        self.with_program(listing::tracked)
    }

    /// Returns the first-parent history of the checked-out commit, with times.
    pub fn timeline(&self) -> Result<Timeline> {
        self.at_head(timeline::commits).map(Timeline::new)
    }

    /// Returns the files of the index that differ from a commit, with renames.
    pub fn changes_since(&self, commit: &str) -> Result<Vec<ChangedFile>> {
        let found = self.with_program(|program| since::changes_since(program, commit))?;
        Ok(found.unwrap_or_default())
    }

    /// Returns the commits that last removed these files and folders, as far as the history shows.
    pub fn removals(&self, paths: &[&str]) -> Result<Vec<Option<Removal>>> {
        let found = self.at_head(|program, head| since::removals(program, head, paths))?;
        Ok(if found.is_empty() { vec![None; paths.len()] } else { found })
    }

    /// Returns the day of the last commit since a day that changed each of these files, given from the top.
    pub fn last_changes(
        &self,
        paths: &[&str],
        since: NaiveDate,
    ) -> Result<HashMap<String, NaiveDate>> {
        self.at_head(|program, head| since::last_changes(program, head, paths, since))
    }

    /// Returns the files that each commit renamed relative to its first parent, including files that it also
    /// changed.
    pub fn renames(&self, commits: &[&str]) -> Result<Vec<Vec<Rename>>> {
        let none = || vec![Vec::new(); commits.len()];
        let renames = self.with_program(|program| renames::renames(program, commits))?;
        Ok(renames.unwrap_or_else(none))
    }

    /// Returns the commits that added the files of a folder, by absolute path; none in a shallow clone, whose
    /// oldest commit appears to add everything.
    pub fn additions(&self, folder: &Path) -> Result<BTreeMap<PathBuf, Addition>> {
        let Some(top) = self.top().filter(|_| !self.is_shallow()) else {
            return Ok(BTreeMap::new());
        };
        let folder = folder.to_string_lossy();
        let found = self.at_head(|program, _head| additions::additions(program, &folder))?;
        Ok(found.into_iter().map(|(path, addition)| (top.join(path), addition)).collect())
    }

    /// Starts a process that serves the repository's objects.
    pub fn objects(&self) -> Result<Option<Objects>> {
        self.with_program(Objects::open)
    }

    /// Returns a project's root and the same folder in every other worktree of its repository.
    ///
    /// A worktree counts only if the repository and the worktree name each other; starts no process.
    pub fn worktrees(&self, root: &Path) -> Vec<PathBuf> {
        let repository = self.repository.as_ref().filter(|_| self.obstacle.is_none());
        let mut roots = vec![root.to_owned()];
        let Some(repository) = repository else {
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
        self.repository.as_ref().is_some_and(Repository::is_shallow)
    }

    /// Resolves a hash, which may be abbreviated, to the full hash of a commit in this repository.
    pub fn resolve_hash(&self, hash: &str) -> Result<Option<String>> {
        if !is_hash_prefix(hash) {
            return Ok(None);
        }
        self.resolve(hash)
    }

    /// Returns the newest ancestors of the checked-out commit, itself included, newest first; uses one
    /// process.
    pub fn newest_commits(&self, max_commits: usize) -> Result<Vec<Commit>> {
        self.at_head(|program, head| range::newest_commits(program, head, max_commits))
    }

    /// Returns these commits with their changed files, in the given order.
    pub fn commits(&self, hashes: &[&str]) -> Result<Vec<Commit>> {
        let commits = self.with_program(|program| range::commits(program, hashes))?;
        Ok(commits.unwrap_or_default())
    }

    /// Returns the nodes of all commits since the one with a full hash, or of all commits, parents before
    /// children.
    pub fn nodes_since(&self, since: Option<&str>) -> Result<Vec<CommitNode>> {
        self.at_head(|program, head| range::nodes(program, since, head))
    }

    /// Returns the newest commits that changed a file, given relative to the top, newest first.
    pub fn commits_touching(&self, path: &str, max_commits: usize) -> Result<Vec<String>> {
        self.at_head(|program, head| range::commits_touching(program, head, path, max_commits))
    }

    /// Returns the distance between the checked-out commit and the one with a full hash.
    pub fn distance(&self, other: &str) -> Result<Option<Distance>> {
        match self.head()? {
            Some(head) => self.distance_between(other, &head),
            None => Ok(None),
        }
    }

    /// Returns the distance between two commits, each given by its full hash.
    pub fn distance_between(&self, from: &str, to: &str) -> Result<Option<Distance>> {
        self.with_program(|program| range::distance(program, from, to))
    }

    /// Returns the commits since a full hash that only changed files below a folder, relative to the top.
    pub fn commits_only_in(&self, folder: &str, since: Option<&str>) -> Result<BTreeSet<String>> {
        self.at_head(|program, head| range::commits_only_in(program, since, head, folder))
    }

    /// Commits only these files; returns `None` if they are committed already.
    ///
    /// Other staged changes stay staged. The commit is not signed, and the repository's hooks do not run.
    pub fn commit_only(&self, draft: &NewCommit<'_>, clock: &Clock) -> Result<Option<String>> {
        self.refuse_commit(draft.files)?;
        match self.program()? {
            Some(program) if committing::commit(&program, draft, clock)? => self.head(),
            _ => Ok(None),
        }
    }

    /// Fails if git would not commit these files, relative to the top, unchanged.
    pub fn refuse_commit(&self, paths: &[&str]) -> Result<()> {
        self.refuse_unsafe()?;
        let Some(repository) = self.readable() else {
            return Err(Error::not_found("there is no git repository to commit to"));
        };
        let mut checked = paths.iter();
        let special = checked.find_map(|path| bounds::check_rule_files(&repository.top, path));
        refuse(special.as_ref())?;
        let Some(program) = self.program()? else {
            return Ok(());
        };
        committable::refuse_in_progress(&program, &repository.git_dir)?;
        program.refuse_filtered(paths)?;
        committable::refuse_uncommittable(&program, paths)
    }

    /// Returns the repository, unless it has an obstacle.
    fn readable(&self) -> Option<&Repository> {
        let repository = self.repository.as_ref();
        repository.filter(|_| self.obstacle.is_none())
    }

    /// Refuses to write if there is an obstacle.
    fn refuse_unsafe(&self) -> Result<()> {
        refuse(self.obstacle.as_ref())
    }

    /// Returns a git program at the top of the repository; `None` if git may not be run on it.
    fn program(&self) -> Result<Option<Program<'_>>> {
        let Some(repository) = self.readable() else {
            return Ok(None);
        };
        let nested = self.nested_obstacle.get_or_init(|| bounds::check_nested(repository));
        refuse(nested.as_ref())?;
        Ok(Some(Program::new(&repository.top)))
    }

    /// Runs an operation with a git program at the top of the repository; `None` without git or repository.
    fn with_program<T>(
        &self,
        operation: impl FnOnce(&Program<'_>) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        match self.program()? {
            Some(program) => operation(&program),
            None => Ok(None),
        }
    }

    /// Runs an operation with the full hash of the checked-out commit; returns an empty result without a commit
    /// or without git.
    fn at_head<T: Default>(
        &self,
        operation: impl FnOnce(&Program<'_>, &str) -> Result<Option<T>>,
    ) -> Result<T> {
        let Some(head) = self.head()? else {
            return Ok(T::default());
        };
        let found = self.with_program(|program| operation(program, &head))?;
        Ok(found.unwrap_or_default())
    }
}

fn no_program_for_tags() -> Error {
    Error::not_found("git was not found, so no tag can be created")
}

/// Fails if there is an obstacle.
fn refuse(obstacle: Option<&UnsafeRepository>) -> Result<()> {
    obstacle
        .map_or(Ok(()), |obstacle| Err(Error::refused(obstacle.reason()).at(obstacle.path(), None)))
}

#[cfg(test)]
pub(crate) mod tests;
