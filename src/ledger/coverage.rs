//! Determines how much of git's history the ledger covers, and selects the commits that the next update covers, so that
//! batches are consecutive.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::iter::successors;

use serde::Serialize;

use crate::error::Result;
use crate::git::{Commit, CommitNode, Git};
use crate::ledger::files::LedgerFiles;
use crate::ledger::state::Footer;
use crate::project::Project;
use crate::text::quantity;

/// The relation of the anchor to the checked-out commit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnchorState {
    /// There is no git repository, or no git program to ask.
    NoRepository,
    /// There is a repository, and no commit in it.
    NoCommits,
    /// STATE.md names no commit, or is still the template.
    NoAnchor,
    /// The anchor is the checked-out commit, or only the ledger has changed since.
    Covered,
    /// Commits have been made since.
    Behind,
    /// The anchor's commit exists, but not in the history of the checked-out commit.
    Diverged,
    /// The anchor's commit does not exist here.
    Missing,
}

/// The part of the history that the ledger covers.
#[derive(Debug, Serialize)]
pub struct Coverage {
    /// The relation of the anchor to the checked-out commit.
    pub standing: AnchorState,
    /// The anchor, as STATE.md writes it.
    pub anchor: Option<String>,
    /// The day of the last update according to STATE.md.
    pub updated: Option<String>,
    /// The checked-out commit.
    pub head: Option<String>,
    /// Number of commits since the anchor, except those that only changed the ledger; if the anchor is missing,
    /// of those that may not be covered.
    pub pending: Option<usize>,
    /// What to do if the anchor cannot be used.
    pub advice: Option<String>,
}

/// How far the ledger covers the history, with what further git queries need.
pub(crate) struct Survey {
    /// The part of the history that the ledger covers.
    pub(crate) coverage: Coverage,
    /// The newest commits that count, newest first.
    pub(crate) newest: Vec<Commit>,
    /// The full hash of the commit after which commits may not be covered: the anchor, or if it is missing an earlier one;
    /// without one, all of them may not be.
    pub(crate) base: Option<String>,
}

/// The commits that may not be covered.
pub(crate) struct Uncovered {
    /// All of them, parents before children.
    nodes: Vec<CommitNode>,
    /// The hashes of those that only changed the ledger, which do not count.
    ledger_only: BTreeSet<String>,
}

impl Uncovered {
    /// Reads the commits since a base, or all of them.
    pub(crate) fn since(git: &Git, folder: Option<&str>, base: Option<&str>) -> Result<Self> {
        let (nodes, ledger_only) = git.nodes_since(base, folder)?;
        Ok(Self { nodes, ledger_only })
    }

    /// Returns the hashes of those that count, oldest first.
    pub(crate) fn counted(&self) -> Vec<&str> {
        let hashes = self.nodes.iter().map(|node| node.hash.as_str());
        hashes.filter(|hash| !self.ledger_only.contains(*hash)).collect()
    }
}

/// Number of commits read at once; most updates are closer together.
const WINDOW_COMMITS: usize = 64;
/// Maximum number of earlier versions of STATE.md that are read for an anchor that exists.
const MAX_VERSIONS: usize = 200;
/// Maximum number of newest commits in the report.
const MAX_SHOWN: usize = 5;

/// Determines the ledger's coverage, with as few git calls as possible.
pub(crate) fn survey(project: &Project, files: &LedgerFiles, footer: &Footer) -> Result<Survey> {
    let git = &project.git;
    let head = git.head()?;
    let mut survey = Survey {
        coverage: Coverage {
            standing: AnchorState::NoRepository,
            anchor: footer.hash().map(str::to_owned),
            updated: footer.updated.as_ref().map(|(date, _)| date.to_string()),
            head: head.clone(),
            pending: None,
            advice: None,
        },
        newest: Vec::new(),
        base: None,
    };
    if !git.is_repository() {
        return Ok(survey);
    }
    let Some(head) = head else {
        survey.coverage.standing = AnchorState::NoCommits;
        return Ok(survey);
    };
    let anchor = footer.hash().map(str::to_ascii_lowercase);
    if anchor.as_ref().is_some_and(|anchor| head.starts_with(anchor)) {
        survey.set_pending(0, Vec::new());
        return Ok(survey);
    }
    let mut window = git.newest_commits(WINDOW_COMMITS)?;
    let has_program = !window.is_empty();
    let folder = files.repo_path.as_deref();
    let distance = anchor.as_ref().and_then(|anchor| linear_distance(&window, anchor));
    if let Some(distance) = distance {
        survey.base = Some(window[distance].hash.clone());
        window.truncate(distance);
    }
    window.retain(|commit| !folder.is_some_and(|folder| commit.is_confined_to(folder)));
    match (anchor, distance) {
        (None, _) => {
            survey.coverage.standing = AnchorState::NoAnchor;
            survey.newest = window.into_iter().take(MAX_SHOWN).collect();
        }
        (_, Some(_)) => survey.set_pending(window.len(), window),
        (Some(anchor), None) if has_program => survey.resolve(git, &anchor, files)?,
        // Without a git program there is nobody to ask.
        _ => {}
    }
    Ok(survey)
}

impl Survey {
    /// Sets the number of pending commits, and the newest of them.
    fn set_pending(&mut self, count: usize, mut newest: Vec<Commit>) {
        self.coverage.standing =
            if count == 0 { AnchorState::Covered } else { AnchorState::Behind };
        self.coverage.pending = Some(count);
        newest.truncate(MAX_SHOWN);
        self.newest = newest;
    }

