//! Reads the specs and plans that commits touch or name, as of the end of a batch.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::error::Result;
use crate::git::{Commit, Git, Object};

/// Folders of specs and plans.
const FOLDERS: [&str; 3] = ["specs/", "docs/plans/", "docs/specs/"];
/// Maximum number of files returned.
const MAX_FILES: usize = 20;
/// Maximum total size of their texts, in bytes.
const MAX_BYTES: usize = 100_000;

/// A spec or plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Spec {
    /// Its path, relative to the top of the repository.
    pub path: String,
    /// Its text at the end of the batch.
    pub text: String,
    /// Whether the text is truncated.
    pub truncated: bool,
}

/// The specs and plans of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Specs {
    /// Those returned, by name.
    pub files: Vec<Spec>,
    /// Those omitted because there are too many, or because they are too long.
    pub left_out: Vec<String>,
}

/// Reads the specs and plans of commits, as of `end`; those deleted by then are omitted.
pub(crate) fn specs(git: &Git, commits: &[Commit], end: Option<&str>) -> Result<Specs> {
    let mut specs = Specs::default();
    let paths: BTreeSet<String> = commits.iter().flat_map(specs_of).collect();
    let (Some(end), false) = (end, paths.is_empty()) else {
        return Ok(specs);
    };
    let Some(objects) = git.objects()? else {
        return Ok(specs);
    };
    let mut remaining_bytes = MAX_BYTES;
    let mut paths = paths.into_iter();
    // One at a time, because all specs that a batch touches may be much longer than the result.
    while specs.files.len() < MAX_FILES && remaining_bytes > 0 {
        let Some(path) = paths.next() else {
            return Ok(specs);
        };
        let mut found = objects.read(&[format!("{end}:{path}")])?;
        let Some(Some(Object::Blob(content))) = found.pop() else {
            continue;
        };
        // A binary file among the specs is not returned.
        let Ok(text) = String::from_utf8(content) else {
            continue;
        };
        let kept = &text[..text.floor_char_boundary(remaining_bytes)];
        remaining_bytes -= kept.len();
        specs.files.push(Spec { truncated: kept.len() < text.len(), text: kept.to_owned(), path });
    }
    let rest: Vec<String> = paths.collect();
    let names: Vec<String> = rest.iter().map(|path| format!("{end}:{path}")).collect();
    let existing = rest.into_iter().zip(objects.exist(&names)?);
    specs.left_out = existing.filter_map(|(path, exists)| exists.then_some(path)).collect();
    Ok(specs)
}

/// Returns the specs that a commit touches or that its message names.
fn specs_of(commit: &Commit) -> Vec<String> {
    let touched =
        commit.files.iter().filter(|file| file.status != 'D').map(|file| file.path.as_str());
    let message = [commit.subject.as_str(), commit.body.as_str()];
    let words = message
        .iter()
        .flat_map(|text| text.split(|c: char| c.is_whitespace() || "`'\"()[]<>,;".contains(c)))
        .map(named_path);
    touched.chain(words).filter(|path| is_spec(path)).map(str::to_owned).collect()
}

/// Returns the path that a word of a message names, without an anchor or a line number behind it.
fn named_path(word: &str) -> &str {
    let path = word.split('#').next().unwrap_or_default();
    let path = path.trim_start_matches("./");
    let mut path = path.trim_end_matches(['.', ':', '!', '?']);
    // `a.md:12`, `a.md:12-20`, `a.md:12:5`, `a.md:L12`
    let is_place = |text: &str| {
        let digits = text.trim_start_matches('L');
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '\u{2013}' | 'L');
        !digits.is_empty() && digits.chars().all(is_part)
    };
    while let Some((before, place)) = path.rsplit_once(':')
        && is_place(place)
    {
        path = before;
    }
    path
}

fn is_spec(path: &str) -> bool {
    let is_in = |folder: &str| path.starts_with(folder) || path.contains(&format!("/{folder}"));
    let is_plain = !path.contains("://") && !path.split('/').any(|part| part == "..");
    is_plain && !path.ends_with('/') && FOLDERS.iter().any(|folder| is_in(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_names_a_path_without_its_line() {
        for word in [
            "docs/plans/p.md", "./docs/plans/p.md.", "docs/plans/p.md:12", "docs/plans/p.md:12.",
            "docs/plans/p.md:12-20", "docs/plans/p.md:12:5!", "docs/plans/p.md:L12",
            "docs/plans/p.md#scope",
        ] {
            assert_eq!(named_path(word), "docs/plans/p.md", "{word}");
        }
        assert_eq!(named_path("docs/plans/a:b.md"), "docs/plans/a:b.md");
    }

    #[test]
    fn specs_are_recognised_by_their_folder() {
        for path in ["specs/a.md", "app/specs/a.md", "docs/plans/x/b.md", "docs/specs/c.html"] {
            assert!(is_spec(path), "{path}");
        }
        for path in
            ["docs/plan.md", "myspecs/a.md", "specs/", "specs/../a", "https://x.org/specs/a"]
        {
            assert!(!is_spec(path), "{path}");
        }
    }
}
