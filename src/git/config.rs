//! Reads a repository's own settings: includes of files from elsewhere, and the worktree they name.
//!
//! ```text
//! [include]                       [includeIf "gitdir:**"]
//!     path = ../.gitconfig            path = ~/secrets
//! ```
//!
//! No option prevents git from reading these files, so git is not run on a repository with such settings.

use std::path::{Path, PathBuf};

use crate::git::repository::{Repository, read};

/// Maximum size of a settings file; real ones are smaller.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

/// Maximum depth of includes, as in git.
const MAX_DEPTH: usize = 10;

/// Returns the settings file of a repository that includes a file from elsewhere or an unreadable one.
pub(crate) fn external_include(repository: &Repository) -> Option<PathBuf> {
    let files = [repository.common_dir.join("config"), repository.git_dir.join("config.worktree")];
    // Includes are rare; without one, the rest can be skipped.
    let may_include = |file: &PathBuf| {
        let text = read(file, MAX_CONFIG_BYTES).map(|text| text.to_ascii_lowercase());
        text.map_or_else(|| file.symlink_metadata().is_ok(), |text| text.contains("include"))
    };
    let files: Vec<PathBuf> = files.into_iter().filter(may_include).collect();
    if files.is_empty() {
        return None;
    }
    let roots = [&repository.top, &repository.git_dir, &repository.common_dir];
    let folders: Vec<PathBuf> =
        roots.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    files.into_iter().find(|file| !includes_stay_inside(file, &folders, MAX_DEPTH))
}

/// Returns the value of `core.worktree`: the folder of the checked-out files.
pub(crate) fn worktree(config: &Path) -> Option<String> {
    let text = read(config, MAX_CONFIG_BYTES)?;
    values(&text, "worktree", |section| section == "core").pop()
}

/// Returns whether a file and all files that it includes, directly or not, are inside one of the folders.
fn includes_stay_inside(file: &Path, folders: &[PathBuf], depth: usize) -> bool {
    let real = file.canonicalize().ok();
    let Some(real) = real.filter(|real| folders.iter().any(|folder| real.starts_with(folder)))
    else {
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

/// Returns whether a path that does not exist would be inside one of the folders.
fn would_be_inside(path: &Path, folders: &[PathBuf]) -> bool {
    let folder = path.ancestors().find_map(|path| path.canonicalize().ok());
    folder.is_some_and(|real| folders.iter().any(|folder| real.starts_with(folder)))
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

#[cfg(test)]
mod tests {
    use assert_fs::TempDir;
    use assert_fs::prelude::*;

    use super::*;

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
}
