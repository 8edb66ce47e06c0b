//! Reads commits, with the files that each changed, and objects by name.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::iter::Peekable;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use serde::Serialize;

use crate::clock::parse_date;
use crate::error::Result;
use crate::git::Git;
use crate::git::repository::{is_full_hash, is_hash_prefix};

/// A file that a commit changed.
#[derive(Clone, Debug, Serialize)]
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
#[derive(Clone, Debug, Serialize)]
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

/// The commit that added a file.
#[derive(Debug)]
pub struct Addition {
    /// Its full hash.
    pub commit: String,
    /// The day on which it was authored.
    pub date: NaiveDate,
    /// Number of newer commits.
    pub age: usize,
}

/// The fields of a commit, each terminated by a zero byte, which a message cannot contain.
const FORMAT_ARG: &str = "--format=%H%x00%P%x00%an%x00%aI%x00%s%x00%b%x00";
/// The node of a commit, after a zero byte.
const NODE_FORMAT_ARG: &str = "--format=%x00%H %P";
/// Options for all changed files of commits; only files with the same bytes count as renamed: comparing the contents
/// of large files takes git seconds. A submodule is listed when its commit changes: only trees are compared.
const WHOLE: [&str; 5] =
    ["-M100%", "--root", "--diff-merges=first-parent", "--ignore-submodules=none", FORMAT_ARG];

/// Options for the names of the changed files of commits.
const CHANGES: [&str; 5] = [
    "--name-only",
    "--no-renames",
    "--root",
    "--diff-merges=first-parent",
    "--ignore-submodules=none",
];

/// Maximum number of added and of removed files among which renames with changes are searched; files with
/// unchanged content always match.
const RENAME_LIMIT_ARG: &str = "-l200";

/// Maximum number of paths that one command is asked for.
const MAX_PATHS: usize = 200;

/// Maximum number of commits of a timeline; older ones count as unknown.
const MAX_COUNT_ARG: &str = "--max-count=200000";

impl Git {
    /// Returns the newest ancestors of the checked-out commit, itself included, newest first; uses one
    /// process.
    pub fn newest_commits(&self, max_commits: usize) -> Result<Vec<Commit>> {
        let Some(head) = self.head()? else {
            return Ok(Vec::new());
        };
        let max_commits = format!("--max-count={max_commits}");
        self.log(&[&WHOLE[..], &[&max_commits, &head, "--"]].concat(), &[])
    }

    /// Returns these commits with their changed files, in the given order.
    pub fn commits(&self, hashes: &[&str]) -> Result<Vec<Commit>> {
        if hashes.is_empty() {
            return Ok(Vec::new());
        }
        self.log(&[&WHOLE[..], &["--no-walk=unsorted", "--stdin"]].concat(), &lines(hashes))
    }

    /// Returns the commits that added the files of a folder under any earlier name, by absolute path; none in a
    /// shallow clone, whose oldest commit appears to add everything.
    pub fn additions(&self, folder: &Path) -> Result<BTreeMap<PathBuf, Addition>> {
        let Some(top) = self.top().filter(|_| !self.is_shallow()) else {
            return Ok(BTreeMap::new());
        };
        if self.head()?.is_none() {
            return Ok(BTreeMap::new());
        }
        let folder = folder.to_string_lossy();
        let options = ["-M", "--first-parent", "-m", "--diff-filter=AR", FORMAT_ARG, "--", &folder];
        Ok(added(&self.log(&options, &[])?)
            .into_iter()
            .map(|(path, addition)| (top.join(path), addition))
            .collect())
    }

    /// Returns the day of the last commit since a day that changed each of these files, given from the top.
    pub fn last_changes(
        &self,
        paths: &[&str],
        since: NaiveDate,
    ) -> Result<HashMap<String, NaiveDate>> {
        let mut found = HashMap::new();
        let Some(head) = self.head()? else {
            return Ok(found);
        };
        let since = format!("--since={since}T00:00:00");
        for paths in paths.chunks(MAX_PATHS) {
            let literal: Vec<String> =
                paths.iter().map(|path| format!(":(literal,top){path}")).collect();
            let mut options = vec!["--no-renames", FORMAT_ARG, &since, &head, "--"];
            options.extend(literal.iter().map(String::as_str));
            for commit in self.log(&options, &[])? {
                let Some(date) = day(&commit) else { continue };
                for file in commit.files {
                    let last = found.entry(file.path).or_insert(date);
                    *last = date.max(*last);
                }
            }
        }
        Ok(found)
    }

