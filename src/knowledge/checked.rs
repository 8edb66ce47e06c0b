//! The data of an entry that the checks need.

use crate::knowledge::entry::Entry;
use crate::knowledge::likeness::Likeness;
use crate::knowledge::links::links;
use crate::knowledge::scan::EntryFile;
use crate::storage::read;
use crate::warning::Warning;

/// Maximum number of links of an entry that are checked.
const MAX_LINKS: usize = 10_000;

/// An entry with the data that all checks need.
pub(crate) struct CheckedEntry {
    pub(crate) entry: Entry,
    pub(crate) likeness: Likeness,
    /// The targets of its links, with their lines.
    pub(crate) links: Vec<(String, usize)>,
    pub(crate) lines: usize,
    pub(crate) problems: Vec<Warning>,
    /// A warning if it has too many links to check all of them.
    pub(crate) unchecked: Option<Warning>,
}

/// Parses an entry for the checks.
pub(crate) fn check(file: &EntryFile<'_>) -> CheckedEntry {
    let decoded = read::decode(file.bytes.clone(), &file.path);
    let text = decoded.value;
    let mut problems = decoded.warnings;
    let entry = Entry::parse(&text, &file.path).into_value(&mut problems);
    let body = &text[entry.body.clone()];
    let first = 1 + text[..entry.body.start].bytes().filter(|byte| *byte == b'\n').count();
    let mut links = links(body, first);
    let checked = links.by_ref().take(MAX_LINKS);
    let checked = checked.map(|link| (link.to.to_owned(), link.line)).collect();
    let unchecked = links.next().map(|link| {
        let message =
            format!("has more than {MAX_LINKS} links; those from here on are not checked");
        Warning::at(&file.path, link.line, message)
    });
    CheckedEntry {
        likeness: Likeness::new(body, file.key),
        links: checked,
        unchecked,
        lines: body.lines().count(),
        problems,
        entry,
    }
}
