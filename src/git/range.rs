//! Reads ranges of commits, with the files that each changed.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::error::Result;
use crate::git::program::Program;

/// A file that a commit changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedFile {
    /// The kind of change, as git's letter: `A`, `M`, `D`, `R`, `C`, `T`.
    pub status: char,
    /// Its path after the commit, relative to the top of the repository.
    pub path: String,
    /// Its path before the commit, if different.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// A commit, with author, message and changed files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Commit {
    /// The full hash.
    pub hash: String,
    /// The full hashes of its parents.
    #[serde(skip)]
    pub parents: Vec<String>,
    /// Its author.
    pub author: String,
    /// The time of authoring, RFC 3339, in its author's zone.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
    /// The rest of its message.
    pub body: String,
    /// The files that it changed; for a merge, compared with its first parent.
    pub files: Vec<ChangedFile>,
}

/// A commit's place in history: its full hash and its parents' hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitNode {
    /// The full hash.
    pub hash: String,
    /// The full hashes of its parents.
    pub parents: Vec<String>,
}

/// The number of commits by which the checked-out commit and another one differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distance {
    /// Number of commits only in the history of the checked-out commit.
    pub ahead: usize,
    /// Number of commits only in the history of the other one; 0 if it is an ancestor.
    pub behind: usize,
}

/// The fields of a commit, each terminated by a zero byte, which a message cannot contain.
const FORMAT_ARG: &str = "--format=%H%x00%P%x00%an%x00%aI%x00%s%x00%b%x00";
/// Options of every `git log` that lists changed files, independent of the user's settings.
///
/// Only files with the same bytes count as renamed: comparing the contents of large files takes git seconds.
const LOG_OPTIONS: [&str; 7] = [
    "--encoding=UTF-8",
    "--name-status",
    "-z",
    "-M100%",
    "--root",
    "--diff-merges=first-parent",
    FORMAT_ARG,
];

/// Reads the newest ancestors of a commit, itself included.
pub(crate) fn newest_commits(
    program: &Program<'_>,
    head: &str,
    max_commits: usize,
) -> Result<Option<Vec<Commit>>> {
    let max_commits = format!("--max-count={max_commits}");
    let mut arguments = vec!["log"];
    arguments.extend(LOG_OPTIONS);
    arguments.extend([max_commits.as_str(), head, "--"]);
    Ok(program.run(&arguments)?.map(|output| parse(&output)))
}

/// Reads these commits, in this order.
pub(crate) fn commits(program: &Program<'_>, hashes: &[&str]) -> Result<Option<Vec<Commit>>> {
    if hashes.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let mut arguments = vec!["log"];
    arguments.extend(LOG_OPTIONS);
    arguments.extend(["--no-walk=unsorted", "--stdin"]);
    let input = hashes.join("\n") + "\n";
    let output = program.run_with_input(&arguments, input.into_bytes())?;
    Ok(output.map(|output| parse(&String::from_utf8_lossy(&output))))
}

/// Reads the nodes of all commits since one, or of all commits without one; parents come before children.
pub(crate) fn nodes(
    program: &Program<'_>,
    since: Option<&str>,
    head: &str,
) -> Result<Option<Vec<CommitNode>>> {
    let range = range(since, head);
    let arguments = ["rev-list", "--topo-order", "--reverse", "--parents", &range, "--"];
    Ok(program.run(&arguments)?.map(|output| {
        let node = |line: &str| {
            let mut hashes = line.split(' ').map(str::to_owned);
            Some(CommitNode { hash: hashes.next()?, parents: hashes.collect() })
        };
        output.lines().filter_map(node).collect()
    }))
}

/// Returns the newest ancestors of a commit, itself included, that changed a file, newest first.
pub(crate) fn commits_touching(
    program: &Program<'_>,
    head: &str,
    path: &str,
    max_commits: usize,
) -> Result<Option<Vec<String>>> {
    let max_commits = format!("--max-count={max_commits}");
    let path = format!(":(literal,top){path}");
    let arguments = ["rev-list", "--full-history", &max_commits, head, "--", &path];
    let output = program.run(&arguments)?;
    Ok(output.map(|output| output.lines().map(str::to_owned).collect()))
}

/// Counts the commits that only one of two commits has in its history.
pub(crate) fn distance(program: &Program<'_>, other: &str, head: &str) -> Result<Option<Distance>> {
    let range = format!("{other}...{head}");
    let output = program.run(&["rev-list", "--count", "--left-right", &range, "--"])?;
    Ok(output.and_then(|output| {
        let (behind, ahead) = output.trim().split_once('\t')?;
        Some(Distance { ahead: ahead.parse().ok()?, behind: behind.parse().ok()? })
    }))
}

/// Returns the commits after a commit that only changed files below a folder.
pub(crate) fn commits_only_in(
    program: &Program<'_>,
    since: Option<&str>,
    head: &str,
    folder: &str,
) -> Result<Option<BTreeSet<String>>> {
    let range = range(since, head);
    let folder_only = format!(":(literal,top){folder}");
    let arguments = ["rev-list", "--full-history", &range, "--", &folder_only];
    let Some(touching) = program.run(&arguments)? else {
        return Ok(None);
    };
    let hashes: Vec<&str> = touching.lines().collect();
    let commits = commits(program, &hashes)?.unwrap_or_default();
    let only = commits.into_iter().filter(|commit| commit.is_confined_to(folder));
    Ok(Some(only.map(|commit| commit.hash).collect()))
}

