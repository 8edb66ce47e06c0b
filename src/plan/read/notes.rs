//! Reads what is noted beside the documents and phases: todos, paused work, and settings.
//!
//! GSD keeps open todos as files, one each.
//!
//! ```text
//! <planning>/todos/pending/2026-03-10-print-all-labels.md      front matter: title: Print all labels at once
//! ```
//!
//! Where to resume paused work is in the files that GSD's `pause-work` leaves, and `resume-work` deletes.
//!
//! ```text
//! <planning>/HANDOFF.json                 "timestamp": "2026-03-31T20:36:51.203Z", "phase_dir": …, "next_action": …
//! <planning>/.continue-here.md            front matter: last_updated: 2026-03-31T20:36:51.203Z
//! <planning>/phases/02-web/.continue-here.md      <next_action>…</next_action>, or a section `Next action`
//! ```
//!
//! In config.json, some tools require steps for a phase in addition to plans and summaries.

use std::path::{Path, PathBuf};

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::parse_date;
use crate::markdown::{FrontMatter, Outline};
use crate::plan::read::folder::entries;
use crate::plan::read::{PhaseProgress, document};
use crate::project::vocabulary;
use crate::storage::read;
use crate::storage::read::PathKind;
use crate::text::{after_byte_order_mark, clip, fold, non_placeholder, one_line};
use crate::warning::{Parsed, Warning};

/// Maximum number of files that are read.
const MAX_FILES: usize = 200;

/// Returns the open todos: those of STATE.md, then those of files that it does not list, sorted by name, which begins with
/// the day.
pub(crate) fn todos(
    planning: &Path,
    stated: &[String],
    warnings: &mut Vec<Warning>,
) -> Vec<String> {
    let dir = planning.join(vocabulary::PENDING_TODOS);
    let mut files = entries(&dir, warnings).unwrap_or_else(|error| {
        warnings.push(Warning::file(&dir, error.to_string()));
        Vec::new()
    });
    files.retain(|(name, kind)| {
        *kind == PathKind::File
            && Path::new(name).extension().is_some_and(|own| own == "md")
            && !name.eq_ignore_ascii_case("README.md")
    });
    let listed: Vec<String> = stated.iter().map(|todo| fold(todo)).collect();
    let further = files.iter().take(MAX_FILES).filter_map(|(name, _)| {
        let path = dir.join(name);
        let title = open_todo(&read::text_or_warning(&path, warnings)?, &path)?;
        let stem = name.trim_end_matches(".md").to_lowercase();
        let mut same = listed.iter().filter(|todo| **todo == fold(&title) || todo.contains(&stem));
        same.next().is_none().then_some(title)
    });
    stated.iter().cloned().chain(further).collect()
}

/// Returns the title of an open todo: of its front matter, else its first heading, else the words of its file's name.
/// `None` if the front matter says that it is done.
fn open_todo(text: &str, path: &Path) -> Option<String> {
    let front = FrontMatter::parse(text, path).value;
    let status = front.text(&["status"]);
    let is_done = status.is_some_and(PhaseProgress::is_complete_status)
        || front
            .text(&["resolved", "completed"])
            .is_some_and(|value| non_placeholder(value).is_some() && !denies(value));
    if is_done {
        return None;
    }
    let in_front = front.text(&["title"]).and_then(non_placeholder);
    let mut lines = text[front.range.end..].lines();
    let heading = || lines.find_map(|line| non_placeholder(line.strip_prefix("# ")?));
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let of_name = || {
        let words = stem.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
        let words = if words.is_empty() { &stem } else { words };
        words.replace('-', " ")
    };
    Some(in_front.or_else(heading).map_or_else(of_name, str::to_owned))
}

/// Returns whether a value says no: `false`, `No`, `0/3`.
fn denies(value: &str) -> bool {
    let lower = value.to_lowercase();
    ["false", "no", "0"].iter().any(|no| lower.starts_with(no))
}

/// A file that says where paused work is to be resumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Handoff {
    /// Its path, in a [`Survey`](crate::plan::Survey) relative to the project.
    pub file: PathBuf,
    /// The day when it was written.
    pub written: NaiveDate,
    /// The first thing to do, on one line.
    pub next_action: String,
    /// The name of the phase's folder, if it is about a phase.
    #[serde(skip)]
    pub(crate) phase_dir: Option<String>,
}

impl Handoff {
    /// Returns whether it is HANDOFF.json, not a note in markdown.
    pub(crate) fn is_json(&self) -> bool {
        self.file.ends_with(vocabulary::HANDOFF)
    }

    /// Returns a line about it, with the next action clipped.
    pub fn line(&self) -> String {
        let (file, next) = (self.file.display(), clip(&self.next_action, MAX_NEXT_ACTION_LENGTH));
        format!("{file} ({}): {next}", self.written)
    }
}

