//! Checks the evidence for a decision: commits, pull requests, files.

use std::path::{Component, Path};
use std::sync::LazyLock;

use regex::Regex;

use crate::error::Result;
use crate::git::is_hash_prefix;
use crate::ledger::footer::is_compact_date;
use crate::project::Project;
use crate::storage::read;
use crate::text::pattern;

static PULL_REQUEST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"https?://\S+/(?:pull|pulls|merge_requests|pull-requests|pullrequest)/[0-9]+")
});

/// Marks a path as evidence: a fact about the files on disk that does not depend on the history.
const ON_DISK_MARKER: &str = "on-disk invariant";

/// Returns the problems of the evidence of several entries; git is asked once for all.
pub(crate) fn problems(project: &Project, evidences: &[&str]) -> Result<Vec<Vec<String>>> {
    let cited: Vec<Vec<(String, bool)>> = evidences.iter().map(|text| citations(text)).collect();
    let hashes: Vec<&str> = cited.iter().flatten().map(|(hash, _)| hash.as_str()).collect();
    let mut known = project.git.commit_times(&hashes)?.into_iter();
    let problems = evidences.iter().zip(cited).map(|(text, cited)| {
        let (found, missing): (Vec<_>, Vec<_>) =
            cited.into_iter().partition(|_| known.next().flatten().is_some());
        entry_problems(project, text, !found.is_empty(), &missing)
    });
    Ok(problems.collect())
}

/// Returns the words that may be a commit's hash, and whether they can be nothing else: some words consist of such digits,
/// and a link may lead elsewhere.
fn citations(text: &str) -> Vec<(String, bool)> {
    let words = text.split(|c: char| c.is_whitespace() || "`,;()[]\"'".contains(c));
    let cited = words.filter_map(|word| {
        let is_link = word.contains("://");
        let word = match word.split_once("/commit") {
            Some((_, rest)) if is_link => {
                rest.trim_start_matches('s').split(['/', '#', '?']).nth(1)?
            }
            _ if is_link => return None,
            _ => word.trim_matches(['.', ':', '*', '#']),
        };
        let is_hash = word.len() >= 7 && is_hash_prefix(word) && !is_compact_date(word);
        let has_digit = word.bytes().any(|b| b.is_ascii_digit());
        is_hash.then(|| (word.to_ascii_lowercase(), has_digit && !is_link))
    });
    cited.collect()
}

fn entry_problems(
    project: &Project,
    text: &str,
    has_commit: bool,
    missing: &[(String, bool)],
) -> Vec<String> {
    let unknown = |(hash, _): &(String, bool)| match project.git.is_repository() {
        true => format!("{hash} is not a commit of this repository"),
        false => format!("{hash} cannot be resolved: there is no git repository"),
    };
    let mut problems: Vec<String> =
        missing.iter().filter(|(_, is_certain)| *is_certain).map(unknown).collect();
    let has_pull_request = PULL_REQUEST.is_match(text);
    let is_marked = text.to_lowercase().contains(ON_DISK_MARKER);
    let has_file = || is_marked && names_file(&project.root, text);
    if problems.is_empty() && !has_pull_request && !has_commit && !has_file() {
        problems.push(match missing.first() {
            _ if is_marked => format!("has {ON_DISK_MARKER:?}, but what it names is not a file of this project"),
            Some(one) => unknown(one),
            None => format!(
                "cites no evidence: add a commit hash, a link to a pull request, or a path followed by `({ON_DISK_MARKER})`"
            ),
        });
    }
    problems
}

/// Returns whether a word of a text, or a piece of code in it, is the path of a file inside a folder.
fn names_file(root: &Path, text: &str) -> bool {
    let code = text.split('`').skip(1).step_by(2);
    let words = text.split(|c: char| c.is_whitespace() || "`,;()[]\"'*".contains(c));
    let words = words.map(|word| word.trim_end_matches(['.', ':']));
    code.chain(words).map(Path::new).any(|path| {
        let mut parts = path.components();
        let is_inside = parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let place = root.join(path);
        // A word such as `docs` may be a folder's name by chance.
        is_inside
            && place != root
            && (read::is_file(&place) || path.components().count() > 1 && read::exists(&place))
    })
}
