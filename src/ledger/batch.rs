//! Selects the commits that the next update covers, so that batches are consecutive.

use std::collections::{HashMap, HashSet};
use std::iter::successors;

use crate::git::CommitNode;
use crate::ledger::coverage::Uncovered;

/// Chooses the longest batch of at most `max_commits` commits that count, and returns its hashes and its last commit, which
/// has all of them, and nothing else that is new, in its history.
///
/// So moving the anchor there skips nothing: it is a commit of the main line, with the branches merged into it. It descends
/// from `anchor`, if there is one, since an anchor only moves forward. If the first such commit alone adds more than
/// `max_commits`, as a large merge does, the batch is larger.
pub(crate) fn batch<'a>(
    uncovered: &'a Uncovered,
    anchor: Option<&str>,
    max_commits: usize,
) -> (HashSet<&'a str>, Option<String>) {
    let nodes = &uncovered.nodes;
    let by_hash: HashMap<&str, &CommitNode> =
        nodes.iter().map(|node| (node.hash.as_str(), node)).collect();
    let known = |hash: &String| by_hash.get(hash.as_str()).copied();
    let line = successors(nodes.last(), |node| node.parents.first().and_then(known));
    let main_line: Vec<&CommitNode> = line.collect();
    let (mut reached, mut count, mut descends) = (HashSet::new(), 0, anchor.is_none());
    let mut last = None;
    for end in main_line.into_iter().rev() {
        let (mut open, mut added) = (vec![end], Vec::new());
        while let Some(node) = open.pop() {
            if reached.insert(node.hash.as_str()) {
                added.push(node.hash.as_str());
                count += usize::from(!uncovered.ledger_only.contains(&node.hash));
                descends |= node.parents.iter().any(|parent| Some(parent.as_str()) == anchor);
                open.extend(node.parents.iter().filter_map(known));
            }
        }
        if count > max_commits && last.is_some() {
            for hash in added {
                reached.remove(hash);
            }
            break;
        }
        if descends {
            last = Some(end.hash.clone());
        }
    }
    (reached, last)
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
        let ledger_only = ledger_commits.iter().map(ToString::to_string).collect();
        let uncovered = Uncovered { nodes: nodes.to_vec(), ledger_only };
        let (chosen, end) = batch(&uncovered, Some(anchor), max_commits);
        let hashes = nodes.iter().map(|node| node.hash.as_str());
        let hashes: Vec<&str> = hashes.filter(|hash| chosen.contains(hash)).collect();
        (hashes.join(" "), end.unwrap_or_default())
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
