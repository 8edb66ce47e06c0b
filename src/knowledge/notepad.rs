//! Manages three short sections that survive compaction, in a file that people edit as well.
//!
//! ```text
//! # Vibekit Notepad
//!
//! ## Priority Context
//! - what the next turns need; 500 characters at most
//!
//! ## Working Memory
//! - [2026-02-17T10:11Z] newest first; pruned after 7 days
//!
//! ## Manual
//! free-form, never pruned
//! ```
//!
//! A section extends from its heading to the next heading of the same or a higher level, or to the next
//! section; a merge may have left several of one title. Every write is one insertion, and pruning removes whole bullets:
//! all other bytes are unchanged.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::clock::{Clock, parse_timestamp};
use crate::error::{Error, Result};
use crate::knowledge::KnowledgeDir;
use crate::knowledge::store::log;
use crate::markdown::{Outline, Section, item_end, line_start, without_bullet};
use crate::project::Project;
use crate::secrets::SecretPolicy;
use crate::storage::{Changes, Store, read};
use crate::text::{fold, line_end, line_gap, word_enum};
use crate::warning::{Parsed, Warning};

/// Maximum length of Priority Context, in characters.
pub const LIMIT: usize = 500;
/// Age after which a note of Working Memory is removed, in days.
const KEPT_DAYS: i64 = 7;
/// The content of a new notepad.
const NEW: &str = "# Vibekit Notepad\n\n## Priority Context\n\n## Working Memory\n\n## Manual\n";

word_enum! {
    /// A section of the notepad.
    pub enum NotepadSection {
        /// Short context that the next turns need.
        Priority = "priority",
        /// Dated working notes, newest first.
        Working = "working",
        /// Free-form notes of the user.
        Manual = "manual",
    }
}

impl NotepadSection {
    /// Returns the section's heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Priority => "Priority Context",
            Self::Working => "Working Memory",
            Self::Manual => "Manual",
        }
    }
}

/// A heading, of a section or of the user's own.
#[derive(Debug)]
struct Heading {
    level: u8,
    /// Byte range of its line, with the line ending.
    line: Range<usize>,
    /// The section that it begins.
    which: Option<NotepadSection>,
}

/// A parsed notepad.
#[derive(Debug)]
pub struct Notepad<'a> {
    text: &'a str,
    outline: Outline<'a>,
    headings: Vec<Heading>,
}

impl<'a> Notepad<'a> {
    /// Parses a notepad; a heading of a section that is deeper than an earlier one is text.
    pub fn parse(text: &'a str) -> Self {
        let mark = text.len() - text.trim_start_matches('\u{feff}').len();
        let outline = Outline::parse(text, mark);
        let mut levels = [u8::MAX; NotepadSection::ALL.len()];
        // Except in quotes and lists.
        let heading = |section: &Section| {
            let start = own_line(text, section.heading.start).filter(|_| section.level > 0)?;
            let line = text[start..].split_inclusive('\n').next().unwrap_or_default();
            let named = |one: &NotepadSection| is_heading_of(&section.title, *one);
            let which = NotepadSection::ALL.into_iter().find(named);
            let which = which.filter(|one| section.level <= levels[*one as usize]);
            if let Some(one) = which {
                levels[one as usize] = section.level;
            }
            Some(Heading { level: section.level, line: start..start + line.len(), which })
        };
        let headings = outline.sections().iter().filter_map(heading).collect();
        Self { text, outline, headings }
    }

    /// Returns the byte ranges below a section's headings, each up to the next section or heading of the same or a higher
    /// level.
    fn bodies(&self, section: NotepadSection) -> impl Iterator<Item = Range<usize>> {
        let own = self.headings.iter().enumerate();
        own.filter(move |(_, one)| one.which == Some(section)).map(|(at, own)| {
            let mut below = self.headings[at + 1..].iter();
            let end = below.find(|other| other.level <= own.level || other.which.is_some());
            own.line.end..end.map_or(self.text.len(), |end| end.line.start)
        })
    }

