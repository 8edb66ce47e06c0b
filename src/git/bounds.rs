//! Checks whether a repository stays inside its own folders.
//!
//! An unpacked archive may bring a `.git` that leads elsewhere: a file that names another repository's folder, a
//! `commondir`, a link in place of `HEAD` or `objects`. What git reads there would come out as this project's history,
//! and what it commits would land there. Worktrees and submodules lead elsewhere too, and their folder names them in turn.

use std::fs;
use std::fs::FileType;
use std::path::Path;
use std::path::PathBuf;

use crate::git::config;
use crate::git::repository::Repository;
use crate::git::repository::read_line;
use crate::warning::Warning;

/// The reason why git is not run on a repository.
#[derive(Clone, Debug)]
pub(crate) struct UnsafeRepository {
    path: PathBuf,
    reason: &'static str,
}

const ANOTHERS: &str = "belongs to another repository: neither `core.worktree` in its config nor its file `gitdir` names \
     this project (`git worktree repair` corrects a moved worktree), so git is not asked";
const INVALID: &str = "is not a valid git folder, so git is not asked";
const LEADS_OUT: &str = "leads out of the repository, so git is not asked";
const ENDLESS: &str = "is a pipe or a device, so git is not asked";
const BORROWS: &str = "takes objects from another repository, so git is not asked";
const INCLUDES_ELSEWHERE: &str = "includes a file from outside the repository, so git is not asked";

/// The parts of `.git` that our commands read.
const READ_BY_GIT: &[&str] = &[
    "HEAD",
    "commondir",
    "config",
    "config.worktree",
    "gitdir",
    "index",
    "info",
    "logs",
    "objects",
    "packed-refs",
    "refs",
    "reftable",
    "shallow",
    "worktrees",
];

/// The folders among these whose content is read and written.
const FOLDERS_OF_GIT: &[&str] = &["info", "logs", "objects", "refs", "reftable"];

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
        Self::new(dot_git, INVALID)
    }

    fn new(path: &Path, reason: &'static str) -> Self {
        Self {
            path: path.to_owned(),
            reason,
        }
    }
}

/// Looks at the folder of a repository and at its settings.
pub(crate) fn check_top(repository: &Repository) -> Option<UnsafeRepository> {
    let Some(folders) = own_folders(repository) else {
        return Some(UnsafeRepository::new(
            &repository.top.join(".git"),
            ANOTHERS,
        ));
    };
    let out = folders.iter().find_map(|folder| {
        let is_read = |name: &str| READ_BY_GIT.contains(&name) || name.starts_with("sharedindex.");
        find_unsafe(folder, &folders, &is_read, 0)
    });
    out.or_else(|| borrowing(repository)).or_else(|| {
        let file = config::including_elsewhere(repository)?;
        Some(UnsafeRepository::new(&file, INCLUDES_ELSEWHERE))
    })
}

/// Returns the file that names other folders of objects, where one does: what is read there is another's history.
fn borrowing(repository: &Repository) -> Option<UnsafeRepository> {
    let file = repository.common.join("objects/info/alternates");
    let found = fs::symlink_metadata(&file).ok()?;
    (!found.is_file() || found.len() > 0).then(|| UnsafeRepository::new(&file, BORROWS))
}

/// Looks for links and pipes further down, where git reads and writes.
pub(crate) fn check_below(repository: &Repository) -> Option<UnsafeRepository> {
    let folders = own_folders(repository)?;
    folders.iter().find_map(|folder| {
        FOLDERS_OF_GIT.iter().find_map(|name| {
            // Objects lie one folder deep, and there are many of them; chains of graphs and indexes lie two deep.
            let depth = if *name == "objects" { 2 } else { MAX_DEPTH };
            find_unsafe(&folder.join(name), &folders, &|_| true, depth)
        })
    })
}

/// Looks at the files of rules that git reads when it commits a path from the top.
pub(crate) fn check_rules(top: &Path, path: &str) -> Option<UnsafeRepository> {
    let folders = Path::new(path)
        .ancestors()
        .skip(1)
        .map(|folder| top.join(folder));
    let mut rules =
        folders.flat_map(|folder| [".gitignore", ".gitattributes"].map(|name| folder.join(name)));
    let is_no_file = |file: &PathBuf| {
        file.symlink_metadata()
            .is_ok_and(|found| is_endless(found.file_type()))
    };
    rules
        .find(is_no_file)
        .map(|file| UnsafeRepository::new(&file, ENDLESS))
}

/// Returns the real folders that belong to this project, or `None` if they are another's.
fn own_folders(repository: &Repository) -> Option<Vec<PathBuf>> {
    let top = repository.top.canonicalize().ok()?;
    let own = repository.own.canonicalize().ok()?;
    let common = repository.common.canonicalize().ok()?;
    let is_inside = own.starts_with(&top);
    let is_ours = if own == common {
        is_inside || names_worktree(&own, &top)
    } else if is_inside {
        common.starts_with(&top)
    } else {
        own.parent() == Some(&common.join("worktrees")) && names_link(&own, &top)
    };
    is_ours.then(|| {
        let mut folders = vec![own, common];
        folders.dedup();
        folders
    })
}

/// Returns whether the folder of a worktree names the `.git` of this one.
fn names_link(own: &Path, top: &Path) -> bool {
    let link = read_line(&own.join("gitdir"), "").map(|path| own.join(path));
    link.is_some_and(|link| {
        let folder = link.parent().and_then(|folder| folder.canonicalize().ok());
        link.file_name().is_some_and(|name| name == ".git") && folder.as_deref() == Some(top)
    })
}

