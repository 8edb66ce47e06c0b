//! The content of the block: built from the stores, and shrunk if the file gets too long.

use std::{mem, ptr};

use serde::Serialize;

use crate::claude_md::decisions;
use crate::claude_md::decisions::Ranked;
use crate::error::Result;
use crate::plan::{DEFAULT_MILESTONE, Skill, StatusReport, Survey};
use crate::project::{Project, vocabulary};
use crate::storage::read;
use crate::text::{Line, join, line_number, non_placeholder, strip_controls, word_enum};
use crate::warning::{SourceLocation, Warning};
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

/// Returns where the documents that the block is made of contain a secret, or else their folder. One that cannot be read was
/// reported when it was read for its content.
fn place_of(secret: &str, project: &Project, survey: &Survey) -> SourceLocation {
    let (home, root) = (&survey.folder.active.dir, &survey.folder.dir);
    let files = [
        home.join(vocabulary::STATE),
        home.join(vocabulary::ROADMAP),
        root.join(vocabulary::STATE),
        root.join(vocabulary::PROJECT),
        patterns::path(root),
    ];
    files
        .iter()
        .find_map(|file| {
            let text = read::text(file).ok()??.value;
            let line = line_number(&text, text.find(secret)?);
            Some(SourceLocation::new(project.relative(file), line))
        })
        .unwrap_or_else(|| SourceLocation::new(project.relative(root), None))
}

/// What one store remembers of a project without a planning folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryPart {
    /// The heading.
    pub heading: &'static str,
    /// The lines, most important first.
    pub lines: Vec<Line>,
}

/// A lesson from a finished phase.
#[derive(Debug, Default)]
pub struct Pattern {
    /// One-line summary.
    pub summary: String,
    /// Whether what it refers to may no longer exist.
    pub is_stale: bool,
}

/// Returns the first blockers in whole sentences, and the number of the others.
fn blocker_lines(blockers: &[String], lines: &mut Lines<'_>) -> Vec<Line> {
    let mut shown: Vec<Line> = blockers
        .iter()
        .take(MAX_BLOCKERS)
        .map(|text| {
            let whole = patterns::statement(text, MAX_BLOCKER_CHARS);
            lines.part("a blocker", whole.as_deref().unwrap_or(text), text, MAX_BLOCKER_CHARS)
        })
        .filter(|line| !line.is_empty())
        .collect();
    if let Some(more @ 1..) = blockers.len().checked_sub(MAX_BLOCKERS) {
        shown.push(Line::new(&format!("{more} more in STATE.md")));
    }
    shown
}

fn skill_lines(skills: &[Skill], lines: &mut Lines<'_>) -> Vec<Line> {
    let mut shown: Vec<Line> = Vec::new();
    for skill in skills {
        let name = lines.line("a skill", &skill.name, MAX_ITEM_CHARS);
        let scope = lines
            .optional("a skill's scope", skill.scope.as_deref(), MAX_ITEM_CHARS)
            .map(|scope| format!(" ({scope})"))
            .unwrap_or_default();
        let line = Line::new(&format!("{name}{scope}"));
        if !name.is_empty() && !shown.contains(&line) {
            shown.push(line);
        }
    }
    shown
}

/// Returns the fresh patterns, then the stale ones, marked as such.
fn pattern_lines(patterns: &[Pattern], lines: &mut Lines<'_>) -> Vec<Line> {
    let (stale, fresh): (Vec<_>, Vec<_>) = patterns.iter().partition(|pattern| pattern.is_stale);
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

/// Builds lines from foreign text, and warns about redacted text.
struct Lines<'a> {
    /// Returns the file and the line that contain a text.
    place: &'a dyn Fn(&str) -> SourceLocation,
    warnings: &'a mut Vec<Warning>,
}

impl Lines<'_> {
    fn line(&mut self, what: &str, text: &str, width: usize) -> Line {
        self.part(what, text, text, width)
    }

    /// Builds a line from a part of a text, which may be redacted already.
    fn part(&mut self, what: &str, part: &str, whole: &str, width: usize) -> Line {
        // Controls first: the detector would not recognise a key that contains one.
        let plain = strip_controls(part);
        let redacted = secrets::redact(&plain);
        if redacted.text.contains(secrets::REDACTED) {
            self.warn(what, &strip_controls(whole));
        }
        Line::new(&redacted.text).clipped(width)
    }

    fn warn(&mut self, what: &str, text: &str) {
        let found = secrets::find(text);
        let Some(first) = found.first() else { return };
        let rules = secrets::redact(text).rules.join(", ");
        let message = format!(
            "{what} contains what looks like a secret ({rules}); the context file shows {}",
            secrets::REDACTED
        );
        let place = (self.place)(&text[first.range.clone()]);
        self.warnings.push(Warning { place, message });
    }

    fn optional(&mut self, what: &str, text: Option<&str>, width: usize) -> Option<Line> {
        let line = self.line(what, non_placeholder(text?)?, width);
        Some(line).filter(|line| !line.is_empty())
    }
}