/// Maximum length of the first thing to do in a line, in characters.
const MAX_NEXT_ACTION_LENGTH: usize = 240;

/// HANDOFF.json, as far as it is read.
#[derive(Deserialize)]
struct HandoffFields {
    timestamp: String,
    next_action: String,
    phase_dir: Option<String>,
}

/// Returns the latest handoff in the planning folder or in one of its phases' folders.
pub(crate) fn latest_handoff<'a>(
    planning: &Path,
    phases: impl Iterator<Item = &'a Path>,
    warnings: &mut Vec<Warning>,
) -> Option<Handoff> {
    let fields = planning.join(vocabulary::HANDOFF);
    let in_phases = phases.map(|dir| (dir, dir.file_name()));
    let notes = std::iter::once((planning, None)).chain(in_phases);
    let notes = notes.filter_map(|(dir, phase)| {
        let file = dir.join(vocabulary::CONTINUE_HERE);
        let phase_dir = phase.map(|name| name.to_string_lossy().into_owned());
        from_note(&read::text_or_warning(&file, warnings)?, file, phase_dir)
    });
    let notes: Vec<Handoff> = notes.collect();
    let text = read::text_or_warning(&fields, warnings);
    let fields = text.and_then(|text| from_fields(&text, fields));
    // Of equal ones, the last is taken: the note of a phase says more than the fields.
    let all = fields.into_iter().chain(notes);
    all.max_by_key(|handoff| handoff.written)
}

fn from_fields(text: &str, file: PathBuf) -> Option<Handoff> {
    let fields: HandoffFields = serde_json::from_str(after_byte_order_mark(text)).ok()?;
    let phase_dir = fields.phase_dir.as_deref().map(Path::new);
    let name = phase_dir.and_then(Path::file_name);
    Some(Handoff {
        file,
        written: parse_date(&fields.timestamp)?,
        next_action: one_line(non_placeholder(&fields.next_action)?),
        phase_dir: name.map(|name| name.to_string_lossy().into_owned()),
    })
}

fn from_note(text: &str, file: PathBuf, phase_dir: Option<String>) -> Option<Handoff> {
    let front = FrontMatter::parse(text, &file).value;
    let outline = Outline::parse_beginning(text, front.range.end);
    let in_section = || {
        let section = document::sections(&outline, "next action").next();
        section.map(|section| outline.slice(&section.own))
    };
    let tagged = || {
        let (_, rest) = outline.text().split_once("<next_action>")?;
        Some(rest.split_once("</next_action>")?.0)
    };
    let next_action = tagged().or_else(in_section)?;
    Some(Handoff {
        written: parse_date(front.text(&["last_updated"])?)?,
        next_action: one_line(non_placeholder(next_action)?),
        file,
        phase_dir,
    })
}

/// The settings of config.json that are read; absent ones require nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkflowSettings {
    /// Whether a phase must be discussed before it is planned.
    pub requires_discussion: bool,
    /// Whether the user must test a finished phase before work continues.
    pub requires_uat: bool,
    /// The effort profile, such as `balanced`, if one is set.
    pub effort: Option<String>,
    /// What GSD writes before the numbers of the phases' folders: `CK` of `CK-01-name`.
    pub project_code: Option<String>,
    /// Whether GSD numbers phases by milestone: `2-01`.
    pub numbers_by_milestone: bool,
}

impl WorkflowSettings {
    /// Parses a config.json; invalid JSON requires nothing.
    pub(crate) fn parse(text: &str, path: &Path) -> Parsed<Self> {
        let config = match serde_json::from_str::<Value>(after_byte_order_mark(text)) {
            Ok(config) => config,
            Err(fault) => {
                let warning = Warning::at(path, fault.line(), format!("not read: {fault}"));
                return Parsed::new(Self::default(), vec![warning]);
            }
        };
        let is_on = |path: &str| match config.pointer(path) {
            Some(Value::Bool(is_on)) => *is_on,
            // `"true"`, as some write it
            value => value.and_then(Value::as_str) == Some("true"),
        };
        let text = |key: &str| config.get(key)?.as_str().map(str::to_owned);
        let value = Self {
            requires_discussion: is_on("/require_phase_discussion")
                || is_on("/workflow/require_phase_discussion"),
            requires_uat: is_on("/auto_uat"),
            // GSD's `model_profile` names a model, not an effort.
            effort: text("effort").or_else(|| text("effort_profile")),
            project_code: text("project_code").filter(|code| !code.is_empty()),
            numbers_by_milestone: text("phase_id_convention").as_deref()
                == Some("milestone-prefixed"),
        };
        Parsed::clean(value)
    }
}

#[cfg(test)]
mod tests {
    use assert_fs::TempDir;
    use assert_fs::prelude::*;

    use super::*;

