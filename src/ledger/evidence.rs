//! Checks the evidence for a decision: commits, pull requests, files.

use std::path::{Component, Path};
use std::sync::LazyLock;

use regex::Regex;

use crate::error::Result;
use crate::git::is_hash_prefix;
use crate::ledger::footer::is_compact_date;
use crate::project::Project;
use crate::storage::read;

static PULL_REQUEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"https?://\S+/(?:pull|pulls|merge_requests|pull-requests|pullrequest)/[0-9]+").ok()
});

/// Marks a path as evidence: a fact about the files on disk that does not depend on the history.
const ON_DISK_MARKER: &str = "on-disk invariant";

/// Returns the problems of the evidence of several entries; git is asked once for all.
pub(crate) fn problems(project: &Project, evidences: &[&str]) -> Result<Vec<Vec<String>>> {
    let cited: Vec<Vec<Citation>> = evidences.iter().map(|text| citations(text)).collect();
    let hashes: Vec<&str> = cited.iter().flatten().map(|one| one.hash.as_str()).collect();
    let mut times = project.git.commit_times(&hashes)?.into_iter();
    let problems = evidences.iter().zip(&cited).map(|(text, cited)| {
        let known: Vec<bool> = cited.iter().map(|_| times.next().flatten().is_some()).collect();
        entry_problems(project, text, cited, &known)
    });
    Ok(problems.collect())
}

/// A word that may be a commit's hash.
struct Citation {
    hash: String,
    /// Whether it can be nothing else: some words consist of such digits, and a link may lead elsewhere.
    is_certain: bool,
}

fn citations(text: &str) -> Vec<Citation> {
    let is_hash = |word: &str| word.len() >= 7 && is_hash_prefix(word) && !is_compact_date(word);
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
        let has_digit = word.bytes().any(|b| b.is_ascii_digit());
        let hash = word.to_ascii_lowercase();
        is_hash(word).then_some(Citation { hash, is_certain: has_digit && !is_link })
    });
    cited.collect()
}

fn entry_problems(
    project: &Project,
    text: &str,
    cited: &[Citation],
    known: &[bool],
) -> Vec<String> {
    let unknown = |hash: &str| match project.git.is_repository() {
        true => format!("{hash} is not a commit of this repository"),
        false => format!("{hash} cannot be resolved: there is no git repository"),
    };
    let missing: Vec<&Citation> =
        cited.iter().zip(known).filter(|(_, known)| !**known).map(|(one, _)| one).collect();
    let certain = missing.iter().filter(|one| one.is_certain);
    let mut problems: Vec<String> = certain.map(|one| unknown(&one.hash)).collect();
    let has_pull_request = PULL_REQUEST.as_ref().is_some_and(|link| link.is_match(text));
    let is_marked = text.to_lowercase().contains(ON_DISK_MARKER);
    let has_file = is_marked && names_file(&project.root, text);
    if !problems.is_empty() || has_pull_request || has_file || known.contains(&true) {
        return problems;
    }
    problems.push(match missing.first() {
        _ if is_marked => format!("has {ON_DISK_MARKER:?} beside what is not a file of this project"),
        Some(one) => unknown(&one.hash),
        None => format!(
            "cites no evidence: add a commit hash, a link to a pull request, or a path followed by `({ON_DISK_MARKER})`"
        ),
    });
    problems
}

/// Returns whether a word of a text, or a piece of code in it, is the path of a file inside a folder.
fn names_file(root: &Path, text: &str) -> bool {
    let code = text.split('`').skip(1).step_by(2);
    let words = text.split(|c: char| c.is_whitespace() || "`,;()[]\"'*".contains(c));
    let words = words.map(|word| word.trim_end_matches(['.', ':']));
    code.chain(words).map(Path::new).any(|path| {
        let parts = path.components();
        let is_inside =
            parts.clone().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let is_named = parts.clone().any(|part| matches!(part, Component::Normal(_)));
        let place = root.join(path);
        // A word such as `docs` may be a folder's name by chance.
        let exists = read::is_file(&place) || parts.count() > 1 && read::exists(&place);
        is_inside && is_named && exists
    })
}
