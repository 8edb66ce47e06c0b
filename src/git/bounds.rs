//! Checks whether a repository stays inside its own folders.
//!
//! An unpacked archive may contain a `.git` that points elsewhere: a file with the path of another
//! repository's folder, a `commondir`, a link in place of `HEAD` or `objects`. Git would report that
//! repository's history as this project's. Worktrees and submodules point elsewhere, too,
//! but the folder that they point to names them in turn.

use std::fs;
use std::fs::FileType;
use std::path::{Path, PathBuf};

use crate::git::config;
use crate::git::repository::{Repository, read_line};
use crate::warning::Warning;

/// The reason why git is not run on a repository.
#[derive(Clone, Debug)]
pub(crate) struct UnsafeRepository {
    path: PathBuf,
    reason: &'static str,
}

const FOREIGN: &str = "belongs to another repository: neither `core.worktree` in its config nor its `gitdir` file names \
     this project (`git worktree repair` corrects a moved worktree), so git is not run";
const NOT_A_GIT_DIR: &str = "is not a valid git directory, so git is not run";
const OUTSIDE: &str = "points outside the repository, so git is not run";
const PIPE_OR_DEVICE: &str = "is a pipe or a device, so git is not run";
const ALTERNATES: &str = "uses the objects of another repository, so git is not run";
const EXTERNAL_INCLUDE: &str = "includes a file from outside the repository, so git is not run";

/// The entries of `.git` that our commands read.
const READ_ENTRIES: &[&str] = &[
    "HEAD", "commondir", "config", "config.worktree", "gitdir", "index", "info", "logs", "objects",
    "packed-refs", "refs", "reftable", "shallow", "worktrees",
];

/// The folders among them whose content is read.
const NESTED_FOLDERS: &[&str] = &["info", "logs", "objects", "refs", "reftable"];

/// Maximum depth of ref names; real ones are not deeper.
const MAX_DEPTH: usize = 16;

impl UnsafeRepository {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn reason(&self) -> &'static str {
        self.reason
    }

    pub(crate) fn warning(&self) -> Warning {
        Warning::file(&self.path, self.reason)
    }

    /// Returns the error for a `.git` that cannot be read as git reads it.
    pub(crate) fn invalid(dot_git: &Path) -> Self {
        Self::new(dot_git, NOT_A_GIT_DIR)
    }

    fn new(path: &Path, reason: &'static str) -> Self {
        Self { path: path.to_owned(), reason }
    }
}

/// Checks the top level of a repository's folders, and its settings.
pub(crate) fn check_git_dir(repository: &Repository) -> Option<UnsafeRepository> {
    let Some(folders) = git_folders(repository) else {
        return Some(UnsafeRepository::new(&repository.top.join(".git"), FOREIGN));
    };
    let out = folders.iter().find_map(|folder| {
        let is_read = |name: &str| READ_ENTRIES.contains(&name) || name.starts_with("sharedindex.");
        find_unsafe(folder, &folders, &is_read, 0)
    });
    out.or_else(|| alternates_file(repository)).or_else(|| {
        let file = config::external_include(repository)?;
        Some(UnsafeRepository::new(&file, EXTERNAL_INCLUDE))
    })
}

/// Returns the `alternates` file if it is not empty: it adds the objects of another repository.
fn alternates_file(repository: &Repository) -> Option<UnsafeRepository> {
    let file = repository.common_dir.join("objects/info/alternates");
    let found = fs::symlink_metadata(&file).ok()?;
    (!found.is_file() || found.len() > 0).then(|| UnsafeRepository::new(&file, ALTERNATES))
}

/// Checks for links and pipes in the nested folders that git reads.
pub(crate) fn check_nested(repository: &Repository) -> Option<UnsafeRepository> {
    let folders = git_folders(repository)?;
    folders.iter().find_map(|folder| {
        NESTED_FOLDERS.iter().find_map(|name| {
            // Objects are one folder deep, and there are many; chains of commit graphs and indexes are two
            // deep.
            let depth = if *name == "objects" { 2 } else { MAX_DEPTH };
            find_unsafe(&folder.join(name), &folders, &|_| true, depth)
        })
    })
}

/// Returns the canonical git folders of this project, or `None` if they belong to another one.
fn git_folders(repository: &Repository) -> Option<Vec<PathBuf>> {
    let top = repository.top.canonicalize().ok()?;
    let git_dir = repository.git_dir.canonicalize().ok()?;
    let common_dir = match repository.common_dir == repository.git_dir {
        true => git_dir.clone(),
        false => repository.common_dir.canonicalize().ok()?,
    };
    let is_inside = git_dir.starts_with(&top);
    let is_ours = if git_dir == common_dir {
        is_inside || config_points_to(&git_dir, &top)
    } else if is_inside {
        common_dir.starts_with(&top)
    } else {
        git_dir.parent() == Some(&common_dir.join("worktrees")) && gitdir_points_to(&git_dir, &top)
    };
    is_ours.then(|| {
        let mut folders = vec![git_dir, common_dir];
        folders.dedup();
        folders
    })
}

/// Returns whether the `gitdir` file of a worktree's folder points to the `.git` of `top`.
fn gitdir_points_to(git_dir: &Path, top: &Path) -> bool {
    let link = read_line(&git_dir.join("gitdir"), "").map(|path| git_dir.join(path));
    link.is_some_and(|link| {
        let folder = link.parent().and_then(|folder| folder.canonicalize().ok());
        link.file_name().is_some_and(|name| name == ".git") && folder.as_deref() == Some(top)
    })
}

