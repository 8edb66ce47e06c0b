//! Collects what an agent needs to write the next update: a batch of commits, the specs that they name, and the rules.

use serde::Serialize;
use serde_json::Value;

use crate::error::Result;
use crate::git::{Commit, Git};
use crate::ledger::batch::batch;
use crate::ledger::coverage::{AnchorState, Coverage, Uncovered};
use crate::ledger::files::LedgerFiles;
use crate::ledger::footer::Footer;
use crate::ledger::specs::Specs;
use crate::ledger::{coverage, specs, state, update};
use crate::project::Project;
use crate::templates;
use crate::templates::Template;
use crate::warning::Warning;

/// Maximum number of commits in a batch, unless a caller says otherwise.
pub const BATCH_COMMITS: usize = 50;

/// The current content of the three files; `None` for a missing one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CurrentFiles {
    /// STATE.md.
    pub state: Option<String>,
    /// CONSTRAINTS.md.
    pub constraints: Option<String>,
    /// DECISIONS.md.
    pub decisions: Option<String>,
}

/// The input for the next update. It is the document of `annals ledger pending --json`.
#[derive(Clone, Debug, Serialize)]
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
    let mut warnings = Vec::new();
    let files = LedgerFiles::read(project, &mut warnings)?;
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
        warnings: project.named(warnings),
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
        self.specs = specs::specs(git, &self.commits, end.as_deref())?;
        self.covered_through = end;
        Ok(())
    }
}

/// Returns the criteria for an entry.
fn threshold() -> &'static str {
    Template::LedgerThreshold.text().trim_end()
}

#[derive(Serialize)]
struct SkillFields {
    threshold: &'static str,
}

/// Returns SKILL.md of the update procedure, for an agent.
pub fn skill() -> Result<String> {
    templates::render(Template::LedgerSkill, &SkillFields { threshold: threshold() })
}
