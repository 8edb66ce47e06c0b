//! Builds the content of the block from the stores.

use std::collections::BTreeSet;
use std::path::Path;

use crate::claude_md::budget::{Content, PhaseLine, SkillLine};
use crate::claude_md::decisions::DecisionList;
use crate::claude_md::generated::Recorded;
use crate::claude_md::{decisions, generated};
use crate::plan::{Skill, non_placeholder};
use crate::project::Layout;
use crate::text::{Line, fold, strip_controls};
use crate::warning::Warning;
use crate::{patterns, secrets};

/// The mark after a pattern that refers to something that may no longer exist.
const STALE_MARK: &str = " (possibly stale)";

/// Maximum number of patterns in the block.
pub(crate) const MAX_PATTERNS: usize = 5;

/// Maximum number of blockers in the block, and the maximum length of each in characters.
const MAX_BLOCKERS: usize = 3;
const MAX_BLOCKER_CHARS: usize = 240;

/// Maximum length of each part of the position, in characters.
const MAX_ITEM_CHARS: usize = 160;

/// Maximum length of any other text, in characters; those in lists are kept shorter where they are written.
const MAX_LINE_CHARS: usize = 500;

/// The data from the stores that the context file is generated from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// The project's name.
    pub project: String,
    /// The project's purpose.
    pub core_value: Option<String>,
    /// Facts about the code, if no planning tool is in use.
    pub code: Vec<String>,
    /// The active milestone.
    pub milestone: Option<String>,
    /// The current phase, as derived from the files.
    pub phase: Option<CurrentPhase>,
    /// The command to run next.
    pub next_command: Option<String>,
    /// The reason why the position is contested, if another reading of the files is almost as plausible.
    pub contested: Option<String>,
    /// The open blockers, as STATE.md lists them.
    pub blockers: Vec<String>,
    /// The decisions, one list per source: that of STATE.md first.
    pub decisions: Vec<DecisionList>,
    /// The installed skills.
    pub skills: Vec<Skill>,
    /// Lessons from finished phases, most relevant first.
    pub patterns: Vec<Pattern>,
    /// All patterns in PATTERNS.md, which an adopted file may repeat.
    pub recorded_patterns: Vec<String>,
    /// The text of each archived milestone's SHIPPED.md, which an adopted file may repeat.
    pub shipped: Vec<String>,
}

/// The current phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CurrentPhase {
    /// Its number.
    pub number: String,
    /// Its name.
    pub name: Option<String>,
    /// Its status.
    pub status: Option<String>,
}

/// A lesson from a finished phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// One-line summary.
    pub summary: String,
    /// Whether what it refers to may no longer exist.
    pub is_stale: bool,
}

impl Sources {
    /// Returns the content that may be removed from a file because the block or a store contains it.
    pub(crate) fn known<'a>(&'a self, layout: &'a Layout) -> Recorded<'a> {
        let decisions = self.decisions.iter().flat_map(|list| &list.decisions);
        Recorded {
            project: &self.project,
            core_value: self.core_value.as_deref(),
            next_action: self.next_command.as_deref(),
            decisions: decisions.map(|decision| (fold(&decision.text), decision)).collect(),
            skills: self.skills.iter().map(|skill| skill.name.as_str()).collect(),
            patterns: self
                .recorded_patterns
                .iter()
                .map(|text| generated::without_source(text))
                .collect(),
            shipped: self.shipped.iter().map(|page| generated::words(page)).collect(),
            ..Recorded::in_layout(layout)
        }
    }

