//! Reads the repository from disk: its folders, the checked-out commit, and whether it stays inside its own folders.
//!
//! An unpacked archive may contain a `.git` that points elsewhere: a file with the path of another
//! repository's folder, a `commondir`, a link in place of `HEAD` or `objects`. Git would report that
//! repository's history as this project's. Worktrees and submodules point elsewhere, too,
//! but the folder that they point to names them in turn.
//!
//! Nor is git run on a repository whose settings include files from elsewhere, since no option prevents git from
//! reading these:
//!
//! ```text
//! [include]                       [includeIf "gitdir:**"]
//!     path = ../.gitconfig            path = ~/secrets
//! ```

use std::fs;
use std::fs::{File, FileType};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use crate::warning::Warning;

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

/// The checked-out commit or branch.
#[derive(Debug)]
pub(crate) enum Head {
    /// A commit, by its full hash.
    Commit(String),
    /// A branch without a commit yet.
    Unborn,
    /// Stored in a format that only git can read.
    Unknown,
}

impl Head {
    /// Returns the commit whose full hash a file has.
    fn of(text: &str) -> Self {
        let text = text.trim();
        if is_full_hash(text) { Self::Commit(text.to_owned()) } else { Self::Unknown }
    }
}

/// Maximum length of a chain of symbolic refs, as in git.
const MAX_CHAIN_LENGTH: usize = 5;
const MAX_LINE_BYTES: u64 = 1 << 12;
/// Maximum size of a file read here, enough for 100,000 refs; git reads larger ones.
const MAX_PACKED_REFS_BYTES: u64 = 16 << 20;

impl Repository {
    /// Searches upward for `.git`, no further than git would: a bare repository ends the search.
    ///
    /// A `.git` that git might read differently than we do is an obstacle.
    pub(crate) fn discover(folder: &Path) -> Result<Option<Self>, Warning> {
        for folder in folder.ancestors() {
            let dot_git = folder.join(".git");
            if exists(&dot_git) {
                let is_empty = || dot_git.is_dir() && !exists(&dot_git.join("HEAD"));
                return match Self::open(folder) {
                    None if !is_empty() => Err(Warning::file(&dot_git, NOT_A_GIT_DIR)),
                    repository => Ok(repository),
                };
            }
            if is_bare(folder) {
                break;
            }
        }
        Ok(None)
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
        let is_valid = git_dir.join("HEAD").is_file()
            && ["objects", "refs"].iter().all(|name| common_dir.join(name).is_dir());
        is_valid.then(|| Self { top: folder.to_owned(), git_dir, common_dir })
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
        let others =
            fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten().filter_map(
                |entry| {
                    let dot_git = read_line(&entry.path().join("gitdir"), "")?;
                    let named = read_line(&dot_git, "gitdir: ")?;
                    let top = dot_git.parent()?;
                    let is_mutual = top.join(named).canonicalize().ok()? == entry.path();
                    is_mutual.then(|| top.to_owned())
                },
            );
        main.map(Path::to_owned).into_iter().chain(others).collect()
    }

