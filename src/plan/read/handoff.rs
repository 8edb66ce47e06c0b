//! Reads where paused work is to be resumed, from the files that GSD's `pause-work` leaves and `resume-work` deletes.
//!
//! ```text
//! <planning>/HANDOFF.json                 "timestamp": "2026-03-31T20:36:51.203Z", "phase_dir": …, "next_action": …
//! <planning>/.continue-here.md            front matter: last_updated: 2026-03-31T20:36:51.203Z
//! <planning>/phases/02-web/.continue-here.md      <next_action>…</next_action>, or a section `Next action`
//! ```

use std::path::{Path, PathBuf};

use chrono::NaiveDate;
use serde::Deserialize;

use crate::clock::parse_date;
use crate::markdown::{FrontMatter, Outline};
use crate::plan::read::{TextOf, heading, non_placeholder};
use crate::project::vocabulary;
use crate::text::one_line;

/// A file that says where paused work is to be resumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handoff {
    /// Its path.
    pub file: PathBuf,
    /// The day when it was written.
    pub written: NaiveDate,
    /// The first thing to do, on one line.
    pub next_action: String,
    /// The name of the phase's folder, if it is about a phase.
    pub(crate) phase_dir: Option<String>,
}

/// HANDOFF.json, as far as it is read.
#[derive(Deserialize)]
struct HandoffFields {
    timestamp: String,
    next_action: String,
    phase_dir: Option<String>,
}

/// Returns the latest handoff in the planning folder or in one of its phases' folders.
pub(crate) fn latest<'a>(
    planning: &Path,
    phases: impl Iterator<Item = &'a Path>,
    text: TextOf<'_>,
) -> Option<Handoff> {
    let fields = planning.join(vocabulary::HANDOFF);
    let in_phases = phases.map(|dir| (dir, dir.file_name()));
    let notes = std::iter::once((planning, None)).chain(in_phases);
    let notes = notes.filter_map(|(dir, phase)| {
        let file = dir.join(vocabulary::CONTINUE_HERE);
        let phase_dir = phase.map(|name| name.to_string_lossy().into_owned());
        from_note(&text(&file)?, file, phase_dir)
    });
    let notes: Vec<Handoff> = notes.collect();
    let fields = text(&fields).and_then(|text| from_fields(&text, fields));
    // Of equal ones, the last is taken: the note of a phase says more than the fields.
    let all = fields.into_iter().chain(notes);
    all.max_by_key(|handoff| handoff.written)
}

fn from_fields(text: &str, file: PathBuf) -> Option<Handoff> {
    let fields: HandoffFields = serde_json::from_str(text).ok()?;
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
        let section = heading::sections(&outline, "next action").next();
        section.map(|section| outline.slice(&section.own))
    };
    let next_action = tagged(outline.text()).or_else(in_section)?;
    Some(Handoff {
        written: parse_date(front.text(&["last_updated"])?)?,
        next_action: one_line(non_placeholder(next_action)?),
        file,
        phase_dir,
    })
}

fn tagged(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<next_action>")?;
    let (inside, _) = rest.split_once("</next_action>")?;
    Some(inside.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_latest_of_all_is_found() {
        let planning = Path::new("/p");
        let phases = ["/p/phases/01-base", "/p/phases/02-web"].map(Path::new);
        let text = |path: &Path| {
            let day = match path.to_str()? {
                "/p/phases/01-base/.continue-here.md" => "2026-04-02",
                "/p/phases/02-web/.continue-here.md" => "2026-04-03",
                "/p/HANDOFF.json" => {
                    let fields = r#"{"timestamp":"2026-04-01","next_action":"Write"}"#;
                    return Some(fields.to_owned());
                }
                _ => return None,
            };
            Some(NOTE.replace("2026-03-31T20:36:51.203Z", day))
        };
        let found = latest(planning, phases.into_iter(), &text).unwrap();
        assert_eq!(found.phase_dir.as_deref(), Some("02-web"));
        let found = latest(planning, std::iter::empty(), &text).unwrap();
        assert_eq!(found.file, Path::new("/p/HANDOFF.json"));
    }
}
