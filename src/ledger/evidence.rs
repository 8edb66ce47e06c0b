//! Checks the evidence for a decision: commits, pull requests, files.

use std::path::{Component, Path};
use std::sync::LazyLock;

use regex::Regex;

use crate::error::Result;
use crate::git::is_hash_prefix;
use crate::project::Project;
use crate::storage::read;
use crate::text::pattern;

static PULL_REQUEST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"https?://\S+/(?:pull|pulls|merge_requests|pull-requests|pullrequest)/[0-9]+")
});

/// Marks a path as evidence: a fact about the files on disk that does not depend on the history.
const ON_DISK_MARKER: &str = "on-disk invariant";

/// Returns what is wrong with the evidence of each of several entries; git is asked once for all.
pub(crate) fn problems(project: &Project, evidences: &[&str]) -> Result<Vec<Option<String>>> {
    let cited: Vec<Vec<&str>> = evidences.iter().map(|text| citations(text)).collect();
    let mut known = project.git.commit_times(&cited.concat())?.into_iter();
    let problems = evidences.iter().zip(&cited).map(|(text, cited)| {
        let found = cited.iter().filter(|_| known.next().flatten().is_some()).count();
        (found == 0).then(|| problem(project, text, cited)).flatten()
    });
    Ok(problems.collect())
}

/// Returns the words that may be a commit's hash.
fn citations(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| c.is_whitespace() || "`,;()[]\"'/#?".contains(c));
    let words = words.map(|word| word.trim_matches(['.', ':', '*']));
    words.filter(|word| word.len() >= 7 && is_hash_prefix(word)).collect()
}

/// Returns what is wrong with evidence that cites no commit that exists.
fn problem(project: &Project, text: &str, cited: &[&str]) -> Option<String> {
    let is_marked = text.to_lowercase().contains(ON_DISK_MARKER);
    if PULL_REQUEST.is_match(text) || is_marked && names_file(&project.root, text) {
        return None;
    }
    Some(match cited.first() {
        _ if is_marked => {
            format!("has {ON_DISK_MARKER:?}, but what it names is not a file of this project")
        }
        Some(hash) if project.git.is_repository() => {
            format!("{hash} is not a commit of this repository")
        }
        Some(hash) => format!("{hash} cannot be resolved: there is no git repository"),
        None => format!(
            "cites no evidence: add a commit hash, a link to a pull request, or a path followed by `({ON_DISK_MARKER})`"
        ),
    })
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
