//! Provides the example project, which is compiled into the binary.
//!
//! `assets/example.txt` contains its files one after another: a line with the path, a tab and the length in
//! bytes, then the bytes and a newline. A test ensures that it equals `examples/vbw-project`.

use std::path::{Path, PathBuf};

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::storage::{Changes, Storage, Store};

/// All files of the example project.
const BUNDLE: &str = include_str!("../../assets/example.txt");

/// The summaries that an agent would write when executing the plans of the example's current phase.
const SUMMARIES: [(&str, &str); 2] = [
    (
        ".vbw-planning/phases/04-low-stock-alerts/04-02-SUMMARY.md",
        include_str!("../../templates/demo/04-02-SUMMARY.md"),
    ),
    (
        ".vbw-planning/phases/04-low-stock-alerts/04-03-SUMMARY.md",
        include_str!("../../templates/demo/04-03-SUMMARY.md"),
    ),
];

/// Returns the files of the example project, as path and text.
pub fn example_files() -> Result<Vec<(&'static str, &'static str)>> {
    let mut files = Vec::new();
    let mut rest = BUNDLE;
    while !rest.is_empty() {
        let (file, after) =
            next_file(rest).ok_or_else(|| Error::failed("the bundled example is broken"))?;
        files.push(file);
        rest = after;
    }
    Ok(files)
}

fn next_file(text: &'static str) -> Option<((&'static str, &'static str), &'static str)> {
    let (head, rest) = text.split_once('\n')?;
    let (path, length) = head.split_once('\t')?;
    let (content, rest) = rest.split_at_checked(length.parse().ok()?)?;
    Some(((path, content), rest.strip_prefix('\n')?))
}

/// Writes the example project into an empty folder; `data` is the user's data folder.
pub fn write_example(folder: &Path, clock: Clock, data: Option<PathBuf>) -> Result<()> {
    write(folder, clock, data, &example_files()?).map(drop)
}

/// Writes the summaries of the example's open plans, as an agent would, and returns the diff.
pub fn finish_example(folder: &Path, clock: Clock, data: Option<PathBuf>) -> Result<String> {
    write(folder, clock, data, &SUMMARIES)
}

fn write(
    folder: &Path,
    clock: Clock,
    data: Option<PathBuf>,
    files: &[(&str, &str)],
) -> Result<String> {
    let storage = Storage::new(folder, clock).key_in(data).keep_history(false);
    let (diff, _) = storage.transact("demo", &[Store::Plan], || {
        let mut changes = Changes::new();
        for (path, text) in files {
            changes.write(&folder.join(path), *text)?;
        }
        Ok((changes.diff(folder), changes))
    })?;
    Ok(diff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundle_can_be_read_to_its_end() {
        let files = example_files().unwrap();
        assert!(files.len() > 50, "{}", files.len());
        assert!(files.iter().any(|(path, _)| *path == "CLAUDE.md"));
        for (path, _) in SUMMARIES {
            assert!(files.iter().all(|(other, _)| *other != path), "{path}");
        }
    }
}
