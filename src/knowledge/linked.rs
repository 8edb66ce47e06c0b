//! Reads the links between entries.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::knowledge::links::links;
use crate::knowledge::scan::scan;
use crate::knowledge::{Entry, KnowledgeDir};
use crate::project::Project;
use crate::storage::read;
use crate::warning::Parsed;

/// An entry with its links.
#[derive(Clone, Debug)]
pub struct LinkedEntry {
    /// The entry.
    pub entry: Entry,
    /// The keys in `[[…]]` and `supersedes`, sorted and without duplicates; the entries may not exist.
    pub links: Vec<String>,
}

/// Returns all entries with their links, sorted by key.
pub fn linked(project: &Project) -> Result<Parsed<Vec<LinkedEntry>>> {
    let place = KnowledgeDir::in_project(project);
    let mut found = scan(&place, |file| {
        let text = read::decode(file.bytes.clone(), &file.path).value;
        let entry = Entry::parse(&text, &file.path).value;
        let named = links(&text[entry.body.clone()], 1);
        let named = named.map(|link| link.to.to_owned());
        let named: BTreeSet<String> = named.chain(entry.supersedes.iter().cloned()).collect();
        let links = named.into_iter().filter(|key| *key != entry.key).collect();
        Some(LinkedEntry { entry, links })
    })?;
    found.value.sort_by(|a, b| a.entry.key.cmp(&b.entry.key));
    Ok(found)
}