    /// Returns the files of the index that differ from a commit, with renames.
    pub fn changes_since(&self, commit: &str) -> Result<Vec<ChangedFile>> {
        let output = self.text(&[
            "diff-index", "--cached", "-M", RENAME_LIMIT_ARG, "--name-status", "-z",
            "--ignore-submodules", commit, "--",
        ])?;
        Ok(changed_files(&mut output.split('\0').peekable()))
    }

    /// Returns the nodes of all commits since the one with a full hash, or of all commits, parents before
    /// children, and the hashes of those that only changed files below a folder, relative to the top.
    pub fn nodes_since(
        &self,
        since: Option<&str>,
        folder: Option<&str>,
    ) -> Result<(Vec<CommitNode>, BTreeSet<String>)> {
        // Also those that did not change the folder, without the files.
        let order = ["--topo-order", "--reverse", "--full-history", "--sparse"];
        let options = [&order[..], &["--encoding=UTF-8", NODE_FORMAT_ARG]].concat();
        let changes: &[&str] = if folder.is_some() { &CHANGES } else { &[] };
        let output = self.history("log", since, &[&options[..], changes].concat(), folder)?;
        let (mut nodes, mut touching) = (Vec::new(), Vec::new());
        for commit in output.split('\0').skip(1) {
            let (line, files) = commit.split_once('\n').unwrap_or((commit, ""));
            let mut hashes = line.split_whitespace();
            let Some(hash) = hashes.next() else { continue };
            let parents = hashes.map(str::to_owned).collect();
            nodes.push(CommitNode { hash: hash.to_owned(), parents });
            touching.extend((!files.trim().is_empty()).then_some(hash));
        }
        let mut only = self.commits(&touching)?;
        only.retain(|commit| folder.is_some_and(|folder| commit.is_confined_to(folder)));
        Ok((nodes, only.into_iter().map(|commit| commit.hash).collect()))
    }

    /// Returns the newest commits that changed a file, given relative to the top, newest first.
    pub fn commits_touching(&self, path: &str, max_commits: usize) -> Result<Vec<String>> {
        let max_commits = format!("--max-count={max_commits}");
        Ok(self
            .history("rev-list", None, &["--full-history", &max_commits], Some(path))?
            .lines()
            .map(str::to_owned)
            .collect())
    }

    /// Returns the number of commits reachable from `one` but not from `other`, both full hashes; 0 if `one` is an
    /// ancestor of `other`.
    pub fn count_lacking(&self, one: &str, other: &str) -> Result<Option<usize>> {
        Ok(self
            .text(&["rev-list", "--count", &format!("{other}..{one}"), "--"])?
            .trim()
            .parse()
            .ok())
    }

