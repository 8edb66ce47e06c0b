//! Checks the lessons submitted by the agent that worked on a phase.

use std::path::{Component, Path};

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::patterns::lesson::Lesson;
use crate::patterns::sentences::{ContentWords, is_complete};
use crate::patterns::trace::{cite, cited, split_citation};
use crate::patterns::{FinishedPhase, LessonSource, PatternEntry, Patterns};
use crate::plan::PlanNumber;
use crate::secrets;
use crate::storage::read;
use crate::text::{Line, clip};

/// Maximum number of submitted lessons of each kind.
const MAX_LESSONS: usize = 3;

/// Maximum length of a submitted lesson, in characters.
const MAX_LESSON_LENGTH: usize = 160;

/// Phrases of praise, which contain no lesson.
const PRAISE: &str = "went well|went smoothly|worked well|as planned|as expected|no issues|no problems|without issues|\
    without problems|great job|good progress|all good|successfully completed|everything worked";

/// Lessons as submitted, as JSON or as bullets under two headings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
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
    #[serde(default)]
    pub plans: Vec<String>,
    /// The files it is about.
    #[serde(default)]
    pub files: Vec<String>,
}

/// Lessons that passed every check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckedLessons {
    pub(crate) worked: Vec<Lesson>,
    pub(crate) failed: Vec<Lesson>,
}

impl SubmittedLessons {
    /// Parses lessons from JSON, or from markdown bullets under `What worked` and `What failed`.
    pub fn parse(text: &str) -> Result<Self> {
        let found = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|error| {
                Error::refused(format!("the lessons cannot be read: {error}")).hint(FORMAT_HINT)
            })?
        } else {
            Self::from_markdown(text)
        };
        if found.worked.is_empty() && found.failed.is_empty() {
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
                    let reason = format!("near-duplicate of a recorded one: {}", clip(other, 100));
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
        let text = Line::new(self.text.trim().trim_end_matches('.'));
        let sentence = text.as_str();
        if let Some(rule) = secrets::first_rule(sentence) {
            let reason = format!("looks like a secret ({rule})");
            return Err(self.refused(&reason, "say where the secret is stored, not its value"));
        }
        let length = sentence.chars().count();
        if length > MAX_LESSON_LENGTH {
            let reason = format!("has {length} characters; the maximum is {MAX_LESSON_LENGTH}");
            return Err(self.refused(&reason, "say it in one sentence"));
        }
        if !is_complete(sentence) {
            return Err(self.refused("is not a whole sentence", "state the fact and what to do"));
        }
        let lower = sentence.to_lowercase();
        if PRAISE.split('|').any(|praise| lower.contains(praise)) && !sentence.contains('`') {
            let hint = "say what to do again, and where it is";
            return Err(self.refused("contains only praise", hint));
        }
        let plans = self.known_plans(phase)?;
        let files = self.known_files(phase, root)?;
        if plans.is_empty() && files.is_empty() {
            return Err(
                self.refused("names neither a plan nor a file", "add \"plans\" or \"files\"")
            );
        }
        let named: Vec<String> = files.iter().map(|file| format!("`{file}`")).collect();
        let is_said = plans.is_empty() && files.iter().all(|file| sentence.contains(*file));
        let citation = match &plans[..] {
            _ if is_said => String::new(),
            [] => format!(" ({})", named.join(", ")),
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
                let all: Vec<String> =
                    phase.plans.iter().map(|plan| plan.plan.to_string()).collect();
                self.refused(&reason, &format!("its plans: {}", all.join(", ")))
            })
        };
        self.plans.iter().map(known).collect()
    }

    fn known_files(&self, phase: &FinishedPhase, root: &Path) -> Result<Vec<&str>> {
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
        Ok(self.files.iter().map(String::as_str).collect())
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

    #[test]
    fn json_and_markdown_say_the_same() {
        let json = SubmittedLessons::parse(
            "{\"worked\":[{\"text\":\"Locks are taken before a file is read\",\"plans\":[\"1\"]}],\
             \"failed\":[{\"text\":\"`a.rs` needs a lock of its own\",\"files\":[\"a.rs\"]}]}",
        );
        let markdown = SubmittedLessons::parse(
            "## What worked\n\n- Locks are taken before a file is read (plan 01)\n\n**What failed:**\n\
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
        for text in ["", "{\"worked\":[{\"txt\":\"a\"}]}", "- a bullet under nothing"] {
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
