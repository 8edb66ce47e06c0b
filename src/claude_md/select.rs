//! Builds the content of the block from the stores.

use std::collections::BTreeSet;
use std::path::Path;

use crate::claude_md::content::{Content, PhaseLine, SkillLine};
use crate::claude_md::decision_list::DecisionList;
use crate::claude_md::decisions;
use crate::claude_md::legacy_body::RecordedContent;
use crate::plan::list_entry::is_lead;
use crate::plan::{Decision, Skill, non_placeholder};
use crate::project::Layout;
use crate::text::{Line, fold, strip_controls};
use crate::warning::Warning;
use crate::{patterns, secrets};

/// The mark after a pattern that refers to something that may no longer exist.
pub(crate) const STALE_MARK: &str = " (possibly stale)";

/// Maximum number of patterns in the block.
const MAX_PATTERNS: usize = 5;

/// Maximum length of each part of the position, in characters.
const MAX_ITEM_CHARS: usize = 160;

/// Maximum length of a decision with its reason, in characters. A shorter one would cut off what follows a semicolon or
/// a colon, which is often the rule itself.
const MAX_DECISION_CHARS: usize = 240;

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
    pub(crate) fn known<'a>(&'a self, layout: &'a Layout) -> RecordedContent<'a> {
        let lists = self.decisions.iter();
        RecordedContent {
            project: &self.project,
            core_value: self.core_value.as_deref(),
            layout: layout.name,
            ..RecordedContent::default()
        }
        .with_lists(lists.flat_map(|list| &list.decisions), &self.skills, &self.recorded_patterns)
        .with_shipped(&self.shipped)
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
            decisions: decisions::select(&self.decisions, decision_statement)
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

/// Minimum number of words of a statement: a shorter text is just a name.
const MIN_STATEMENT_WORDS: usize = 2;

/// Returns a decision as whole sentences, with its reason or the sentences of it that fit, or `None` if it does not fit
/// untruncated.
///
/// A single word, such as a version, is meaningless without its reason: it is left out if not even the reason's
/// first sentence fits.
pub(crate) fn decision_statement(decision: &Decision) -> Option<String> {
    let replaced = with_struck_out_subject(decision.untagged());
    let text = replaced.as_deref().unwrap_or(decision.untagged());
    let text = patterns::statement(text, MAX_DECISION_CHARS)?;
    let reason = decision.rationale.as_deref().and_then(non_placeholder);
    let is_new = |reason: &str| !fold(&decision.text).contains(&fold(reason));
    let joint = if is_lead(&text) { " " } else { " \u{2014} " };
    let with_reason = |reason: &str| format!("{text}{joint}{}", reason.trim());
    let reason = reason.filter(|reason| is_new(reason));
    let combined = reason.map(with_reason);
    if let Some(combined) = combined.filter(|text| text.chars().count() <= MAX_DECISION_CHARS) {
        return Some(combined);
    }
    let available = MAX_DECISION_CHARS.checked_sub(text.chars().count() + 3);
    let shorter = reason
        .zip(available)
        .and_then(|(reason, available)| patterns::statement(reason, available))
        .filter(|reason| is_new(reason));
    match shorter {
        Some(reason) => Some(with_reason(&reason)),
        None => Some(text).filter(|text| {
            reason.is_none() || text.split_whitespace().count() >= MIN_STATEMENT_WORDS
        }),
    }
}

/// Returns a decision whose subject is struck out with that subject: `~~Use X~~ \u{2014} too slow` as
/// `Instead of Use X: too slow`.
fn with_struck_out_subject(text: &str) -> Option<String> {
    let (subject, rest) = text.strip_prefix("~~")?.split_once("~~")?;
    let is_joint = |c: char| c.is_whitespace() || "-\u{2013}\u{2014}\u{2192}:>".contains(c);
    // `~~Use tabs~~-style keys` is one word, and a reason may be struck out, too.
    if rest.starts_with('-') || rest.contains("~~") {
        return None;
    }
    let own = rest.trim_start();
    let reason = own.trim_start_matches(is_joint);
    let is_joined = own.len() > reason.len() && !reason.is_empty();
    is_joined.then(|| format!("Instead of {}: {reason}", subject.trim()))
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
    fn decisions_have_their_reason_and_are_never_truncated() {
        let long_reason = format!("Two agents write at once. {}", "Word ".repeat(60));
        let decision = |text: &str, rationale: Option<&str>| Decision {
            text: text.to_owned(),
            rationale: rationale.map(str::to_owned),
            ..Decision::default()
        };
        let sources = Sources {
            decisions: vec![DecisionList {
                decisions: vec![
                    decision("Use SQLite", Some("one file")),
                    decision("Ship weekly, because one file", Some("One file")),
                    decision("Lock the file", Some(&long_reason)),
                    decision("Wait, because two agents write at once", Some(&long_reason)),
                    decision("# Heading\n```", Some("N/A")),
                    decision(&"word ".repeat(60), None),
                ],
                ..DecisionList::default()
            }],
            ..Sources::default()
        };
        let (content, _) = content(&sources);
        let lines = shown(&content.decisions);
        // What does not fit untruncated is left out.
        assert_eq!(
            lines,
            [
                "\\# Heading ```",
                "Wait, because two agents write at once",
                "Lock the file — Two agents write at once",
                "Ship weekly, because one file",
                "Use SQLite — one file"
            ]
        );
    }

    #[test]
    fn the_rule_after_a_semicolon_or_a_colon_stays() {
        let shown = |text: &str, rationale: Option<&str>| {
            decision_statement(&Decision {
                text: text.to_owned(),
                rationale: rationale.map(str::to_owned),
                ..Decision::default()
            })
        };
        for text in [
            "Prices are frozen (list of 2026-03, 14 rows, with the rounding of the old shop) since the audit by hand of all \
             invoices; `check prices` must print FROZEN before each release and each import",
            "The types file is generated since the schema moved to its own package: each change of the schema \u{2192} \
             `run types --linked > src/types.ts`, and a commit of the file with it",
            "The key API is fixed (KEY_SIZE, open_key, close_key, key_label, set_key, mean_key, error_key, save_key): all \
             later scripts import it",
            "--all reads every folder up to 400 of them; above, `--some` is needed",
            "D3 charts on each page: one for the week and one for the day",
        ] {
            assert_eq!(shown(text, None).as_deref(), Some(text));
        }
        assert_eq!(
            shown("Compatibility is binding", Some("Each phase keeps the names. Phase 2 adds an alias; the old key may be empty. Binding."))
                .as_deref(),
            Some("Compatibility is binding \u{2014} Each phase keeps the names. Phase 2 adds an alias; the old key may be empty. Binding.")
        );
    }

    #[test]
    fn a_struck_out_subject_stays_as_what_was_replaced() {
        for (text, expected) in [
            (
                "~~One table per harbour~~ \u{2014} dropped; the index has all",
                "Instead of One table per harbour: dropped; the index has all",
            ),
            ("~~Use a cron job~~ -> a queue", "Instead of Use a cron job: a queue"),
            ("~~Use a cron job~~ Use a queue", "Use a queue"),
            ("Use a queue, ~~not~~ always", "Use a queue, always"),
        ] {
            let decision = Decision { text: text.to_owned(), ..Decision::default() };
            assert_eq!(decision_statement(&decision).as_deref(), Some(expected));
        }
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
