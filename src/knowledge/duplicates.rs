//! Finds duplicate entries, by key or by content.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use crate::knowledge::checked::CheckedEntry;

/// A pair of duplicate entries.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Duplicate {
    /// The key that sorts first.
    pub a: String,
    /// The other key.
    pub b: String,
    /// The reason.
    pub reason: String,
}

/// Maximum number of mutually different entries of a group that each further entry is compared with.
const MAX_COMPARED: usize = 200;

/// Returns the pairs of duplicates: the first entry of each group with each of the others.
pub(crate) fn duplicates(all: &[CheckedEntry]) -> Vec<Duplicate> {
    let mut found = same_keys(all);
    let (mut first, mut title, mut second) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for one in all {
        for (groups, line) in [
            (&mut first, one.likeness.first),
            (&mut title, one.likeness.title),
            (&mut second, one.likeness.second),
        ] {
            let group: &mut Vec<&CheckedEntry> = groups.entry(line).or_default();
            if line != 0 {
                group.push(one);
            }
        }
    }
    for group in first.into_values() {
        found.extend(near_identical(&group, "same first line, "));
    }
    // Entries that differ only in the first line share the title or the second line.
    let of = |one: &Duplicate| (one.a.clone(), one.b.clone());
    let mut known: HashSet<(String, String)> = found.iter().map(of).collect();
    let titles = title.into_values().map(|group| (group, "same title, "));
    let seconds = second.into_values().map(|group| (group, ""));
    for (group, what) in titles.chain(seconds) {
        let others = near_identical(&group, what).into_iter();
        found.extend(others.filter(|one| known.insert(of(one))));
    }
    found.sort();
    found
}

fn same_keys(all: &[CheckedEntry]) -> Vec<Duplicate> {
    let mut keys: BTreeMap<String, Vec<(&str, &str)>> = BTreeMap::new();
    for one in all {
        let key = one.entry.key.as_str();
        let names = [Some(key), one.entry.named.as_deref()];
        for name in names.into_iter().flatten() {
            let keys = keys.entry(name.to_lowercase()).or_default();
            if !keys.iter().any(|(known, _)| *known == key) {
                keys.push((key, name));
            }
        }
    }
    let mut found = Vec::new();
    for (folded, keys) in keys {
        let Some(((first, spelled), others)) = keys.split_first() else {
            continue;
        };
        for (other, name) in others {
            let case = if name == spelled { "" } else { ", ignoring case" };
            found.push(pair(first, other, format!("both have the key `{folded}`{case}")));
        }
    }
    found
}

/// Compares each entry with the earlier ones that are not duplicates themselves.
fn near_identical(group: &[&CheckedEntry], what: &str) -> Vec<Duplicate> {
    let mut found = Vec::new();
    let mut different: Vec<&CheckedEntry> = Vec::new();
    for one in group {
        let like =
            different.iter().find_map(|other| Some((other, one.likeness.shared(&other.likeness)?)));
        match like {
            Some((other, percent)) => {
                let reason = format!("{what}{percent} % of the lines in common");
                found.push(pair(&other.entry.key, &one.entry.key, reason));
            }
            None if different.len() < MAX_COMPARED => different.push(one),
            None => {}
        }
    }
    found
}

fn pair(one: &str, other: &str, reason: String) -> Duplicate {
    let (a, b) = if one <= other { (one, other) } else { (other, one) };
    Duplicate { a: a.to_owned(), b: b.to_owned(), reason }
}
