//! Adds a note to a section according to its rules.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::knowledge::notepad::{LIMIT, NotepadSection, insertion, parse, same_length_text};
use crate::knowledge::{KnowledgeDir, log};
use crate::markdown::{Outline, without_bullet};
use crate::project::Project;
use crate::secrets;
use crate::secrets::SecretPolicy;
use crate::storage::{Changes, Store, WriteRequest};
use crate::warning::{Parsed, Warning};

/// The content of a new notepad.
const NEW: &str = "# Vibekit Notepad\n\n## Priority Context\n\n## Working Memory\n\n## Manual\n";

/// A note to add.
#[derive(Clone, Debug)]
pub struct Note<'a> {
    /// The section to add it to.
    pub section: NotepadSection,
    /// The note, verbatim.
    pub text: &'a str,
    /// Whether the note may contain what looks like a secret.
    pub secrets: SecretPolicy,
    /// An id that makes the write idempotent: repeated with the same id, the note is not added again.
    pub request_id: Option<&'a str>,
}

/// The outcome of adding a note. It is the document of `annals notepad priority --json` and its siblings.
#[derive(Clone, Debug, Serialize)]
pub struct NoteReport {
    /// The section it was added to.
    pub section: NotepadSection,
    /// Number of characters now in Priority Context; `None` for other sections.
    pub characters: Option<usize>,
    /// Maximum number of characters in Priority Context; `None` for other sections.
    pub limit: Option<usize>,
    /// The files changed, relative to the project.
    pub changed: Vec<PathBuf>,
    /// The changes, on a dry run.
    pub diff: Option<String>,
    /// Warnings from the operation.
    pub warnings: Vec<Warning>,
}

impl fmt::Display for NoteReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let section = self.section.as_str();
        match (self.characters, self.limit) {
            (Some(characters), Some(limit)) => {
                write!(f, "Notepad {section} updated ({characters}/{limit} chars).")
            }
            _ => write!(f, "Notepad {section} updated."),
        }
    }
}

/// The stored result of a write, to answer a repeated request.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    characters: usize,
    changed: Vec<PathBuf>,
}

/// Adds a note to its section and a line to the log, in a single transaction.
pub fn write(project: &Project, note: &Note<'_>) -> Result<NoteReport> {
    admissible(note)?;
    let request = note.request_id.map(|id| WriteRequest::new(id, command(note)));
    let request = request.transpose()?;
    let mut warnings = Vec::new();
    let work = || {
        let mut changes = Changes::new();
        let characters = add(&mut changes, project, note, &mut warnings)?;
        let named = |path: &Path| project.relative(path).to_owned();
        let answer =
            Answer { characters, changed: changes.paths().into_iter().map(named).collect() };
        Ok((answer, changes))
    };
    let (answer, applied) = project.storage().transact_once(
        command(note),
        &[Store::Entries],
        request.as_ref(),
        work,
    )?;
    warnings.extend(applied.warnings);
    let is_limited = note.section == NotepadSection::Priority;
    Ok(NoteReport {
        section: note.section,
        characters: is_limited.then_some(answer.characters),
        limit: is_limited.then_some(LIMIT),
        changed: answer.changed,
        diff: applied.diff,
        warnings: project.named(warnings),
    })
}

