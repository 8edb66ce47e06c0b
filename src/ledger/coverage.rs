//! Determines how much of git's history the ledger covers.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::error::Result;
use crate::git::{Commit, Git, Object};
use crate::ledger::files::STATE;
use crate::ledger::footer::Footer;
use crate::project::Project;
use crate::text::quantity;

/// The relation of the anchor to the checked-out commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
    /// Whether commits of the ledger itself are left out of the number; they are.
    pub is_exact: bool,
    /// What to do if the anchor cannot be used.
    pub advice: Option<String>,
}

/// The history since the anchor, for further git queries.
#[derive(Clone, Debug)]
pub(crate) struct Survey {
    /// The part of the history that the ledger covers.
    pub(crate) coverage: Coverage,
    /// The newest commits that count, newest first.
    pub(crate) newest: Vec<Commit>,
    /// The full hash of the commit after which commits may not be covered: the anchor, or if it is missing an earlier one;
    /// without one, all of them may not be.
    pub(crate) base: Option<String>,
}

/// Number of commits read at once; most updates are closer together.
const WINDOW_COMMITS: usize = 64;
/// Maximum number of earlier versions of STATE.md that are read for an anchor that exists.
const MAX_VERSIONS: usize = 200;
/// Maximum number of newest commits in the report.
const MAX_SHOWN: usize = 5;

