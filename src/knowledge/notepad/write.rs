//! Adds a note to a section, within the rules of the section.

use std::path::Path;
use std::path::PathBuf;

use serde::Serialize;

use crate::clock::Clock;
use crate::error::Error;
use crate::error::Result;
use crate::knowledge::Place;
use crate::knowledge::log;
use crate::knowledge::notepad::LIMIT;
use crate::knowledge::notepad::Section;
use crate::knowledge::notepad::insertion;
use crate::knowledge::notepad::parse;
use crate::knowledge::notepad::same_length_text;
use crate::project::Project;
use crate::secrets;
use crate::storage::Changes;
use crate::storage::Store;
use crate::warning::Warning;

/// What a notepad holds before anybody wrote in it.
const NEW: &str = "# Vibekit Notepad\n\n## Priority Context\n\n## Working Memory\n\n## Manual\n";

/// What is to be noted.
#[derive(Clone, Copy, Debug)]
pub struct Note<'a> {
    /// The section it goes to.
    pub section: Section,
    /// The note, verbatim.
    pub text: &'a str,
    /// Whether it may hold what looks like a secret.
    pub allow_secret: bool,
}

/// What was noted. It is the document of `annals notepad priority --json` and its siblings.
#[derive(Clone, Debug, Serialize)]
pub struct NoteReport {
    /// The section it went to.
    pub section: Section,
    /// The characters that Priority Context holds now; nothing for the other sections.
    pub characters: Option<usize>,
    /// The most it may hold.
    pub limit: Option<usize>,
    /// The files changed, relative to the project.
    pub changed: Vec<PathBuf>,
    /// On a dry run, what would change.
    pub diff: Option<String>,
    /// What was read in part only.
    pub warnings: Vec<Warning>,
}

/// Adds a note to its section and a line to the log, in one transaction.
pub fn write(project: &Project, note: &Note<'_>) -> Result<NoteReport> {
    admissible(note)?;
    let place = Place::of(project);
    let operation = format!("notepad {}", note.section.as_str());
    let work = || {
        let mut changes = Changes::new();
        let report = add(&mut changes, &place, &project.clock, note)?;
        log::add(&mut changes, &place, &project.clock, &operation)?;
        Ok((report, changes))
    };
    let storage = project.storage();
    let (mut report, applied) = storage.transact(&operation, &[Store::Entries], work)?;
    let named = |path: &PathBuf| project.relative(path).to_owned();
    report.changed = applied.changed.iter().map(named).collect();
    report.diff = applied.dry_run.then_some(applied.diff);
    report.warnings.extend(applied.warnings);
    report.warnings = project.named(report.warnings);
    Ok(report)
}

/// Refuses what no notepad would take, whatever it holds.
fn admissible(note: &Note<'_>) -> Result<()> {
    if note.text.trim().is_empty() {
        return Err(Error::usage("the text is empty"));
    }
    let breaks = [
        '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
    ];
    if note.section == Section::Working && note.text.contains(breaks) {
        return Err(
            Error::refused("a working note is one line, and this one has several")
                .hint("a paragraph belongs into an entry, or in `annals notepad manual`"),
        );
    }
    if note.allow_secret {
        return Ok(());
    }
    match secrets::find(note.text).first() {
        None => Ok(()),
        Some(secret) => {
            let message = format!("the text holds what looks like a secret ({})", secret.rule);
            Err(Error::refused(message)
                .hint("agents read it back: say it without, or pass --allow-secret"))
        }
    }
}

/// Plans the note; nothing is planned where a rule refuses it.
fn add(changes: &mut Changes, place: &Place, clock: &Clock, note: &Note<'_>) -> Result<NoteReport> {
    let path = place.notepad();
    let old = changes.current(&path)?;
    let mut bytes = old.clone().unwrap_or_default();
    if bytes.trim_ascii().is_empty() {
        bytes.extend_from_slice(NEW.as_bytes());
    }
    let (characters, warnings) = insert(&mut bytes, clock, note, &path)?;
    changes.edit(&path, old, bytes)?;
    let is_limited = note.section == Section::Priority;
    Ok(NoteReport {
        section: note.section,
        characters: is_limited.then_some(characters),
        limit: is_limited.then_some(LIMIT),
        changed: Vec::new(),
        diff: None,
        warnings,
    })
}

/// Inserts the note, and returns the characters that Priority Context then holds.
fn insert(
    bytes: &mut Vec<u8>,
    clock: &Clock,
    note: &Note<'_>,
    path: &Path,
) -> Result<(usize, Vec<Warning>)> {
    let text = same_length_text(bytes);
    let parsed = parse(&text, path);
    let notepad = parsed.value;
    let insertion = insertion::insertion(&notepad, note.section, &lines(note, clock));
    let mut after = text.clone();
    after.insert_str(insertion.at, &insertion.text);
    insertion::check(&notepad, note.section, &insertion, &after, path)?;
    let characters = parse(&after, path).value.characters(Section::Priority);
    if note.section == Section::Priority && characters > LIMIT {
        let now = notepad.characters(Section::Priority);
        let excess = characters - LIMIT;
        let message = format!(
            "Priority Context has {now} of {LIMIT} characters and would have {characters}, {excess} too many"
        );
        return Err(Error::refused(message)
            .hint("take something out by hand, or write an entry: `annals entry write`"));
    }
    bytes.splice(insertion.at..insertion.at, insertion.text.into_bytes());
    Ok((characters, parsed.warnings))
}

/// Returns the lines that a note becomes.
fn lines(note: &Note<'_>, clock: &Clock) -> String {
    let text = note.text;
    match note.section {
        Section::Priority => format!("- {text}\n"),
        Section::Working => {
            format!("- [{}] {text}\n", clock.now().format("%Y-%m-%dT%H:%MZ"))
        }
        Section::Manual if text.ends_with('\n') => text.to_owned(),
        Section::Manual => format!("{text}\n"),
    }
}
