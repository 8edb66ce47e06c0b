//! Combines warnings that say the same of many files.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;

use crate::text::quantity;
use crate::warning::Warning;

/// Number of files of which the same is said one by one; more are only counted.
const MAX_FILES: usize = 5;

/// Returns the warnings; of those that differ only in their files and in what is in brackets, only the first if they
/// concern many files, with the number of the others.
pub(crate) fn combined(warnings: &[Warning]) -> Vec<Warning> {
    let mut files: BTreeMap<String, BTreeSet<&Path>> = BTreeMap::new();
    for warning in warnings {
        let of_kind = files.entry(kind(&warning.message)).or_default();
        of_kind.insert(&warning.place.file);
    }
    let mut said = BTreeSet::new();
    let mut found = Vec::new();
    for warning in warnings {
        let kind = kind(&warning.message);
        let more = files.get(&kind).map_or(0, BTreeSet::len).saturating_sub(1);
        if more < MAX_FILES {
            found.push(warning.clone());
        } else if said.insert(kind.clone()) {
            let more = quantity(more, "more file");
            found.push(Warning {
                place: warning.place.clone(),
                message: format!("{}; the same in {more} (-v lists them)", warning.message),
            });
        }
    }
    found
}

/// Returns a message without its parts in brackets, which are about one file.
fn kind(message: &str) -> String {
    let mut kind = String::with_capacity(message.len());
    let mut rest = message;
    while let Some((before, inside)) = rest.split_once(" (") {
        let Some((_, after)) = inside.split_once(')') else {
            break;
        };
        kind.push_str(before);
        rest = after;
    }
    kind.push_str(rest);
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(files: usize, message: impl Fn(usize) -> String) -> Vec<String> {
        let warning = |n: usize| Warning::at(Path::new(&format!("{n}.md")), 3, message(n));
        let warnings: Vec<Warning> = (1..=files).map(warning).collect();
        combined(&warnings).iter().map(Warning::to_string).collect()
    }

    #[test]
    fn what_is_said_of_many_files_is_said_once() {
        let invalid = |n: usize| format!("is not valid YAML (at column {n}); read line by line");
        assert_eq!(
            shown(25, invalid),
            [
                "1.md:3: is not valid YAML (at column 1); read line by line; the same in 24 more files (-v lists them)"
            ]
        );
        assert_eq!(shown(MAX_FILES, invalid).len(), MAX_FILES);
    }

    #[test]
    fn different_warnings_stay() {
        assert_eq!(shown(25, |n| format!("names plan {n}")).len(), 25);
        let one = Path::new("one.md");
        let of_one: Vec<Warning> = (1..=25).map(|n| Warning::at(one, n, "is empty")).collect();
        assert_eq!(combined(&of_one), of_one);
    }
}
