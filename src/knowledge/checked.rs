//! The data of an entry that the checks need.

use crate::knowledge::entry::Entry;
use crate::knowledge::likeness::Likeness;
use crate::knowledge::links::Link;
use crate::knowledge::links::links;
use crate::knowledge::scan::EntryFile;
use crate::storage::read;
use crate::warning::Warning;

/// An entry with the data that all checks need.
pub(crate) struct CheckedEntry {
    pub(crate) entry: Entry,
    pub(crate) likeness: Likeness,
    pub(crate) links: Vec<Link>,
    pub(crate) lines: usize,
    pub(crate) problems: Vec<Warning>,
}

/// Parses an entry for the checks.
pub(crate) fn check(file: &EntryFile<'_>) -> CheckedEntry {
    let decoded = read::decode(file.bytes.clone(), &file.path);
    let text = decoded.value;
    let mut problems = decoded.warnings;
    let entry = Entry::parse(&text, &file.path).into_value(&mut problems);
    let body = &text[entry.body.clone()];
    let first = 1 + text[..entry.body.start]
        .bytes()
        .filter(|byte| *byte == b'\n')
        .count();
    CheckedEntry {
        likeness: Likeness::new(body, file.key),
        links: links(body, first),
        lines: body.lines().count(),
        problems,
        entry,
    }
}
