//! Combines the warnings that repeat for many files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::text::{Pattern, quantity};
use crate::warning::Warning;

/// Maximum number of files for which the same warning is printed each time.
const MAX_FILES: usize = 5;

/// Returns the warnings, with only the first of those that repeat for many files, followed by the number of the others.
///
/// Warnings are the same if they differ only in their location and in text in brackets.
pub(crate) fn combined(warnings: &[Warning]) -> Vec<Warning> {
    static BRACKETS: Pattern = Pattern::new(r" \([^)]*\)");
    let key = |warning: &Warning| BRACKETS.replace_all(&warning.message, "").into_owned();
    let mut files: BTreeMap<String, BTreeSet<&Path>> = BTreeMap::new();
    for warning in warnings {
        files.entry(key(warning)).or_default().insert(&warning.place.file);
    }
    let mut printed = BTreeSet::new();
    let mut combined = Vec::new();
    for warning in warnings {
        let key = key(warning);
        let others = files.get(&key).map_or(0, BTreeSet::len).saturating_sub(1);
        if others < MAX_FILES {
            combined.push(warning.clone());
        } else if printed.insert(key) {
            let others = quantity(others, "more file");
            let message = format!("{}; the same in {others} (-v lists them)", warning.message);
            combined.push(Warning { place: warning.place.clone(), message });
        }
    }
    combined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(files: usize, message: impl Fn(usize) -> String) -> Vec<String> {
        let warning = |n: usize| Warning::at(Path::new(&format!("{n}.md")), 3, message(n));
        let warnings: Vec<Warning> = (1..=files).map(warning).collect();
        combined(&warnings).iter().map(Warning::to_string).collect()
    }

    #[test]
    fn a_warning_about_many_files_is_printed_once_and_different_ones_stay() {
        let invalid = |n: usize| format!("is not valid YAML (at column {n}); read line by line");
        assert_eq!(
            printed(25, invalid),
            [
                "1.md:3: is not valid YAML (at column 1); read line by line; the same in 24 more files (-v lists them)"
            ]
        );
        assert_eq!(printed(MAX_FILES, invalid).len(), MAX_FILES);
        assert_eq!(printed(25, |n| format!("names plan {n}")).len(), 25);
    }
}