    /// Returns those of these commits, whose hashes may be abbreviated, that are in the history of no branch or tag, nor of the
    /// checked-out commit: after a rebase, only this clone has them, and only for a while. None if git cannot tell.
    pub fn stranded<'h>(&self, hashes: &[&'h str]) -> Result<Vec<&'h str>> {
        if hashes.is_empty() {
            return Ok(Vec::new());
        }
        let head = self.head()?;
        let refs = ["rev-list", "--stdin", "--not", "--branches", "--remotes", "--tags"];
        let arguments = [&refs[..], head.as_deref().as_slice(), &["--"]].concat();
        let commits: Vec<String> = hashes.iter().map(|hash| format!("{hash}^{{commit}}")).collect();
        let commits: Vec<&str> = commits.iter().map(String::as_str).collect();
        // A shallow clone may lack the parents of a commit that it has: then nothing is known.
        let output = self.output(&arguments, &lines(&commits)).unwrap_or_default();
        let output = String::from_utf8_lossy(&output);
        let is_listed = |hash: &&str| {
            let hash = hash.to_ascii_lowercase();
            output.lines().any(|commit| commit.starts_with(&hash))
        };
        Ok(hashes.iter().copied().filter(is_listed).collect())
    }

    /// Returns the first-parent history of the checked-out commit, with times.
    pub fn timeline(&self) -> Result<Timeline> {
        let options = ["--first-parent", "--timestamp", MAX_COUNT_ARG];
        let output = self.history("rev-list", None, &options, None)?;
        let commits = output.lines().filter_map(|line| {
            let (seconds, hash) = line.split_once(' ')?;
            let time = DateTime::from_timestamp(seconds.parse().ok()?, 0)?;
            Some((hash.to_owned(), time))
        });
        Ok(Timeline { commits: commits.collect() })
    }

    /// Returns what a command such as `git rev-list` prints of the commits up to the checked-out one, or of those that changed
    /// a path; nothing without a commit.
    pub(crate) fn history(
        &self,
        command: &str,
        since: Option<&str>,
        options: &[&str],
        path: Option<&str>,
    ) -> Result<String> {
        let Some(head) = self.head()? else {
            return Ok(String::new());
        };
        let range = since.map_or_else(|| head.clone(), |since| format!("{since}..{head}"));
        let path = path.map(|path| format!(":(literal,top){path}"));
        self.text(&[&[command], options, &[&range, "--"], path.as_deref().as_slice()].concat())
    }

    fn log(&self, options: &[&str], input: &[u8]) -> Result<Vec<Commit>> {
        let start = ["log", "--encoding=UTF-8", "--name-status", "-z"];
        let output = self.output(&[&start, options].concat(), input)?;
        Ok(parse(&String::from_utf8_lossy(&output)))
    }
}

/// Follows the files of commits, newest first, back to the commits that added them.
fn added(commits: &[Commit]) -> BTreeMap<String, Addition> {
    let mut found = BTreeMap::new();
    // The current name of each earlier name.
    let mut current_names: BTreeMap<&str, String> = BTreeMap::new();
    for (age, commit) in commits.iter().enumerate() {
        let Some(date) = day(commit) else { continue };
        for file in &commit.files {
            let name =
                current_names.get(file.path.as_str()).cloned().unwrap_or_else(|| file.path.clone());
            if let Some(from) = &file.from {
                current_names.insert(from, name);
            } else if file.status == 'A' {
                let addition = Addition { commit: commit.hash.clone(), date, age };
                found.entry(name).or_insert(addition);
            }
        }
    }
    found
}

/// Returns the day of a commit's date, in its own zone.
fn day(commit: &Commit) -> Option<NaiveDate> {
    parse_date(commit.date.get(..10)?)
}

impl Commit {
    /// Returns whether the commit changed files, all of them below a folder.
    pub fn is_confined_to(&self, folder: &str) -> bool {
        let inside =
            |path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        !self.files.is_empty()
            && self
                .files
                .iter()
                .all(|file| inside(&file.path) && file.from.as_deref().is_none_or(inside))
    }
}

/// Parses the fields of each commit, followed by its files.
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
        commit.files = changed_files(&mut rest);
        commits.push(commit);
    }
    commits
}

/// Parses `M\0<path>\0` or `R<percent>\0<from>\0<to>\0` per file.
fn changed_files<'a>(fields: &mut Peekable<impl Iterator<Item = &'a str>>) -> Vec<ChangedFile> {
    let mut files = Vec::new();
    while let Some(status) = fields.next_if(|next| is_status_field(next)) {
        let status = status.trim_start_matches('\n').chars().next();
        let Some((status, path)) = status.zip(fields.next()) else {
            break;
        };
        let (from, path) = match status {
            'R' | 'C' => (Some(path.to_owned()), fields.next().unwrap_or_default()),
            _ => (None, path),
        };
        files.push(ChangedFile { status, path: path.to_owned(), from });
    }
    files
}

/// Returns whether a field is the status of a file: a hash is longer, and a separator is empty.
fn is_status_field(text: &str) -> bool {
    let text = text.trim_start_matches('\n');
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_ascii_uppercase())
        && text.len() <= 4
        && letters.all(|c| c.is_ascii_digit())
}

/// The first-parent history of the checked-out commit, with committer times: merged commits count as part of their
/// merge.
#[derive(Debug)]
pub struct Timeline {
    /// Newest first.
    commits: Vec<(String, DateTime<Utc>)>,
}