    /// Returns the content, with a warning for each redacted value.
    ///
    /// `planning` is the folder named in the warnings.
    pub(crate) fn content(
        &self,
        layout: &Layout,
        planning: &Path,
        warnings: &mut Vec<Warning>,
    ) -> Content {
        let mut lines = Lines { planning, warnings };
        Content {
            title: lines.optional("the project's name", Some(&self.project), MAX_LINE_CHARS),
            core_value: lines.optional(
                "the core value",
                self.core_value.as_deref(),
                MAX_LINE_CHARS,
            ),
            has_workflow: layout.is_in_use,
            code: self
                .code
                .iter()
                .map(|line| lines.line("the code's profile", line, MAX_LINE_CHARS))
                .collect(),
            milestone: lines.optional("the milestone", self.milestone.as_deref(), MAX_ITEM_CHARS),
            phase: self.phase.as_ref().map(|phase| PhaseLine {
                number: lines.line("the phase's number", &phase.number, MAX_ITEM_CHARS),
                name: lines.optional("the phase's name", phase.name.as_deref(), MAX_ITEM_CHARS),
                status: lines.optional(
                    "the phase's status",
                    phase.status.as_deref(),
                    MAX_ITEM_CHARS,
                ),
            }),
            next_action: lines.optional(
                "the next command",
                self.next_command.as_deref(),
                MAX_ITEM_CHARS,
            ),
            contested: lines.optional(
                "the contested position",
                self.contested.as_deref(),
                MAX_LINE_CHARS,
            ),
            blockers: self.blocker_lines(&mut lines),
            decisions: decisions::select(&self.decisions)
                .iter()
                .map(|text| lines.line("a decision", text, MAX_LINE_CHARS))
                .collect(),
            skills_line: None,
            skills: self.skill_lines(&mut lines),
            patterns: self.pattern_lines(&mut lines),
            commands_heading: Line::new(&layout.section.heading),
            commands: layout.section.lines.iter().map(|line| Line::new(line)).collect(),
        }
    }

    /// Returns the first blockers in whole sentences, and the number of the others.
    fn blocker_lines(&self, lines: &mut Lines<'_>) -> Vec<Line> {
        let named = self.blockers.iter().take(MAX_BLOCKERS).map(|text| {
            let whole = patterns::statement(text, MAX_BLOCKER_CHARS);
            lines.line("a blocker", whole.as_deref().unwrap_or(text), MAX_BLOCKER_CHARS)
        });
        let mut shown: Vec<Line> = named.filter(|line| !line.is_empty()).collect();
        if let Some(more @ 1..) = self.blockers.len().checked_sub(MAX_BLOCKERS) {
            shown.push(Line::new(&format!("{more} more in STATE.md")));
        }
        shown
    }

    fn skill_lines(&self, lines: &mut Lines<'_>) -> Vec<SkillLine> {
        let mut shown: Vec<SkillLine> = Vec::new();
        let mut known = BTreeSet::new();
        for skill in &self.skills {
            let line = SkillLine {
                name: lines.line("a skill", &skill.name, MAX_ITEM_CHARS),
                scope: lines.optional("a skill's scope", skill.scope.as_deref(), MAX_ITEM_CHARS),
            };
            if !line.name.is_empty() && known.insert(line.clone()) {
                shown.push(line);
            }
        }
        shown
    }

    /// Returns the fresh patterns, then the stale ones, marked as such.
    fn pattern_lines(&self, lines: &mut Lines<'_>) -> Vec<Line> {
        let (stale, fresh): (Vec<_>, Vec<_>) =
            self.patterns.iter().partition(|pattern| pattern.is_stale);
        let mut shown = Vec::new();
        for pattern in fresh.into_iter().chain(stale) {
            if shown.len() == MAX_PATTERNS {
                break;
            }
            let mark = if pattern.is_stale { STALE_MARK } else { "" };
            let line = lines.line("a pattern", &pattern.summary, MAX_LINE_CHARS);
            let line = Line::new(&format!("{line}{mark}"));
            if non_placeholder(&pattern.summary).is_some() && !shown.contains(&line) {
                shown.push(line);
            }
        }
        shown
    }
}

/// Builds lines from foreign text, and warns about redacted text.
struct Lines<'a> {
    planning: &'a Path,
    warnings: &'a mut Vec<Warning>,
}

