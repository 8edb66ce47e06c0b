//! Selects the commits that the next update covers, so that batches are consecutive.

use std::collections::{BTreeMap, BTreeSet};

use crate::git::CommitNode;

/// The commits of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CommitBatch {
    /// Their hashes, parents before children.
    pub(crate) hashes: Vec<String>,
    /// The commit that has all of them, and nothing else that is new, in its history.
    pub(crate) end: Option<String>,
}

/// Chooses the longest batch of at most `max_commits` commits that count, from nodes that come parents before children.
///
/// The batch is all that is new in the history of its last commit, so that moving the anchor there skips
/// nothing. That commit descends from `anchor`, if there is one, since an anchor only moves forward.
/// If the first such commit alone adds more than `max_commits`, as a large merge does, the batch is larger.
pub(crate) fn batch(
    nodes: &[CommitNode],
    anchor: Option<&str>,
    ledger_commits: &BTreeSet<String>,
    max_commits: usize,
) -> CommitBatch {
    let by_hash: BTreeMap<&str, &CommitNode> =
        nodes.iter().map(|node| (node.hash.as_str(), node)).collect();
    let mut candidates: BTreeSet<&str> = BTreeSet::new();
    let mut best: Option<(usize, BTreeSet<&str>, &str)> = None;
    for node in nodes {
        let descends = match anchor {
            None => {
                let is_new = |parent: &String| by_hash.contains_key(parent.as_str());
                let is_kept = |parent: &String| candidates.contains(parent.as_str());
                !node.parents.iter().any(is_new) || node.parents.iter().any(is_kept)
            }
            Some(anchor) => node
                .parents
                .iter()
                .any(|parent| parent == anchor || candidates.contains(parent.as_str())),
        };
        if !descends {
            continue;
        }
        let ancestors = ancestors(&by_hash, &node.hash);
        let count = ancestors.iter().filter(|hash| !ledger_commits.contains(**hash)).count();
        if count <= max_commits || best.is_none() {
            candidates.insert(&node.hash);
            // Of equal batches the later one, which includes the ledger's own commits.
            let is_better = best.as_ref().is_none_or(|(best_count, best_reached, _)| {
                *best_count > max_commits
                    || (count, ancestors.len()) >= (*best_count, best_reached.len())
            });
            if is_better {
                best = Some((count, ancestors, &node.hash));
            }
        }
    }
    let Some((_, ancestors, end)) = best else {
        return CommitBatch::default();
    };
    let chosen = nodes.iter().filter(|node| ancestors.contains(node.hash.as_str()));
    CommitBatch {
        hashes: chosen.map(|node| node.hash.clone()).collect(),
        end: Some(end.to_owned()),
    }
}

/// Returns the commit and all of its ancestors that are new.
fn ancestors<'a>(by_hash: &BTreeMap<&'a str, &'a CommitNode>, hash: &str) -> BTreeSet<&'a str> {
    let mut ancestors = BTreeSet::new();
    let mut stack: Vec<&str> = vec![hash];
    while let Some(hash) = stack.pop() {
        if let Some((name, node)) = by_hash.get_key_value(hash)
            && ancestors.insert(*name)
        {
            stack.extend(node.parents.iter().map(String::as_str));
        }
    }
    ancestors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(hash: &str, parents: &[&str]) -> CommitNode {
        CommitNode {
            hash: hash.to_owned(),
            parents: parents.iter().map(ToString::to_string).collect(),
        }
    }

    fn choose(
        nodes: &[CommitNode],
        anchor: &str,
        ledger_commits: &[&str],
        max_commits: usize,
    ) -> (String, String) {
        let ledger_commits = ledger_commits.iter().map(ToString::to_string).collect();
        let batch = batch(nodes, Some(anchor), &ledger_commits, max_commits);
        (batch.hashes.join(" "), batch.end.unwrap_or_default())
    }

    #[test]
    fn a_linear_history_is_split_at_the_maximum() {
        let line = [node("1", &["0"]), node("2", &["1"]), node("3", &["2"])];
        assert_eq!(choose(&line, "0", &[], 2), ("1 2".into(), "2".into()));
        assert_eq!(choose(&line, "0", &[], 9), ("1 2 3".into(), "3".into()));
        // The ledger's own commits do not count, and are included.
        assert_eq!(choose(&line, "0", &["2"], 1), ("1 2".into(), "2".into()));
        assert_eq!(choose(&[], "0", &[], 9), (String::new(), String::new()));
    }

    #[test]
    fn a_side_branch_comes_with_its_merge() {
        // 0 - 1 ----- m - 2, and a side branch a - b that left before the anchor 0.
        let nodes = [
            node("1", &["0"]),
            node("a", &["before"]),
            node("b", &["a"]),
            node("m", &["1", "b"]),
            node("2", &["m"]),
        ];
        assert_eq!(choose(&nodes, "0", &[], 2), ("1".into(), "1".into()));
        assert_eq!(choose(&nodes, "1", &[], 4), ("1 a b m".into(), "m".into()));
        assert_eq!(choose(&nodes, "0", &[], 5), ("1 a b m 2".into(), "2".into()));
        // A batch that cannot be split is returned whole.
        let after = &nodes[1..];
        assert_eq!(choose(after, "1", &[], 2), ("a b m".into(), "m".into()));
    }
}
