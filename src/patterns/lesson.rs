//! The lessons of a phase: as the agent that worked on it submits them, or else what its summaries say in their own whole
//! sentences.
//!
//! What failed: a deviation's or an issue's first sentence, and that of its fix; if both are too long together, as many
//! sentences of the problem as fit. What worked: what the phase set up to be used again. Nothing is composed or weighed.
//! What tells a lesson from a log entry was measured on summaries of many projects: a problem that still holds is told in
//! the present or named by the title, and free text is a lesson if it gives a reason, names a failure or says what was not
//! as it should be.

use std::path::{Component, Path};

use serde::{Deserialize, Deserializer};

use crate::error::{Error, Result};
use crate::patterns::entry::is_filler;
use crate::patterns::sentences::{
    ContentWords, clean, complete_statement, is_complete, is_whole, leading_sentences,
};
use crate::patterns::trace::{cite, cited, split_citation};
use crate::patterns::{FinishedPhase, LessonSource, PatternEntry, Patterns};
use crate::plan::read::vocabulary::{begins, has, words};
use crate::plan::{Decision, Deviation, NoteKind, PlanNumber};
use crate::secrets;
use crate::storage::read;
use crate::text::{Line, Pattern, clip, is_closed, join, lower_words, negates, prose, sentences};

/// Maximum number of lessons of each kind that are recorded.
const MAX_RECORDED: usize = 8;

/// Maximum length of a recorded lesson without its citation, in characters.
const MAX_LENGTH: usize = 240;

/// Number of words at the beginning of a text among which its verb is.
const VERB_WITHIN: usize = 8;

/// A lesson, as a bullet of an entry.
pub(crate) struct Lesson {
    /// The sentence and the citation of its plans.
    pub(crate) text: Line,
    /// The plan and the line of its summary that it was drawn from.
    pub(crate) source: Option<LessonSource>,
}

/// Returns what worked, in the order of the plans: what they say did, the patterns that they established, then their
/// decisions.
pub(crate) fn worked(phase: &FinishedPhase) -> Vec<Lesson> {
    let patterns = phase.plans.iter().flat_map(|plan| {
        let lines = plan.pattern_lines.iter();
        let found = plan.patterns().iter().zip(lines);
        found.map(move |(text, line)| (stated(&clean(text)), &plan.plan, *line))
    });
    let decisions = phase.plans.iter().flat_map(|plan| {
        let decisions = plan.summary.decisions.iter().flatten();
        let text = |decision: &Decision| {
            let text = decision.untagged();
            let is_choice = decision.rationale.is_some() || !tells_only_what_was_done(text);
            stated(text).filter(|_| is_choice)
        };
        decisions.map(move |decision| (text(decision), &plan.plan, 0))
    });
    recorded(notes(phase, true).chain(patterns).chain(decisions))
}

/// Returns what failed, in the order of the plans; deviations come before other issues.
pub(crate) fn failed(phase: &FinishedPhase) -> Vec<Lesson> {
    let deviations = phase.plans.iter().flat_map(|plan| {
        plan.deviations().iter().map(move |one| (problem(one), &plan.plan, one.line))
    });
    recorded(deviations.chain(notes(phase, false)))
}

/// Returns the notes of the summaries that say what worked, or else what did not. A lesson may be either: it is a failure
/// if it names one or advises against something.
fn notes(
    phase: &FinishedPhase,
    has_worked: bool,
) -> impl Iterator<Item = (Option<String>, &PlanNumber, usize)> {
    phase.plans.iter().flat_map(move |plan| {
        let notes = plan.summary.notes.iter().filter(move |note| {
            let is_good = match note.kind {
                NoteKind::Issue => false,
                NoteKind::Worked => true,
                NoteKind::Lesson => {
                    !names_failure(&note.text)
                        && !begins("advice against", &note.text.to_lowercase())
                }
            };
            is_good == has_worked
        });
        notes.map(|note| (stated(&clean(&note.text)), &plan.plan, note.line))
    })
}

