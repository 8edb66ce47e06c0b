//! Shrinks the block if the file gets too long.

use serde::Serialize;

use crate::error::Result;
use crate::text::{Line, word_enum};

word_enum! {
    /// A step of shrinking the block, in the order in which they are taken until the file fits; the title, the core
    /// value and the position stay.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub enum ShrinkStep {
        /// Three patterns instead of five.
        FewerPatterns = "fewer_patterns",
        /// All skills in one line.
        SkillsInOneLine = "skills_in_one_line",
        /// Five decisions instead of ten.
        FewerDecisions = "fewer_decisions",
        /// No commands.
        NoCommands = "no_commands",
        /// No skills.
        NoSkills = "no_skills",
        /// No patterns.
        NoPatterns = "no_patterns",
        /// No decisions, and one blocker.
        NoDecisions = "no_decisions",
    }
}

/// Number of lines, including markers, that the block may always have, however long the user's text is.
const MIN_BLOCK_LINES: usize = 28;

/// Number of marker lines around the block.
const MARKER_LINES: usize = 2;

impl ShrinkStep {
    /// Returns whether the step is taken only under a limit that the user set: otherwise, a few decisions and
    /// patterns are always kept.
    fn needs_hard_limit(self) -> bool {
        matches!(self, Self::NoPatterns | Self::NoDecisions)
    }

    fn apply(self, content: &mut Content) {
        match self {
            Self::FewerPatterns => content.patterns.truncate(3),
            Self::SkillsInOneLine => content.join_skills(),
            Self::FewerDecisions => content.decisions.truncate(5),
            Self::NoPatterns => content.patterns.clear(),
            Self::NoSkills => content.skills_line = None,
            Self::NoDecisions => {
                content.decisions.clear();
                content.blockers.truncate(1);
            }
            Self::NoCommands => content.commands.clear(),
        }
    }
}

/// Maximum lengths of the file and of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of lines of the whole file.
    pub max_lines: usize,
    /// Whether the user set these limits, so that they apply even if content is lost.
    pub is_hard: bool,
}

/// A block that fits the limits as far as possible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fitted {
    /// The text of the block.
    pub(crate) block: String,
    /// The steps taken to shrink it.
    pub(crate) shrunk: Vec<ShrinkStep>,
    /// The number of lines above the limit that the user set, with only the mandatory parts left.
    pub(crate) excess: usize,
}

/// Shrinks the content until the file fits; `lines_with` returns the file's number of lines with a given
/// block.
pub(crate) fn fit(
    mut content: Content,
    limits: Limits,
    lines_with: impl Fn(&str) -> usize,
    render: impl Fn(&Content) -> Result<String>,
) -> Result<Fitted> {
    let is_small =
        |block: &str| !limits.is_hard && block.lines().count() + MARKER_LINES <= MIN_BLOCK_LINES;
    let excess = |block: &str| {
        if is_small(block) { 0 } else { lines_with(block).saturating_sub(limits.max_lines) }
    };
    let mut block = render(&content)?;
    let mut shrunk = Vec::new();
    let is_allowed = |step: &ShrinkStep| limits.is_hard || !step.needs_hard_limit();
    for step in ShrinkStep::ALL.into_iter().filter(is_allowed) {
        if excess(&block) == 0 {
            break;
        }
        let before = content.clone();
        step.apply(&mut content);
        if content != before {
            block = render(&content)?;
            shrunk.push(step);
        }
    }
    Ok(Fitted { excess: if limits.is_hard { excess(&block) } else { 0 }, block, shrunk })
}

/// The content of the block; each field is one of the template's. None can act as markdown structure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Content {
    /// The project's name; none if the user's text already starts with it.
    pub title: Option<Line>,
    /// The project's purpose.
    pub core_value: Option<Line>,
    /// Whether a planning tool is in use, which would have recorded what is missing here.
    pub has_workflow: bool,
    /// Facts about the code, if no planning tool is in use.
    pub code: Vec<Line>,
    /// The active milestone.
    pub milestone: Option<Line>,
    /// The current phase.
    pub phase: Option<PhaseLine>,
    /// The command to run next.
    pub next_action: Option<Line>,
    /// The reason why the position is contested, if another reading of the files is almost as plausible.
    pub contested: Option<Line>,
    /// The open blockers.
    pub blockers: Vec<Line>,
    /// The decisions, newest first.
    pub decisions: Vec<Line>,
    /// All skills in one line, if space is short.
    pub skills_line: Option<Line>,
    /// The installed skills.
    pub skills: Vec<SkillLine>,
    /// Lessons from finished phases, most relevant first.
    pub patterns: Vec<Line>,
    /// The heading over the workflow's commands.
    pub commands_heading: Line,
    /// The workflow's commands.
    pub commands: Vec<Line>,
}

