//! The paths of all files of a tree, searchable by the ends of the paths.

use std::cell::OnceCell;
use std::collections::HashMap;

use globset::{GlobBuilder, GlobMatcher};

use crate::patterns::PathForm;
use crate::text::file_name;

/// Paths of files relative to one folder, separated by `/`.
#[derive(Debug, Default)]
pub(crate) struct FileNames {
    /// Sorted bytewise.
    files: Vec<String>,
    /// The paths of files and folders by their last part; created on first use.
    by_name: OnceCell<HashMap<String, Vec<String>>>,
    /// The files in lower case; created on first use.
    lower: OnceCell<Vec<String>>,
}

impl FileNames {
    pub(crate) fn new(mut files: Vec<String>) -> Self {
        files.sort_unstable();
        files.dedup();
        Self { files, by_name: OnceCell::new(), lower: OnceCell::new() }
    }

    pub(crate) fn files(&self) -> &[String] {
        &self.files
    }

    pub(crate) fn has_file(&self, path: &str) -> bool {
        self.files.binary_search_by(|file| file.as_str().cmp(path)).is_ok()
    }

    pub(crate) fn has_folder(&self, path: &str) -> bool {
        let start = format!("{path}/");
        let first = self.files.partition_point(|file| *file < start);
        self.files.get(first).is_some_and(|file| file.starts_with(&start))
    }

    /// Returns whether exactly this path exists.
    pub(crate) fn has(&self, path: &str, form: PathForm) -> bool {
        (form == PathForm::Plain && self.has_file(path)) || self.has_folder(path)
    }

    /// Returns the paths that end with this one, sorted; `mod.rs` usually has several.
    pub(crate) fn paths_ending_in(&self, path: &str, form: PathForm) -> Vec<&str> {
        let name = file_name(path);
        let Some(candidates) = self.by_name().get(name) else {
            return Vec::new();
        };
        let ends = |home: &str| {
            home.strip_suffix(path).is_some_and(|head| head.is_empty() || head.ends_with('/'))
        };
        candidates
            .iter()
            .map(String::as_str)
            .filter(|home| ends(home) && self.has(home, form))
            .collect()
    }

    /// Returns the paths that a glob matches, from the root or below any folder: files, or else folders.
    pub(crate) fn matches(&self, pattern: &str) -> Vec<&str> {
        let Some(matcher) = matcher(pattern) else {
            return Vec::new();
        };
        let is_match = |path: &str| matcher.is_match(path);
        let files = self.files.iter().map(String::as_str);
        let found: Vec<&str> = files.filter(|file| is_match(file)).collect();
        if !found.is_empty() {
            return found;
        }
        let mut folders: Vec<&str> = Vec::new();
        for file in &self.files {
            for (at, _) in file.match_indices('/') {
                let folder = &file[..at];
                if folders.last() != Some(&folder) && is_match(folder) {
                    folders.push(folder);
                }
            }
        }
        folders
    }

    /// Returns whether there is a path that a missing one may stand for.
    ///
    /// Imports omit extensions or use `.js` for `.ts`, and people write names with different case.
    pub(crate) fn has_similar(&self, path: &str) -> bool {
        let lower = path.to_lowercase();
        let script =
            [".js", ".jsx", ".mjs", ".cjs"].iter().find_map(|ending| lower.strip_suffix(ending));
        let lower_files =
            self.lower.get_or_init(|| self.files.iter().map(|file| file.to_lowercase()).collect());
        lower_files.iter().any(|file| {
            let of_stem = rest_after(file, &lower).is_some_and(|rest| {
                rest.is_empty() || rest.starts_with('/') || rest.starts_with('.')
            });
            let of_script = script
                .and_then(|stem| rest_after(file, stem))
                .is_some_and(|rest| [".ts", ".tsx", ".mts", ".cts", ".jsx"].contains(&rest));
            of_stem || of_script
        })
    }