/// Returns the first lessons of a list, each once, with all plans that state it.
fn recorded<'a>(all: impl Iterator<Item = (Option<String>, &'a PlanNumber, usize)>) -> Vec<Lesson> {
    let mut found: Vec<(String, ContentWords, Vec<&PlanNumber>, usize)> = Vec::new();
    for (text, plan, line) in all {
        let Some(text) = text else { continue };
        let words = ContentWords::from_text(&text);
        let is_known = |(known, other, ..): &(String, ContentWords, Vec<_>, usize)| {
            *known == text || other.repeats(&words)
        };
        match found.iter().position(is_known) {
            Some(at) => found[at].2.push(plan),
            None if found.len() < MAX_RECORDED => found.push((text, words, vec![plan], line)),
            None => {}
        }
    }
    let lessons = found.into_iter().map(|(text, _, plans, line)| Lesson {
        text: Line::new(&format!("{text} {}", cite(&plans))),
        source: plans.first().map(|plan| LessonSource { plan: (*plan).clone(), line }),
    });
    lessons.collect()
}

/// Returns the beginning of a text that says something on its own.
fn stated(text: &str) -> Option<String> {
    complete_statement(text, MAX_LENGTH).filter(|text| !is_left_out(text))
}

/// Returns the problem of a deviation and its fix, each by its first whole sentence, or the beginning of its free text;
/// `None` if it states no problem, or one that changes no later plan.
pub(crate) fn problem(deviation: &Deviation) -> Option<String> {
    let title = clean(&deviation.text);
    let text = match (&deviation.issue, &deviation.fix) {
        (None, None) => complete_statement(&title, MAX_LENGTH).filter(|text| gives_reason(text))?,
        (None, Some(fix)) => with_fix(&title, fix)?,
        (Some(issue), fix) => {
            let issue = clean(issue);
            if is_deed(&title) && has_any(&issue, "past") {
                return None;
            }
            match fix {
                Some(fix) => with_fix(&issue, fix)?,
                None => complete_statement(&issue, MAX_LENGTH)?,
            }
        }
    };
    let is_trifle = |text: &str| {
        let lower = prose(text).to_lowercase();
        words("trifle").any(|words| lower.contains(words))
    };
    let is_lesson = !is_left_out(&text) && !is_trifle(&text) && !is_trifle(&title);
    is_lesson.then_some(text)
}

/// Returns the first sentence of an issue with that of its fix, or the issue without the fix if both are too long together.
fn with_fix(issue: &str, fix: &str) -> Option<String> {
    // `Excel writes a BOM.` says enough beside its fix.
    let first = leading_sentences(issue, 1, MAX_LENGTH).filter(|first| is_whole(first))?;
    let first = first.trim_end_matches('.');
    let fix = clean(fix);
    let fix = sentences(&fix).into_iter().next().filter(|fix| is_closed(fix));
    let stop = if first.ends_with(['!', '?']) { "" } else { "." };
    let both = fix.map(|fix| format!("{first}{stop} Fix: {}", fix.trim_end_matches('.')));
    both.filter(|both| both.chars().count() <= MAX_LENGTH)
        .or_else(|| complete_statement(issue, MAX_LENGTH))
        .or_else(|| Some(first.to_owned()))
}

/// Returns whether a title says what was done, instead of naming the problem.
fn is_deed(title: &str) -> bool {
    let first = title.split(' ').next().unwrap_or_default().to_lowercase();
    first.ends_with("ed") || first == "made" || first == "set"
}

/// Returns whether free text gives a reason, names a failure, or says in which code something was not as it should be.
fn gives_reason(text: &str) -> bool {
    has_reason(text) || names_failure(text) || text.contains('`') && denies(text)
}

fn names_failure(text: &str) -> bool {
    let padded = padded(text);
    words("failure").any(|start| padded.contains(&format!(" {start}")))
}

fn has_reason(text: &str) -> bool {
    let padded = padded(text);
    words("reason").any(|reason| padded.contains(&format!(" {reason} ")))
}

/// Returns the words of a text in lower case, with a space around each.
fn padded(text: &str) -> String {
    lower_words(text).fold(" ".to_owned(), |padded, word| padded + &word + " ")
}

/// Returns whether a text, recorded as a decision, only says what was done: it has neither a reason nor an alternative.
pub(crate) fn tells_only_what_was_done(text: &str) -> bool {
    lower_words(text).take(VERB_WITHIN).any(|word| has("deed", &word))
        && !has_reason(text)
        && !denies(text)
        && !has_any(text, "choice")
}

fn denies(text: &str) -> bool {
    has_any(text, "not as it should be") || lower_words(text).any(|word| negates(&word))
}

fn has_any(text: &str, kind: &str) -> bool {
    lower_words(text).any(|word| has(kind, &word))
}

