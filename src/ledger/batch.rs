//! Selects the commits that the next update covers, so that batches are consecutive.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::iter::successors;

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
/// The batch is all that is new in the history of its last commit, so that moving the anchor there skips nothing: a
/// commit of the main line, with the branches merged into it. It descends from `anchor`, if there is one, since an
/// anchor only moves forward. If the first such commit alone adds more than `max_commits`, as a large merge does, the
/// batch is larger.
pub(crate) fn batch(
    nodes: &[CommitNode],
    anchor: Option<&str>,
    ledger_commits: &BTreeSet<String>,
    max_commits: usize,
) -> CommitBatch {
    let by_hash: HashMap<&str, &CommitNode> =
        nodes.iter().map(|node| (node.hash.as_str(), node)).collect();
    let first_parent = |node: &&CommitNode| by_hash.get(node.parents.first()?.as_str()).copied();
    let main_line: Vec<&CommitNode> = successors(nodes.last(), first_parent).collect();
    let (mut reached, mut count, mut descends) = (HashSet::new(), 0, anchor.is_none());
    let mut batch = CommitBatch::default();
    for end in main_line.into_iter().rev() {
        let (mut open, mut added) = (vec![end], HashSet::new());
        while let Some(node) = open.pop() {
            if reached.insert(node.hash.as_str()) {
                added.insert(node.hash.as_str());
                count += usize::from(!ledger_commits.contains(&node.hash));
                descends |= node.parents.iter().any(|parent| Some(parent.as_str()) == anchor);
                open.extend(node.parents.iter().filter_map(|parent| by_hash.get(parent.as_str())));
            }
        }
        if count > max_commits && batch.end.is_some() {
            reached.retain(|hash| !added.contains(hash));
            break;
        }
        if descends {
            batch.end = Some(end.hash.clone());
        }
    }
    let chosen = nodes.iter().filter(|node| reached.contains(node.hash.as_str()));
    batch.hashes = chosen.map(|node| node.hash.clone()).collect();
    batch
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