    /// Returns the text of a section; `None` if it is missing.
    fn content(&self, section: NotepadSection) -> Option<String> {
        let parts: Vec<&str> =
            self.bodies(section).map(|body| &self.text[self.written(body)]).collect();
        (!parts.is_empty()).then(|| parts.concat())
    }

    /// Returns the byte range of what a part of the text contains: whole lines, without blank lines around them.
    fn written(&self, body: Range<usize>) -> Range<usize> {
        let text = &self.text[body.clone()];
        let (written, blank) = (text.trim_end().len(), text.len() - text.trim_start().len());
        if written == 0 {
            return body.start..body.start;
        }
        let start = line_start(text, blank);
        let end = text[written..].find('\n').map_or(text.len(), |end| written + end + 1);
        body.start + start..body.start + end
    }

    /// Returns the number of characters (Unicode scalar values) in the content of Priority Context; a line break counts
    /// as one.
    fn priority_characters(&self) -> usize {
        let content = self.content(NotepadSection::Priority).unwrap_or_default();
        let content = content.trim();
        content.chars().count() - content.matches("\r\n").count()
    }

    /// Returns the lines of the outermost bullets of a part of the text, each with the lines indented below it.
    fn bullets(&self, part: &Range<usize>) -> Vec<Range<usize>> {
        let items = self.outline.items(part).filter(|(_, item)| item.depth == 0);
        let starts = items.filter_map(|(_, item)| own_line(self.text, item.whole.start));
        let lines = |start: usize| {
            let first = self.text[start..].split_inclusive('\n').next().unwrap_or_default();
            start..item_end(self.text, start, start + first.len(), part.end)
        };
        starts.map(lines).collect()
    }
}

/// Returns the start of the line on which a block begins, at the left margin; a block in a quote or a list begins further
/// right. A byte order mark is not part of its line.
fn own_line(text: &str, at: usize) -> Option<usize> {
    let before = text[line_start(text, at)..at].trim_start_matches('\u{feff}');
    (before.len() <= 3 && before.trim_matches(' ').is_empty()).then_some(at - before.len())
}

/// Returns whether a heading names a section, possibly with decoration: `**priority context:**`, `Priority Context (max 500)`.
fn is_heading_of(title: &str, section: NotepadSection) -> bool {
    let plain = fold(title.trim_start_matches(|c: char| !c.is_alphanumeric()));
    let rest = plain.strip_prefix(&fold(section.title()));
    rest.is_some_and(|rest| !rest.trim_start().starts_with(char::is_alphanumeric))
}