fn is_left_out(text: &str) -> bool {
    let lower = text.to_lowercase();
    let is_digit = |c: char| c.is_ascii_digit();
    numbered_task(&lower) == Some(0)
        || lower.strip_prefix("test ").is_some_and(|rest| rest.starts_with(is_digit))
        || text.contains("```")
        || begins("no lesson", &lower)
}

/// Returns where a text in lower case names a task by its number, which only the plan explains.
pub(crate) fn numbered_task(lower: &str) -> Option<usize> {
    NUMBERED_TASK.find(lower).map(|found| found.start())
}

static NUMBERED_TASK: Pattern = Pattern::new(r"\btasks? \d");

/// Maximum number of submitted lessons of each kind.
const MAX_LESSONS: usize = 3;

/// Maximum length of a submitted lesson, in characters.
const MAX_LESSON_LENGTH: usize = 160;

/// Lessons as submitted, as JSON or as bullets under two headings.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubmittedLessons {
    /// What worked.
    #[serde(default)]
    pub worked: Vec<SubmittedLesson>,
    /// What failed.
    #[serde(default)]
    pub failed: Vec<SubmittedLesson>,
}

/// A submitted lesson with its evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubmittedLesson {
    /// The lesson: one whole sentence.
    pub text: String,
    /// The plans of the phase that it was learned from.
    #[serde(default, deserialize_with = "texts")]
    pub plans: Vec<String>,
    /// The files it is about.
    #[serde(default)]
    pub files: Vec<String>,
}

/// Reads a list of texts, each of which may be a whole number instead.
fn texts<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a plan is a text or a whole number")]
    enum Plan {
        Number(u32),
        Text(String),
    }
    let plans = Vec::deserialize(from)?.into_iter();
    let text = |plan| match plan {
        Plan::Number(number) => number.to_string(),
        Plan::Text(text) => text,
    };
    Ok(plans.map(text).collect())
}

/// Lessons that passed every check.
pub struct CheckedLessons {
    pub(crate) worked: Vec<Lesson>,
    pub(crate) failed: Vec<Lesson>,
}

impl SubmittedLessons {
    /// Parses lessons from JSON, or from markdown bullets under `What worked` and `What failed`.
    pub fn parse(text: &str) -> Result<Self> {
        let is_json = text.trim_start().starts_with('{');
        let found: Self = if is_json {
            serde_json::from_str(text).map_err(|error| {
                Error::refused(format!("the lessons cannot be read: {error}")).hint(FORMAT_HINT)
            })?
        } else {
            Self::from_markdown(text)
        };
        // No lesson is an answer, too, if it is given as one.
        let mut bullets = text.lines().filter_map(|line| line.trim().strip_prefix("- ")).peekable();
        let says_so = is_json && text.contains("\"worked\"") && text.contains("\"failed\"")
            || bullets.peek().is_some() && bullets.all(is_filler);
        if !says_so && found.worked.is_empty() && found.failed.is_empty() {
            return Err(Error::refused("the input contains no lessons").hint(FORMAT_HINT));
        }
        Ok(found)
    }

    /// Reads bullets under two labels, as in an entry.
    fn from_markdown(text: &str) -> Self {
        // Below the heading of an entry, each heading is a level deeper, and a label ends the bullet above it.
        let lines = text.lines().map(|line| {
            let is_label = line.starts_with("**") || line.ends_with(':');
            let before = if line.starts_with('#') {
                "#"
            } else if is_label {
                "\n"
            } else {
                ""
            };
            format!("{before}{line}\n")
        });
        let entry = format!("# Phase 0\n\n{}", lines.collect::<String>());
        // A heading above the labels begins an entry of its own.
        let read = Patterns::parse(&entry, Path::new("")).value.entries;
        let lessons = |texts: fn(&PatternEntry) -> &Vec<String>| {
            let all = read.iter().flat_map(texts);
            all.map(|text| SubmittedLesson::from_bullet(text)).collect()
        };
        Self { worked: lessons(|entry| &entry.worked), failed: lessons(|entry| &entry.failed) }
    }

