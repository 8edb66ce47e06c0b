//! Compares the current files with those of a commit, and finds the commits that removed paths.

use std::collections::HashMap;

use chrono::NaiveDate;

use crate::clock::parse_date;
use crate::error::Result;
use crate::git::program::Program;
use crate::git::range::ChangedFile;

/// The commit that last removed a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// Its full hash.
    pub commit: String,
    /// The day on which it was committed.
    pub date: NaiveDate,
}

/// Maximum number of added and of removed files among which renames with changes are searched; files with
/// unchanged content always match.
const RENAME_LIMIT_ARG: &str = "-l200";

/// Maximum number of paths that one command is asked for.
const MAX_PATHS: usize = 200;

/// Returns the files of the index that differ from a commit.
pub(crate) fn changes_since(
    program: &Program<'_>,
    commit: &str,
) -> Result<Option<Vec<ChangedFile>>> {
    let arguments = [
        "diff-index", "--cached", "-M", RENAME_LIMIT_ARG, "--name-status", "-z",
        "--ignore-submodules", commit, "--",
    ];
    Ok(program.run(&arguments)?.map(|output| parse(&output)))
}

/// Parses `M\0<path>\0` and `R<percent>\0<from>\0<to>\0`.
fn parse(output: &str) -> Vec<ChangedFile> {
    let mut files = Vec::new();
    let mut fields = output.split('\0');
    while let Some(status) = fields.next().and_then(|status| status.chars().next()) {
        let first = fields.next().unwrap_or_default().to_owned();
        let second = if matches!(status, 'R' | 'C') { fields.next() } else { None };
        files.push(match second {
            Some(path) => ChangedFile { status, path: path.to_owned(), from: Some(first) },
            None => ChangedFile { status, path: first, from: None },
        });
    }
    files
}

/// Returns the commits that last removed these files and folders, given from the top of the repository.
pub(crate) fn removals(
    program: &Program<'_>,
    head: &str,
    paths: &[&str],
) -> Result<Option<Vec<Option<Removal>>>> {
    let mut found = vec![None; paths.len()];
    for (paths, found) in paths.chunks(MAX_PATHS).zip(found.chunks_mut(MAX_PATHS)) {
        let literal: Vec<String> =
            paths.iter().map(|path| format!(":(literal,top){path}")).collect();
        let mut arguments = vec![
            "log", "--first-parent", "-m", "--no-renames", "--diff-filter=D", "--name-only", "-z",
            "--format=%x01%H %cd", "--date=short", head, "--",
        ];
        arguments.extend(literal.iter().map(String::as_str));
        let Some(output) = program.run(&arguments)? else {
            return Ok(None);
        };
        // Commits come newest first.
        for commit in output.split('\u{1}').skip(1) {
            let (head, files) = commit.split_once(['\n', '\0']).unwrap_or((commit, ""));
            let Some((hash, date)) = head.split_once(' ') else { continue };
            let Some(date) = parse_date(date) else { continue };
            for file in files.split('\0').map(|file| file.trim_start_matches('\n')) {
                for (path, found) in paths.iter().zip(&mut *found) {
                    let rest = file.strip_prefix(path);
                    if found.is_none()
                        && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                    {
                        *found = Some(Removal { commit: hash.to_owned(), date });
                    }
                }
            }
        }
    }
    Ok(Some(found))
}
/// Returns the day of the last commit since a day that changed each of these files, given from the top of the repository.
pub(crate) fn last_changes(
    program: &Program<'_>,
    head: &str,
    paths: &[&str],
    since: NaiveDate,
) -> Result<Option<HashMap<String, NaiveDate>>> {
    let since = format!("--since={since}T00:00:00");
    let mut found = HashMap::new();
    for paths in paths.chunks(MAX_PATHS) {
        let literal: Vec<String> =
            paths.iter().map(|path| format!(":(literal,top){path}")).collect();
        let mut arguments = vec![
            "log", "--no-renames", "--name-only", "-z", "--format=%x01%ad", "--date=short", &since,
            head, "--",
        ];
        arguments.extend(literal.iter().map(String::as_str));
        let Some(output) = program.run(&arguments)? else {
            return Ok(None);
        };
        for commit in output.split('\u{1}').skip(1) {
            let (date, files) = commit.split_once(['\n', '\0']).unwrap_or((commit, ""));
            let Some(date) = parse_date(date.trim()) else { continue };
            for file in files.split('\0').map(|file| file.trim_start_matches('\n')) {
                let last = found.entry(file.to_owned()).or_insert(date);
                *last = date.max(*last);
            }
        }
    }
    Ok(Some(found))
}
