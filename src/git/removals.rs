//! Which commit removed which file.

use chrono::NaiveDate;

use crate::clock::parse_date;
use crate::error::Result;
use crate::git::program::Program;

/// A file that a commit removed, perhaps by renaming it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// The file, from the top of the repository.
    pub path: String,
    /// The commit, by its full hash.
    pub commit: String,
    /// The day of the commit, in the calendar of whoever made it.
    pub date: Option<NaiveDate>,
}

/// As many commits with removals are looked at.
const MOST_COMMITS: &str = "--max-count=20000";

/// Reads all removals, the latest first.
pub(crate) fn removals(program: &Program<'_>, head: &str) -> Result<Option<Vec<Removal>>> {
    let arguments = [
        "log",
        "-z",
        "--no-renames",
        "--diff-filter=D",
        "--name-only",
        "--format=%x01%H %cs",
        MOST_COMMITS,
        "--end-of-options",
        head,
        "--",
    ];
    Ok(program.run(&arguments)?.map(|output| parse(&output)))
}

/// Reads `\1<hash> <day>\0`, after which each name stands before a `\0`, the first one after a line's end.
fn parse(output: &str) -> Vec<Removal> {
    let mut removals = Vec::new();
    for commit in output.split('\u{1}').skip(1) {
        let mut fields = commit.split('\0');
        let Some((hash, date)) = fields.next().and_then(|head| head.split_once(' ')) else {
            continue;
        };
        for path in fields.map(|path| path.trim_start_matches('\n')) {
            if !path.is_empty() {
                removals.push(Removal {
                    path: path.to_owned(),
                    commit: hash.to_owned(),
                    date: parse_date(date),
                });
            }
        }
    }
    removals
}