word_enum! {
    /// A step of shrinking the block, in the order in which they are taken until the file fits; the title, the core
    /// value and the position stay.
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
    fn apply(self, content: &mut Content) {
        match self {
            Self::FewerPatterns => {
                content.patterns.truncate(3);
                content.shorten_memory(3);
            }
            Self::SkillsInOneLine => content.join_skills(),
            Self::FewerDecisions => content.decisions = mem::take(&mut content.few_decisions),
            Self::NoPatterns => content.patterns.clear(),
            Self::NoSkills => content.skills.clear(),
            Self::NoDecisions => {
                content.decisions.clear();
                content.blockers.truncate(1);
                content.shorten_memory(1);
            }
            Self::NoCommands => content.commands.clear(),
        }
    }
}

/// Maximum lengths of the file and of the block.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of lines of the whole file.
    pub max_lines: usize,
    /// Whether the user set these limits, so that they apply even if content is lost.
    pub is_hard: bool,
}

/// A block that fits the limits as far as possible.
#[derive(Debug, Default)]
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
    let excess = |block: &str| {
        let is_small = !limits.is_hard && block.lines().count() + MARKER_LINES <= MIN_BLOCK_LINES;
        if is_small { 0 } else { lines_with(block).saturating_sub(limits.max_lines) }
    };
    let mut block = render(&content)?;
    let mut shrunk = Vec::new();
    for step in ShrinkStep::ALL {
        // Without a limit that the user set, a few decisions and patterns are always kept.
        let is_last_resort = matches!(step, ShrinkStep::NoPatterns | ShrinkStep::NoDecisions);
        if excess(&block) == 0 || is_last_resort && !limits.is_hard {
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
    pub phase: Option<Line>,
    /// The command to run next.
    pub next_action: Option<Line>,
    /// The reason why the position is contested, if another reading of the files is almost as plausible.
    pub contested: Option<Line>,
    /// The command that a check of an earlier phase asks for, and the place that says so, if it does not contest the position.
    pub also_open: Option<Line>,
    /// The open blockers.
    pub blockers: Vec<Line>,
    /// The decisions, newest first.
    pub decisions: Vec<Line>,
    /// Those that stay if space is short.
    pub few_decisions: Vec<Line>,
    /// The installed skills; all on one line if space is short.
    pub skills: Vec<Line>,
    /// Lessons from finished phases, most relevant first.
    pub patterns: Vec<Line>,
    /// The heading over the workflow's commands.
    pub commands_heading: Line,
    /// The workflow's commands.
    pub commands: Vec<Line>,
    /// What is remembered without a planning folder.
    pub memory: Option<Vec<MemoryPart>>,
}

impl Content {
    /// Returns the content of a project with a plan: `code` is what its code is written in, if no planning tool is in use,
    /// and `patterns` are the lessons to show, most relevant first. Warns about each redacted value.
    pub(crate) fn new(
        project: &Project,
        survey: &Survey,
        status: &StatusReport,
        code: &[String],
        patterns: &[Pattern],
        warnings: &mut Vec<Warning>,
    ) -> Self {
        let layout = &project.planning_place().layout;
        // A milestone without a name is called so, unless the workflow does not know the word.
        let has_default = layout.is_in_use
            && !layout.name.keeps_milestones()
            && survey.state.no_milestone.is_none();
        let milestone = status
            .milestone
            .display_name()
            .or_else(|| has_default.then(|| DEFAULT_MILESTONE.to_owned()));
        let (phase, contested) = (status.derived.line(), status.next.contest());
        let also_open = status.next.also_open();
        let lines = &mut Lines { place: &|secret| place_of(secret, project, survey), warnings };
        let listed = decisions::lists(survey);
        let ranked = decisions::ranked(&listed);
        let [(chosen, _), (few, _)] = [decisions::MAX_DECISIONS, decisions::FEW_DECISIONS]
            .map(|most| decisions::select(&ranked, most));
        let mut decision_line = |(decision, _, text): &Ranked<'_>| {
            let whole = join(
                [Some(decision.text.as_str()), decision.rationale.as_deref()].into_iter().flatten(),
                "\n",
            );
            Some(lines.part("a decision", text.as_deref()?, &whole, MAX_LINE_CHARS))
        };
        let decisions: Vec<Line> = chosen.iter().filter_map(&mut decision_line).collect();
        let few_decisions = chosen
            .iter()
            .zip(&decisions)
            .filter(|(one, _)| few.iter().any(|kept| ptr::eq(kept.0, one.0)))
            .map(|(_, line)| line.clone())
            .collect();
        Self {
            memory: None,
            title: lines.optional("the project's name", Some(&status.project), MAX_LINE_CHARS),
            core_value: lines.optional("the core value", survey.core_value(), MAX_LINE_CHARS),
            has_workflow: layout.is_in_use,
            code: code
                .iter()
                .map(|text| lines.line("the code's profile", text, MAX_LINE_CHARS))
                .collect(),
            milestone: lines.optional("the milestone", milestone.as_deref(), MAX_ITEM_CHARS),
            phase: lines.optional("the phase", phase.as_deref(), MAX_LINE_CHARS),
            next_action: lines.optional(
                "the next command",
                Some(&status.next.command),
                MAX_ITEM_CHARS,
            ),
            contested: lines.optional(
                "the contested position",
                contested.as_deref(),
                MAX_LINE_CHARS,
            ),
            also_open: lines.optional("the open check", also_open.as_deref(), MAX_LINE_CHARS),
            blockers: blocker_lines(&survey.current_blockers(), lines),
            decisions,
            few_decisions,
            skills: skill_lines(&status.skills, lines),
            patterns: pattern_lines(patterns, lines),
            commands_heading: Line::new(&layout.section.heading),
            commands: layout.section.lines.iter().map(|line| Line::new(line)).collect(),
        }
    }

    /// Shortens each part of what is remembered.
    fn shorten_memory(&mut self, lines: usize) {
        for part in self.memory.iter_mut().flatten() {
            part.lines.truncate(lines);
        }
    }

    /// Joins all skills into one line.
    fn join_skills(&mut self) {
        let names: Vec<String> = self.skills.drain(..).map(|skill| skill.to_string()).collect();
        self.skills.extend((!names.is_empty()).then(|| Line::new(&names.join(", "))));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::text::Line;

    /// Returns what is made of foreign text, and the warnings.
    fn made<T>(make: impl FnOnce(&mut Lines<'_>) -> T) -> (T, Vec<String>) {
        let mut warnings = Vec::new();
        let made = make(&mut Lines {
            place: &|_| SourceLocation::new(Path::new(".vbw-planning"), None),
            warnings: &mut warnings,
        });
        (made, warnings.iter().map(Warning::to_string).collect())
    }

    #[test]
    fn placeholders_are_omitted() {
        for (text, expected) in
            [("TBD", None), ("_(none)_", None), ("5.1 (in progress)", Some("5.1 (in progress)"))]
        {
            let (line, warnings) = made(|lines| lines.optional("the phase", Some(text), 80));
            assert_eq!(line.as_ref().map(Line::as_str), expected);
            assert_eq!(warnings, [""; 0]);
        }
    }

    #[test]
    fn fresh_patterns_come_first_and_stale_ones_are_marked() {
        let pattern = |summary: &str, is_stale| Pattern { summary: summary.to_owned(), is_stale };
        let long = "word ".repeat(60);
        let patterns = [
            pattern("old", true),
            pattern("one", false),
            pattern(&long, true),
            pattern("one", false),
            pattern("None", false),
            pattern("two", false),
            pattern("three", false),
            pattern("left out", true),
        ];
        let (lines, _) = made(|lines| pattern_lines(&patterns, lines));
        let lines: Vec<&str> = lines.iter().map(Line::as_str).collect();
        assert_eq!(lines[..4], ["one", "two", "three", "old (possibly stale)"]);
        assert_eq!(lines.len(), 5);
        assert!(lines[4].ends_with("word (possibly stale)"), "{}", lines[4]);
    }

    #[test]
    fn secrets_are_redacted_with_a_warning() {
        let key = ["ghp", "_q7Zt2LmX9vKc4RbW8nYs1HdF6gPj3TaQ5eUo"].concat();
        let text = format!("Deploy with {key} only");
        let (line, warnings) = made(|lines| lines.line("the core value", &text, 80));
        assert_eq!(line, Line::new("Deploy with [redacted] only"));
        assert_eq!(
            warnings,
            [".vbw-planning: the core value contains what looks like a secret (github-token); \
              the context file shows [redacted]"]
        );
    }

    #[test]
    fn a_skill_is_listed_once() {
        let skill = |name: &str| Skill { name: name.to_owned(), scope: Some("global".to_owned()) };
        let skills = [skill("testing"), skill(""), skill("testing")];
        assert_eq!(made(|lines| skill_lines(&skills, lines)).0.len(), 1);
    }

    fn lines(count: usize) -> Vec<Line> {
        (0..count).map(|n| Line::new(&format!("line {n}"))).collect()
    }

    fn full() -> Content {
        Content {
            patterns: lines(5),
            skills: lines(4),
            decisions: lines(10),
            few_decisions: lines(5),
            commands: lines(3),
            ..Content::default()
        }
    }

    /// Renders like the template: a section with n lines takes n + 3.
    fn render(content: &Content) -> String {
        let section = |lines: usize| if lines == 0 { 0 } else { lines + 3 };
        let count = 10
            + section(content.patterns.len())
            + section(content.skills.len())
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

    #[test]
    fn skills_are_joined_in_one_line() {
        let skills = ["testing (global)", "design"].map(Line::new).to_vec();
        let mut content = Content { skills, ..Content::default() };
        content.join_skills();
        assert_eq!(content.skills, [Line::new("testing (global), design")]);
        let mut none = Content::default();
        none.join_skills();
        assert_eq!(none, Content::default());
    }
}