    #[test]
    fn files_add_what_the_state_does_not_list() {
        let stated = ["Integration tests for the API", "See `2026-03-10-labels`"];
        let stated = stated.map(str::to_owned);
        let dir = TempDir::new().unwrap();
        let found = || todos(dir.path(), &stated, &mut Vec::new());
        assert_eq!(found(), stated);
        for (name, title) in [
            ("2026-03-10-labels.md", "Print all labels"),
            ("2026-03-11-tests.md", "Tests"),
            ("2026-03-12-api.md", "Integration tests for the API"),
            ("README.md", "About todos"),
            ("notes.txt", "Notes"),
        ] {
            let file = dir.child("todos/pending").child(name);
            file.write_str(&format!("# {title}\n")).unwrap();
        }
        assert_eq!(found(), [&stated[0], &stated[1], "Tests"]);
    }

    #[test]
    fn a_todo_is_named_by_its_title_its_heading_or_its_file() {
        let path = Path::new("todos/pending/2026-03-10-print-labels.md");
        for (text, expected) in [
            ("---\ncreated: 2026-03-10\ntitle: Print all\n---\n# Other\n", "Print all"),
            ("---\ncreated: 2026-03-10\n---\n\n# Print them\n", "Print them"),
            ("## Problem\n\nMany.\n", "print labels"),
            ("", "print labels"),
        ] {
            assert_eq!(open_todo(text, path).as_deref(), Some(expected));
        }
        for text in ["---\ntitle: A\nstatus: done\n---\n", "---\nresolved: 2026-03-11\n---\n"] {
            assert_eq!(open_todo(text, path), None);
        }
    }

    const NOTE: &str = "---\nphase: 02-web\ntask: 3\nstatus: in_progress\nlast_updated: 2026-03-31T20:36:51.203Z\n---\n\n<current_state>\nHalf of the form is there.\n</current_state>\n\n<next_action>\nStart with: the second\nfield of the form\n</next_action>\n";

    fn note(text: &str) -> Option<Handoff> {
        from_note(text, PathBuf::from("02-web/.continue-here.md"), None)
    }

    #[test]
    fn the_next_action_is_read_from_its_tag_or_section_or_field() {
        let read = note(NOTE).unwrap();
        assert_eq!(read.next_action, "Start with: the second field of the form");
        assert_eq!(read.written.to_string(), "2026-03-31");
        let section = "---\nlast_updated: 2026-03-31\n---\n# Handoff\n\n## Next action\n\nAsk Ann.\n\n## More\n\nText\n";
        assert_eq!(note(section).unwrap().next_action, "Ask Ann.");
        let fields = r#"{"timestamp":"2026-04-01T08:00:00Z","phase":"02","phase_dir":".planning/phases/02-web","plan":1,"next_action":"Write the test"}"#;
        let read = from_fields(fields, PathBuf::from("HANDOFF.json")).unwrap();
        assert_eq!(read.next_action, "Write the test");
        assert_eq!(read.phase_dir.as_deref(), Some("02-web"));
        for other in [
            "",
            "{}",
            r#"{"timestamp": 3, "next_action": "x"}"#,
            r#"{"timestamp": "{timestamp}", "next_action": "{specific first action}"}"#,
        ] {
            assert_eq!(from_fields(other, PathBuf::new()), None, "{other}");
        }
        // Without a date or a next action, its relevance is unknown.
        assert_eq!(note(&NOTE.replace("last_updated", "updated_by")), None);
        assert_eq!(note(&NOTE.replace("next_action", "next_idea")), None);
    }

    #[test]
    fn a_setting_may_be_on_as_a_word() {
        for (value, is_on) in
            [("true", true), ("\"true\"", true), ("\"false\"", false), ("1", false)]
        {
            let text = format!("{{\"auto_uat\": {value}}}");
            let read = WorkflowSettings::parse(&text, Path::new("config.json"));
            assert_eq!((read.value.requires_uat, read.warnings.len()), (is_on, 0), "{value}");
        }
    }

    #[test]
    fn the_latest_of_all_is_found() {
        let planning = TempDir::new().unwrap();
        let fields = r#"{"timestamp":"2026-04-01","next_action":"Write"}"#;
        planning.child("HANDOFF.json").write_str(fields).unwrap();
        let phases = [("01-base", "2026-04-02"), ("02-web", "2026-04-03")].map(|(name, day)| {
            let dir = planning.child("phases").child(name);
            let note = NOTE.replace("2026-03-31T20:36:51.203Z", day);
            dir.child(".continue-here.md").write_str(&note).unwrap();
            dir.path().to_owned()
        });
        let latest = |phases: &[PathBuf]| {
            let phases = phases.iter().map(PathBuf::as_path);
            latest_handoff(planning.path(), phases, &mut Vec::new()).unwrap()
        };
        assert_eq!(latest(&phases).phase_dir.as_deref(), Some("02-web"));
        assert_eq!(latest(&[]).file, planning.path().join("HANDOFF.json"));
    }
}
