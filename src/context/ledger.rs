//! Formats the repo ledger for the start of a session.

use crate::context::part::unmarked;
use crate::error::Result;
use crate::ledger;
use crate::ledger::Brief;
use crate::markdown::comments::without_comments;
use crate::project::Project;

/// Maximum age, in days, of a decision that is listed in full.
const MAX_AGE_DAYS: u64 = 7;

/// The ledger's brief, as lines of a digest.
pub(crate) struct Ledger(Brief);

impl Ledger {
    /// Reads the ledger; returns `None` if none is kept.
    pub(crate) fn read(project: &Project) -> Result<Option<Self>> {
        if !ledger::exists(project) {
            return Ok(None);
        }
        ledger::brief(project, MAX_AGE_DAYS).map(Self).map(Some)
    }

    /// Returns the required actions, how much of git's history is covered, and the current state.
    pub(crate) fn state(&self) -> Vec<String> {
        let action = self.0.action_required.iter();
        let mut lines: Vec<String> =
            action.map(|action| format!("ACTION REQUIRED: {action}")).collect();
        lines.push(format!("Commits covered: {}", self.0.coverage.line()));
        let state = self.0.state.as_deref().unwrap_or_default();
        lines.extend(lines_with_headings(&without_footer(state)));
        lines
    }

    pub(crate) fn constraints(&self) -> Vec<String> {
        lines_with_headings(&self.0.constraints)
    }

    /// Returns the decisions of the last days, each with its reason, then the rollup.
    pub(crate) fn decisions(&self) -> Vec<String> {
        let mut lines = with_reasons(&self.0.recent_decisions);
        lines.extend(lines_with_headings(&self.0.rollup));
        lines
    }
}

/// Returns each entry's title with the reason of the decision, or the root cause of a fix.
fn with_reasons(entries: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in entries.lines() {
        if let Some(title) = line.strip_prefix("### ") {
            lines.push(title.trim().to_owned());
        } else if let Some(last) = lines.last_mut()
            && let Some(reason) = reason(unmarked(line))
        {
            *last = format!("{last} ({reason})");
        }
    }
    lines
}

fn reason(line: &str) -> Option<&str> {
    let labels = ["**Why:**", "**Why**:", "**Root cause:**", "**Root cause**:"];
    let reason = labels.iter().find_map(|label| line.strip_prefix(label))?;
    Some(reason.trim()).filter(|reason| !reason.is_empty())
}

/// Returns the state without its footer, which would otherwise be read as part of the last section.
fn without_footer(state: &str) -> String {
    let is_footer = |line: &&str| {
        let line = line.trim_start_matches(['*', '_', '-', ' ']).to_lowercase();
        line.starts_with("last memory update") || line.starts_with("commits covered through")
    };
    let kept: Vec<&str> = state.lines().filter(|line| !is_footer(line)).collect();
    kept.join("\n")
}

/// Returns a text's lines, each prefixed with its heading, without comments and thematic breaks.
fn lines_with_headings(text: &str) -> Vec<String> {
    let mut heading = String::new();
    let mut lines = Vec::new();
    for line in without_comments(text).lines().map(str::trim) {
        if line.trim_matches(['-', '*', '_']).is_empty() {
            continue;
        }
        match line.trim_start_matches('#') {
            title if title.len() == line.len() && heading.is_empty() => {
                lines.push(unmarked(line).to_owned());
            }
            title if title.len() == line.len() => {
                lines.push(format!("{heading}: {}", unmarked(line)));
            }
            title => title.trim().clone_into(&mut heading),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_its_heading_and_comments_are_dropped() {
        let text = "<!-- DO\nkeep it short -->\n# State\n\n## Blockers\n- none\n* two\n\n---\nLast memory update: 2026-02-05\n";
        assert_eq!(
            lines_with_headings(text),
            ["Blockers: none", "Blockers: two", "Blockers: Last memory update: 2026-02-05"]
        );
        assert_eq!(lines_with_headings("- alone"), ["alone"]);
        assert_eq!(
            lines_with_headings("<!-- by ada --> see the wiki\n- two\n"),
            ["see the wiki", "two"]
        );
    }

    #[test]
    fn the_footer_is_dropped_and_decisions_have_their_reasons() {
        let state = "## Out of Scope\n- themes\n\n---\nLast memory update: 2026-02-05\nCommits covered through: abc1234\n";
        assert_eq!(lines_with_headings(&without_footer(state)), ["Out of Scope: themes"]);
        let entries = "### 2026-02-05 \u{2014} Use SQLite\n\n- **Why:** one file\n- **Impact:** none\n\n### 2026-02-04 \u{2014} Fix the lock\n- **Symptom:** hung\n- **Root cause:** two owners\n";
        assert_eq!(
            with_reasons(entries),
            [
                "2026-02-05 \u{2014} Use SQLite (one file)",
                "2026-02-04 \u{2014} Fix the lock (two owners)"
            ]
        );
    }
}