/// The content of the notepad. It is the document of `annals notepad read --json`.
#[derive(Debug, Serialize)]
pub struct NotepadText {
    /// Path of the notepad, relative to the project.
    pub file: PathBuf,
    /// The requested section; `None` for the whole file.
    pub section: Option<NotepadSection>,
    /// The text, verbatim; invalid bytes are replaced by U+FFFD.
    pub text: String,
    /// The same text as the original bytes.
    #[serde(skip)]
    pub bytes: Vec<u8>,
    /// Warnings about a section that was read.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Returns the length of Priority Context in characters, and the titles that several sections have; nothing without a
/// notepad.
pub fn survey(project: &Project) -> Result<(usize, Vec<&'static str>)> {
    let text = read::text(&KnowledgeDir::in_project(project).notepad())?;
    let text = text.map(|parsed| parsed.value).unwrap_or_default();
    let notepad = Notepad::parse(&text);
    let is_repeated = |one: &NotepadSection| notepad.bodies(*one).count() > 1;
    let repeated = NotepadSection::ALL.into_iter().filter(is_repeated).map(NotepadSection::title);
    Ok((notepad.priority_characters(), repeated.collect()))
}

/// Returns the notepad, or one of its sections without the heading.
pub fn read(project: &Project, section: Option<NotepadSection>) -> Result<NotepadText> {
    let path = KnowledgeDir::in_project(project).notepad();
    let file = project.relative(&path).to_owned();
    let Some(bytes) = read::bytes(&path)? else {
        return Err(Error::not_found("there is no notepad yet")
            .at(&file, None)
            .hint("`annals notepad working TEXT` creates it"));
    };
    let Some(section) = section else {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        return Ok(NotepadText { file, section, text, bytes, warnings: Vec::new() });
    };
    let of_sides = of_both_sides(&bytes, section);
    let Parsed { value: text, warnings } = read::decode(bytes, &path);
    let content = match warnings.iter().any(Warning::is_conflict) {
        true => of_sides,
        false => Notepad::parse(&text).content(section),
    };
    let Some(text) = content else {
        let missing = format!("the notepad has no section {}", section.title());
        return Err(Error::not_found(missing)
            .at(&file, None)
            .hint(format!("`annals notepad {} TEXT` creates it", section.as_str())));
    };
    let bytes = text.clone().into_bytes();
    Ok(NotepadText { file, section: Some(section), bytes, text, warnings: project.named(warnings) })
}

/// Returns a section of both sides of a merge conflict, what they share once. A conflict may span a heading, below which
/// the other side's notes do not belong.
fn of_both_sides(bytes: &[u8], section: NotepadSection) -> Option<String> {
    let [ours, theirs] = [true, false].map(|is_ours| {
        let side = read::one_side(bytes, is_ours);
        Notepad::parse(&String::from_utf8_lossy(&side)).content(section)
    });
    let (Some(ours), Some(theirs)) = (&ours, &theirs) else { return ours.or(theirs) };
    let shared: Vec<&str> = ours.lines().collect();
    let theirs = theirs.split_inclusive('\n').filter(|line| !shared.contains(&line.trim_end()));
    Some(format!("{ours}{}{}", line_gap(ours, "\n"), theirs.collect::<String>()))
}

/// A note to add.
#[derive(Debug)]
pub struct Note<'a> {
    /// The section to add it to.
    pub section: NotepadSection,
    /// The note, verbatim.
    pub text: &'a str,
    /// Whether the note may contain what looks like a secret.
    pub secrets: SecretPolicy,
    /// An id that makes the write idempotent: repeated with the same id, the note is not added again.
    pub request_id: Option<&'a str>,
    /// Whether a working note replaces the newest equal one: the hooks of two scopes leave the same breadcrumb.
    pub replaces_equal: bool,
}