    fn by_name(&self) -> &HashMap<String, Vec<String>> {
        self.by_name.get_or_init(|| {
            let mut by_name: HashMap<String, Vec<String>> = HashMap::new();
            let mut add = |path: &str| {
                let name = file_name(path);
                by_name.entry(name.to_owned()).or_default().push(path.to_owned());
            };
            let mut last = "";
            for file in &self.files {
                add(file);
                // Files are sorted, so all files of a folder are adjacent.
                for (at, _) in file.match_indices('/') {
                    let is_new = !last.get(..=at).is_some_and(|same| file.starts_with(same));
                    if is_new {
                        add(&file[..at]);
                    }
                }
                last = file;
            }
            by_name
        })
    }
}

/// Returns the rest of a file's path after `part`, if `part` starts at the beginning of a name.
fn rest_after<'a>(file: &'a str, part: &str) -> Option<&'a str> {
    let at = file.find(part)?;
    let is_start = at == 0 || file[..at].ends_with('/');
    is_start.then(|| &file[at + part.len()..])
}

/// Returns a matcher for a glob from the root or below any folder; `None` for an invalid glob.
fn matcher(pattern: &str) -> Option<GlobMatcher> {
    let anywhere = format!("**/{pattern}");
    let glob = GlobBuilder::new(&anywhere).literal_separator(true).build();
    Some(glob.ok()?.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing() -> FileNames {
        let files = [
            "src/lib.rs", "src/api/mod.rs", "src/api/login.rs", "src/web/mod.rs",
            "src/web/Button.tsx", "src-old/x.rs", "README.md", "app/[id]/page.tsx",
        ];
        FileNames::new(files.map(str::to_owned).to_vec())
    }

    #[test]
    fn paths_are_found_by_their_ends() {
        let listing = listing();
        assert!(listing.has("src/lib.rs", PathForm::Plain));
        assert!(!listing.has("src/lib.rs", PathForm::Folder));
        assert!(listing.has_folder("src/api") && !listing.has_folder("src/ap"));
        assert_eq!(
            listing.paths_ending_in("mod.rs", PathForm::Plain),
            ["src/api/mod.rs", "src/web/mod.rs"]
        );
        assert_eq!(listing.paths_ending_in("api/login.rs", PathForm::Plain), ["src/api/login.rs"]);
        assert_eq!(listing.paths_ending_in("api", PathForm::Folder), ["src/api"]);
        assert_eq!(listing.paths_ending_in("i/login.rs", PathForm::Plain), [""; 0]);
        assert_eq!(
            listing.paths_ending_in("[id]/page.tsx", PathForm::Plain),
            ["app/[id]/page.tsx"]
        );
        assert_eq!(FileNames::default().paths_ending_in("a", PathForm::Plain), [""; 0]);
    }

    #[test]
    fn every_folder_is_known_by_its_name_once() {
        let files = ["a/b/1", "a/b/2", "a/b-c/b/3", "a/b/b/4"];
        let listing = FileNames::new(files.map(str::to_owned).to_vec());
        assert_eq!(listing.paths_ending_in("b", PathForm::Folder), ["a/b-c/b", "a/b", "a/b/b"]);
    }

    #[test]
    fn patterns_match_files_and_folders_below_any_folder() {
        let listing = listing();
        assert_eq!(listing.matches("src/*/mod.rs"), ["src/api/mod.rs", "src/web/mod.rs"]);
        assert_eq!(listing.matches("*.tsx").len(), 2);
        assert_eq!(listing.matches("src/a*"), ["src/api"]);
        assert_eq!(listing.matches("web/*.tsx"), ["src/web/Button.tsx"]);
        assert_eq!(listing.matches("*.py"), [""; 0]);
        assert_eq!(listing.matches("src/[*"), [""; 0]);
    }

    #[test]
    fn other_spellings_are_known() {
        let listing = listing();
        for path in ["readme.md", "src/web/button.tsx", "web/Button", "src/web/Button.js"] {
            assert!(listing.has_similar(path), "{path}");
        }
        for path in ["src/web/Butto", "utton.tsx", "src/api/login.py"] {
            assert!(!listing.has_similar(path), "{path}");
        }
    }
}
