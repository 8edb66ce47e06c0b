//! Collects what an agent needs to write the next update: a batch of commits, the specs that they name, and the rules.

use std::collections::BTreeSet;

use regex::Regex;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::Result;
use crate::git::{Commit, Git};
use crate::ledger::coverage::{AnchorState, Coverage, Uncovered, batch};
use crate::ledger::files::LedgerFiles;
use crate::ledger::state::Footer;
use crate::ledger::{coverage, state, update};
use crate::project::Project;
use crate::templates;
use crate::templates::Template;
use crate::text::Pattern;
use crate::warning::Warning;

/// Maximum number of commits in a batch, unless a caller says otherwise.
pub const BATCH_COMMITS: usize = 50;

/// The current content of the three files; `None` for a missing one.
#[derive(Debug, Serialize)]
pub struct CurrentFiles {
    /// STATE.md.
    pub state: Option<String>,
    /// CONSTRAINTS.md.
    pub constraints: Option<String>,
    /// DECISIONS.md.
    pub decisions: Option<String>,
}

/// The input for the next update. It is the document of `annals ledger pending --json`.
#[derive(Debug, Serialize)]
pub struct Pending {
    /// How much of git's history is covered.
    pub coverage: Coverage,
    /// The commits of this batch, oldest first.
    pub commits: Vec<Commit>,
    /// The last commit of this batch: the update's `covered_through`.
    pub covered_through: Option<String>,
    /// Number of commits that remain after this batch.
    pub remaining: usize,
    /// Number of commits before this batch that a first update omits; `--all` begins with them.
    pub older: usize,
    /// The specs and plans that these commits touch or name.
    pub specs: Specs,
    /// The current content of the three files.
    pub files: CurrentFiles,
    /// The criteria for an entry.
    pub threshold: &'static str,
    /// The JSON schema of the update.
    pub schema: &'static Value,
    /// Warnings about files that were only partly read.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Returns the next batch of commits, with the data that an agent needs to cover it.
///
/// While the files are still empty templates, that is the latest batch; an update may cover it and all
/// earlier commits.
pub fn pending(project: &Project, max_commits: usize, all: bool) -> Result<Pending> {
    let files = LedgerFiles::read(project)?;
    let is_empty = state::is_uninitialised(&files.state.text);
    let mut survey = coverage::survey(project, &files, &Footer::parse(&files.state.text))?;
    // An empty state still has to be written, even if all commits count as covered.
    if is_empty && survey.coverage.standing == AnchorState::Covered {
        survey = coverage::survey(project, &files, &Footer::default())?;
    }
    let [state, constraints, decisions] =
        files.all().map(|file| file.exists().then(|| file.text.clone()));
    let standing = survey.coverage.standing;
    let mut pending = Pending {
        commits: Vec::new(),
        covered_through: None,
        remaining: 0,
        older: 0,
        specs: Specs::default(),
        files: CurrentFiles { state, constraints, decisions },
        threshold: threshold(),
        schema: update::schema(),
        coverage: survey.coverage,
        warnings: project.named(files.warnings),
    };
    let ended = [AnchorState::NoRepository, AnchorState::NoCommits, AnchorState::Covered];
    if !ended.contains(&standing) {
        let base = survey.base.as_deref();
        let uncovered = Uncovered::since(&project.git, files.repo_path.as_deref(), base)?;
        let is_first = is_empty && standing == AnchorState::NoAnchor;
        pending.fill(&project.git, &uncovered, max_commits.max(1), base, is_first && !all)?;
    }
    Ok(pending)
}

impl Pending {
    /// Takes the oldest commits since `base`, or else the latest of all: an update through the checked-out commit also
    /// covers all earlier ones.
    fn fill(
        &mut self,
        git: &Git,
        uncovered: &Uncovered,
        max_commits: usize,
        base: Option<&str>,
        is_latest: bool,
    ) -> Result<()> {
        let all = uncovered.counted();
        self.coverage.pending = Some(all.len());
        let (hashes, end) = if is_latest {
            self.older = all.len().saturating_sub(max_commits);
            (all[self.older..].to_vec(), self.coverage.head.clone())
        } else {
            // Commits that are only here need not descend from an anchor that is only elsewhere.
            let anchor = base.filter(|_| self.coverage.standing == AnchorState::Behind);
            let (chosen, end) = batch(uncovered, anchor, max_commits);
            let hashes: Vec<&str> =
                all.iter().copied().filter(|one| chosen.contains(one)).collect();
            self.remaining = all.len() - hashes.len();
            (hashes, end)
        };
        self.commits = git.commits(&hashes)?;
        self.specs = specs(git, &self.commits, end.as_deref())?;
        self.covered_through = end;
        Ok(())
    }
}

/// Returns the criteria for an entry.
fn threshold() -> &'static str {
    Template::LedgerThreshold.text().trim_end()
}

