//! Recognises the bodies of the sections written by planning tools' own generators, by their exact shapes.

use std::collections::{HashMap, HashSet};

use crate::plan::{Decision, Skill, is_absent, non_placeholder};
use crate::project::LayoutName;
use crate::text::{clip, fold};

/// Maximum length of an unrecorded line in a warning, in characters.
const MAX_LINE_CHARS: usize = 60;

/// Content that the block or its stores already record, and that may therefore be removed from the rest of
/// the file.
#[derive(Clone, Debug, Default)]
pub struct RecordedContent<'a> {
    /// The project's name.
    pub project: &'a str,
    /// The core value.
    pub core_value: Option<&'a str>,
    /// The layout whose generator wrote the rest, if any.
    pub layout: LayoutName,
    /// All decisions by their normalised text, including those that the block omits.
    pub(crate) decisions: HashMap<String, &'a Decision>,
    /// The names of all skills.
    pub(crate) skills: HashSet<&'a str>,
    /// All patterns in the form returned by [`statement`], including those that the block omits.
    pub(crate) patterns: HashSet<String>,
    /// The words of each archived milestone's SHIPPED.md.
    pub(crate) shipped: Vec<HashSet<String>>,
}

impl<'a> RecordedContent<'a> {
    /// Adds the decisions, skills and patterns of the stores.
    #[must_use]
    pub fn with_lists(
        mut self,
        decisions: impl Iterator<Item = &'a Decision>,
        skills: &'a [Skill],
        patterns: &[String],
    ) -> Self {
        for decision in decisions {
            let text = fold(&decision.text);
            self.decisions.entry(text).or_insert(decision);
        }
        self.skills = skills.iter().map(|skill| skill.name.as_str()).collect();
        self.patterns = patterns.iter().map(|text| statement(text)).collect();
        self
    }

    /// Adds the SHIPPED.md files of the archived milestones.
    #[must_use]
    pub fn with_shipped(mut self, pages: &[String]) -> Self {
        self.shipped = pages.iter().map(|page| words(page).collect()).collect();
        self
    }

