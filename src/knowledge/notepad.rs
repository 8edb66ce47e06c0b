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
//! section. Every write is one insertion, and pruning removes whole bullets: all other bytes are unchanged.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::clock::{Clock, parse_date, parse_timestamp};
use crate::error::{Error, Result};
use crate::knowledge::KnowledgeDir;
use crate::knowledge::store::{log, refuse_secrets};
use crate::markdown::{Outline, line_start, without_bullet};
use crate::project::Project;
use crate::secrets::SecretPolicy;
use crate::storage::{Changes, Store, WriteRequest, read};
use crate::text::{fold, line_end, line_gap, line_number, word_enum};
use crate::warning::Warning;

/// Maximum length of Priority Context, in characters.
pub const LIMIT: usize = 500;
/// Age after which a note of Working Memory is removed, in days.
const KEPT_DAYS: i64 = 7;
/// The level of a bold line used as a heading: any other heading ends its section.
const BOLD: u8 = 7;
/// The content of a new notepad.
const NEW: &str = "# Vibekit Notepad\n\n## Priority Context\n\n## Working Memory\n\n## Manual\n";

word_enum! {
    /// A section of the notepad.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
struct Heading {
    /// 7 for a bold line used as a heading: any other heading ends its section.
    level: u8,
    title: String,
    /// Byte range of its lines, with the line ending.
    lines: Range<usize>,
}

/// A section's heading, and the text below it up to the next section or heading of the same or a higher level.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Section {
    which: NotepadSection,
    level: u8,
    start: usize,
    body: Range<usize>,
}

/// A parsed notepad.
#[derive(Clone, Debug)]
pub struct Notepad<'a> {
    text: &'a str,
    outline: Outline<'a>,
    headings: Vec<Heading>,
    sections: Vec<Section>,
}

impl<'a> Notepad<'a> {
    /// Parses a notepad; of several headings for a section the first with its full name counts, or else the first.
    pub fn parse(text: &'a str) -> Self {
        let mark = text.len() - text.trim_start_matches('\u{feff}').len();
        let outline = Outline::parse(text, mark);
        let headings = headings(&outline);
        let best = |section: NotepadSection| {
            let of = |is_exact: bool| {
                let mut named = headings.iter();
                named.find(|one| heading_match(&one.title, section) == Some(is_exact))
            };
            Some((section, of(true).or_else(|| of(false))?))
        };
        let mut chosen: Vec<_> = NotepadSection::ALL.into_iter().filter_map(best).collect();
        chosen.sort_by_key(|(_, heading)| heading.lines.start);
        let sections = chosen.iter().map(|(section, heading)| {
            let ends = |other: &&Heading| {
                let is_section = chosen.iter().any(|(_, chosen)| chosen == other);
                other.lines.start > heading.lines.start
                    && (other.level <= heading.level || is_section)
            };
            let end = headings.iter().find(ends).map_or(text.len(), |end| end.lines.start);
            let (start, body) = (heading.lines.start, heading.lines.end..end);
            Section { which: *section, level: heading.level, start, body }
        });
        Self { text, sections: sections.collect(), headings, outline }
    }

    fn section(&self, section: NotepadSection) -> Option<&Section> {
        self.sections.iter().find(|found| found.which == section)
    }

    /// Returns the byte range of a section's content: whole lines, without blank lines around them and a rule
    /// at the end, which separates sections, including future ones.
    fn content(&self, section: NotepadSection) -> Option<Range<usize>> {
        let body = self.section(section)?.body.clone();
        let mut content = body.start..body.start;
        let (mut at, mut follows_blank) = (body.start, false);
        for line in self.text[body].split_inclusive('\n') {
            let is_blank = line.trim().is_empty();
            if content.is_empty() && !is_blank {
                content = at..at;
            }
            at += line.len();
            if !(is_blank || follows_blank && is_rule(line)) {
                content.end = at;
            }
            follows_blank = is_blank;
        }
        Some(content)
    }

    /// Returns the number of characters (Unicode scalar values) in a section's content; a line break counts
    /// as one.
    fn characters(&self, section: NotepadSection) -> usize {
        let content = self.text[self.content(section).unwrap_or_default()].trim();
        content.chars().count() - content.matches("\r\n").count()
    }

    /// Returns the level of a section's heading, or of the one that it would get.
    fn level(&self, section: NotepadSection) -> u8 {
        let next = || self.sections.iter().find(|found| found.which > section);
        match (self.section(section), next().or(self.sections.last())) {
            (Some(found), _) => found.level,
            (None, Some(other)) if other.level != BOLD => other.level,
            (None, _) => 2,
        }
    }