impl Commit {
    /// Returns whether the commit changed files, all of them below a folder.
    pub fn is_confined_to(&self, folder: &str) -> bool {
        let inside =
            |path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let is_inside =
            |file: &ChangedFile| inside(&file.path) && file.from.as_deref().is_none_or(inside);
        !self.files.is_empty() && self.files.iter().all(is_inside)
    }
}

fn range(since: Option<&str>, head: &str) -> String {
    match since {
        Some(since) => format!("{since}..{head}"),
        None => head.to_owned(),
    }
}

/// Parses the fields of each commit, followed by `M\0<path>\0` or `R<percent>\0<from>\0<to>\0` per file.
fn parse(output: &str) -> Vec<Commit> {
    let mut commits = Vec::new();
    let mut rest = output.split('\0').peekable();
    while let Some(first) = rest.next() {
        let hash = first.trim_start_matches('\n');
        if hash.is_empty() {
            continue;
        }
        let mut field = || rest.next().unwrap_or_default().to_owned();
        let mut commit = Commit {
            hash: hash.to_owned(),
            parents: field().split_whitespace().map(str::to_owned).collect(),
            author: field(),
            date: field(),
            subject: field(),
            body: field().trim().to_owned(),
            files: Vec::new(),
        };
        // The separator that git prints after each commit.
        rest.next_if(|next| next.is_empty());
        while let Some(status) = rest.next_if(|next| is_status_field(next)) {
            let status = status.trim_start_matches('\n').chars().next();
            let Some((status, path)) = status.zip(rest.next()) else {
                break;
            };
            let (from, path) = match status {
                'R' | 'C' => (Some(path.to_owned()), rest.next().unwrap_or_default()),
                _ => (None, path),
            };
            commit.files.push(ChangedFile { status, path: path.to_owned(), from });
        }
        commits.push(commit);
    }
    commits
}

/// Returns whether a field is the status of a file: a hash is longer, and a separator is empty.
fn is_status_field(text: &str) -> bool {
    let text = text.trim_start_matches('\n');
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_ascii_uppercase())
        && text.len() <= 4
        && letters.all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use assert_fs::prelude::*;

    use super::*;
    use crate::git::tests::Sandbox;

    #[test]
    fn a_truncated_or_malformed_listing_yields_its_complete_commits() {
        for output in ["", "\0", "\0\0\0", "abc", "abc\0\0\0\0\0\0\0R1\0", "M\0x"] {
            for commit in parse(output) {
                assert!(!commit.hash.is_empty(), "{output:?}");
            }
        }
        let output = "1\x000\0A\0D\0S\0B\n\0\0\nM\0A\0R100\0a\0b\x002\x001\0A\0D\0S\0\0\x003\x002\0A\0D\0S\0\0\0\nA\0c\0";
        let commits = parse(output);
        let files: Vec<Vec<&str>> = commits
            .iter()
            .map(|commit| commit.files.iter().map(|file| file.path.as_str()).collect())
            .collect();
        // `A` is a file's name in the first one.
        assert_eq!(files, [vec!["A", "b"], vec![], vec!["c"]]);
        assert_eq!(commits[0].files[1].from.as_deref(), Some("a"));
        assert_eq!(commits[2].parents, ["2"]);
    }

    #[test]
    fn merges_list_the_files_changed_since_their_first_parent() {
        let sandbox = Sandbox::empty();
        let change = |path: &str| {
            sandbox.0.child(path).write_str(path).unwrap();
            sandbox.git(&["add", "-A"]);
            sandbox.commit_at("2026-02-01T10:00:00Z");
            sandbox.git(&["rev-parse", "HEAD"])
        };
        let first = change("gr\u{f6}\u{df}e a.md");
        sandbox.git(&["checkout", "-q", "-b", "side"]);
        let side = change("docs/memory/STATE.md");
        sandbox.git(&["checkout", "-q", "main"]);
        let second = change("b.md");
        sandbox.merge_at("side", "2026-02-02T10:00:00Z");
        let git = sandbox.open_git();
        let head = git.head().unwrap().unwrap();
        let newest = git.newest_commits(9).unwrap();
        assert_eq!((newest.len(), newest[0].parents.len()), (4, 2));
        assert_eq!(newest[0].files[0].path, "docs/memory/STATE.md");
        assert_eq!(newest[3].files[0].path, "gr\u{f6}\u{df}e a.md");
        let own = git.commits_only_in("docs/memory", Some(&first)).unwrap();
        assert_eq!(own, BTreeSet::from([head.clone(), side.clone()]));
        let nodes = git.nodes_since(Some(&first)).unwrap();
        assert_eq!((nodes.len(), &nodes[2].hash), (3, &head));
        let apart = Distance { ahead: 2, behind: 0 };
        assert_eq!(git.distance(&side).unwrap(), Some(apart));
        let between = git.distance_between(&side, &second).unwrap().unwrap();
        assert_eq!((between.ahead, between.behind), (1, 1));
        assert_eq!(git.resolve_hash(&side[..8]).unwrap().as_ref(), Some(&side));
        for unknown in ["0123456", "main", "HEAD", ""] {
            assert_eq!(git.resolve_hash(unknown).unwrap(), None, "{unknown}");
        }
        let touching = |max_commits| git.commits_touching("docs/memory/STATE.md", max_commits);
        assert_eq!(touching(9).unwrap(), [head.clone(), side]);
        assert_eq!(touching(1).unwrap(), [head]);
    }
}
