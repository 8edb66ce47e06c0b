//! Lists folders, and walks the files of a project that git would track.

use std::collections::HashMap;
#[cfg(not(target_os = "linux"))]
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::WalkBuilder;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use walkdir::{DirEntry, WalkDir};

use crate::storage::read;
#[cfg(target_os = "linux")]
use crate::storage::read::OpenAs;
use crate::storage::read::PathKind;

/// Lists a project's folder, sorted by name, without following links in it.
///
/// Returns nothing if the folder does not exist or is a link that leads outside. Invalid UTF-8 in a name is
/// replaced by U+FFFD.
pub(crate) fn entries(folder: &Path) -> io::Result<Vec<(String, PathKind)>> {
    match all_entries(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        found => {
            let mut found = found?;
            found.sort();
            Ok(found)
        }
    }
}

#[cfg(target_os = "linux")]
fn all_entries(path: &Path) -> io::Result<Vec<(String, PathKind)>> {
    use rustix::fs::{AtFlags, Dir, FileType};

    let Some(folder) = read::in_project(path, OpenAs::Folder)? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    let mut listing = Dir::new(folder)?;
    while let Some(entry) = listing.next() {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not report it.
            FileType::Unknown => {
                let stat = rustix::fs::statat(listing.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            kind => kind,
        };
        found.push((name.to_string_lossy().into_owned(), PathKind::from(kind)));
    }
    Ok(found)
}

#[cfg(not(target_os = "linux"))]
fn all_entries(path: &Path) -> io::Result<Vec<(String, PathKind)>> {
    let Some(real) = read::resolved(path)? else { return Ok(Vec::new()) };
    fs::read_dir(real)?
        .map(|entry| {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            Ok((name, PathKind::from(entry.file_type()?)))
        })
        .collect()
}

/// Maximum depth of folders in another.
const MAX_DEPTH: usize = 12;

/// Returns the files below a folder, sorted, leaving out files and folders whose name `is_wanted` rejects.
///
/// Links are not followed. A folder that cannot be listed counts as empty; reading it reports the error.
pub(crate) fn below(folder: &Path, is_wanted: &dyn Fn(&str) -> bool) -> Vec<PathBuf> {
    if !read::is_folder(folder) {
        return Vec::new();
    }
    let is_wanted =
        |entry: &DirEntry| entry.depth() == 0 || entry.file_name().to_str().is_some_and(is_wanted);
    let mut found: Vec<PathBuf> = WalkDir::new(folder)
        .max_depth(MAX_DEPTH + 1)
        .into_iter()
        .filter_entry(is_wanted)
        .flatten()
        .filter(|entry| entry.file_type().is_file())
        .map(DirEntry::into_path)
        .collect();
    found.sort();
    found
}

/// Maximum size of all ignore rules of a walk, in bytes; nobody has more, and matching them takes minutes.
const MAX_RULE_BYTES: usize = 256 * 1024;

/// Returns a walk without files ignored by `.gitignore`, and without entries that `is_wanted` rejects.
///
/// The user's own rules and those above the repository do not apply, because the result would differ between
/// machines. The walker of `ignore` does not read the rules, because it would open a device or a file of any size.
pub(crate) fn tracked(
    root: &Path,
    is_wanted: impl Fn(&ignore::DirEntry) -> bool + Send + Sync + 'static,
) -> WalkBuilder {
    let rules = Rules::new(root);
    let mut walk = WalkBuilder::new(root);
    walk.standard_filters(false).hidden(false).filter_entry(move |entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        entry.depth() == 0 || is_wanted(entry) && !rules.ignore(entry.path(), is_folder)
    });
    walk
}

/// The rules of the `.gitignore` files of a project.
#[derive(Debug)]
pub(crate) struct Rules {
    top: PathBuf,
    cache: Mutex<RuleCache>,
}

/// The rules of the folders visited so far.
#[derive(Debug, Default)]
struct RuleCache {
    folders: HashMap<PathBuf, Arc<Gitignore>>,
    bytes: usize,
}

impl Rules {
    /// Returns the rules for the files of a project, with those of its repository.
    pub(crate) fn new(root: &Path) -> Self {
        let mut above = root.ancestors();
        let top = above.find(|folder| folder.join(".git").symlink_metadata().is_ok());
        Self { top: top.unwrap_or(root).to_owned(), cache: Mutex::default() }
    }

