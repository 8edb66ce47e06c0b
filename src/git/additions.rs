//! Finds the commit that added each file, under any earlier name.

use std::collections::BTreeMap;

use chrono::NaiveDate;

use crate::clock::parse_date;
use crate::error::Result;
use crate::git::program::Program;

/// The commit that added a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addition {
    /// Its full hash.
    pub commit: String,
    /// The day on which it was authored.
    pub date: NaiveDate,
    /// Number of newer commits.
    pub age: usize,
}

/// Returns the commits that added the files of a folder, by path from the top of the repository.
pub(crate) fn additions(
    program: &Program<'_>,
    folder: &str,
) -> Result<Option<BTreeMap<String, Addition>>> {
    let arguments = [
        "log", "-M", "--first-parent", "-m", "--diff-filter=AR", "--name-status", "-z",
        "--format=%x01%H %ad", "--date=short", "--", folder,
    ];
    Ok(program.run(&arguments)?.map(|output| parse(&output)))
}

/// Parses commits, newest first, each followed by `A\0<path>\0` and `R<percent>\0<from>\0<to>\0`.
fn parse(output: &str) -> BTreeMap<String, Addition> {
    let mut found = BTreeMap::new();
    // The current name of each earlier name.
    let mut current_names: BTreeMap<String, String> = BTreeMap::new();
    for (age, commit) in output.split('\u{1}').skip(1).enumerate() {
        let (head, changes) = commit.split_once(['\n', '\0']).unwrap_or((commit, ""));
        let Some((hash, date)) = head.split_once(' ') else {
            continue;
        };
        let Some(date) = parse_date(date) else {
            continue;
        };
        let mut fields = changes.split('\0').map(|field| field.trim_start_matches('\n'));
        while let Some(status) = fields.next() {
            if status == "A"
                && let Some(path) = fields.next()
            {
                let name = current_names.get(path).cloned().unwrap_or_else(|| path.to_owned());
                let addition = Addition { commit: hash.to_owned(), date, age };
                found.entry(name).or_insert(addition);
            } else if status.starts_with('R')
                && let (Some(from), Some(to)) = (fields.next(), fields.next())
            {
                let name = current_names.get(to).cloned().unwrap_or_else(|| to.to_owned());
                current_names.insert(from.to_owned(), name);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_file_was_added_under_its_old_name() {
        let output = "\u{1}cc 2026-03-03\0\nR100\0p/a.md\0done/a.md\0\u{1}bb 2026-02-02\0\nA\0p/b.md\0\
                      \u{1}aa 2026-01-01\0\nA\0p/a.md\0";
        let found = parse(output);
        let of =
            |path: &str| found.get(path).map(|one| (one.commit.as_str(), one.date.to_string()));
        assert_eq!(of("done/a.md"), Some(("aa", "2026-01-01".to_owned())));
        assert_eq!(of("p/b.md"), Some(("bb", "2026-02-02".to_owned())));
        assert_eq!(of("p/a.md"), None);
    }
}
