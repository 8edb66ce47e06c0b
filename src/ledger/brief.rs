//! Assembles the summary that a session needs at its start; never writes.

use std::fmt;

use chrono::{Days, NaiveDate};
use serde::Serialize;

use crate::error::Result;
use crate::ledger::constraints::{SECTIONS, is_named};
use crate::ledger::coverage;
use crate::ledger::coverage::{AnchorState, Coverage};
use crate::ledger::decisions::Decisions;
use crate::ledger::files::LedgerFiles;
use crate::ledger::footer::Footer;
use crate::ledger::state;
use crate::markdown::Outline;
use crate::project::Project;
use crate::secrets;
use crate::warning::Warning;

/// A commit in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommitLine {
    /// The full hash.
    pub hash: String,
    /// When it was written, RFC 3339.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
}

/// The summary that a session needs. It is the document of `annals ledger brief --json`.
#[derive(Clone, Debug, Serialize)]
pub struct Brief {
    /// What to do first if the ledger is not in use yet.
    pub action_required: Option<String>,
    /// STATE.md, all of it, or `None` if there is no such file.
    pub state: Option<String>,
    /// CONSTRAINTS.md: infrastructure, rules and hazards.
    pub constraints: String,
    /// DECISIONS.md: the rollup.
    pub rollup: String,
    /// DECISIONS.md: the entries of the last days.
    pub recent_decisions: String,
    /// The newest commits since the anchor, newest first.
    pub recent_commits: Vec<CommitLine>,
    /// How much of git's history is covered.
    pub coverage: Coverage,
    /// Warnings about files that were only partly read.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Assembles the summary, with the entries of the last `days` days.
pub fn brief(project: &Project, days: u64) -> Result<Brief> {
    let mut warnings = Vec::new();
    let mut files = LedgerFiles::read(project, &mut warnings)?;
    // Before the texts are taken apart, since a key may have several lines.
    for file in [&mut files.state, &mut files.constraints, &mut files.decisions] {
        file.text = secrets::redact(&file.text).text.into_owned();
    }
    let footer = Footer::parse(&files.state.text);
    let survey = coverage::survey(project, &footer, files.repo_path.as_deref())?;
    let decisions = Decisions::parse(&files.decisions.text);
    let since = project.clock.today().checked_sub_days(Days::new(days));
    let rollup = decisions.rollup.as_ref();
    let rollup = rollup.map(|rollup| files.decisions.text[rollup.own.clone()].trim().to_owned());
    let recent_commits = survey.newest.into_iter().map(|commit| CommitLine {
        hash: commit.hash,
        date: commit.date,
        subject: commit.subject,
    });
    Ok(Brief {
        action_required: action(&files, &survey.coverage),
        state: files.state.exists().then(|| files.state.text.trim_end().to_owned()),
        constraints: session_constraints(&files.constraints.text),
        rollup: rollup.unwrap_or_default(),
        recent_decisions: recent(&files.decisions.text, &decisions, since),
        recent_commits: recent_commits.collect(),
        coverage: survey.coverage,
        warnings: project.named(warnings),
    })
}

impl fmt::Display for Brief {
    /// Writes the brief as an agent reads it.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(action) = &self.action_required {
            writeln!(to, "ACTION REQUIRED: {action}\n")?;
        }
        if let Some(state) = &self.state {
            writeln!(to, "{state}\n")?;
        }
        if !self.constraints.is_empty() {
            writeln!(to, "# Constraints\n\n{}\n", self.constraints)?;
        }
        if !self.rollup.is_empty() || !self.recent_decisions.is_empty() {
            writeln!(to, "# Decisions\n")?;
        }
        for part in [&self.rollup, &self.recent_decisions] {
            if !part.is_empty() {
                writeln!(to, "{part}\n")?;
            }
        }
        self.write_commits(to)?;
        writeln!(to, "Coverage: {}.", self.coverage.line())
    }
}