    /// Returns the checked-out commit, as far as it can be read from files.
    pub(crate) fn head(&self) -> Head {
        let Some(mut text) = read(&self.git_dir.join("HEAD"), MAX_LINE_BYTES) else {
            return Head::Unknown;
        };
        for _ in 0..MAX_CHAIN_LENGTH {
            let Some(name) = text.strip_prefix("ref:") else {
                return Head::of(&text);
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
            _ => !exists(file),
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
        line.map_or(Head::Unborn, Head::of)
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
fn read_line(file: &Path, prefix: &str) -> Option<PathBuf> {
    let text = read(file, MAX_LINE_BYTES)?;
    let path = text.strip_prefix(prefix)?.trim_end_matches(['\r', '\n']);
    let is_plain = !path.is_empty()
        && path.trim() == path
        && !path.contains(|c: char| c.is_control() || c == char::REPLACEMENT_CHARACTER);
    is_plain.then(|| PathBuf::from(path))
}

/// Returns whether a name stays inside the folder of the refs.
fn is_ref_name(name: &str) -> bool {
    name.starts_with("refs/")
        && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
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

/// Returns whether a text can be a hash, perhaps an abbreviated one; `HEAD` and other revisions cannot.
pub(crate) fn is_hash_prefix(text: &str) -> bool {
    (4..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns whether a text is a full SHA-1 or SHA-256 hash.
pub(crate) fn is_full_hash(text: &str) -> bool {
    [40, 64].contains(&text.len()) && is_hash_prefix(text)
}

/// Maximum size of a settings file; real ones are smaller.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

/// Maximum depth of includes, as in git.
const MAX_INCLUDES: usize = 10;

/// Returns the settings file of a repository that includes a file from elsewhere or an unreadable one.
fn external_include(repository: &Repository) -> Option<PathBuf> {
    let files = [repository.common_dir.join("config"), repository.git_dir.join("config.worktree")];
    // Includes are rare; without one, the rest can be skipped.
    let may_include = |file: &PathBuf| {
        read(file, MAX_CONFIG_BYTES)
            .map(|text| text.to_ascii_lowercase())
            .map_or_else(|| exists(file), |text| text.contains("include"))
    };
    let files: Vec<PathBuf> = files.into_iter().filter(may_include).collect();
    if files.is_empty() {
        return None;
    }
    let folders: Vec<PathBuf> = [&repository.top, &repository.git_dir, &repository.common_dir]
        .iter()
        .filter_map(|folder| folder.canonicalize().ok())
        .collect();
    files.into_iter().find(|file| !includes_stay_inside(file, &folders, MAX_INCLUDES))
}

/// Returns the value of `core.worktree`: the folder of the checked-out files.
fn worktree(config: &Path) -> Option<String> {
    let text = read(config, MAX_CONFIG_BYTES)?;
    values(&text, "worktree", |section| section == "core").pop()
}

/// Returns whether a file and all files that it includes, directly or not, are inside one of the folders.
fn includes_stay_inside(file: &Path, folders: &[PathBuf], depth: usize) -> bool {
    let real = file.canonicalize().ok();
    let Some(real) = real.filter(|real| is_in(real, folders)) else {
        return false;
    };
    let Some(text) = read(&real, MAX_CONFIG_BYTES) else {
        return false;
    };
    let folder = real.parent().unwrap_or(&real);
    include_paths(&text).iter().all(|path| {
        // Values that git unquotes, truncates or expands cannot be read here as git reads them.
        let is_plain = !path.starts_with(['~', '%']) && !path.contains(['"', '\\', '#', ';']);
        let next = folder.join(path);
        let is_inside = || match next.symlink_metadata() {
            Ok(_) => includes_stay_inside(&next, folders, depth - 1),
            Err(_) => would_be_inside(&next, folders),
        };
        depth > 0 && is_plain && is_inside()
    })
}

/// Returns whether a real path is inside one of the folders.
fn is_in(real: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| real.starts_with(folder))
}

/// Returns whether a path that does not exist would be inside one of the folders.
fn would_be_inside(path: &Path, folders: &[PathBuf]) -> bool {
    path.ancestors()
        .find_map(|path| path.canonicalize().ok())
        .is_some_and(|real| is_in(&real, folders))
}

/// Returns the paths that settings include, verbatim.
///
/// After the first section that includes, every `path` counts: only git can tell where a section ends, since
/// a line may continue the one before it.
fn include_paths(text: &str) -> Vec<String> {
    let mut is_include = false;
    values(text, "path", |section| {
        is_include |= section.starts_with("include");
        is_include
    })
}

/// Returns the values of a key in the given sections, verbatim.
fn values(text: &str, key: &str, mut is_wanted: impl FnMut(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_inside = false;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let mut rest = line.trim();
        while let Some(header) = rest.strip_prefix('[') {
            let end = header_end(header);
            let section = header[..end].trim().to_ascii_lowercase();
            is_inside = is_wanted(&section);
            rest = header.get(end + 1..).unwrap_or_default().trim();
        }
        let Some((name, value)) = rest.split_once('=').filter(|_| is_inside) else {
            continue;
        };
        if name.trim().eq_ignore_ascii_case(key) {
            let value = value.trim();
            let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
            found.push(quoted.unwrap_or(value).to_owned());
        }
    }
    found
}

/// Returns the byte offset of the bracket that closes a section header; quoted brackets are skipped.
fn header_end(header: &str) -> usize {
    let mut is_quoted = false;
    let mut is_escaped = false;
    for (at, c) in header.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            ']' if !is_quoted => return at,
            _ => {}
        }
    }
    header.len()
}

// The reasons why git is not run on a repository.
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

/// Checks the top level of a repository's folders, and its settings.
pub(crate) fn check_git_dir(repository: &Repository) -> Option<Warning> {
    let Some(folders) = git_folders(repository) else {
        return Some(Warning::file(&repository.top.join(".git"), FOREIGN));
    };
    folders
        .iter()
        .find_map(|folder| {
            let is_read =
                &|name: &str| READ_ENTRIES.contains(&name) || name.starts_with("sharedindex.");
            find_unsafe(folder, &folders, is_read, 0)
        })
        .or_else(|| alternates_file(repository))
        .or_else(|| external_include(repository).map(|file| Warning::file(&file, EXTERNAL_INCLUDE)))
}

/// Returns the `alternates` file if it is not empty: it adds the objects of another repository.
fn alternates_file(repository: &Repository) -> Option<Warning> {
    let file = repository.common_dir.join("objects/info/alternates");
    let found = fs::symlink_metadata(&file).ok()?;
    (!found.is_file() || found.len() > 0).then(|| Warning::file(&file, ALTERNATES))
}

/// Checks for links and pipes in the nested folders that git reads.
pub(crate) fn check_nested(repository: &Repository) -> Option<Warning> {
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
    let common_dir = repository.common_dir.canonicalize().ok()?;
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
    read_line(&git_dir.join("gitdir"), "").map(|path| git_dir.join(path)).is_some_and(|link| {
        let folder = link.parent().and_then(|folder| folder.canonicalize().ok());
        link.file_name().is_some_and(|name| name == ".git") && folder.as_deref() == Some(top)
    })
}

/// Returns whether `core.worktree` in a git folder points to `top`, as in a submodule.
fn config_points_to(git_dir: &Path, top: &Path) -> bool {
    // A sparse submodule has the setting in the second file.
    ["config", "config.worktree"].iter().any(|file| {
        let folder = worktree(&git_dir.join(file))
            .map(|path| git_dir.join(path))
            .and_then(|folder| folder.canonicalize().ok());
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
) -> Option<Warning> {
    // A folder that cannot be listed is missing, or git reports the error.
    fs::read_dir(folder).ok()?.flatten().find_map(|entry| {
        let (path, kind) = (entry.path(), entry.file_type().ok()?);
        if !is_checked(&entry.file_name().to_string_lossy()) {
            None
        } else if kind.is_symlink() {
            let stays = path.canonicalize().is_ok_and(|real| is_in(&real, folders));
            (!stays).then(|| Warning::file(&path, OUTSIDE))
        } else if kind.is_dir() {
            let deeper = depth.checked_sub(1)?;
            find_unsafe(&path, folders, is_checked, deeper)
        } else {
            is_pipe_or_device(kind).then(|| Warning::file(&path, PIPE_OR_DEVICE))
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

    #[test]
    fn a_hash_has_hexadecimal_digits_of_a_known_number() {
        for (text, is_prefix, is_full) in [
            ("84e9493", true, false),
            ("ABC1", true, false),
            (&*"0".repeat(40), true, true),
            (&*"f".repeat(64), true, true),
            (&*"f".repeat(65), false, false),
            (&*"g".repeat(40), false, false),
            ("abc", false, false),
            ("HEAD", false, false),
            ("", false, false),
        ] {
            assert_eq!(
                (is_hash_prefix(text), is_full_hash(text)),
                (is_prefix, is_full),
                "{text:?}"
            );
        }
    }

    fn repository(top: &Path) -> Repository {
        Repository { top: top.to_owned(), git_dir: top.join(".git"), common_dir: top.join(".git") }
    }

    #[test]
    fn includes_of_every_spelling_are_found() {
        for (text, expected) in [
            ("[core]\npath = a\n", vec![]),
            ("[include]\n\tpath = a\n", vec!["a"]),
            ("[INCLUDE]PATH=\"a\"", vec!["a"]),
            ("[core] [include] path = a", vec!["a"]),
            (
                "[includeIf \"x]\\\"y\"]\npath = a\npath = b\n[core]\npath = c\n",
                vec!["a", "b", "c"],
            ),
            ("# [include]\n# path = a\n[", vec![]),
        ] {
            assert_eq!(include_paths(text), expected, "{text}");
        }
    }

    #[test]
    fn includes_must_stay_inside_the_repository() {
        let folder = TempDir::new().unwrap();
        let top = folder.child("top");
        top.child(".git/HEAD").write_str("ref: refs/heads/main").unwrap();
        top.child(".gitconfig").write_str("[core]\nx = y\n").unwrap();
        folder.child("outside").write_str("[core]\nx = y\n").unwrap();
        let outside = folder.child("outside").path().display().to_string();
        for (path, is_inside) in [
            ("../.gitconfig", true),
            ("../not-there", true),
            ("../../outside", false),
            ("../../not-there", false),
            ("~/x", false),
            ("config", false),
            ("../\"../outside\"", false),
            ("x\\", false),
            ("x ; y", false),
            (outside.as_str(), false),
        ] {
            let text = format!("[include]\n\tpath = {path}\n");
            top.child(".git/config").write_str(&text).unwrap();
            let repository = repository(top.path());
            let elsewhere = external_include(&repository);
            assert_eq!(elsewhere.is_none(), is_inside, "{path}");
        }
        let nested = format!("[include]\n\tpath = {outside}\n");
        top.child(".gitconfig").write_str(&nested).unwrap();
        top.child(".git/config").write_str("[include]\npath = ../.gitconfig\n").unwrap();
        let repository = repository(top.path());
        assert!(external_include(&repository).is_some());
    }

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