    /// Checks all lessons; the error names the first that breaks a rule, with the reason.
    ///
    /// `known` are the recorded patterns; the phase's own entry, whose heading is at line `own`, is ignored.
    pub(crate) fn checked<'a>(
        &'a self,
        phase: &FinishedPhase,
        known: &'a Patterns,
        own: Option<usize>,
        root: &Path,
    ) -> Result<CheckedLessons> {
        for (lessons, name) in [(&self.worked, "worked"), (&self.failed, "failed")] {
            if lessons.len() > MAX_LESSONS {
                let message = format!(
                    "{} lessons under {name}; at most {MAX_LESSONS} are allowed",
                    lessons.len()
                );
                return Err(Error::refused(message).hint("keep those that change the next plan"));
            }
        }
        let entries = known.entries.iter().filter(|entry| Some(entry.line) != own);
        let recorded = entries.flat_map(PatternEntry::texts);
        let recorded = recorded.chain(known.loose.iter().map(|loose| loose.text.as_str()));
        let mut before: Vec<(&str, ContentWords)> =
            recorded.map(|text| (text, ContentWords::from_text(text))).collect();
        let mut checked = |lessons: &'a [SubmittedLesson]| -> Result<Vec<Lesson>> {
            let mut found = Vec::new();
            for lesson in lessons {
                found.push(lesson.checked(phase, root)?);
                let words = ContentWords::from_text(&lesson.text);
                if let Some((other, _)) = before.iter().find(|(_, other)| other.repeats(&words)) {
                    let reason =
                        format!("is nearly the same as a recorded one: {}", clip(other, 100));
                    return Err(lesson.refused(&reason, "leave it out: it is recorded"));
                }
                before.push((&lesson.text, words));
            }
            Ok(found)
        };
        Ok(CheckedLessons { worked: checked(&self.worked)?, failed: checked(&self.failed)? })
    }
}

/// Returns whether a file exists in the project under this path, which must be relative to its root.
///
/// A lesson is shared, so it must not name a path of one machine.
pub(crate) fn is_project_file(root: &Path, file: &str) -> bool {
    let path = Path::new(file);
    let is_inside =
        path.is_relative() && !path.components().any(|part| part == Component::ParentDir);
    is_inside && read::exists(&root.join(path))
}

/// The format of lessons, as a hint in error messages.
const FORMAT_HINT: &str = "write {\"worked\":[{\"text\":\"…\",\"plans\":[\"02\"]}],\"failed\":[…]}, or bullets under \
                    `What worked` and `What failed`";

impl SubmittedLesson {
    /// Parses `Text (plans 01, 03)`; without plans, the files are the paths in backticks.
    fn from_bullet(bullet: &str) -> Self {
        let plans: Vec<String> = cited(bullet).iter().map(ToString::to_string).collect();
        let text = split_citation(bullet).0;
        let spans = text.split('`').skip(1).step_by(2);
        let files = spans.filter(|span| span.contains(['/', '.']) && !span.contains(' '));
        Self {
            text: text.to_owned(),
            files: if plans.is_empty() { files.map(str::to_owned).collect() } else { Vec::new() },
            plans,
        }
    }

    fn checked(&self, phase: &FinishedPhase, root: &Path) -> Result<Lesson> {
        let whole = Line::new(self.text.trim());
        let sentence = whole.as_str().trim_end_matches('.');
        if let Some(rule) = secrets::first_rule(sentence) {
            let reason = format!("looks like a secret ({rule})");
            return Err(self.refused(&reason, "say where the secret is stored, not its value"));
        }
        let length = sentence.chars().count();
        if length > MAX_LESSON_LENGTH {
            let reason = format!("has {length} characters; the maximum is {MAX_LESSON_LENGTH}");
            return Err(self.refused(&reason, "say it in one sentence"));
        }
        if !is_complete(whole.as_str()) {
            return Err(self.refused("is not a whole sentence", "state the fact and what to do"));
        }
        let lower = sentence.to_lowercase();
        if words("praise").any(|praise| lower.contains(praise)) && !sentence.contains('`') {
            let hint = "say what to do again, and where it is";
            return Err(self.refused("contains only praise", hint));
        }
        let plans = self.known_plans(phase)?;
        self.check_files(phase, root)?;
        let files = &self.files;
        if plans.is_empty() && files.is_empty() {
            return Err(
                self.refused("names neither a plan nor a file", "add \"plans\" or \"files\"")
            );
        }
        let is_said = plans.is_empty() && files.iter().all(|file| sentence.contains(file.as_str()));
        let citation = match &plans[..] {
            _ if is_said => String::new(),
            [] => format!(" ({})", join(files.iter().map(|file| format!("`{file}`")), ", ")),
            plans => format!(" {}", cite(&plans.iter().collect::<Vec<_>>())),
        };
        Ok(Lesson {
            text: Line::new(&format!("{sentence}{citation}")),
            source: plans.first().map(|plan| LessonSource { plan: plan.clone(), line: 0 }),
        })
    }

