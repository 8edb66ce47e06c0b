//! Whether a repository keeps to its own folders.
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
use crate::git::repository::read_path;
use crate::warning::Warning;

/// Why git is not asked about a repository.
#[derive(Clone, Debug)]
pub(crate) struct Obstacle {
    path: PathBuf,
    reason: &'static str,
}

const ANOTHERS: &str = "is the folder of another repository: it does not name this project as its worktree \
     (`core.worktree` in its config, or its file `gitdir`), so git is not asked";
const LEADS_OUT: &str = "leads out of the repository, so git is not asked";
const NO_FILE: &str = "is neither a file nor a folder, so git is not asked";
const INCLUDES_ELSEWHERE: &str = "includes a file from outside the repository, so git is not asked";

/// What of `.git` the commands that we run never read.
const NEVER_READ: &[&str] = &["annex", "hooks", "lfs", "modules", "svn"];

/// What git writes below when it commits, tags or keeps a setting.
const WRITTEN: &[&str] = &["info", "logs", "objects", "refs"];

/// Deeper names of refs are nobody's.
const DEEPEST: usize = 16;

impl Obstacle {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn reason(&self) -> &'static str {
        self.reason
    }

    pub(crate) fn warning(&self) -> Warning {
        Warning::file(&self.path, self.reason)
    }

    fn new(path: &Path, reason: &'static str) -> Self {
        Self {
            path: path.to_owned(),
            reason,
        }
    }
}

/// Returns what speaks against reading a repository.
pub(crate) fn against_reading(repository: &Repository) -> Option<Obstacle> {
    let Some(folders) = own_folders(repository) else {
        return Some(Obstacle::new(&repository.top.join(".git"), ANOTHERS));
    };
    let out = folders.iter().find_map(|folder| {
        let is_read = |name: &str| !NEVER_READ.contains(&name);
        outside(folder, &folders, &is_read, 0)
    });
    out.or_else(|| {
        let file = config::including_elsewhere(repository)?;
        Some(Obstacle::new(&file, INCLUDES_ELSEWHERE))
    })
}

/// Returns what speaks against a commit, a tag or a setting, in a repository that may be read.
pub(crate) fn against_writing(repository: &Repository) -> Option<Obstacle> {
    let folders = own_folders(repository)?;
    folders.iter().find_map(|folder| {
        WRITTEN.iter().find_map(|name| {
            // Objects lie one folder deep, and there are many of them.
            let depth = if *name == "objects" { 1 } else { DEEPEST };
            outside(&folder.join(name), &folders, &|_| true, depth)
        })
    })
}

/// Returns the real folders that belong to this project; none where they are another's.
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

/// Tells whether the folder of a worktree names the `.git` of this one.
fn names_link(own: &Path, top: &Path) -> bool {
    let link = read_path(&own.join("gitdir")).map(|path| own.join(path));
    link.is_some_and(|link| {
        let folder = link.parent().and_then(|folder| folder.canonicalize().ok());
        link.file_name().is_some_and(|name| name == ".git") && folder.as_deref() == Some(top)
    })
}

/// Tells whether a folder of git's says that its files are checked out here, as a submodule's does.
fn names_worktree(own: &Path, top: &Path) -> bool {
    let named = config::worktree(&own.join("config")).map(|path| own.join(path));
    named
        .and_then(|folder| folder.canonicalize().ok())
        .as_deref()
        == Some(top)
}

/// Returns the first entry below a folder that leads out of these folders, or that git could wait for without end.
#[expect(
    clippy::disallowed_methods,
    reason = "git's own folders, of which only the names are read"
)]
fn outside(
    folder: &Path,
    folders: &[PathBuf],
    is_asked: &dyn Fn(&str) -> bool,
    depth: usize,
) -> Option<Obstacle> {
    // What cannot be listed is not there, or git says why.
    let mut entries = fs::read_dir(folder).ok()?.flatten();
    entries.find_map(|entry| {
        let (path, kind) = (entry.path(), entry.file_type().ok()?);
        if !is_asked(&entry.file_name().to_string_lossy()) {
            None
        } else if kind.is_symlink() {
            let real = path.canonicalize().ok();
            let stays = real.is_some_and(|real| folders.iter().any(|own| real.starts_with(own)));
            (!stays).then(|| Obstacle::new(&path, LEADS_OUT))
        } else if kind.is_dir() {
            let deeper = depth.checked_sub(1)?;
            outside(&path, folders, is_asked, deeper)
        } else {
            is_endless(kind).then(|| Obstacle::new(&path, NO_FILE))
        }
    })
}

/// Tells whether reading may never end; a socket, such as git's own monitor keeps, cannot be opened at all.
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
        git.warning().is_none() && git.head().unwrap().is_some()
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
        let git = Git::discover(worktree.path());
        assert!(git.refuse_writing_elsewhere().is_ok());
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
        let repository = Git::discover(sandbox.0.path());
        assert!(repository.refuse_writing_elsewhere().is_ok());
        symlink("/tmp", git.child("refs/heads/more").path()).unwrap();
        let error = repository.refuse_writing_elsewhere().unwrap_err();
        assert!(error.to_string().contains("leads out"), "{error}");
        symlink("/tmp", git.child("linked-out").path()).unwrap();
        assert!(!is_asked(sandbox.0.path()));
    }
}