    /// Returns the outermost bullets of a part of the text, each with the lines indented below it.
    fn bullets(&self, part: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let items = self.outline.items(part).filter(|(_, item)| item.depth == 0);
        let starts = items.filter_map(|(_, item)| own_line(self.text, item.whole.start));
        starts.map(|start| start..bullet_end(self.text, start, part.end))
    }
}

/// Returns the start of the line on which a block begins, at the left margin; a block in a quote or a list begins further
/// right. A byte order mark is not part of its line.
fn own_line(text: &str, at: usize) -> Option<usize> {
    let before = text[line_start(text, at)..at].trim_start_matches('\u{feff}');
    (before.len() <= 3 && before.trim_matches(' ').is_empty()).then_some(at - before.len())
}

/// Returns all headings in file order: `#` lines, and the underlined and bold lines that name a section.
fn headings(outline: &Outline<'_>) -> Vec<Heading> {
    let text = outline.text();
    let line = |start: usize| text[start..].split_inclusive('\n').next().unwrap_or_default();
    let marked = outline.sections().iter().filter(|section| section.level > 0);
    let marked = marked.filter_map(|section| {
        let start = own_line(text, section.heading.start)?;
        let (level, title) = (section.level, section.title.clone());
        Some(Heading { level, title, lines: start..start + line(start).len() })
    });
    let whole = 0..text.len();
    let named = outline.paragraphs(&whole).filter_map(|(block, written)| {
        // Text may follow directly.
        let title = written.lines().next()?.trim_end();
        let is_named = |section: NotepadSection| heading_match(title, section) == Some(true);
        NotepadSection::ALL.into_iter().find(|section| is_named(*section))?;
        let start = own_line(text, block.range.start)?;
        let own = start + line(start).len();
        let (underline, below) = (line(own).trim(), own + line(own).len());
        let is_bold = title.starts_with("**") && title.trim_end_matches(':').ends_with("**");
        let (level, end) = match underline.chars().next() {
            _ if is_bold => (BOLD, own),
            Some('=') if is_of(underline, '=') => (1, below),
            Some('-') if is_of(underline, '-') => (2, below),
            _ => return None,
        };
        Some(Heading { level, title: title.to_owned(), lines: start..end })
    });
    let mut found: Vec<Heading> = marked.chain(named).collect();
    found.sort_by_key(|heading| heading.lines.start);
    found
}

/// Returns whether a heading names a section: exactly, as `priority context:` does, or loosely, as `Priority` or
/// `Priority Context (max 500)` do.
fn heading_match(title: &str, section: NotepadSection) -> Option<bool> {
    let plain = fold(title.trim_matches(|c: char| !c.is_alphanumeric() && !"()".contains(c)));
    let full = fold(section.title());
    if plain == full || plain == section.as_str() {
        return Some(plain == full);
    }
    let rest = plain.strip_prefix(&full)?.trim_start();
    let is_noun = ["notes", "section"].contains(&rest);
    (is_noun || !rest.starts_with(char::is_alphanumeric)).then_some(false)
}

/// Returns whether a line consists of one mark.
fn is_of(line: &str, mark: char) -> bool {
    !line.is_empty() && line.chars().all(|c| c == mark)
}

/// Returns whether a line is a rule: three or more of the same mark.
fn is_rule(line: &str) -> bool {
    line.trim().len() >= 3 && ['-', '*', '_'].iter().any(|mark| is_of(line.trim(), *mark))
}

/// Returns the end of a bullet: of its first line, and of those that are indented below it.
fn bullet_end(text: &str, start: usize, limit: usize) -> usize {
    let (mut end, mut at) = (start, start);
    let mut column = 0;
    for line in text[start..limit].split_inclusive('\n') {
        let is_first = at == start;
        at += line.len();
        if is_first {
            column = indent(line) + 2;
            end = at;
        } else if !line.trim().is_empty() {
            if indent(line) < column {
                break;
            }
            end = at;
        }
    }
    end
}

/// Returns the column at which the text of a line begins; a tab leads to the next multiple of 4.
fn indent(line: &str) -> usize {
    let white = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
    white.fold(0, |column, byte| if byte == b' ' { column + 1 } else { column / 4 * 4 + 4 })
}

/// Decodes bytes to a text of the same length, so that byte offsets are valid for both.
fn same_length_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '\u{1a}'));
    }
    text
}

