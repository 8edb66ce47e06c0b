//! Finds the files that a plan's deviations name, and checks those that a lesson names.

use std::path::{Component, Path};

use crate::patterns::PlanRecord;
use crate::storage::read;
use crate::text::file_name;

/// Returns whether a file exists in the project under this path, which must be relative to its root.
///
/// A lesson is shared, so it must not name a path of one machine.
pub(crate) fn exists(root: &Path, file: &str) -> bool {
    let path = Path::new(file);
    let is_inside =
        path.is_relative() && !path.components().any(|part| part == Component::ParentDir);
    is_inside && read::exists(&root.join(path))
}

impl PlanRecord {
    /// Returns the files that its deviations name, as spelled there, sorted and without duplicates.
    pub fn files_in_deviations(&self) -> Vec<&str> {
        let in_details = self.deviations.iter().flat_map(|deviation| &deviation.files);
        let in_texts = self.deviations.iter().flat_map(|deviation| paths(&deviation.text));
        let mut files: Vec<&str> = in_details.map(String::as_str).chain(in_texts).collect();
        files.sort_unstable();
        files.dedup();
        files
    }
}

/// Returns the paths in a text: code spans whose file name has an extension.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).filter(|code| is_path(code))
}

fn is_path(code: &str) -> bool {
    let name = file_name(code);
    // `.class` is a selector or a method, hardly ever a file.
    let extension =
        name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension);
    let is_file = extension.is_some_and(|extension| {
        (1..=5).contains(&extension.len())
            && extension.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            && extension.bytes().any(|b| b.is_ascii_lowercase())
    });
    is_file && !code.contains(|c: char| c.is_whitespace() || "(){}<>=\"'*:;,$".contains(c))
}

#[cfg(test)]
mod tests {
    use assert_fs::prelude::*;

    use super::*;

    #[test]
    fn only_code_that_looks_like_a_file_is_one() {
        let text = "`src/a.rs` and `b.ts`, not `.class`, `x.y()`, `v1.2`, c.rs or `Some<a.b>`";
        assert_eq!(paths(text).collect::<Vec<_>>(), ["src/a.rs", "b.ts"]);
    }

    #[test]
    fn a_file_is_named_relative_to_the_project() {
        let folder = assert_fs::TempDir::new().unwrap();
        folder.child("a.rs").touch().unwrap();
        let file = folder.path().join("a.rs");
        assert!(exists(folder.path(), "a.rs"));
        assert!(!exists(folder.path(), "b.rs"));
        assert!(!exists(folder.path(), file.to_str().unwrap()));
        folder.child("inner").create_dir_all().unwrap();
        assert!(!exists(&folder.path().join("inner"), "../a.rs"));
    }
}