    /// Returns whether one SHIPPED.md contains every word and number of a text.
    fn is_shipped(&self, text: &str) -> bool {
        let is_in = |page: &HashSet<String>| words(text).all(|word| page.contains(&word));
        words(text).next().is_some() && self.shipped.iter().any(is_in)
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// How a section that looks generated is handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Disposition {
    /// Removed: the generator wrote it, and the block contains everything in it.
    Replaced,
    /// Kept: it is the user's own.
    Kept,
    /// Kept: it looks generated, but contains something that is recorded nowhere else.
    Unique(String),
    /// Kept: it looks generated, but none of its lines, which are of this kind, is recorded.
    Unrecorded(&'static str),
}

/// Judges `**Work:**`, `**Last shipped:**`, `**Milestone:**`, `**Phase:**` and `**Next action:**` lines.
pub(crate) fn active_context(body: &[&str], known: &RecordedContent<'_>) -> Disposition {
    let mut unique = None;
    for line in body {
        let Some((label, value)) = label(line) else {
            return Disposition::Kept;
        };
        let is_replaced = match label {
            "Milestone" => true,
            "Phase" => is_phase(value),
            "Next action" => names_command(value),
            "Work" => value == "No active milestone" || is_absent(value),
            "Last shipped" => is_absent(value) || known.is_shipped(value),
            _ => false,
        };
        if !is_replaced {
            unique.get_or_insert(format!("a `{label}` line that is recorded nowhere else"));
        }
    }
    match unique {
        Some(what) => Disposition::Unique(what),
        None if body.is_empty() => Disposition::Kept,
        None => Disposition::Replaced,
    }
}

/// Judges the list written by older generators: the planning folder, then the position.
pub(crate) fn state(body: &[&str], _: &RecordedContent<'_>) -> Disposition {
    let Some((first, rest)) = body.split_first() else {
        return Disposition::Kept;
    };
    let names_folder = first
        .strip_prefix("- Planning directory: `.")
        .is_some_and(|folder| folder.trim_end_matches(['`', '/']).ends_with("planning"));
    let is_position = |line: &&str| {
        ["- Current Phase: ", "- Status: ", "- Project not yet defined"]
            .iter()
            .any(|start| line.starts_with(start))
            || (line.starts_with("- Milestone: ") && line.ends_with(" phases)"))
    };
    if names_folder && rest.iter().all(is_position) {
        Disposition::Replaced
    } else {
        Disposition::Kept
    }
}

/// Judges a table with the columns `Decision | Date | Rationale`, or bullets.
pub(crate) fn decisions(body: &[&str], known: &RecordedContent<'_>) -> Disposition {
    let is_recorded = |text: &str| is_absent(text) || recorded(text, known).is_some();
    match body {
        [header, rule, rows @ ..] if header.starts_with('|') => {
            let rows: Vec<Vec<&str>> = rows.iter().map(|row| cells(row)).collect();
            let is_generated = cells(header) == ["Decision", "Date", "Rationale"]
                && cells(rule).iter().all(|cell| is_dashes(cell))
                && rows.iter().all(|row| row.len() == 3);
            if !is_generated {
                return Disposition::Kept;
            }
            let missing = rows.iter().find(|row| !is_recorded_row(row, known));
            judge_missing(missing.map(|row| row[0]), "decision")
        }
        lines => judge_list(lines, is_recorded, "decision"),
    }
}

/// Judges bullets that repeat PATTERNS.md, with or without their source.
pub(crate) fn patterns(body: &[&str], known: &RecordedContent<'_>) -> Disposition {
    let is_recorded = |text: &str| is_absent(text) || known.patterns.contains(&statement(text));
    judge_list(body, is_recorded, "pattern")
}

/// Returns a pattern normalised for comparison: without the plans or the phase in brackets at its end.
pub(crate) fn statement(pattern: &str) -> String {
    fold(pattern.rsplit_once(" (").map_or(pattern, |(text, _)| text))
}

/// Judges a list: it is replaced if all bullets are recorded; a list of another form is the user's own.
fn judge_list(
    lines: &[&str],
    is_recorded: impl Fn(&str) -> bool,
    what: &'static str,
) -> Disposition {
    let bullets: Option<Vec<&str>> = lines.iter().map(|line| line.strip_prefix("- ")).collect();
    let bullets = bullets.unwrap_or_default();
    if bullets.iter().any(|text| is_recorded(text)) {
        judge_missing(bullets.into_iter().find(|text| !is_recorded(text)), what)
    } else if bullets.is_empty() {
        Disposition::Kept
    } else {
        Disposition::Unrecorded(what)
    }
}

/// Returns the disposition of a list, given the text that is recorded nowhere else, if any.
fn judge_missing(missing: Option<&str>, what: &str) -> Disposition {
    missing.map_or(Disposition::Replaced, |text| {
        let text = clip(text, MAX_LINE_CHARS);
        Disposition::Unique(format!("a {what} that is not recorded: {text}"))
    })
}

/// Judges bullets of the form `name (scope)`, or the placeholder that names the command to list skills.
pub(crate) fn skills(body: &[&str], known: &RecordedContent<'_>) -> Disposition {
    let is_placeholder = |line: &str| {
        line.strip_prefix("_(Run /")
            .and_then(|rest| rest.strip_suffix(":skills to list)_"))
            .is_some_and(is_word)
    };
    let is_recorded = |text: &str| {
        let name = text
            .strip_suffix(')')
            .and_then(|rest| rest.rsplit_once(" ("))
            .map_or(text, |(name, _)| name);
        known.skills.contains(name)
    };
    match body {
        [line] if is_placeholder(line) => Disposition::Replaced,
        lines => judge_list(lines, is_recorded, "skill"),
    }
}

/// Judges the fixed lines that name the planning tool's commands.
pub(crate) fn commands(body: &[&str], known: &RecordedContent<'_>) -> Disposition {
    let layout = known.layout.as_str();
    let status = format!("Run /{layout}:status for current progress.");
    let help = [
        format!("Run /{layout}:help for all commands."),
        format!("Run /{layout}:help for all available commands."),
    ];
    let rest = match body {
        ["This project uses VBW (Vibe Better with Claude Code).", rest @ ..] => rest,
        all => all,
    };
    match rest {
        [first, second] if *first == status && help.iter().any(|help| help == second) => {
            Disposition::Replaced
        }
        _ => Disposition::Kept,
    }
}

fn label(line: &str) -> Option<(&str, &str)> {
    let (label, value) = line.strip_prefix("**")?.split_once(":**")?;
    Some((label, value.trim()))
}

/// Returns whether a value has the form `2 - Name (status)` or is a placeholder.
fn is_phase(value: &str) -> bool {
    let (number, rest) = value.split_once(" - ").unwrap_or_default();
    is_absent(value)
        || number.starts_with(|c: char| c.is_ascii_digit())
            && !number.contains(' ')
            && rest.ends_with(')')
}

fn names_command(value: &str) -> bool {
    is_absent(value) || LayoutName::prefixes().any(|prefix| value.contains(prefix))
}

fn cells(row: &str) -> Vec<&str> {
    let inner = row.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(str::trim).collect()
}

fn is_dashes(cell: &str) -> bool {
    cell.len() > 2 && cell.chars().all(|c| matches!(c, '-' | ':'))
}

/// Returns whether a row is a placeholder, or a recorded decision with the same reason.
fn is_recorded_row(cells: &[&str], known: &RecordedContent<'_>) -> bool {
    let [text, _, rationale] = cells else {
        return false;
    };
    if is_absent(text) {
        return is_absent(rationale);
    }
    recorded(text, known).is_some_and(|decision| {
        non_placeholder(rationale).is_none_or(|reason| {
            let recorded_reason = decision.rationale.as_deref();
            recorded_reason.is_some_and(|recorded_reason| fold(recorded_reason) == fold(reason))
        })
    })
}

fn recorded<'a>(text: &str, known: &RecordedContent<'a>) -> Option<&'a Decision> {
    known.decisions.get(&fold(text)).copied()
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric())
}