impl Timeline {
    /// Returns whether it has no commits; also true outside a repository.
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }

    /// Returns the hash of a commit by its index, counted from the newest.
    pub fn hash(&self, index: usize) -> Option<&str> {
        self.commits.get(index).map(|(hash, _)| hash.as_str())
    }

    /// Returns the day of a commit, in UTC.
    pub fn date(&self, index: usize) -> Option<NaiveDate> {
        self.commits.get(index).map(|(_, time)| time.date_naive())
    }

    /// Returns the index of a commit, given by its hash or a prefix of it.
    pub fn index_of(&self, hash: &str) -> Option<usize> {
        if !is_hash_prefix(hash) {
            return None;
        }
        let hash = hash.to_ascii_lowercase();
        self.commits.iter().position(|(full, _)| full.starts_with(&hash))
    }

    /// Returns the index of the last commit on or before a day, in UTC.
    pub fn at_end_of(&self, day: NaiveDate) -> Option<usize> {
        let next = day.checked_add_days(Days::new(1))?.and_time(NaiveTime::MIN).and_utc();
        self.commits.iter().position(|(_, time)| *time < next)
    }

    /// Returns the index of the first commit of all.
    pub fn first(&self) -> Option<usize> {
        self.commits.len().checked_sub(1)
    }
}

/// What git states of an object.
struct Header {
    hash: String,
    is_file: bool,
    size: usize,
}

/// Maximum size of a file that is read; manifests are smaller.
const MAX_FILE_BYTES: usize = 1 << 20;

/// Maximum number of files that one process is asked for; its output is limited, too.
const BATCH_FILES: usize = 60;

impl Git {
    /// Returns for each name, a hash or `<commit>:<path>`, whether the object exists.
    pub fn exist(&self, names: &[String]) -> Result<Vec<bool>> {
        Ok(self.headers(names)?.iter().map(Option::is_some).collect())
    }

    /// Returns the content of each file, given by a hash or as `<commit>:<path>`; `None` for what is missing, is no file
    /// or is too large.
    pub fn contents(&self, names: &[String]) -> Result<Vec<Option<Vec<u8>>>> {
        let headers = self.headers(names)?;
        let wanted = headers
            .iter()
            .enumerate()
            .filter_map(|(index, header)| Some((index, header.as_ref()?)));
        let wanted: Vec<(usize, &Header)> =
            wanted.filter(|(_, header)| header.is_file && header.size <= MAX_FILE_BYTES).collect();
        let mut found = vec![None; names.len()];
        for batch in wanted.chunks(BATCH_FILES) {
            let hashes: Vec<&str> = batch.iter().map(|(_, header)| header.hash.as_str()).collect();
            let output = self.output(&["cat-file", "--batch"], &lines(&hashes))?;
            let mut rest = output.as_slice();
            for (index, header) in batch {
                let Some(start) = rest.iter().position(|byte| *byte == b'\n') else { break };
                let Some((content, after)) = rest[start + 1..].split_at_checked(header.size) else {
                    break;
                };
                found[*index] = Some(content.to_vec());
                rest = after.get(1..).unwrap_or_default();
            }
        }
        Ok(found)
    }

    /// Returns the author time of each commit; `None` for each unknown hash.
    ///
    /// Hashes may be abbreviated. A rebase sets all committer times to the time of the rebase, so the author
    /// time is used.
    pub fn commit_times(&self, hashes: &[&str]) -> Result<Vec<Option<DateTime<Utc>>>> {
        let name = |hash: &&str| {
            if is_hash_prefix(hash) { format!("{hash}^{{commit}}") } else { String::new() }
        };
        let commits = self.headers(&hashes.iter().map(name).collect::<Vec<_>>())?;
        let known: Vec<&str> = commits.iter().flatten().map(|one| one.hash.as_str()).collect();
        if known.is_empty() {
            return Ok(vec![None; hashes.len()]);
        }
        let arguments = ["log", "--no-walk=unsorted", "--stdin", "--format=%H %at"];
        let output = self.output(&arguments, &lines(&known))?;
        let output = String::from_utf8_lossy(&output);
        let times: HashMap<&str, DateTime<Utc>> = output
            .lines()
            .filter_map(|line| {
                let (hash, seconds) = line.split_once(' ')?;
                Some((hash, DateTime::from_timestamp(seconds.parse().ok()?, 0)?))
            })
            .collect();
        Ok(commits
            .iter()
            .map(|commit| times.get(commit.as_ref()?.hash.as_str()).copied())
            .collect())
    }