impl Lines<'_> {
    fn line(&mut self, what: &str, text: &str, width: usize) -> Line {
        // Controls first: the detector would not recognise a key that contains one.
        let plain = strip_controls(text);
        let redacted = secrets::redact(&plain);
        if !redacted.rules.is_empty() {
            let rules = redacted.rules.join(", ");
            let message = format!(
                "{what} contains what looks like a secret ({rules}); the context file shows {}",
                secrets::REDACTED
            );
            self.warnings.push(Warning::file(self.planning, message));
        }
        Line::new(&redacted.text).clipped(width)
    }

    fn optional(&mut self, what: &str, text: Option<&str>, width: usize) -> Option<Line> {
        let line = self.line(what, non_placeholder(text?)?, width);
        Some(line).filter(|line| !line.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::LayoutName;

    fn content(sources: &Sources) -> (Content, Vec<String>) {
        let layout = Layout::load(LayoutName::Vbw).unwrap();
        let mut warnings = Vec::new();
        let content = sources.content(&layout, Path::new(".vbw-planning"), &mut warnings);
        (content, warnings.iter().map(Warning::to_string).collect())
    }

    fn shown(lines: &[Line]) -> Vec<&str> {
        lines.iter().map(Line::as_str).collect()
    }

    #[test]
    fn placeholders_are_omitted() {
        let sources = Sources {
            project: "shop".to_owned(),
            core_value: Some("TBD".to_owned()),
            milestone: Some("_(none)_".to_owned()),
            phase: Some(CurrentPhase {
                number: "5.1".to_owned(),
                name: Some("{phase-name}".to_owned()),
                status: Some(" in progress ".to_owned()),
            }),
            ..Sources::default()
        };
        let (content, warnings) = content(&sources);
        assert_eq!(content.title, Some(Line::new("shop")));
        assert_eq!(content.core_value, None);
        assert_eq!(content.milestone, None);
        let phase = content.phase.unwrap();
        assert_eq!(phase.number.as_str(), "5.1");
        assert_eq!((phase.name, phase.status), (None, Some(Line::new("in progress"))));
        assert_eq!(content.commands_heading.as_str(), "VBW Commands");
        assert_eq!(content.commands.len(), 3);
        assert_eq!(warnings, [""; 0]);
    }

    #[test]
    fn fresh_patterns_come_first_and_stale_ones_are_marked() {
        let pattern = |summary: &str, is_stale| Pattern { summary: summary.to_owned(), is_stale };
        let long = "word ".repeat(60);
        let sources = Sources {
            patterns: vec![
                pattern("old", true),
                pattern("one", false),
                pattern(&long, true),
                pattern("one", false),
                pattern("None", false),
                pattern("two", false),
                pattern("three", false),
                pattern("left out", true),
            ],
            ..Sources::default()
        };
        let (content, _) = content(&sources);
        let lines = shown(&content.patterns);
        assert_eq!(lines[..4], ["one", "two", "three", "old (possibly stale)"]);
        assert_eq!(lines.len(), 5);
        assert!(lines[4].ends_with("word (possibly stale)"), "{}", lines[4]);
    }

    #[test]
    fn secrets_are_redacted_with_a_warning() {
        let key = ["ghp", "_q7Zt2LmX9vKc4RbW8nYs1HdF6gPj3TaQ5eUo"].concat();
        let sources =
            Sources { core_value: Some(format!("Deploy with {key} only")), ..Sources::default() };
        let (content, warnings) = content(&sources);
        assert_eq!(content.core_value, Some(Line::new("Deploy with [redacted] only")));
        assert_eq!(
            warnings,
            [".vbw-planning: the core value contains what looks like a secret (github-token); \
              the context file shows [redacted]"]
        );
    }

    #[test]
    fn a_skill_is_listed_once() {
        let skill = |name: &str| Skill { name: name.to_owned(), scope: Some("global".to_owned()) };
        let sources = Sources {
            skills: vec![skill("testing"), skill(""), skill("testing")],
            ..Sources::default()
        };
        assert_eq!(content(&sources).0.skills.len(), 1);
    }
}