fn command(note: &Note<'_>) -> &'static str {
    match note.section {
        NotepadSection::Priority => "notepad priority",
        NotepadSection::Working => "notepad working",
        NotepadSection::Manual => "notepad manual",
    }
}

/// Refuses notes that are invalid regardless of the notepad's content.
fn admissible(note: &Note<'_>) -> Result<()> {
    if note.text.trim().is_empty() {
        return Err(Error::usage("the text is empty"));
    }
    let breaks = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    if note.section == NotepadSection::Working && note.text.contains(breaks) {
        return Err(Error::refused("a working note must be one line")
            .hint("a paragraph belongs in an entry, or in `annals notepad manual`"));
    }
    if note.secrets == SecretPolicy::Allow {
        return Ok(());
    }
    match secrets::first_rule(note.text) {
        None => Ok(()),
        Some(rule) => {
            let message = format!("the text contains what looks like a secret ({rule})");
            Err(Error::refused(message)
                .hint("agents read it back; leave the secret out, or pass --allow-secret"))
        }
    }
}

/// Plans the note and its log line, and returns the resulting number of characters in Priority Context.
fn add(
    changes: &mut Changes,
    project: &Project,
    note: &Note<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<usize> {
    let place = KnowledgeDir::in_project(project);
    let path = place.notepad();
    let old = changes.current(&path)?;
    let mut bytes = old.clone().unwrap_or_default();
    if bytes.trim_ascii().is_empty() {
        bytes.extend_from_slice(NEW.as_bytes());
    }
    let characters = insert(&mut bytes, &project.clock, note, &path)?.into_value(warnings);
    changes.edit(&path, old, bytes)?;
    log::add(changes, &place, &project.clock, command(note))?;
    Ok(characters)
}

/// Inserts the note, and returns the resulting number of characters in Priority Context.
fn insert(
    bytes: &mut Vec<u8>,
    clock: &Clock,
    note: &Note<'_>,
    path: &Path,
) -> Result<Parsed<usize>> {
    if note.section == NotepadSection::Working
        && let Some(line) = equal_bullet(&same_length_text(bytes), note.text, path)
    {
        bytes.drain(line);
    }
    let text = same_length_text(bytes);
    Outline::check_whole(&text, path, "move what is outdated to another file")?;
    let parsed = parse(&text, path);
    let notepad = parsed.value;
    let insertion = insertion::insertion(&notepad, note.section, &lines(note, clock));
    let mut after = text.clone();
    after.insert_str(insertion.at, &insertion.text);
    insertion::check(&notepad, note.section, &insertion, &after, path)?;
    let characters = parse(&after, path).value.characters(NotepadSection::Priority);
    if note.section == NotepadSection::Priority && characters > LIMIT {
        let now = notepad.characters(NotepadSection::Priority);
        let excess = characters - LIMIT;
        let message = format!(
            "Priority Context has {now} of {LIMIT} characters and would have {characters}, which is {excess} too many"
        );
        return Err(Error::refused(message).hint(
            "shorten it, remove something by hand, or write an entry: `annals entry write`",
        ));
    }
    bytes.splice(insertion.at..insertion.at, insertion.text.into_bytes());
    Ok(Parsed::new(characters, parsed.warnings))
}

/// Returns the line of the newest dated bullet in Working Memory that says the same: a note that is made again replaces
/// it.
fn equal_bullet(text: &str, note: &str, path: &Path) -> Option<Range<usize>> {
    let notepad = parse(text, path).value;
    let mut at = notepad.section(NotepadSection::Working)?.body.start;
    let body = notepad.section(NotepadSection::Working)?.body.clone();
    let mut lines = text[body].split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let said = line.strip_prefix("- [").and_then(|line| line.split_once("] "));
        let is_same = said
            .is_some_and(|(time, said)| time.ends_with('Z') && said.trim_end() == note.trim_end());
        let goes_on = lines.peek().is_some_and(|next| next.starts_with([' ', '\t']));
        if is_same && !goes_on {
            return Some(at..at + line.len());
        }
        at += line.len();
    }
    None
}

/// Returns the lines to insert for a note.
fn lines(note: &Note<'_>, clock: &Clock) -> String {
    let text = note.text;
    match note.section {
        // A note that is already a bullet must not become a list inside a list.
        NotepadSection::Priority => {
            let content = without_bullet(text);
            let is_empty = content.trim().is_empty();
            format!("- {}\n", if is_empty { text } else { content })
        }
        NotepadSection::Working => {
            format!("- [{}] {text}\n", clock.now().format("%Y-%m-%dT%H:%MZ"))
        }
        NotepadSection::Manual if text.ends_with('\n') => text.to_owned(),
        NotepadSection::Manual => format!("{text}\n"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::knowledge::notepad::Notepad;

    /// Generates pieces that could be mistaken for structure, and ordinary ones.
    fn hostile() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(&b"# Vibekit Notepad\n\n"[..]),
            Just(&b"## Priority Context\n"[..]),
            Just(&b"## Working Memory\r\n"[..]),
            Just(&b"### Manual:\n"[..]),
            Just(&b"**Working Memory**\n"[..]),
            Just(&b"Manual\n===\n"[..]),
            Just(&b"## Mine\n"[..]),
            Just(&b"- [2026-01-01T00:00Z] old\n"[..]),
            Just(&b"  - nested\r\n"[..]),
            Just(&b"> - quoted\n"[..]),
            Just(&b"```\n"[..]),
            Just(&b"<!--"[..]),
            Just(&b"-->\n"[..]),
            Just(&b"---\n"[..]),
            Just(&b"\n"[..]),
            Just(&b"\r\n"[..]),
            Just(&b"\xff\xc3"[..]),
            Just(&b"mine"[..]),
            Just("日本 🎉 \u{5d0}".as_bytes()),
        ];
        proptest::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
    }

    fn noted() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("## Working Memory"),
            Just("\n### Priority Context\n"),
            Just("\n**Manual**\n"),
            Just("\n"),
            Just("\n#### deep\n"),
            Just("```"),
            Just("<!--"),
            Just("---"),
            Just("a fact"),
            Just("日🎉"),
        ];
        proptest::collection::vec(piece, 1..5).prop_map(|pieces| pieces.concat())
    }

    fn clock() -> Clock {
        Clock::new(Some("2026-03-01T12:00:00Z")).unwrap()
    }

    fn content(notepad: &Notepad<'_>, text: &str, section: NotepadSection) -> Option<String> {
        Some(text[notepad.content(section)?].trim().to_owned())
    }

    #[test]
    fn a_working_note_made_again_replaces_the_equal_one() {
        let note = |text| Note {
            section: NotepadSection::Working,
            text,
            secrets: SecretPolicy::Refuse,
            request_id: None,
        };
        let old = "## Working Memory\n- [2026-02-28T08:00Z] other\n- [2026-02-27T08:00Z] same\n- [2026-02-26T08:00Z] same\n  and more\n";
        let mut bytes = old.as_bytes().to_vec();
        insert(&mut bytes, &clock(), &note("same"), Path::new("notepad.md")).unwrap();
        let expected = "## Working Memory\n- [2026-03-01T12:00Z] same\n- [2026-02-28T08:00Z] other\n- [2026-02-26T08:00Z] same\n  and more\n";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn a_note_goes_below_a_final_rule_and_above_a_rule_between_sections() {
        let noted = |old: &str| {
            let note = Note {
                section: NotepadSection::Manual,
                text: "b",
                secrets: SecretPolicy::Refuse,
                request_id: None,
            };
            let mut new = old.as_bytes().to_vec();
            insert(&mut new, &clock(), &note, Path::new("notepad.md")).unwrap();
            String::from_utf8(new).unwrap()
        };
        let last = noted("## Manual\na\n\n---\n");
        assert!(last.starts_with("## Manual\na\n\n---\n"), "{last}");
        let parted = noted("## Manual\na\n\n---\n## Mine\nc\n");
        assert!(parted.ends_with("\n---\n## Mine\nc\n"), "{parted}");
        assert!(parted.starts_with("## Manual\na\n"), "{parted}");
    }

    proptest! {
        #[test]
        fn any_note_in_any_text_keeps_every_other_byte_and_section(
            old in hostile(), text in noted(), section in 0_usize..3,
        ) {
            let section = NotepadSection::ALL[section];
            let text = match section {
                NotepadSection::Working => text.replace('\n', " "),
                _ => text,
            };
            let note = Note { section, text: &text, secrets: SecretPolicy::Refuse, request_id: None };
            let mut new = old.clone();
            let path = Path::new("notepad.md");
            if insert(&mut new, &clock(), &note, path).is_err() {
                prop_assert_eq!(new, old);
                return Ok(());
            }
            let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
            let behind = old[same..].iter().rev().zip(new.iter().rev());
            let behind = behind.take_while(|(a, b)| a == b).count();
            prop_assert_eq!(same + behind, old.len(), "one insertion");
            let (before, after) = (same_length_text(&old), same_length_text(&new));
            let (was, is) = (parse(&before, path).value, parse(&after, path).value);
            for other in NotepadSection::ALL.into_iter().filter(|other| *other != section) {
                let was = content(&was, &before, other);
                prop_assert_eq!(was, content(&is, &after, other));
            }
            let body = is.section(section).unwrap().body.clone();
            let held = after[body].replace("\r\n", "\n");
            prop_assert!(held.contains(&text), "{held:?}");
        }
    }
}
