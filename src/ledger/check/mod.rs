//! Checks the files against the rules of each.

mod committed;
mod constraints;
mod decisions;
mod findings;
mod state;

pub use findings::Finding;
use serde::Serialize;

use crate::error::Result;
use crate::ledger::anchor::Footer;
use crate::ledger::check::committed::CommittedFiles;
use crate::ledger::check::findings::Findings;
use crate::ledger::coverage;
use crate::ledger::coverage::{AnchorState, Coverage};
use crate::ledger::files::{LedgerFile, LedgerFiles};
use crate::project::Project;
use crate::secrets;
use crate::warning::Warning;

/// The outcome of a check. It is the document of `annals ledger check --json`.
#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    /// The problems, by file and line.
    pub findings: Vec<Finding>,
    /// Entries of an older form, which are read and kept as they are.
    pub kept: Vec<Finding>,
    /// How much of git's history is covered.
    pub coverage: Coverage,
    /// Warnings about files that were only partly read.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Checks the three files.
pub fn check(project: &Project) -> Result<CheckReport> {
    let mut warnings = Vec::new();
    let files = LedgerFiles::read(project, &mut warnings)?;
    let footer = Footer::parse(&files.state.text);
    let survey = coverage::survey(project, &footer, files.folder.repo_path.as_deref())?;
    let committed = CommittedFiles::read(project, &files.folder)?;
    let mut findings = Vec::new();
    let mut state = check_common(&files.state);
    if files.state.exists() {
        state::check(&files.state.text, &mut state);
        check_anchor(&footer, &survey.coverage, &mut state);
    }
    findings.extend(state.violations);
    let mut constraints = check_common(&files.constraints);
    if files.constraints.exists() {
        let text = &files.constraints.text;
        constraints::check(text, &mut constraints);
        committed::check_constraints(&committed.constraints, text, &mut constraints);
    }
    findings.extend(constraints.violations);
    let mut decisions = check_common(&files.decisions);
    if files.decisions.exists() {
        let text = &files.decisions.text;
        decisions::check(project, text, &mut decisions)?;
        committed::check_decisions(&committed.decisions, text, &mut decisions);
    }
    findings.extend(decisions.violations);
    let mut kept = decisions.kept;
    for finding in findings.iter_mut().chain(&mut kept) {
        finding.place.file = project.relative(&finding.place.file).to_owned();
    }
    findings.sort();
    Ok(CheckReport { findings, kept, coverage: survey.coverage, warnings: project.named(warnings) })
}

/// Starts with the rules for every file: it exists, is valid UTF-8, has its header and contains no secrets.
fn check_common(file: &LedgerFile) -> Findings<'_> {
    let mut findings = Findings::new(&file.path);
    if !file.exists() {
        findings.add("missing", None, "is missing: `annals ledger init` creates it");
        return findings;
    }
    if file.is_invalid_utf8 {
        findings.add("utf-8", None, "is not valid UTF-8, so no update can change it");
    }
    if !has_header(&file.text) {
        findings.add_fixable("header", 1, "has no DO and DON'T comments at the top");
    }
    for (rule, line) in secrets::find_lines(&file.text, 1) {
        let message = format!("contains what looks like a secret ({rule})");
        findings.add("secret", line, message);
    }
    findings
}

/// Returns whether the comments with instructions for editors are above the first heading.
pub(crate) fn has_header(text: &str) -> bool {
    let head = text.lines().take_while(|line| !line.starts_with('#'));
    let comments: Vec<&str> = head.filter(|line| line.contains("<!--")).collect();
    let has_comment = |what: &str| comments.iter().any(|line| line.contains(what));
    has_comment("DO:") && (has_comment("DON'T:") || has_comment("DON\u{2019}T:"))
}

fn check_anchor(footer: &Footer, coverage: &Coverage, findings: &mut Findings<'_>) {
    let line = footer.anchors.last().map(|anchor| anchor.line);
    if footer.updated.is_none() {
        findings.add("footer", None, "has no `Last memory update: YYYY-MM-DD`");
    }
    if footer.anchors.iter().all(|anchor| anchor.is_comment) {
        findings.add("footer", None, "has no `Commits covered through: <hash>`");
    }
    let hashes: Vec<&str> =
        footer.anchors.iter().filter_map(|anchor| anchor.hash.as_deref()).collect();
    let agree = |a: &str, b: &str| a.starts_with(b) || b.starts_with(a);
    if let Some([one, other]) = hashes.windows(2).find(|pair| !agree(pair[0], pair[1])) {
        let message = format!("names two anchors, {one} and {other}");
        findings.add("anchor", line, message);
    }
    match coverage.standing {
        AnchorState::Missing | AnchorState::Diverged => {
            let advice = coverage.advice.clone().unwrap_or_default();
            findings.add("anchor", line, format!("{}; {advice}", coverage.line()));
        }
        AnchorState::NoAnchor if !footer.is_new => {
            findings.add("anchor", line, "names no commit, so nothing is covered");
        }
        _ => {}
    }
}