/// Returns SKILL.md of the update procedure, for an agent.
pub fn skill() -> Result<String> {
    templates::render(Template::LedgerSkill, &json!({ "threshold": threshold() }))
}

/// Folders of specs and plans.
const FOLDERS: [&str; 3] = ["specs/", "docs/plans/", "docs/specs/"];
/// The path of a spec in a message.
static NAMED: Pattern<Regex> =
    Pattern::new(r"\b(?:[\w-][\w.-]*/)*(?:specs|docs/plans)/(?:[\w-][\w.-]*/)*[\w.-]*\w");
/// Maximum number of files returned.
const MAX_FILES: usize = 20;
/// Maximum total size of their texts, in bytes.
const MAX_BYTES: usize = 100_000;

/// A spec or plan.
#[derive(Clone, Debug, Serialize)]
pub struct Spec {
    /// Its path, relative to the top of the repository.
    pub path: String,
    /// Its text at the end of the batch.
    pub text: String,
    /// Whether the text is truncated.
    pub truncated: bool,
}

/// The specs and plans of a batch.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Specs {
    /// Those returned, by name.
    pub files: Vec<Spec>,
    /// Those omitted because there are too many, or because they are too long.
    pub left_out: Vec<String>,
}

/// Reads the specs and plans of commits, as of `end`; those deleted by then are omitted.
fn specs(git: &Git, commits: &[Commit], end: Option<&str>) -> Result<Specs> {
    let mut specs = Specs::default();
    let paths: BTreeSet<String> = commits.iter().flat_map(specs_of).collect();
    let (Some(end), false) = (end, paths.is_empty()) else {
        return Ok(specs);
    };
    let mut remaining_bytes = MAX_BYTES;
    let mut paths = paths.into_iter();
    // One at a time, because all specs that a batch touches may be much longer than the result.
    while specs.files.len() < MAX_FILES && remaining_bytes > 0 {
        let Some(path) = paths.next() else {
            return Ok(specs);
        };
        let content = git.contents(&[format!("{end}:{path}")])?.pop().flatten();
        // A binary file among the specs is not returned.
        let Some(text) = content.and_then(|content| String::from_utf8(content).ok()) else {
            continue;
        };
        let kept = &text[..text.floor_char_boundary(remaining_bytes)];
        remaining_bytes -= kept.len();
        specs.files.push(Spec { truncated: kept.len() < text.len(), text: kept.to_owned(), path });
    }
    let rest: Vec<String> = paths.collect();
    let names: Vec<String> = rest.iter().map(|path| format!("{end}:{path}")).collect();
    let existing = rest.into_iter().zip(git.exist(&names)?);
    specs.left_out = existing.filter_map(|(path, exists)| exists.then_some(path)).collect();
    Ok(specs)
}

/// Returns the specs that a commit touches or that its message names.
fn specs_of(commit: &Commit) -> Vec<String> {
    let touched = commit.files.iter().filter(|file| file.status != 'D');
    let touched = touched.map(|file| file.path.as_str());
    let touched = touched.filter(|path| FOLDERS.iter().any(|folder| is_in(path, folder)));
    let messages = [commit.subject.as_str(), commit.body.as_str()];
    let named = messages.into_iter().flat_map(|text| NAMED.find_iter(text));
    touched.chain(named.map(|found| found.as_str())).map(str::to_owned).collect()
}

fn is_in(path: &str, folder: &str) -> bool {
    path.starts_with(folder) || path.contains(&format!("/{folder}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_specs_with_and_without_a_line() {
        let commit = |subject: &str| Commit {
            hash: String::new(),
            parents: Vec::new(),
            author: String::new(),
            date: String::new(),
            subject: subject.to_owned(),
            body: String::new(),
            files: Vec::new(),
        };
        for (text, path) in [
            ("Follow `docs/plans/p.md`.", Some("docs/plans/p.md")),
            ("Follow ./docs/plans/p.md:12-20!", Some("docs/plans/p.md")),
            ("(app/specs/a.md#scope)", Some("app/specs/a.md")),
            ("See docs/plan.md, myspecs/a.md and specs/", None),
        ] {
            assert_eq!(specs_of(&commit(text)), path.into_iter().collect::<Vec<_>>(), "{text}");
        }
    }
}
