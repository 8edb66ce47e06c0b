//! Formats the repo ledger for the start of a session.

use crate::context::part::unmarked;
use crate::error::Result;
use crate::ledger;
use crate::ledger::Brief;
use crate::markdown::without_comments;
use crate::project::Project;

/// The ledger's brief, as lines of a digest.
pub(crate) struct Ledger(Brief);

impl Ledger {
    /// Reads the ledger; returns `None` if none is kept.
    pub(crate) fn read(project: &Project) -> Result<Option<Self>> {
        if !ledger::exists(project) {
            return Ok(None);
        }
        ledger::brief(project, ledger::BRIEF_DAYS).map(Self).map(Some)
    }

    /// Returns the required actions, how much of git's history is covered, and the current state.
    pub(crate) fn state(&self) -> Vec<String> {
        let action = self.0.action_required.iter();
        let mut lines: Vec<String> =
            action.map(|action| format!("ACTION REQUIRED: {action}")).collect();
        lines.push(format!("Commits covered: {}", self.0.coverage.line()));
        let state = self.0.state.as_deref().unwrap_or_default();
        let state: Vec<&str> = state.lines().filter(|line| !is_footer(line)).collect();
        lines.extend(lines_with_headings(&state.join("\n")));
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

/// Returns whether a line belongs to the footer of the state, which would otherwise be read as part of the last section.
fn is_footer(line: &str) -> bool {
    let line = line.trim_start_matches(['*', '_', '-', ' ']).to_lowercase();
    line.starts_with("last memory update") || line.starts_with("commits covered through")
}

/// Returns a text's lines, each prefixed with its heading, without comments, thematic breaks and checked boxes.
fn lines_with_headings(text: &str) -> Vec<String> {
    let mut heading = String::new();
    let mut lines = Vec::new();
    for line in without_comments(text).lines().map(str::trim) {
        let content = unmarked(line);
        let is_done = content.starts_with("[x] ") || content.starts_with("[X] ");
        if let Some(title) = line.strip_prefix('#') {
            heading = title.trim_start_matches('#').trim().to_owned() + ": ";
        } else if !is_done && !line.trim_matches(['-', '*', '_']).is_empty() {
            lines.push(format!("{heading}{}", content.strip_prefix("[ ] ").unwrap_or(content)));
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
        let actions = "## Next Actions\n- [ ] open\n- [x] done\n";
        assert_eq!(lines_with_headings(actions), ["Next Actions: open"]);
        assert_eq!(
            lines_with_headings("<!-- by ada --> see the wiki\n- two\n"),
            ["see the wiki", "two"]
        );
    }

    #[test]
    fn the_footer_is_dropped_and_decisions_have_their_reasons() {
        for (line, expected) in [
            ("Last memory update: 2026-02-05", true),
            ("**Commits covered through:** abc1234", true),
            ("- Update the memory", false),
        ] {
            assert_eq!(is_footer(line), expected, "{line}");
        }
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
