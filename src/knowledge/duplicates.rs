//! Finds entries that are one and the same: by their keys, or by what they say.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::knowledge::checked::Checked;

/// Two entries that are one and the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Duplicate {
    /// The one whose key comes first.
    pub a: String,
    /// The other.
    pub b: String,
    /// Why they are the same.
    pub reason: String,
}

/// Returns the pairs of entries that collide: the first of a group with each of the others.
pub(crate) fn duplicates(all: &[Checked]) -> Vec<Duplicate> {
    let mut found = Vec::new();
    let mut keys: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut alike: BTreeMap<u64, Vec<&Checked>> = BTreeMap::new();
    for one in all {
        let key = one.entry.key.as_str();
        let names = [Some(key), one.entry.named.as_deref()];
        for name in names.into_iter().flatten() {
            let keys = keys.entry(name.to_lowercase()).or_default();
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        if one.likeness.first != 0 {
            alike.entry(one.likeness.first).or_default().push(one);
        }
    }
    for (name, keys) in keys {
        let reason = format!("both have the key `{name}`, but for its case");
        let first = keys.first().copied().unwrap_or_default();
        for other in keys.iter().skip(1) {
            found.push(pair(first, other, reason.clone()));
        }
    }
    for group in alike.into_values() {
        found.extend(near_identical(&group));
    }
    found.sort();
    found
}

/// Compares each entry with those before it that are like no other.
fn near_identical(group: &[&Checked]) -> Vec<Duplicate> {
    let mut found = Vec::new();
    let mut different: Vec<&Checked> = Vec::new();
    for one in group {
        let like = different
            .iter()
            .find_map(|other| Some((other, one.likeness.overlap(&other.likeness)?)));
        match like {
            Some((other, percent)) => {
                let reason = format!("one first line, {percent} % of the lines in common");
                found.push(pair(&other.entry.key, &one.entry.key, reason));
            }
            None => different.push(one),
        }
    }
    found
}

fn pair(one: &str, other: &str, reason: String) -> Duplicate {
    let (a, b) = if one <= other {
        (one, other)
    } else {
        (other, one)
    };
    Duplicate {
        a: a.to_owned(),
        b: b.to_owned(),
        reason,
    }
}