    /// Returns whether the nearest rule that matches a path ignores it.
    pub(crate) fn ignore(&self, path: &Path, is_folder: bool) -> bool {
        let inside = path.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.top));
        for folder in inside {
            let rules = self.rules_of(folder);
            let matched = rules.matched(path, is_folder);
            if !matched.is_none() {
                return matched.is_ignore();
            }
        }
        false
    }

    fn rules_of(&self, folder: &Path) -> Arc<Gitignore> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rules) = cache.folders.get(folder) {
            return Arc::clone(rules);
        }
        let rules = Arc::new(cache.read(folder));
        cache.folders.insert(folder.to_owned(), Arc::clone(&rules));
        rules
    }
}

impl RuleCache {
    /// Reads the rules of a folder; returns none if the file cannot be read, or all rules together are too long.
    fn read(&mut self, folder: &Path) -> Gitignore {
        let text = read::text(&folder.join(".gitignore"))
            .ok()
            .flatten()
            .filter(|text| self.bytes + text.value.len() <= MAX_RULE_BYTES);
        let mut rules = GitignoreBuilder::new(folder);
        for line in text.iter().flat_map(|text| text.value.lines()) {
            self.bytes += line.len() + 1;
            // Like git, skip a line that is not a valid rule.
            rules.add_line(None, line).ok();
        }
        rules.build().unwrap_or_else(|_| Gitignore::empty())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use assert_fs::TempDir;
    use assert_fs::prelude::*;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_and_sockets_are_not_files() {
        use std::os::unix::fs::symlink;
        use std::os::unix::net::UnixListener;

        let folder = tempfile::tempdir().unwrap();
        fs::File::create(folder.path().join("a.md")).unwrap();
        fs::create_dir(folder.path().join("c.md")).unwrap();
        symlink("/", folder.path().join("b")).unwrap();
        let _socket = UnixListener::bind(folder.path().join("d")).unwrap();
        let found = entries(folder.path()).unwrap();
        let found: Vec<_> = found.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
        let kinds = [
            ("a.md", PathKind::File),
            ("b", PathKind::Link),
            ("c.md", PathKind::Folder),
            ("d", PathKind::Other),
        ];
        assert_eq!(found, kinds);
        assert_eq!(entries(&folder.path().join("e")).unwrap(), []);
    }

    fn names(root: &Path) -> Vec<String> {
        let mut walk = tracked(root, |entry| entry.file_name() != ".git");
        let walk = walk.sort_by_file_path(Path::cmp).build();
        let files = walk.flatten().filter(|entry| entry.path().is_file());
        files.map(|entry| entry.path().strip_prefix(root).unwrap().display().to_string()).collect()
    }

    #[test]
    fn the_nearest_ignore_rule_wins() {
        let folder = TempDir::new().unwrap();
        for (path, text) in [
            (".gitignore", "*.log\n/build/\n!keep.log\n"),
            ("a.log", ""),
            ("a.rs", ""),
            ("build/a.rs", ""),
            ("keep.log", ""),
            ("sub/.gitignore", "!a.log\nkeep.log\n[\n"),
            ("sub/a.log", ""),
            ("sub/build/a.rs", ""),
            ("sub/keep.log", ""),
            (".git/config", ""),
        ] {
            folder.child(path).write_str(text).unwrap();
        }
        let expected =
            [".gitignore", "a.rs", "keep.log", "sub/.gitignore", "sub/a.log", "sub/build/a.rs"];
        assert_eq!(names(folder.path()), expected);
    }

    #[cfg(unix)]
    #[test]
    fn rules_over_the_limit_are_not_applied() {
        let folder = TempDir::new().unwrap();
        let child = |path: &str| folder.child(path);
        child("a.log").touch().unwrap();
        child("b/a.log").touch().unwrap();
        std::os::unix::fs::symlink("/dev/zero", child(".gitignore").path()).unwrap();
        child("b/.gitignore").write_str(&"*.log\n".repeat(1 << 17)).unwrap();
        assert_eq!(names(folder.path()), ["a.log", "b/.gitignore", "b/a.log"]);
    }
}
