//! Reads the specs and plans that commits touch or name, as of the end of a batch.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use crate::error::Result;
use crate::git::{Commit, Git, Object};
use crate::text::pattern;

/// Folders of specs and plans.
const FOLDERS: [&str; 3] = ["specs/", "docs/plans/", "docs/specs/"];
/// The path of a spec in a message.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(?:[\w-][\w.-]*/)*(?:specs|docs/plans)/(?:[\w-][\w.-]*/)*[\w.-]*\w")
});
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
    let touched = commit.files.iter().filter(|file| file.status != 'D');
    let touched = touched.map(|file| file.path.as_str());
    let touched = touched.filter(|path| FOLDERS.iter().any(|folder| is_in(path, folder)));
    let messages = [commit.subject.as_str(), commit.body.as_str()];
    let named = messages.into_iter().flat_map(|text| NAMED.find_iter(text));
    touched.chain(named.map(|found| found.as_str())).map(str::to_owned).collect()
}

fn is_in(path: &str, folder: &str) -> bool {
    path.starts_with(folder) || path.contains(&format!("/{folder}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_specs_with_and_without_a_line() {
        let commit = |subject: &str| Commit {
            hash: String::new(),
            parents: Vec::new(),
            author: String::new(),
            date: String::new(),
            subject: subject.to_owned(),
            body: String::new(),
            files: Vec::new(),
        };
        for (text, path) in [
            ("Follow `docs/plans/p.md`.", Some("docs/plans/p.md")),
            ("Follow ./docs/plans/p.md:12-20!", Some("docs/plans/p.md")),
            ("(app/specs/a.md#scope)", Some("app/specs/a.md")),
            ("See docs/plan.md, myspecs/a.md and specs/", None),
        ] {
            assert_eq!(specs_of(&commit(text)), path.into_iter().collect::<Vec<_>>(), "{text}");
        }
    }
}