    /// Returns the header of each object: its hash, type and size. `None` for a missing one, and for all of them without git
    /// or a repository.
    fn headers(&self, names: &[String]) -> Result<Vec<Option<Header>>> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        // A name with a line break is replaced by one that does not exist.
        let names: Vec<&str> = names
            .iter()
            .map(|name| match name.is_empty() || name.contains(['\n', '\0']) {
                true => "-",
                false => name.as_str(),
            })
            .collect();
        let output = self.output(&["cat-file", "--batch-check"], &lines(&names))?;
        let output = String::from_utf8_lossy(&output);
        let mut headers: Vec<Option<Header>> = output.lines().map(header).collect();
        headers.resize_with(names.len(), || None);
        Ok(headers)
    }
}

fn lines(words: &[&str]) -> Vec<u8> {
    (words.join("\n") + "\n").into_bytes()
}

/// Parses `<hash> <type> <size>`; a name that is not found is printed before `missing`, including any spaces.
fn header(line: &str) -> Option<Header> {
    match line.split(' ').collect::<Vec<_>>()[..] {
        [hash, kind, size] if is_full_hash(hash) => Some(Header {
            hash: hash.to_owned(),
            is_file: kind == "blob",
            size: size.parse().ok()?,
        }),
        _ => None,
    }
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
    fn a_renamed_file_was_added_under_its_old_name() {
        let commit = |hash: &str, date: &str, files: &str| {
            format!("{hash}\0\0A\0{date}T10:00:00Z\0S\0\0\0\n{files}")
        };
        let output = commit("cc", "2026-03-03", "R100\0p/a.md\0done/a.md\0")
            + &commit("bb", "2026-02-02", "A\0p/b.md\0")
            + &commit("aa", "2026-01-01", "A\0p/a.md\0");
        let found = added(&parse(&output));
        let of =
            |path: &str| found.get(path).map(|one| (one.commit.as_str(), one.date.to_string()));
        assert_eq!(of("done/a.md"), Some(("aa", "2026-01-01".to_owned())));
        assert_eq!(of("p/b.md"), Some(("bb", "2026-02-02".to_owned())));
        assert_eq!(of("p/a.md"), None);
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
        sandbox.git(&["config", "log.follow", "true"]);
        let since = |folder| git.nodes_since(Some(&first), folder).unwrap();
        let (nodes, own) = since(Some("docs/memory"));
        assert_eq!((nodes.len(), &nodes[2].hash), (3, &head));
        assert_eq!(nodes[2].parents, [second.clone(), side.clone()]);
        assert_eq!(own, BTreeSet::from([head.clone(), side.clone()]));
        assert_eq!(since(None), (nodes, BTreeSet::new()));
        assert_eq!(git.count_lacking(&side, &head).unwrap(), Some(0));
        assert_eq!(git.count_lacking(&head, &side).unwrap(), Some(2));
        assert_eq!(git.count_lacking(&side, &second).unwrap(), Some(1));
        assert_eq!(git.resolve_hash(&side[..8]).unwrap().as_ref(), Some(&side));
        for unknown in ["0123456", "main", "HEAD", ""] {
            assert_eq!(git.resolve_hash(unknown).unwrap(), None, "{unknown}");
        }
        let touching = |max_commits| git.commits_touching("docs/memory/STATE.md", max_commits);
        assert_eq!(touching(9).unwrap(), [head.clone(), side]);
        assert_eq!(touching(1).unwrap(), [head]);
    }

    #[test]
    fn lines_about_missing_objects_are_not_headers() {
        for line in ["", "HEAD:a b c missing", "deadbeef missing", "- missing", "a b"] {
            assert!(header(line).is_none(), "{line:?}");
        }
        let line = format!("{} blob 12", "a".repeat(40));
        assert_eq!(header(&line).unwrap().size, 12);
    }
}