/// Returns whether `core.worktree` in a git folder points to `top`, as in a submodule.
fn config_points_to(git_dir: &Path, top: &Path) -> bool {
    // A sparse submodule has the setting in the second file.
    ["config", "config.worktree"].iter().any(|file| {
        let named = config::worktree(&git_dir.join(file)).map(|path| git_dir.join(path));
        let folder = named.and_then(|folder| folder.canonicalize().ok());
        folder.as_deref() == Some(top)
    })
}

/// Returns the first entry below a folder that points outside these folders, or that is a pipe or a device.
#[expect(clippy::disallowed_methods, reason = "only the names in git's own folders are read")]
fn find_unsafe(
    folder: &Path,
    folders: &[PathBuf],
    is_checked: &dyn Fn(&str) -> bool,
    depth: usize,
) -> Option<UnsafeRepository> {
    // A folder that cannot be listed is missing, or git reports the error.
    let mut entries = fs::read_dir(folder).ok()?.flatten();
    entries.find_map(|entry| {
        let (path, kind) = (entry.path(), entry.file_type().ok()?);
        if !is_checked(&entry.file_name().to_string_lossy()) {
            None
        } else if kind.is_symlink() {
            let real = path.canonicalize().ok();
            let stays =
                real.is_some_and(|real| folders.iter().any(|folder| real.starts_with(folder)));
            (!stays).then(|| UnsafeRepository::new(&path, OUTSIDE))
        } else if kind.is_dir() {
            let deeper = depth.checked_sub(1)?;
            find_unsafe(&path, folders, is_checked, deeper)
        } else {
            is_pipe_or_device(kind).then(|| UnsafeRepository::new(&path, PIPE_OR_DEVICE))
        }
    })
}

/// Returns whether reading may block forever; a socket, such as that of git's file system monitor, cannot be
/// opened.
#[cfg(unix)]
fn is_pipe_or_device(kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;

    kind.is_fifo() || kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn is_pipe_or_device(_kind: FileType) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use assert_fs::TempDir;
    use assert_fs::prelude::*;

    use super::*;
    use crate::git::Git;
    use crate::git::tests::Sandbox;

    fn is_usable(folder: &Path) -> bool {
        let git = Git::discover(folder);
        assert!(git.is_repository());
        git.warning().is_none()
            && git.head().unwrap().is_some()
            && git.local_config("core.bare").is_ok()
    }

    #[test]
    fn worktrees_and_submodules_are_safe() {
        let sandbox = Sandbox::with_commits(&["2026-01-01T00:00:00Z"]);
        let top = sandbox.0.path();
        let elsewhere = TempDir::new().unwrap();
        let worktree = elsewhere.child("worktree");
        let path = worktree.path().to_string_lossy().into_owned();
        sandbox.git(&["worktree", "add", "-q", &path]);
        assert!(is_usable(worktree.path()));
        let source = top.to_string_lossy().into_owned();
        let allow = ["-c", "protocol.file.allow=always"];
        let add = ["submodule", "--quiet", "add", &source, "part"];
        sandbox.git(&[&allow[..], &add].concat());
        assert!(is_usable(&top.join("part")));
        // A copy of the file points to the same folder, which does not point to the copy.
        let copy = elsewhere.child("copy");
        copy.child(".git").write_file(worktree.child(".git").path()).unwrap();
        assert!(!is_usable(copy.path()));
    }

    #[test]
    fn a_separate_git_directory_must_name_the_project() {
        let folder = TempDir::new().unwrap();
        let sandbox = Sandbox::with_commits(&["2026-01-01T00:00:00Z"]);
        let (top, git_dir) = (sandbox.0.child("."), folder.child("own"));
        let git_dir = git_dir.path().to_string_lossy().into_owned();
        sandbox.git(&["init", "-q", "--separate-git-dir", &git_dir]);
        assert!(!is_usable(top.path()));
        let path = top.path().to_string_lossy().into_owned();
        sandbox.git(&["config", "core.worktree", &path]);
        assert!(is_usable(top.path()));
    }

    #[test]
    fn sparse_submodules_and_latin_1_settings_are_safe() {
        let source = Sandbox::with_commits(&["2026-01-01T00:00:00Z"]);
        let sandbox = Sandbox::with_commits(&["2026-01-01T00:00:00Z"]);
        let from = source.0.path().to_string_lossy().into_owned();
        let allow = ["-c", "protocol.file.allow=always"];
        let add = ["submodule", "--quiet", "add", &from, "part"];
        sandbox.git(&[&allow[..], &add].concat());
        sandbox.git(&["-C", "part", "sparse-checkout", "set", "docs"]);
        assert!(is_usable(&sandbox.0.path().join("part")));
        let config = source.0.child(".git/config");
        let text = b"[core]\n\trepositoryformatversion = 0\n[user]\n\tname = J\xf6rg\n";
        config.write_binary(text).unwrap();
        assert!(is_usable(source.0.path()));
    }

    #[cfg(unix)]
    #[test]
    fn links_may_only_point_inside_the_repository() {
        use std::os::unix::fs::symlink;

        let sandbox = Sandbox::with_commits(&["2026-01-01T00:00:00Z"]);
        let git = sandbox.0.child(".git");
        symlink("config", git.child("linked").path()).unwrap();
        symlink("/nowhere/hooks", git.child("lfs").path()).unwrap();
        symlink("main", git.child("refs/heads/other").path()).unwrap();
        assert!(is_usable(sandbox.0.path()));
        symlink("/tmp", git.child("refs/heads/more").path()).unwrap();
        let error = Git::discover(sandbox.0.path()).local_config("core.bare").unwrap_err();
        assert!(error.to_string().contains("points outside"), "{error}");
        symlink("/tmp", git.child("packed-refs").path()).unwrap();
        assert!(!is_usable(sandbox.0.path()));
    }
}