/// Returns whether a folder of git's says that its files are checked out here, as a submodule's does.
fn names_worktree(own: &Path, top: &Path) -> bool {
    // A sparse submodule keeps the setting in the second.
    ["config", "config.worktree"].iter().any(|file| {
        let named = config::worktree(&own.join(file)).map(|path| own.join(path));
        let folder = named.and_then(|folder| folder.canonicalize().ok());
        folder.as_deref() == Some(top)
    })
}

/// Returns the first entry below a folder that leads out of these folders, or that git could wait for without end.
#[expect(
    clippy::disallowed_methods,
    reason = "git's own folders, of which only the names are read"
)]
fn find_unsafe(
    folder: &Path,
    folders: &[PathBuf],
    is_asked: &dyn Fn(&str) -> bool,
    depth: usize,
) -> Option<UnsafeRepository> {
    // A folder that cannot be listed is missing, or git reports the error.
    let mut entries = fs::read_dir(folder).ok()?.flatten();
    entries.find_map(|entry| {
        let (path, kind) = (entry.path(), entry.file_type().ok()?);
        if !is_asked(&entry.file_name().to_string_lossy()) {
            None
        } else if kind.is_symlink() {
            let real = path.canonicalize().ok();
            let stays = real.is_some_and(|real| folders.iter().any(|own| real.starts_with(own)));
            (!stays).then(|| UnsafeRepository::new(&path, LEADS_OUT))
        } else if kind.is_dir() {
            let deeper = depth.checked_sub(1)?;
            find_unsafe(&path, folders, is_asked, deeper)
        } else {
            is_endless(kind).then(|| UnsafeRepository::new(&path, ENDLESS))
        }
    })
}

/// Returns whether reading may never end; a socket, such as git's own monitor keeps, cannot be opened at all.
#[cfg(unix)]
fn is_endless(kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;

    kind.is_fifo() || kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn is_endless(_kind: FileType) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use assert_fs::TempDir;
    use assert_fs::prelude::*;

    use super::*;
    use crate::git::Git;
    use crate::git::tests::Sandbox;

    fn is_asked(folder: &Path) -> bool {
        let git = Git::discover(folder);
        assert!(git.is_repository());
        git.warning().is_none() && git.head().unwrap().is_some() && git.origin_name().is_ok()
    }

    #[test]
    fn a_worktree_and_a_submodule_are_asked_about() {
        let sandbox = Sandbox::with_commits(&["2026-01-01T00:00:00Z"]);
        let top = sandbox.0.path();
        let elsewhere = TempDir::new().unwrap();
        let worktree = elsewhere.child("worktree");
        let path = worktree.path().to_string_lossy().into_owned();
        sandbox.git(&["worktree", "add", "-q", &path]);
        assert!(is_asked(worktree.path()));
        let source = top.to_string_lossy().into_owned();
        let allow = ["-c", "protocol.file.allow=always"];
        let add = ["submodule", "--quiet", "add", &source, "part"];
        sandbox.git(&[&allow[..], &add].concat());
        assert!(is_asked(&top.join("part")));
        // A copy of the file alone leads to the same folder, which does not name the copy.
        let copy = elsewhere.child("copy");
        copy.child(".git")
            .write_file(worktree.child(".git").path())
            .unwrap();
        assert!(!is_asked(copy.path()));
    }

    #[test]
    fn a_folder_of_its_own_must_name_the_project() {
        let folder = TempDir::new().unwrap();
        let sandbox = Sandbox::with_commits(&["2026-01-01T00:00:00Z"]);
        let (top, own) = (sandbox.0.child("."), folder.child("own"));
        let own = own.path().to_string_lossy().into_owned();
        sandbox.git(&["init", "-q", "--separate-git-dir", &own]);
        assert!(!is_asked(top.path()));
        let path = top.path().to_string_lossy().into_owned();
        sandbox.git(&["config", "core.worktree", &path]);
        assert!(is_asked(top.path()));
    }

    #[test]
    fn a_sparse_submodule_and_settings_in_latin_1_are_no_obstacle() {
        let source = Sandbox::with_commits(&["2026-01-01T00:00:00Z"]);
        let sandbox = Sandbox::with_commits(&["2026-01-01T00:00:00Z"]);
        let from = source.0.path().to_string_lossy().into_owned();
        let allow = ["-c", "protocol.file.allow=always"];
        let add = ["submodule", "--quiet", "add", &from, "part"];
        sandbox.git(&[&allow[..], &add].concat());
        sandbox.git(&["-C", "part", "sparse-checkout", "set", "docs"]);
        assert!(is_asked(&sandbox.0.path().join("part")));
        let config = source.0.child(".git/config");
        let text = b"[core]\n\trepositoryformatversion = 0\n[user]\n\tname = J\xf6rg\n";
        config.write_binary(text).unwrap();
        assert!(is_asked(source.0.path()));
    }

    #[cfg(unix)]
    #[test]
    fn links_may_lead_to_other_files_of_the_repository() {
        use std::os::unix::fs::symlink;

        let sandbox = Sandbox::with_commits(&["2026-01-01T00:00:00Z"]);
        let git = sandbox.0.child(".git");
        symlink("config", git.child("linked").path()).unwrap();
        symlink("/nowhere/hooks", git.child("lfs").path()).unwrap();
        symlink("main", git.child("refs/heads/other").path()).unwrap();
        assert!(is_asked(sandbox.0.path()));
        symlink("/tmp", git.child("refs/heads/more").path()).unwrap();
        let error = Git::discover(sandbox.0.path()).origin_name().unwrap_err();
        assert!(error.to_string().contains("leads out"), "{error}");
        symlink("/tmp", git.child("packed-refs").path()).unwrap();
        assert!(!is_asked(sandbox.0.path()));
    }
}