/// The current phase, as displayed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PhaseLine {
    /// Its number.
    pub number: Line,
    /// Its name.
    pub name: Option<Line>,
    /// Its status.
    pub status: Option<Line>,
}

/// An installed skill, as displayed.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SkillLine {
    /// Its name.
    pub name: Line,
    /// `global` or `project`, if known.
    pub scope: Option<Line>,
}

impl Content {
    /// Joins all skills into one line.
    fn join_skills(&mut self) {
        let names: Vec<String> =
            self.skills.drain(..).map(|skill| skill.name.to_string()).collect();
        self.skills_line = Some(Line::new(&names.join(", "))).filter(|line| !line.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude_md::budget::SkillLine;
    use crate::text::Line;

    fn lines(count: usize) -> Vec<Line> {
        (0..count).map(|n| Line::new(&format!("line {n}"))).collect()
    }

    fn full() -> Content {
        let skill = |name: Line| SkillLine { name, scope: None };
        Content {
            patterns: lines(5),
            skills: lines(4).into_iter().map(skill).collect(),
            decisions: lines(10),
            commands: lines(3),
            ..Content::default()
        }
    }

    /// Renders like the template: a section with n lines takes n + 3.
    fn render(content: &Content) -> String {
        let section = |lines: usize| if lines == 0 { 0 } else { lines + 3 };
        let skills = content.skills.len() + usize::from(content.skills_line.is_some());
        let count = 10
            + section(content.patterns.len())
            + section(skills)
            + section(content.decisions.len())
            + section(content.commands.len());
        "line\n".repeat(count)
    }

    fn fitted(max_lines: usize, own: usize) -> Fitted {
        let limits = Limits { max_lines, is_hard: max_lines != 200 };
        let lines_with = |block: &str| block.lines().count() + own;
        fit(full(), limits, lines_with, |content| Ok(render(content))).unwrap()
    }

    #[test]
    fn only_the_necessary_steps_are_taken() {
        for (max_lines, steps, lines) in [
            (44, 0, 44),
            (43, 1, 42),
            (41, 2, 39),
            (38, 3, 34),
            (33, 4, 28),
            (27, 5, 24),
            (23, 6, 18),
            (15, 7, 10),
            (10, 7, 10),
        ] {
            let fitted = fitted(max_lines, 0);
            assert_eq!(fitted.shrunk, ShrinkStep::ALL[..steps], "{max_lines}");
            assert_eq!(fitted.block.lines().count(), lines, "{max_lines}");
            assert_eq!(fitted.excess, 0);
        }
    }

    #[test]
    fn the_users_lines_count_towards_the_limit() {
        assert_eq!(fitted(200, 156).shrunk, []);
        assert_eq!(fitted(200, 157).shrunk, [ShrinkStep::FewerPatterns]);
    }

    #[test]
    fn next_to_a_long_text_some_decisions_and_patterns_are_kept() {
        for own in [190, 900] {
            let fitted = fitted(200, own);
            assert_eq!(fitted.shrunk, ShrinkStep::ALL[..5]);
            assert!(fitted.block.lines().count() + MARKER_LINES <= MIN_BLOCK_LINES);
            assert_eq!(fitted.excess, 0);
        }
    }

    #[test]
    fn what_cannot_shrink_exceeds_the_limit() {
        assert_eq!(fitted(9, 0).excess, 1);
    }

    #[test]
    fn an_empty_section_is_not_a_step() {
        let limits = Limits { max_lines: 0, is_hard: true };
        let only = Content { commands: lines(3), patterns: lines(2), ..Content::default() };
        let fitted = fit(only, limits, |block| block.lines().count(), |c| Ok(render(c))).unwrap();
        assert_eq!(fitted.shrunk, [ShrinkStep::NoCommands, ShrinkStep::NoPatterns]);
    }
}

#[cfg(test)]
mod content_tests {
    use super::*;

    #[test]
    fn skills_are_joined_in_one_line() {
        let skill = |name: &str| SkillLine { name: Line::new(name), scope: None };
        let mut content =
            Content { skills: vec![skill("testing"), skill("design")], ..Content::default() };
        content.join_skills();
        assert_eq!(content.skills_line, Some(Line::new("testing, design")));
        assert_eq!(content.skills, []);
        let mut none = Content::default();
        none.join_skills();
        assert_eq!(none, Content::default());
    }
}