/// Determines the ledger's coverage, with as few git calls as possible.
pub(crate) fn survey(project: &Project, footer: &Footer, folder: Option<&str>) -> Result<Survey> {
    let git = &project.git;
    let head = git.head()?;
    let mut survey = Survey {
        coverage: Coverage {
            standing: AnchorState::NoRepository,
            anchor: footer.hash().map(str::to_owned),
            updated: footer.updated.as_ref().map(|(date, _)| date.to_string()),
            head: head.clone(),
            pending: None,
            is_exact: true,
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
    let Some(anchor) = footer.hash().map(str::to_ascii_lowercase) else {
        survey.coverage.standing = AnchorState::NoAnchor;
        survey.newest = without_ledger_commits(git.newest_commits(WINDOW_COMMITS)?, folder);
        survey.newest.truncate(MAX_SHOWN);
        return Ok(survey);
    };
    if head.starts_with(&anchor) {
        survey.set_pending(0, Vec::new());
        return Ok(survey);
    }
    let window = git.newest_commits(WINDOW_COMMITS)?;
    // Without a git program there is nobody to ask.
    if window.is_empty() {
        return Ok(survey);
    }
    match linear_distance(&window, &anchor) {
        Some(distance) => {
            survey.base = Some(window[distance].hash.clone());
            let commits = without_ledger_commits(window[..distance].to_vec(), folder);
            survey.set_pending(commits.len(), commits);
        }
        None => survey.resolve(git, &anchor, folder)?,
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
    fn resolve(&mut self, git: &Git, anchor: &str, folder: Option<&str>) -> Result<()> {
        let full = git.resolve_hash(anchor)?;
        let distance = full.as_deref().map(|full| git.distance(full)).transpose()?;
        self.base = match &full {
            Some(full) => Some(full.clone()),
            None => earlier_anchor(git, folder)?,
        };
        let ledger_commits = ledger_commits(git, folder, self.base.as_deref())?;
        let nodes = git.nodes_since(self.base.as_deref())?;
        let hashes = nodes.iter().rev().map(|node| node.hash.as_str());
        let counted: Vec<&str> = hashes.filter(|hash| !ledger_commits.contains(*hash)).collect();
        let newest = git.commits(&counted[..counted.len().min(MAX_SHOWN)])?;
        self.set_pending(counted.len(), newest);
        let behind = distance.flatten().map_or(0, |distance| distance.behind);
        if full.is_none() {
            self.coverage.standing = AnchorState::Missing;
            self.coverage.advice = Some(advice_missing(git));
        } else if behind > 0 {
            self.coverage.standing = AnchorState::Diverged;
            self.coverage.advice = Some(advice_diverged(behind));
        }
        Ok(())
    }
}

impl Coverage {
    /// Returns the coverage in one line.
    pub fn line(&self) -> String {
        let short = |hash: &Option<String>| {
            hash.as_deref().map(|hash| hash[..hash.len().min(7)].to_owned())
        };
        let anchor = short(&self.anchor).unwrap_or_default();
        let updated =
            self.updated.as_ref().map(|day| format!(", updated {day}")).unwrap_or_default();
        let since = format!("{} since", quantity(self.pending.unwrap_or(0), "commit"));
        match self.standing {
            AnchorState::NoRepository => "no git repository, so commits are not tracked".to_owned(),
            AnchorState::NoCommits => "no commits yet".to_owned(),
            AnchorState::NoAnchor => "nothing is covered yet".to_owned(),
            AnchorState::Covered => format!("complete through {anchor}{updated}"),
            AnchorState::Behind => format!("through {anchor}{updated}; {since}"),
            AnchorState::Diverged => {
                format!(
                    "through {anchor}{updated}, which is not in this history; {since} the two diverged"
                )
            }
            AnchorState::Missing => {
                let uncovered = match self.pending {
                    Some(1) => "; 1 commit may not be covered".to_owned(),
                    Some(count) => format!("; {count} commits may not be covered"),
                    None => String::new(),
                };
                format!("through {anchor}{updated}, which is not in this repository{uncovered}")
            }
        }
    }
}

/// Returns the number of commits since the anchor if each has the next one as its only parent.
fn linear_distance(window: &[Commit], anchor: &str) -> Option<usize> {
    let distance = window.iter().position(|commit| commit.hash.starts_with(anchor))?;
    let is_straight = window[..=distance]
        .windows(2)
        .all(|pair| matches!(&pair[0].parents[..], [only] if *only == pair[1].hash));
    is_straight.then_some(distance)
}

/// Returns the newest anchor of an earlier version of STATE.md that is in the history of the checked-out commit.
///
/// The day of the last update is less precise: an update that covers only part of the history leaves out commits that
/// are older than itself.
fn earlier_anchor(git: &Git, folder: Option<&str>) -> Result<Option<String>> {
    let Some(folder) = folder else {
        return Ok(None);
    };
    let path = format!("{folder}/{STATE}");
    let versions = git.commits_touching(&path, MAX_VERSIONS)?;
    let Some(objects) = git.objects()?.filter(|_| !versions.is_empty()) else {
        return Ok(None);
    };
    let nodes = git.nodes_since(None)?;
    let names: Vec<String> = versions.iter().map(|commit| format!("{commit}:{path}")).collect();
    for object in objects.read(&names)? {
        let Some(Object::Blob(bytes)) = object else {
            continue;
        };
        let footer = Footer::parse(&String::from_utf8_lossy(&bytes));
        let Some(anchor) = footer.hash().map(str::to_ascii_lowercase) else {
            continue;
        };
        let mut matching = nodes.iter().filter(|node| node.hash.starts_with(&anchor));
        if let (Some(node), None) = (matching.next(), matching.next()) {
            return Ok(Some(node.hash.clone()));
        }
    }
    Ok(None)
}

/// Removes the commits that only changed the ledger.
fn without_ledger_commits(commits: Vec<Commit>, folder: Option<&str>) -> Vec<Commit> {
    let is_ledger_only =
        |commit: &Commit| folder.is_some_and(|folder| commit.is_confined_to(folder));
    commits.into_iter().filter(|commit| !is_ledger_only(commit)).collect()
}

/// Returns the hashes of all commits since one that only changed the ledger.
pub(crate) fn ledger_commits(
    git: &Git,
    folder: Option<&str>,
    since: Option<&str>,
) -> Result<BTreeSet<String>> {
    match folder {
        Some(folder) => git.commits_only_in(folder, since),
        None => Ok(BTreeSet::new()),
    }
}

fn advice_missing(git: &Git) -> String {
    if git.is_shallow() {
        return "this clone is shallow: `git fetch --unshallow` fetches the history, \
                or `annals ledger pending` uses what is here"
            .to_owned();
    }
    "the history was rewritten, or the commit was never fetched: try `git fetch`; otherwise `annals ledger pending` lists the commits that may not be covered, and an update through HEAD sets a new anchor".to_owned()
}

fn advice_diverged(behind: usize) -> String {
    let behind = quantity(behind, "commit");
    format!(
        "the anchor has {behind} that this history lacks (another branch, or rewritten): `annals ledger pending` lists the commits that are only here, and an update through HEAD sets a new anchor"
    )
}