    fn known_plans(&self, phase: &FinishedPhase) -> Result<Vec<PlanNumber>> {
        let known = |text: &String| {
            let plan = text.rsplit_once('-').map_or(text.as_str(), |(_, plan)| plan);
            let number = PlanNumber::parse(plan);
            let exists = |number: &PlanNumber| phase.plans.iter().any(|plan| plan.plan == *number);
            number.filter(exists).ok_or_else(|| {
                let reason = format!("names plan {text}, which {} does not have", phase.dir_name);
                let all = join(phase.plans.iter().map(|plan| plan.plan.to_string()), ", ");
                self.refused(&reason, &format!("its plans: {all}"))
            })
        };
        self.plans.iter().map(known).collect()
    }

    /// Refuses files that are neither of the phase nor in the project.
    fn check_files(&self, phase: &FinishedPhase, root: &Path) -> Result<()> {
        let touched = |file: &String| {
            phase
                .plans
                .iter()
                .any(|plan| plan.summary.files.iter().flatten().any(|one| one == file))
        };
        for file in self.files.iter().filter(|file| !touched(file)) {
            if !is_project_file(root, file) {
                let reason =
                    format!("names {file}, which is not the path of a file in this project");
                return Err(self.refused(&reason, "name files relative to the project"));
            }
        }
        Ok(())
    }