/// The content of the notepad. It is the document of `annals notepad read --json`.
#[derive(Clone, Debug, Serialize)]
pub struct NotepadText {
    /// Path of the notepad, relative to the project.
    pub file: PathBuf,
    /// The requested section; `None` for the whole file.
    pub section: Option<NotepadSection>,
    /// The text, verbatim; invalid bytes are replaced by U+FFFD.
    pub text: String,
    /// Number of characters in Priority Context, regardless of the requested section.
    pub priority_characters: usize,
    /// The same text as the original bytes.
    #[serde(skip)]
    pub bytes: Vec<u8>,
    /// A warning for each further heading of a section, which counts as text.
    pub warnings: Vec<Warning>,
}

/// Returns the length of Priority Context in characters; 0 without a notepad.
pub fn priority_characters(project: &Project) -> Result<usize> {
    let path = KnowledgeDir::in_project(project).notepad();
    let text = read::text(&path)?;
    let text = text.map(|parsed| parsed.value).unwrap_or_default();
    Ok(Notepad::parse(&text).characters(NotepadSection::Priority))
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
    let text = same_length_text(&bytes);
    let notepad = Notepad::parse(&text);
    let range = match section {
        None => 0..bytes.len(),
        Some(section) => notepad.content(section).ok_or_else(|| {
            let missing = format!("the notepad has no section {}", section.title());
            Error::not_found(missing)
                .at(&file, None)
                .hint(format!("`annals notepad {} TEXT` creates it", section.as_str()))
        })?,
    };
    let priority_characters = notepad.characters(NotepadSection::Priority);
    let is_second = |heading: &&Heading| {
        NotepadSection::ALL.iter().any(|one| heading_match(&heading.title, *one) == Some(true))
            && !notepad.sections.iter().any(|section| section.start == heading.lines.start)
    };
    let warning = |heading: &Heading| {
        let line = line_number(&text, heading.lines.start);
        Warning::at(&file, line, "is a second heading of its section, and is read as text")
    };
    let warnings = notepad.headings.iter().filter(is_second).map(warning).collect();
    let bytes = bytes[range].to_vec();
    Ok(NotepadText {
        file,
        section,
        text: String::from_utf8_lossy(&bytes).into_owned(),
        priority_characters,
        bytes,
        warnings,
    })
}

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
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    let command = match note.section {
        NotepadSection::Priority => "notepad priority",
        NotepadSection::Working => "notepad working",
        NotepadSection::Manual => "notepad manual",
    };
    let request = note.request_id.map(|id| WriteRequest::new(id, command)).transpose()?;
    let stores = &[Store::Entries];
    let (mut report, applied) =
        project.storage().transact_once(command, stores, request.as_ref(), || {
            let place = KnowledgeDir::in_project(project);
            let mut changes = Changes::new();
            let old = changes.current(&place.notepad())?;
            let mut bytes = old.clone().unwrap_or_default();
            if bytes.trim_ascii().is_empty() {
                bytes.extend_from_slice(NEW.as_bytes());
            }
            let characters = insert(&mut bytes, &project.clock, note)?;
            changes.edit(&place.notepad(), old, bytes)?;
            log(&mut changes, &place, &project.clock, command)?;
            let is_limited = note.section == NotepadSection::Priority;
            let named = |path: &Path| project.relative(path).to_owned();
            let report = NoteReport {
                section: note.section,
                characters: is_limited.then_some(characters),
                limit: is_limited.then_some(LIMIT),
                changed: changes.paths().into_iter().map(named).collect(),
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
    match note.secrets {
        SecretPolicy::Allow => Ok(()),
        SecretPolicy::Refuse => refuse_secrets("text", note.text),
    }
}

/// Inserts the note, and returns the resulting number of characters in Priority Context.
fn insert(bytes: &mut Vec<u8>, clock: &Clock, note: &Note<'_>) -> Result<usize> {
    let text = same_length_text(bytes);
    if note.section == NotepadSection::Working
        && let Some(line) = equal_bullet(&Notepad::parse(&text), note.text)
    {
        bytes.drain(line);
    }
    let text = same_length_text(bytes);
    let notepad = Notepad::parse(&text);
    let note_lines = note_lines(note, clock);
    let (at, inserted) = insertion(&notepad, note.section, &note_lines);
    let mut after = text.clone();
    after.insert_str(at, &inserted);
    let after = Notepad::parse(&after);
    check(&notepad, &after, note.section, &note_lines.replace("\r\n", "\n"))?;
    let characters = after.characters(NotepadSection::Priority);
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
    bytes.splice(at..at, inserted.into_bytes());
    Ok(characters)
}

/// Returns the newest dated bullet of Working Memory that says the same in one line: a note that is made again replaces
/// it.
fn equal_bullet(notepad: &Notepad<'_>, note: &str) -> Option<Range<usize>> {
    let body = &notepad.section(NotepadSection::Working)?.body;
    notepad.bullets(body).find(|lines| {
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
    let Some(found) = notepad.section(section) else {
        // Before the next existing section, or else at the end.
        let next = notepad.sections.iter().find(|found| found.which > section);
        let at = next.map_or(text.len(), |next| next.start);
        let above = if is_blank(text[..at].lines().next_back()) { "" } else { newline };
        let below = if next.is_some() { newline } else { "" };
        let (marks, title) = ("#".repeat(usize::from(notepad.level(section))), section.title());
        return (at, format!("{}{above}{marks} {title}{newline}{note}{below}", gap(at)));
    };
    let body = found.body.clone();
    if section == NotepadSection::Working {
        let next = notepad.headings.iter().find(|heading| heading.lines.start >= body.start);
        let end = next.map_or(body.end, |heading| heading.lines.start.min(body.end));
        if let Some(first) = notepad.bullets(&(body.start..end)).next() {
            return (first.start, note);
        }
    }
    let at = match section {
        NotepadSection::Working => body.start,
        // In the last section after the last line that is not blank, even if that is a rule.
        _ if body.end == text.len() => {
            let written = body.start + text[body].trim_end().len();
            text[written..].find('\n').map_or(text.len(), |end| written + end + 1)
        }
        _ => notepad.content(section).map_or(body.start, |content| content.end),
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
    let level = notepad.level(section);
    let own = headings(&Outline::parse(note, 0));
    let names_section =
        |title: &str| NotepadSection::ALL.iter().any(|one| heading_match(title, *one).is_some());
    if let Some(heading) = own.iter().find(|one| one.level <= level || names_section(&one.title)) {
        let (title, section) = (&heading.title, section.title());
        let message = format!("the heading {title:?} in the text would end the section {section}");
        let deeper = "#".repeat(usize::from(level.min(5)) + 1);
        return Err(Error::refused(message)
            .hint(format!("write it with {deeper} or more, and not as a section's name")));
    }
    let text = |notepad: &Notepad<'_>, section| {
        notepad.content(section).map(|content| notepad.text[content].trim().to_owned())
    };
    let mut others = NotepadSection::ALL.into_iter().filter(|other| *other != section);
    let are_same = others.all(|other| text(notepad, other) == text(after, other));
    let is_new = notepad.section(section).is_none();
    let count = notepad.headings.len() + own.len() + usize::from(is_new);
    let held = after.section(section).map(|found| &after.text[found.body.clone()]);
    let is_held = held.is_some_and(|held| held.replace("\r\n", "\n").contains(note.trim_end()));
    if are_same && is_held && after.headings.len() == count {
        return Ok(());
    }
    Err(Error::refused("this text would break the notepad's sections")
        .hint("a code fence or comment that is not closed hides what follows; close it"))
}

/// Plans to remove the bullets of Working Memory whose time is more than 7 days ago, with the lines indented below them,
/// and returns their number; to be called while holding the store's lock.
///
/// A bullet without a valid time is kept, and so is every other byte.
pub(crate) fn prune(place: &KnowledgeDir, clock: &Clock, changes: &mut Changes) -> Result<usize> {
    let path = place.notepad();
    let Some(bytes) = changes.current(&path)? else {
        return Ok(0);
    };
    let old = old_bullets(&same_length_text(&bytes), clock.now());
    let mut rest = bytes.clone();
    for range in old.iter().rev() {
        rest.drain(range.clone());
    }
    changes.edit(&path, Some(bytes), rest)?;
    Ok(old.len())
}

fn old_bullets(text: &str, now: DateTime<Utc>) -> Vec<Range<usize>> {
    let notepad = Notepad::parse(text);
    let Some(working) = notepad.section(NotepadSection::Working) else {
        return Vec::new();
    };
    let is_old = |lines: &Range<usize>| {
        noted_at(&text[lines.clone()])
            .is_some_and(|time| now.signed_duration_since(time) > TimeDelta::days(KEPT_DAYS))
    };
    notepad.bullets(&working.body).filter(is_old).collect()
}

/// Returns the time of `- [2026-02-17T10:11Z] …`; for a date without a time, the end of the day.
fn noted_at(bullet: &str) -> Option<DateTime<Utc>> {
    let rest = bullet.trim_start_matches(' ').strip_prefix(['-', '*', '+'])?;
    let rest = rest.trim_start_matches([' ', '\t']).strip_prefix('[')?;
    let stamp = rest.split_once(']')?.0.trim();
    parse_timestamp(stamp).or_else(|| {
        let day = parse_date(stamp).filter(|_| !stamp.contains(':'))?;
        Some(day.succ_opt()?.and_hms_opt(0, 0, 0)?.and_utc())
    })
}

#[cfg(test)]
mod tests;