/// The outcome of adding a note. It is the document of `annals notepad priority --json` and its siblings.
#[derive(Debug, Serialize, Deserialize)]
pub struct NoteReport {
    /// The section it was added to.
    pub section: NotepadSection,
    /// Number of characters now in Priority Context; `None` for other sections.
    pub characters: Option<usize>,
    /// Maximum number of characters in Priority Context; `None` for other sections.
    pub limit: Option<usize>,
    /// The changes, on a dry run.
    pub diff: Option<String>,
    /// Warnings from the operation.
    #[serde(skip_deserializing)]
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

/// Adds a note to its section and a line to the log, in a single transaction.
pub fn write(project: &Project, note: &Note<'_>) -> Result<NoteReport> {
    admissible(note)?;
    let command = &format!("notepad {}", note.section.as_str());
    let stores = &[Store::Entries];
    let (mut report, applied) =
        project.storage().transact_once(command, stores, note.request_id, || {
            let place = KnowledgeDir::in_project(project);
            let mut changes = Changes::new();
            let old = changes.current(&place.notepad())?;
            let bytes = old.as_deref().unwrap_or_default();
            let mut text = read::editable(bytes, project.relative(&place.notepad()))?.to_owned();
            if text.trim().is_empty() {
                text.push_str(NEW);
            }
            let characters = insert(&mut text, &project.clock, note)?;
            changes.edit(&place.notepad(), old, text)?;
            log(&mut changes, &place, &project.clock, command)?;
            let is_limited = note.section == NotepadSection::Priority;
            let report = NoteReport {
                section: note.section,
                characters: is_limited.then_some(characters),
                limit: is_limited.then_some(LIMIT),
                diff: None,
                warnings: Vec::new(),
            };
            Ok((report, changes))
        })?;
    report.diff = applied.diff;
    report.warnings = project.named(applied.warnings);
    Ok(report)
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
    note.secrets.check("the text", note.text)
}

/// Inserts the note, and returns the resulting number of characters in Priority Context.
fn insert(text: &mut String, clock: &Clock, note: &Note<'_>) -> Result<usize> {
    let mut old = text.clone();
    if note.replaces_equal
        && note.section == NotepadSection::Working
        && let Some(lines) = equal_bullet(&Notepad::parse(text), note.text)
    {
        old.replace_range(lines, "");
    }
    let notepad = Notepad::parse(&old);
    let note_lines = note_lines(note, clock);
    let (at, inserted) = insertion(&notepad, note.section, &note_lines);
    let mut new = old.clone();
    new.insert_str(at, &inserted);
    let after = Notepad::parse(&new);
    check(&notepad, &after, note.section, &note_lines.replace("\r\n", "\n"))?;
    let characters = after.priority_characters();
    if note.section == NotepadSection::Priority && characters > LIMIT {
        let now = notepad.priority_characters();
        let excess = characters - LIMIT;
        let message = format!(
            "Priority Context has {now} of {LIMIT} characters and would have {characters}, which is {excess} too many"
        );
        return Err(Error::refused(message).hint(
            "shorten it, remove something by hand, or write an entry: `annals entry write`",
        ));
    }
    *text = new;
    Ok(characters)
}

/// Returns the newest dated bullet of Working Memory that says the same in one line.
fn equal_bullet(notepad: &Notepad<'_>, note: &str) -> Option<Range<usize>> {
    let mut bullets =
        notepad.bodies(NotepadSection::Working).flat_map(|body| notepad.bullets(&body));
    bullets.find(|lines| {
        let said = notepad.text[lines.clone()].strip_prefix("- [");
        said.and_then(|said| said.split_once("Z] "))
            .is_some_and(|(_, said)| said.trim_end() == note.trim_end())
    })
}

/// Returns the lines to insert for a note.
fn note_lines(note: &Note<'_>, clock: &Clock) -> String {
    let text = note.text;
    match note.section {
        // A note that is already a bullet must not become a list inside a list.
        NotepadSection::Priority => {
            let content = Some(without_bullet(text)).filter(|content| !content.trim().is_empty());
            format!("- {}\n", content.unwrap_or(text))
        }
        NotepadSection::Working => {
            format!("- [{}] {text}\n", clock.now().format("%Y-%m-%dT%H:%MZ"))
        }
        NotepadSection::Manual if text.ends_with('\n') => text.to_owned(),
        NotepadSection::Manual => format!("{text}\n"),
    }
}

/// Returns the insertion that adds a note to a section, with a heading if the section is missing: its byte offset and
/// its text. The rest of the file is unchanged.
fn insertion(notepad: &Notepad<'_>, section: NotepadSection, note: &str) -> (usize, String) {
    let text = notepad.text;
    let newline = text.find('\n').map_or("\n", |end| line_end(&text[..=end]));
    let note = note.replace("\r\n", "\n").replace('\n', newline);
    let gap = |at: usize| line_gap(&text[..at], newline);
    let is_blank = |line: Option<&str>| line.is_none_or(|line| line.trim().is_empty());
    let Some(body) = notepad.bodies(section).next() else {
        // Before the next existing section, or else at the end.
        let next = notepad.headings.iter().find(|found| found.which > Some(section));
        let at = next.map_or(text.len(), |next| next.line.start);
        let above = if is_blank(text[..at].lines().next_back()) { "" } else { newline };
        let below = if next.is_some() { newline } else { "" };
        let title = section.title();
        return (at, format!("{}{above}## {title}{newline}{note}{below}", gap(at)));
    };
    if section == NotepadSection::Working {
        let next = notepad.headings.iter().find(|heading| heading.line.start >= body.start);
        let end = next.map_or(body.end, |heading| heading.line.start.min(body.end));
        if let Some(first) = notepad.bullets(&(body.start..end)).first() {
            return (first.start, note);
        }
    }
    let at = match section {
        NotepadSection::Working => body.start,
        _ => notepad.written(body).end,
    };
    let below = if is_blank(text[at..].lines().next()) { "" } else { newline };
    (at, format!("{}{note}{below}", gap(at)))
}

/// Refuses a note that would change the sections or the existing headings of the file.
///
/// A heading in the note could end its section, and an unclosed fence or comment would hide the next heading.
fn check(
    notepad: &Notepad<'_>,
    after: &Notepad<'_>,
    section: NotepadSection,
    note: &str,
) -> Result<()> {
    let mut others = NotepadSection::ALL.into_iter().filter(|other| *other != section);
    let text = |of: &Notepad<'_>, section| of.content(section).map(|text| text.trim().to_owned());
    let are_same = others.all(|other| text(notepad, other) == text(after, other));
    let is_new = notepad.bodies(section).next().is_none();
    let count = notepad.headings.len() + Notepad::parse(note).headings.len() + usize::from(is_new);
    let held = after.bodies(section).next().map(|body| &after.text[body]);
    let is_held = held.is_some_and(|held| held.replace("\r\n", "\n").contains(note.trim_end()));
    if are_same && is_held && after.headings.len() == count {
        return Ok(());
    }
    Err(Error::refused("this text would break the notepad's sections")
        .hint("write headings with ### or more, and close each code fence and comment"))
}

/// Plans to remove the bullets of Working Memory whose time is more than 7 days ago, with the lines indented below them,
/// and returns their number; to be called while holding the store's lock.
///
/// A bullet without a valid time is kept, and so is every other byte. A file that is not UTF-8 stays as it is.
pub(crate) fn prune(
    place: &KnowledgeDir,
    clock: &Clock,
    changes: &mut Changes,
) -> Result<Parsed<usize>> {
    let path = place.notepad();
    let Some(bytes) = changes.current(&path)? else { return Ok(Parsed::new(0, Vec::new())) };
    let text = match read::editable(&bytes, &path) {
        Ok(text) => text,
        Err(error) => return Ok(Parsed::new(0, vec![error.into()])),
    };
    let old = old_bullets(text, clock.now());
    let mut rest = text.to_owned();
    for range in old.iter().rev() {
        rest.replace_range(range.clone(), "");
    }
    let count = old.len();
    changes.edit(&path, Some(bytes), rest)?;
    Ok(Parsed::new(count, Vec::new()))
}

fn old_bullets(text: &str, now: DateTime<Utc>) -> Vec<Range<usize>> {
    let notepad = Notepad::parse(text);
    let is_old = |lines: &Range<usize>| {
        noted_at(&text[lines.clone()])
            .is_some_and(|time| now.signed_duration_since(time) > TimeDelta::days(KEPT_DAYS))
    };
    let bodies = notepad.bodies(NotepadSection::Working);
    bodies.flat_map(|body| notepad.bullets(&body)).filter(is_old).collect()
}

/// Returns the time of `- [2026-02-17T10:11Z] …`.
fn noted_at(bullet: &str) -> Option<DateTime<Utc>> {
    let rest = bullet.trim_start_matches(' ').strip_prefix(['-', '*', '+'])?;
    let (stamp, _) = rest.trim_start().strip_prefix('[')?.split_once(']')?;
    parse_timestamp(stamp)
}

#[cfg(test)]
mod tests;
