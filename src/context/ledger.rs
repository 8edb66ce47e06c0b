//! What the repo ledger has for a session's start.

use crate::context::gather::unmarked;
use crate::error::Result;
use crate::ledger;
use crate::ledger::Brief;
use crate::project::Project;

/// How old a decision may be that is told in full.
const DAYS: u64 = 7;

/// The ledger's brief, as lines of a digest.
pub(crate) struct Ledger(Brief);

impl Ledger {
    /// Reads the ledger; nothing where none is kept.
    pub(crate) fn read(project: &Project) -> Result<Option<Self>> {
        if !ledger::is_kept(project) {
            return Ok(None);
        }
        ledger::brief(project, DAYS).map(Self).map(Some)
    }

    /// Returns what to do first, what holds, and how much of git's history that covers.
    pub(crate) fn state(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.0.action_required.iter().cloned().collect();
        let state = self.0.state.as_deref().unwrap_or_default();
        lines.extend(under_headings(state));
        lines.push(format!("Commits covered: {}", self.0.coverage.line()));
        lines
    }

    pub(crate) fn constraints(&self) -> Vec<String> {
        under_headings(&self.0.constraints)
    }

    /// Returns the titles of the last days' decisions, then the rollup.
    pub(crate) fn decisions(&self) -> Vec<String> {
        let titles = self.0.recent_decisions.lines();
        let titles = titles.filter_map(|line| line.strip_prefix("### "));
        let rollup = under_headings(&self.0.rollup);
        titles.map(str::to_owned).chain(rollup).collect()
    }
}

/// Returns a text's lines, each behind the heading it stands under; comments and rules left out.
fn under_headings(text: &str) -> Vec<String> {
    let mut heading = String::new();
    let mut lines = Vec::new();
    let mut is_comment = false;
    for line in text.lines().map(str::trim) {
        is_comment |= line.starts_with("<!--");
        let is_told = !is_comment && !line.is_empty() && line.trim_matches(['-', '*', '_']) != "";
        is_comment &= !line.ends_with("-->");
        if !is_told {
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
    fn each_line_has_its_heading_and_comments_are_not_told() {
        let text = "<!-- DO\nkeep it short -->\n# State\n\n## Blockers\n- none\n* two\n\n---\nLast memory update: 2026-02-05\n";
        assert_eq!(
            under_headings(text),
            [
                "Blockers: none",
                "Blockers: two",
                "Blockers: Last memory update: 2026-02-05"
            ]
        );
        assert_eq!(under_headings("- alone"), ["alone"]);
    }
}
