//! Parses and checks the evidence for a decision: commits, pull requests, files.

use std::borrow::Cow;
use std::path::{Component, Path};
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::error::Result;
use crate::git::{Git, is_hash_prefix};
use crate::ledger::anchor::is_compact_date;
use crate::project::Project;
use crate::storage::read;

static PULL_REQUEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"https?://\S+/(?:pull|pulls|merge_requests|pull-requests|pullrequest)/[0-9]+").ok()
});

/// The path directly before the marker, in backticks or as a word.
static MARKED_PATH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)(?:`([^`\n]+)`|([^\s`,;()\[\]"'*]+))[ \t]*\(on-disk invariant\)"#).ok()
});

/// Marks a path as evidence: a fact about the files on disk that does not depend on the history.
const ON_DISK_MARKER: &str = "on-disk invariant";

/// The evidence of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EntryEvidence {
    /// Words that look like commit hashes.
    pub(crate) hashes: Vec<String>,
    /// Whether a pull request is linked.
    pub(crate) has_pull_request: bool,
    /// Paths that are marked as on-disk invariants.
    pub(crate) paths: Vec<String>,
}

impl EntryEvidence {
    pub(crate) fn parse(text: &str) -> Self {
        let linked = PULL_REQUEST.as_ref().map(|link| link.replace_all(text, " "));
        let has_pull_request = linked.as_deref().is_some_and(|rest| rest != text);
        let mut rest = linked.unwrap_or(Cow::Borrowed(text));
        let is_marked = rest.to_lowercase().contains(ON_DISK_MARKER);
        let mut evidence = Self { has_pull_request, ..Self::default() };
        if let Some(marked) = MARKED_PATH.as_ref().filter(|_| is_marked) {
            for found in marked.captures_iter(&rest) {
                let path = found.get(1).or_else(|| found.get(2));
                let path = path.map_or("", |path| path.as_str().trim_end_matches(['.', ':']));
                if !is_cited_hash(path) {
                    evidence.paths.push(path.to_owned());
                }
            }
            let without_paths = |found: &Captures<'_>| {
                let is_hash = found.get(2).is_some_and(|word| is_cited_hash(word.as_str()));
                let kept = if is_hash { &found[0] } else { " " };
                kept.to_owned()
            };
            rest = Cow::Owned(marked.replace_all(&rest, without_paths).into_owned());
        }
        let mut linked_hashes = Vec::new();
        for word in rest.split(|c: char| c.is_whitespace() || "`,;()[]\"'".contains(c)) {
            let word = word.trim_start_matches([':', '*', '#']);
            let word = word.trim_end_matches(['.', ':', '*', '#']);
            if is_cited_hash(word) {
                evidence.hashes.push(word.to_ascii_lowercase());
            } else if word.contains("://") {
                linked_hashes.extend(linked_commit(word));
            } else if is_marked && is_path(word) {
                evidence.paths.push(word.to_owned());
            }
        }
        // Beside other evidence, a link may name a commit of another repository.
        if evidence.hashes.is_empty() && !has_pull_request && evidence.paths.is_empty() {
            evidence.hashes = linked_hashes;
        }
        // Some words consist of hexadecimal digits.
        let is_hash = |hash: &String| hash.bytes().any(|b| b.is_ascii_digit());
        if has_pull_request || !evidence.paths.is_empty() || evidence.hashes.iter().any(is_hash) {
            evidence.hashes.retain(is_hash);
        }
        evidence
    }

    /// Returns the problems of the evidence; `known` states for each hash whether its commit exists.
    pub(crate) fn problems(&self, known: &[bool], project: &Project) -> Vec<String> {
        let mut problems = Vec::new();
        for (hash, _) in self.hashes.iter().zip(known).filter(|(_, known)| !**known) {
            let why = if project.git.is_repository() {
                "is not a commit of this repository"
            } else {
                "cannot be resolved: there is no git repository"
            };
            problems.push(format!("{hash} {why}"));
        }
        for path in &self.paths {
            if !exists_inside(&project.root, path) {
                problems.push(format!("{path} is not a file of this project"));
            }
        }
        let is_empty = self.hashes.is_empty() && !self.has_pull_request && self.paths.is_empty();
        if is_empty {
            problems.push(format!(
                "cites no evidence: add a commit hash, a link to a pull request, or a path followed by `({ON_DISK_MARKER})`"
            ));
        }
        problems
    }
}