    fn refused(&self, reason: &str, hint: &str) -> Error {
        // A secret must not be repeated in the error message.
        let shown = secrets::redact(&self.text).text.into_owned();
        Error::refused(format!("the lesson \"{}\" {reason}", clip(&shown, 80))).hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(text: &str, issue: Option<&str>, fix: Option<&str>) -> Option<String> {
        problem(&Deviation {
            text: text.to_owned(),
            issue: issue.map(str::to_owned),
            fix: fix.map(str::to_owned),
            ..Deviation::default()
        })
    }

    #[test]
    fn a_problem_and_its_fix_stand_as_they_are_written() {
        let text = recorded(
            "[Rule 3 - Blocking] rich-click not installed",
            Some("`ModuleNotFoundError` for `rich_click` in **every** test (abc1234). More."),
            Some("`pip install rich-click`. Note: declare it."),
        );
        assert_eq!(
            text.as_deref(),
            Some(
                "`ModuleNotFoundError` for `rich_click` in every test. Fix: `pip install rich-click`"
            )
        );
    }

    #[test]
    fn a_short_problem_needs_its_fix() {
        let (issue, fix) = (Some("Excel writes a BOM."), Some("Strip it before parsing"));
        let text = recorded("[Rule 1 - Bug] BOM", issue, fix);
        assert_eq!(text.as_deref(), Some("Excel writes a BOM. Fix: Strip it before parsing"));
        assert_eq!(recorded("[Rule 1 - Bug] BOM", issue, None), None);
    }

    #[test]
    fn a_sentence_that_is_taken_back_needs_the_next_one() {
        let issue = "The plan has the token stored as UTF-16. In fact the store writes UTF-8.";
        let text = recorded("Encoding", Some(issue), Some("Read it as UTF-8"));
        assert_eq!(text.as_deref(), Some(&*format!("{issue} Fix: Read it as UTF-8")));
        let long = format!("{issue} However {}.", "word ".repeat(60).trim());
        assert_eq!(recorded("Encoding", Some(&long), Some("Read it as UTF-8")), None);
    }

    #[test]
    fn a_fix_that_is_too_long_is_left_out() {
        let issue = "`a.rs` holds its lock until the writer is dropped";
        let long = "word ".repeat(50);
        assert_eq!(recorded("Lock", Some(issue), Some(&long)).as_deref(), Some(issue));
        let whole = format!("{issue}. A second writer waits until then");
        let text = recorded("Lock", Some(&format!("{whole}. More {long}")), Some(&long));
        assert_eq!(text, Some(whole));
    }

    #[test]
    fn free_text_needs_a_reason_or_a_denial() {
        for (text, is_lesson) in [
            ("Tests are placed in `tests`, because the project has no `tests/unit`.", true),
            ("`npm ci` fails without the lock file; the script writes it first.", true),
            ("The tests are not found in `tests/unit`. Moved them to `tests`.", true),
            ("Added a page about the store. Moved its lock there.", false),
        ] {
            assert_eq!(recorded(text, None, None).is_some(), is_lesson, "{text}");
        }
    }

    #[test]
    fn long_free_text_is_cut_at_the_end_of_a_sentence_or_clause() {
        let first = "The hook rejects a message without a type, because its pattern is anchored";
        let long = "word ".repeat(50);
        for text in [
            format!("{first}. And {long}"),
            format!("{first}; {long}"),
            format!("{first} \u{2014} {long}"),
        ] {
            assert_eq!(recorded(&text, None, None).as_deref(), Some(first), "{text}");
        }
    }

    #[test]
    fn a_mended_mistake_of_the_phase_itself_is_no_lesson() {
        let issue = Some("The header was parsed before the lock was taken");
        assert_eq!(
            recorded("[Rule 1 - Bug] Fixed the order of locks", issue, Some("Lock first")),
            None
        );
        assert!(recorded("[Rule 1 - Bug] Order of locks", issue, Some("Lock first")).is_some());
        let present = Some("The store locks each file, not the folder, so two writers pass");
        assert!(
            recorded("[Rule 1 - Bug] Fixed the order of locks", present, Some("Lock first"))
                .is_some()
        );
    }

    #[test]
    fn what_changes_no_later_plan_is_left_out() {
        for (text, issue) in [
            ("Import order", "The import order of `a.rs` is not accepted by the check"),
            ("Order", "Task 3 cannot be carried out before the others"),
            ("Names", "The plan's list of files does not have the lock of the store"),
        ] {
            assert_eq!(recorded(text, Some(issue), Some("Changed it")), None, "{issue}");
        }
    }

    #[test]
    fn a_name_in_code_is_no_trifle() {
        let issue = "Plan specified `003_replace_styles.sql`, but a migration 003 already exists";
        let text = recorded("Migration numbered 006", Some(issue), Some("Numbered it 006"));
        assert_eq!(text, Some(format!("{issue}. Fix: Numbered it 006")));
    }

    #[test]
    fn json_and_markdown_say_the_same() {
        let json = SubmittedLessons::parse(
            "{\"worked\":[{\"text\":\"Locks are taken before a file is read\",\"plans\":[1,\"2\"]}],\
             \"failed\":[{\"text\":\"`a.rs` needs a lock of its own\",\"files\":[\"a.rs\"]}]}",
        );
        let markdown = SubmittedLessons::parse(
            "## What worked\n\n- Locks are taken before a file is read (plans 01, 02)\n\n**What failed:**\n\
             - `a.rs` needs a lock of its own\n",
        );
        assert_eq!(json.unwrap(), markdown.unwrap());
    }

    #[test]
    fn a_wrapped_bullet_is_one_lesson() {
        let lessons = SubmittedLessons::parse(
            "**What failed:**\n- Tests of the store run in parallel and\n  share one folder, so they\n  \
             failed\n  (plans 01, 02)\nWhat worked:\n* Locks are taken before a file is read\n  (plan 02)\n\n\
             What failed:\n1. A third\n",
        );
        let lessons = lessons.unwrap();
        let texts = |lessons: &[SubmittedLesson]| -> Vec<String> {
            lessons.iter().map(|lesson| lesson.text.clone()).collect()
        };
        assert_eq!(
            texts(&lessons.failed),
            ["Tests of the store run in parallel and share one folder, so they failed", "A third"]
        );
        assert_eq!(lessons.failed[0].plans, ["1", "2"]);
        assert_eq!(texts(&lessons.worked), ["Locks are taken before a file is read"]);
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_the_form() {
        for text in [
            "",
            "{\"worked\":[{\"txt\":\"a\"}]}",
            "{\"worked\":[{\"text\":\"a\",\"plans\":[1.10]}]}",
            "- a bullet under nothing",
        ] {
            let error = SubmittedLessons::parse(text).unwrap_err();
            assert!(error.hint.is_some(), "{text}: {error}");
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a test writes its own files")]
    #[test]
    fn a_file_is_named_relative_to_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.rs");
        std::fs::write(&file, "").unwrap();
        std::fs::create_dir(folder.path().join("inner")).unwrap();
        assert!(is_project_file(folder.path(), "a.rs"));
        for outside in ["b.rs", "../a.rs", file.to_str().unwrap()] {
            assert!(!is_project_file(&folder.path().join("inner"), outside), "{outside}");
        }
    }
}