impl Brief {
    fn write_commits(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.recent_commits.is_empty() {
            return Ok(());
        }
        writeln!(to, "# Commits since\n")?;
        for commit in &self.recent_commits {
            let day = commit.date.get(..10).unwrap_or(&commit.date);
            let hash = commit.hash.get(..7).unwrap_or(&commit.hash);
            writeln!(to, "- {hash} {day} {}", commit.subject)?;
        }
        let shown = self.recent_commits.len();
        let more = self.coverage.pending.unwrap_or(0).saturating_sub(shown);
        if more > 0 {
            writeln!(to, "- and {more} more")?;
        }
        writeln!(to)
    }
}

/// How to fill an empty ledger.
const FIRST_UPDATE: &str = "`annals ledger pending`, then pass the update to `annals ledger update` (`annals ledger pending --skill` prints the procedure)";

/// Returns the first step if the ledger has not been filled in.
fn action(files: &LedgerFiles, coverage: &Coverage) -> Option<String> {
    if !files.state.exists() {
        let others = files.constraints.exists() || files.decisions.exists();
        let what = if others { "the ledger has no STATE.md" } else { "this project has no ledger" };
        return Some(format!("{what}: run `annals ledger init`, then {FIRST_UPDATE}"));
    }
    if state::is_uninitialised(&files.state.text) {
        return Some(format!("the ledger is empty: run {FIRST_UPDATE}"));
    }
    let is_lost = matches!(coverage.standing, AnchorState::Missing | AnchorState::Diverged);
    coverage.advice.clone().filter(|_| is_lost)
}

fn recent(text: &str, decisions: &Decisions, since: Option<NaiveDate>) -> String {
    let entries = decisions.entries.iter();
    let recent = entries
        .filter(|entry| entry.date.is_some_and(|date| since.is_none_or(|since| date >= since)));
    let texts: Vec<&str> = recent.map(|entry| text[entry.range.clone()].trim()).collect();
    texts.join("\n\n")
}

/// Returns Infrastructure, Rules and Hazards with all their subsections, verbatim.
fn session_constraints(text: &str) -> String {
    let outline = Outline::parse(text, 0);
    let standard = |title: &str| SECTIONS.into_iter().find(|name| is_named(title, name));
    let mut parts = Vec::new();
    for wanted in ["Infrastructure", "Rules", "Hazards"] {
        let mut open: Option<(u8, String)> = None;
        for section in outline.sections() {
            let own = standard(&section.title);
            // The title is a heading of level 1, and contains no section.
            open = open.filter(|(level, _)| *level >= 2 && section.level > *level && own.is_none());
            let text = outline.slice(&section.own).trim();
            let marks = match own {
                Some(name) if name == wanted => {
                    open = Some((section.level, String::new()));
                    2
                }
                _ => usize::from(section.level),
            };
            let Some((_, pending)) = &mut open else { continue };
            let heading = format!("{} {}", "#".repeat(marks), section.title);
            // A heading without text of its own is printed above its first subsection that has some.
            if !text.is_empty() {
                parts.push(format!("{pending}{heading}\n{text}"));
                pending.clear();
            } else if own.is_some() {
                *pending = format!("{heading}\n\n");
            }
        }
    }
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_come_with_their_subsections() {
        let text = "# Constraints\n\n## Rules\n- one\n\n### Security\n- Never log tokens\n\n## Key Facts\n- k\n\n\
                    ### More\n- m\n\n## Hazards\n\n### Migrations\n- Never run migrate twice\n\n## Other\n- o\n";
        assert_eq!(
            session_constraints(text),
            "## Rules\n- one\n\n### Security\n- Never log tokens\n\n\
             ## Hazards\n\n### Migrations\n- Never run migrate twice"
        );
    }

    #[test]
    fn headings_with_decoration_name_their_sections() {
        for (heading, is_shown) in [
            ("## Hazards & Pitfalls", true),
            ("## Infrastructure (prod)", true),
            ("## \u{26a0} Hazards", true),
            ("## \u{26a0}\u{fe0f} **Rules**:", true),
            ("## 2. Rules", true),
            ("## Rulesets", false),
            ("## Superseded rules", false),
            ("# Rules\n\n## Key Facts", false),
        ] {
            let text = format!("# Constraints\n\n{heading}\n- x\n");
            assert_eq!(session_constraints(&text).contains("- x"), is_shown, "{heading}");
        }
    }
}