/// Returns which hashes of several evidences name a commit; one process for all.
pub(crate) fn resolve(git: &Git, evidences: &[EntryEvidence]) -> Result<Vec<Vec<bool>>> {
    let hashes: Vec<&str> =
        evidences.iter().flat_map(|one| &one.hashes).map(String::as_str).collect();
    let mut times = git.commit_times(&hashes)?.into_iter();
    let known = evidences.iter().map(|one| {
        let known = one.hashes.iter().map(|_| times.next().flatten().is_some());
        known.collect()
    });
    Ok(known.collect())
}

fn is_cited_hash(word: &str) -> bool {
    word.len() >= 7 && is_hash_prefix(word) && !is_compact_date(word)
}

/// Returns the commit that a link names: `https://…/commit/77c1af2`.
fn linked_commit(link: &str) -> Option<String> {
    let (_, rest) = link.split_once("/commit/").or_else(|| link.split_once("/commits/"))?;
    let hash = rest.split(['/', '#', '?']).next()?;
    is_cited_hash(hash).then(|| hash.to_ascii_lowercase())
}

fn is_path(word: &str) -> bool {
    !word.contains("://")
        && word.contains(['/', '.'])
        && word.contains(|c: char| c.is_alphanumeric())
}

fn exists_inside(root: &Path, path: &str) -> bool {
    let path = Path::new(path);
    let is_inside =
        path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    is_inside && read::exists(&root.join(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<String>, bool, Vec<String>) {
        let found = EntryEvidence::parse(text);
        (found.hashes, found.has_pull_request, found.paths)
    }

    #[test]
    fn paths_and_linked_commits_are_evidence_in_many_forms() {
        let none = Vec::<String>::new;
        for (text, path) in [
            ("Makefile (on-disk invariant)", "Makefile"),
            ("./src/a.rs (on-disk invariant)", "./src/a.rs"),
            (".github/ci.yml (On-disk invariant).", ".github/ci.yml"),
            ("`docs/x y.md` (on-disk invariant)", "docs/x y.md"),
        ] {
            assert_eq!(read(text), (none(), false, vec![path.into()]), "{text}");
        }
        let link = "https://example.org/o/r/commit/77c1af2aa";
        assert_eq!(read(link), (vec!["77c1af2aa".into()], false, none()));
        assert_eq!(
            read(&format!("a074d0f1, {link}, https://ci.example.org/build/12345678")),
            (vec!["a074d0f1".into()], false, none())
        );
        for text in [
            "src/a.rs: on-disk invariant",
            "src/a.rs \u{2014} on-disk invariant",
            "src/a.rs is an on-disk invariant",
            "`src/a.rs` (an on-disk invariant)",
            "the on-disk invariant src/a.rs",
            "**src/a.rs** (on-disk invariant)",
            "\"src/a.rs\" (on-disk invariant)",
            "src/a.rs. On-disk invariant",
        ] {
            let expected = (none(), false, vec!["src/a.rs".into()]);
            assert_eq!(read(text), expected, "{text}");
        }
        let hash = "29076e093 (on-disk invariant)";
        assert_eq!(read(hash), (vec!["29076e093".into()], false, none()));
    }

    #[test]
    fn evidence_is_read_from_free_text() {
        let none = Vec::<String>::new;
        assert_eq!(
            read("77c1af2, `A074D0F`."),
            (vec!["77c1af2".into(), "a074d0f".into()], false, none())
        );
        assert_eq!(read("https://example.org/a/b/pull/12"), (none(), true, none()));
        assert_eq!(
            read("https://example.org/g/-/merge_requests/7 (merged)"),
            (none(), true, none())
        );
        assert_eq!(read("see src/main.rs"), (none(), false, none()));
        assert_eq!(
            read("`src/main.rs` (on-disk invariant)"),
            (none(), false, vec!["src/main.rs".into()])
        );
        assert_eq!(read("this commit, reviewed"), (none(), false, none()));
        assert_eq!(
            read("deployed 20260217 in 77c1af2, not defaced"),
            (vec!["77c1af2".into()], false, none())
        );
        assert_eq!(read("defaced https://example.org/a/b/pull/12"), (none(), true, none()));
        assert_eq!(read("defaced"), (vec!["defaced".into()], false, none()));
    }
}