    /// Resolves an anchor that is not in a linear series of the newest commits.
    fn resolve(&mut self, git: &Git, anchor: &str, files: &LedgerFiles) -> Result<()> {
        let full = git.resolve_hash(anchor)?;
        self.base = match &full {
            Some(full) => Some(full.clone()),
            None => earlier_anchor(git, files)?,
        };
        let uncovered = Uncovered::since(git, files.repo_path.as_deref(), self.base.as_deref())?;
        let is_parent =
            |of: &CommitNode| of.parents.iter().any(|parent| Some(parent) == full.as_ref());
        let behind = match (&full, &self.coverage.head) {
            // Otherwise a commit since then would have it as a parent.
            (Some(full), Some(head)) if !uncovered.nodes.iter().any(is_parent) => {
                git.count_lacking(full, head)?.unwrap_or(0)
            }
            _ => 0,
        };
        let counted = uncovered.counted();
        let newest: Vec<&str> = counted.iter().rev().take(MAX_SHOWN).copied().collect();
        self.set_pending(counted.len(), git.commits(&newest)?);
        let (standing, advice) = match full {
            None if git.is_shallow() => (AnchorState::Missing, SHALLOW.to_owned()),
            None => (AnchorState::Missing, MISSING.to_owned()),
            Some(_) if behind > 0 => {
                let behind = quantity(behind, "commit");
                (AnchorState::Diverged, format!("the anchor has {behind} {DIVERGED}"))
            }
            Some(_) => return Ok(()),
        };
        self.coverage.standing = standing;
        self.coverage.advice = Some(advice);
        Ok(())
    }
}

/// What to do about an anchor that is not here.
const SHALLOW: &str = "this clone is shallow: `git fetch --unshallow` fetches the history, or `annals ledger pending` uses what is here";
const MISSING: &str = "the history was rewritten, or the commit was never fetched: try `git fetch`; otherwise `annals ledger pending` lists the commits that may not be covered, and an update with the hash of the checked-out commit sets a new anchor";
const DIVERGED: &str = "that this history lacks (another branch, or rewritten): `annals ledger pending` lists the commits that are only here, and an update with the hash of the checked-out commit sets a new anchor";

impl Coverage {
    /// Returns the coverage in one line.
    pub fn line(&self) -> String {
        let anchor = self.anchor.as_deref().map_or("", |hash| &hash[..hash.len().min(7)]);
        let updated = self.updated.as_ref().map(|day| format!(", updated {day}"));
        let through = format!("through {anchor}{}", updated.unwrap_or_default());
        let count = quantity(self.pending.unwrap_or(0), "commit");
        match self.standing {
            AnchorState::NoRepository => "no git repository, so commits are not tracked".to_owned(),
            AnchorState::NoCommits => "no commits yet".to_owned(),
            AnchorState::NoAnchor => "nothing is covered yet".to_owned(),
            AnchorState::Covered => format!("complete {through}"),
            AnchorState::Behind => format!("{through}; {count} since"),
            AnchorState::Diverged => {
                format!("{through}, which is not in this history; {count} since the two diverged")
            }
            AnchorState::Missing => {
                format!("{through}, which is not in this repository; {count} may not be covered")
            }
        }
    }
}

/// Returns the number of commits since the anchor if each has the next one as its only parent.
fn linear_distance(window: &[Commit], anchor: &str) -> Option<usize> {
    let distance = window.iter().position(|commit| commit.hash.starts_with(anchor))?;
    let mut pairs = window[..=distance].windows(2);
    let is_straight = pairs.all(|pair| pair[0].parents == [pair[1].hash.as_str()]);
    is_straight.then_some(distance)
}

/// Returns the newest anchor of an earlier version of STATE.md that is in the history of the checked-out commit.
///
/// The day of the last update is less precise: an update that covers only part of the history leaves out commits that
/// are older than itself.
fn earlier_anchor(git: &Git, files: &LedgerFiles) -> Result<Option<String>> {
    let Some(folder) = &files.repo_path else { return Ok(None) };
    let path = format!("{folder}/STATE.md");
    let versions = git.commits_touching(&path, MAX_VERSIONS)?;
    let names: Vec<String> = versions.iter().map(|commit| format!("{commit}:{path}")).collect();
    let all = git.history("rev-list", None, &[], None)?;
    let anchor = |bytes: Vec<u8>| {
        let footer = Footer::parse(&String::from_utf8_lossy(&bytes));
        let anchor = footer.hash()?.to_ascii_lowercase();
        let mut matching = all.lines().filter(|hash| hash.starts_with(&anchor));
        let only = matching.next().filter(|_| matching.next().is_none());
        only.map(str::to_owned)
    };
    Ok(git.contents(&names)?.into_iter().flatten().find_map(anchor))
}

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
        let before: usize = count;
        let (mut open, mut added) = (vec![end], Vec::new());
        while let Some(node) = open.pop() {
            if reached.insert(node.hash.as_str()) {
                added.push(node.hash.as_str());
                count += usize::from(!uncovered.ledger_only.contains(&node.hash));
                descends |= node.parents.iter().any(|parent| Some(parent.as_str()) == anchor);
                open.extend(node.parents.iter().filter_map(known));
            }
        }
        // A batch of nothing but the ledger's own commits would be empty.
        if count > max_commits && before > 0 && last.is_some() {
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
