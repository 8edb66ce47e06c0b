//! Walks the files of a project that git would track.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, WalkBuilder};

use crate::storage::read;

/// Maximum size of all ignore rules of a walk, in bytes; nobody has more, and matching them takes minutes.
const MAX_RULE_BYTES: usize = 256 * 1024;

/// Returns a walk without files ignored by `.gitignore`, and without entries that `is_wanted` rejects.
///
/// The user's own rules and those above the repository do not apply, because the result would differ between
/// machines. The walker of `ignore` does not read the rules, because it would open a device or a file of any size.
pub(crate) fn tracked(
    root: &Path,
    is_wanted: impl Fn(&DirEntry) -> bool + Send + Sync + 'static,
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
        let above = path.ancestors().skip(1);
        let inside = above.take_while(|folder| folder.starts_with(&self.top));
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
        let text = read::text(&folder.join(".gitignore")).ok().flatten();
        let text = text.filter(|text| self.bytes + text.value.len() <= MAX_RULE_BYTES);
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
    use assert_fs::TempDir;
    use assert_fs::prelude::*;

    use super::*;

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
