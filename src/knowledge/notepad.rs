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

use std::cmp::Reverse;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::clock::{Clock, parse_date, parse_timestamp};
use crate::error::{Error, Result};
use crate::knowledge::KnowledgeDir;
use crate::knowledge::entry::Fence;
use crate::knowledge::store::{log, refuse_secrets};
use crate::markdown::{Lines, without_bullet};
use crate::project::Project;
use crate::secrets::SecretPolicy;
use crate::storage::{Changes, Store, WriteRequest, read};
use crate::text::{fold, line_end, word_enum};
use crate::warning::{Parsed, Warning};

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

/// The position of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionSpan {
    /// The section.
    pub section: NotepadSection,
    /// Byte range of the heading's lines.
    pub heading: Range<usize>,
    /// Byte range from the end of the heading to the start of the next section or heading of the same or a
    /// higher level.
    pub body: Range<usize>,
    /// The level of its heading; 7 for a bold line used as a heading.
    pub level: u8,
}

/// A heading of any kind, including the headings of the sections.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Heading {
    level: u8,
    title: String,
    /// Byte range of its lines, with the line ending.
    lines: Range<usize>,
}

/// A parsed notepad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notepad<'a> {
    text: &'a str,
    sections: Vec<SectionSpan>,
    headings: Vec<Heading>,
}

impl Notepad<'_> {
    /// Returns the position of a section; `None` if it does not exist.
    pub fn section(&self, section: NotepadSection) -> Option<&SectionSpan> {
        self.sections.iter().find(|found| found.section == section)
    }

    /// Returns the byte range of a section's content: whole lines, without blank lines around them and a rule
    /// at the end.
    pub fn content(&self, section: NotepadSection) -> Option<Range<usize>> {
        let body = self.section(section)?.body.clone();
        let mut content = body.start..body.start;
        let mut at = body.start;
        let mut follows_blank = false;
        for line in self.text[body].split_inclusive('\n') {
            let is_blank = line.trim().is_empty();
            if !is_blank && content.is_empty() {
                content = at..at;
            }
            at += line.len();
            // A rule between blank lines separates sections, including future ones; it is content only if
            // text follows.
            let parts = follows_blank && is_rule(line);
            if !is_blank && !parts {
                content.end = at;
            }
            follows_blank = is_blank;
        }
        Some(content)
    }

    /// Returns the number of characters (Unicode scalar values) in a section's content; a line break counts
    /// as one.
    pub fn characters(&self, section: NotepadSection) -> usize {
        let content = self.content(section).unwrap_or_default();
        let content = self.text[content].trim();
        content.chars().count() - content.matches("\r\n").count()
    }
}

/// Returns the lines of a text with their byte ranges, without a byte order mark, and whether each is in a fenced
/// block or a comment.
fn lines(text: &str) -> impl Iterator<Item = (Range<usize>, &str, bool)> {
    let mut at = text.len() - text.trim_start_matches('\u{feff}').len();
    let (mut fence, mut is_comment) = (Fence::default(), false);
    text[at..].split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        let opens = !is_comment && line.trim_start().starts_with("<!--");
        let is_hidden = is_comment || opens || fence.contains(line.trim_end());
        is_comment = (is_comment || opens) && !line.contains("-->");
        (start..at, line, is_hidden)
    })
}

/// Returns all headings in file order: `#` lines, and the underlined and bold lines that name a section.
fn headings(text: &str) -> Vec<Heading> {
    let mut found: Vec<Heading> = Vec::new();
    // The line above, if it names a section and may be underlined.
    let mut named: Option<(Range<usize>, &str)> = None;
    let mut follows_text = false;
    for (range, line, is_hidden) in lines(text) {
        let line = line.trim_end();
        let above = named.take();
        let goes_on = !is_hidden && !line.is_empty() && !is_rule(line);
        let follows = std::mem::replace(&mut follows_text, goes_on);
        if is_hidden || indent(line) > 3 {
            continue;
        }
        let line = line.trim();
        let marks = line.len() - line.trim_start_matches('#').len();
        let rest = &line[marks..];
        let level = u8::try_from(marks).unwrap_or(0);
        let mut push = |level, title: &str, lines: Range<usize>| {
            found.push(Heading { level, title: title.trim().to_owned(), lines });
        };
        let underline = match line.trim_start_matches(['=', '-']) {
            "" if line.bytes().all(|mark| mark == b'=') => 1,
            _ => 2,
        };
        if (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t'])) {
            push(level, rest.trim_end_matches('#'), range);
            follows_text = false;
        } else if let Some((first, title)) = above.filter(|_| is_underline(line)) {
            push(underline, title, first.start..range.end);
        } else if !follows && is_exact(line) {
            let inner = line.trim_end_matches(':');
            if inner.len() > 4 && inner.starts_with("**") && inner.ends_with("**") {
                push(BOLD, line, range);
            } else {
                named = Some((range, line));
            }
        }
    }
    found
}

fn is_underline(line: &str) -> bool {
    ['=', '-'].into_iter().any(|mark| !line.is_empty() && line.chars().all(|c| c == mark))
}

fn is_exact(title: &str) -> bool {
    NotepadSection::ALL.iter().any(|section| heading_match(title, *section) == Some(3))
}

/// Returns how well a heading matches the name of a section: 3 for `priority context:`, 2 for `Priority`, 1 for
/// `Priority Context (max 500)`.
fn heading_match(title: &str, section: NotepadSection) -> Option<u8> {
    let plain = title.trim_start_matches(|c: char| !c.is_alphabetic());
    let plain = fold(plain.trim_end_matches(|c: char| "*_`#: ".contains(c)));
    let full = fold(section.title());
    if plain == full {
        return Some(3);
    }
    if plain == section.as_str() {
        return Some(2);
    }
    let rest = plain.strip_prefix(&full)?;
    let tail = rest.trim_start();
    let is_remark = tail.starts_with(|c: char| !c.is_alphanumeric());
    let is_noun = rest.starts_with(' ') && ["notes", "section"].contains(&tail);
    (is_remark || is_noun).then_some(1)
}

/// Parses a notepad; of several headings for a section the best match counts, then level 2, then the first, and another
/// one that matches exactly becomes a warning and remains ordinary text.
pub fn parse<'a>(text: &'a str, path: &Path) -> Parsed<Notepad<'a>> {
    let headings = headings(text);
    let numbers = Lines::new(text);
    let mut warnings = Vec::new();
    let mut chosen: Vec<(NotepadSection, &Heading)> = Vec::new();
    for section in NotepadSection::ALL {
        let matching = headings.iter();
        let candidates: Vec<(u8, &Heading)> = matching
            .filter_map(|heading| Some((heading_match(&heading.title, section)?, heading)))
            .collect();
        let best = candidates.iter().max_by_key(|(matched, heading)| {
            (*matched, heading.level == 2, Reverse(heading.lines.start))
        });
        let Some((_, best)) = best else { continue };
        chosen.push((section, best));
        for (_, other) in candidates.iter().filter(|(matched, one)| *matched == 3 && one != best) {
            let first = numbers.line(best.lines.start);
            let message = format!(
                "is a second {}, which is read as text (the section is at line {first})",
                section.title()
            );
            warnings.push(Warning::at(path, numbers.line(other.lines.start), message));
        }
    }
    chosen.sort_by_key(|(_, heading)| heading.lines.start);
    let sections = chosen.iter().map(|(section, heading)| {
        let ends = |other: &&Heading| {
            let is_section = chosen.iter().any(|(_, chosen)| chosen == other);
            other.lines.start > heading.lines.start && (other.level <= heading.level || is_section)
        };
        let end = headings.iter().find(ends).map_or(text.len(), |end| end.lines.start);
        SectionSpan {
            section: *section,
            heading: heading.lines.clone(),
            body: heading.lines.end..end.max(heading.lines.end),
            level: heading.level,
        }
    });
    let sections = sections.collect();
    Parsed { value: Notepad { text, sections, headings }, warnings }
}

/// Returns whether a line is a rule: three or more of the same marker.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    let is_one_mark = |mark: char| line.chars().all(|c| c == mark);
    line.len() >= 3 && ['-', '*', '_'].into_iter().any(is_one_mark)
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
    /// Warnings from parsing the notepad.
    pub warnings: Vec<Warning>,
}

/// Returns the length of Priority Context in characters; 0 without a notepad.
pub fn priority_characters(project: &Project) -> Result<usize> {
    let path = KnowledgeDir::in_project(project).notepad();
    let text = read::text(&path)?;
    let text = text.map(|parsed| parsed.value).unwrap_or_default();
    Ok(parse(&text, &path).value.characters(NotepadSection::Priority))
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
    let parsed = parse(&text, &path);
    let notepad = parsed.value;
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
    let bytes = bytes[range].to_vec();
    Ok(NotepadText {
        file,
        section,
        text: String::from_utf8_lossy(&bytes).into_owned(),
        priority_characters,
        bytes,
        warnings: project.named(parsed.warnings),
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
    match note.secrets {
        SecretPolicy::Allow => Ok(()),
        SecretPolicy::Refuse => refuse_secrets("text", note.text),
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
    log(changes, &place, &project.clock, command(note))?;
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
    let parsed = parse(&text, path);
    let notepad = parsed.value;
    let note_lines = note_lines(note, clock);
    let (at, inserted) = insertion(&notepad, note.section, &note_lines);
    let mut after = text.clone();
    after.insert_str(at, &inserted);
    let after = parse(&after, path).value;
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
    Ok(Parsed::new(characters, parsed.warnings))
}

/// Returns the line of the newest dated bullet in Working Memory that says the same: a note that is made again replaces
/// it.
fn equal_bullet(text: &str, note: &str, path: &Path) -> Option<Range<usize>> {
    let body = parse(text, path).value.section(NotepadSection::Working)?.body.clone();
    let mut inside = lines(text).filter(|(range, ..)| body.contains(&range.start)).peekable();
    while let Some((range, line, _)) = inside.next() {
        let said = line.strip_prefix("- [").and_then(|line| line.split_once("] "));
        let is_same = said
            .is_some_and(|(time, said)| time.ends_with('Z') && said.trim_end() == note.trim_end());
        let goes_on = inside.peek().is_some_and(|(_, next, _)| next.starts_with([' ', '\t']));
        if is_same && !goes_on {
            return Some(range);
        }
    }
    None
}

/// Returns the lines to insert for a note.
fn note_lines(note: &Note<'_>, clock: &Clock) -> String {
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

/// Returns the insertion that adds a note to a section, with a heading if the section is missing: its byte offset and
/// its text. The rest of the file is unchanged.
fn insertion(notepad: &Notepad<'_>, section: NotepadSection, note: &str) -> (usize, String) {
    let text = notepad.text;
    let newline = text.find('\n').map_or("\n", |end| line_end(&text[..=end]));
    let note = note.replace("\r\n", "\n").replace('\n', newline);
    let is_blank = |line: Option<&str>| line.is_none_or(|line| line.trim().is_empty());
    let gap = |at: usize| {
        if text[..at].is_empty() || text[..at].ends_with('\n') { "" } else { newline }
    };
    let Some(found) = notepad.section(section) else {
        // Before the next existing section, or else at the end.
        let next = notepad.sections.iter().find(|found| found.section > section);
        let at = next.map_or(text.len(), |next| next.heading.start);
        let above = if is_blank(text[..at].lines().next_back()) { "" } else { newline };
        let below = if next.is_some() { newline } else { "" };
        let (marks, title) = ("#".repeat(usize::from(level(notepad, section))), section.title());
        return (at, format!("{}{above}{marks} {title}{newline}{note}{below}", gap(at)));
    };
    let body = found.body.clone();
    let bullet = match section {
        NotepadSection::Working => first_bullet(notepad, &body),
        _ => None,
    };
    let at = match (section, bullet) {
        (_, Some(bullet)) => bullet,
        (NotepadSection::Working, None) => body.start,
        // In the last section after the last line that is not blank, even if that is a rule.
        _ if body.end == text.len() => {
            let written = body.start + text[body].trim_end().len();
            text[written..].find('\n').map_or(text.len(), |end| written + end + 1)
        }
        _ => notepad.content(section).map_or(body.start, |content| content.end),
    };
    let is_apart = bullet.is_some() || is_blank(text[at..].lines().next());
    (at, format!("{}{note}{}", gap(at), if is_apart { "" } else { newline }))
}

/// Returns the level of a section's heading, or of the one that it would get.
fn level(notepad: &Notepad<'_>, section: NotepadSection) -> u8 {
    let next = || notepad.sections.iter().find(|found| found.section > section);
    match notepad.section(section) {
        Some(found) => found.level,
        None => next()
            .or(notepad.sections.last())
            .map_or(2, |other| if other.level == BOLD { 2 } else { other.level }),
    }
}

/// Returns the start of the first bullet's line, if there is one before the next heading.
fn first_bullet(notepad: &Notepad<'_>, body: &Range<usize>) -> Option<usize> {
    let next = notepad.headings.iter().find(|heading| heading.lines.start >= body.start);
    let own = body.start..next.map_or(body.end, |heading| heading.lines.start.min(body.end));
    let mut inside = lines(notepad.text).filter(|(range, ..)| own.contains(&range.start));
    inside.find(|(_, line, is_hidden)| !is_hidden && is_bullet(line)).map(|(range, ..)| range.start)
}

fn is_bullet(line: &str) -> bool {
    let rest = line.trim_start_matches(' ').strip_prefix(['-', '*', '+']);
    indent(line) <= 3 && rest.is_some_and(|rest| rest.starts_with([' ', '\t']) && !is_rule(line))
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
    let level = level(notepad, section);
    let own = headings(note);
    let names_section =
        |title: &str| NotepadSection::ALL.iter().any(|one| heading_match(title, *one).is_some());
    if let Some(heading) = own.iter().find(|one| one.level <= level || names_section(&one.title)) {
        let message = format!(
            "the heading {:?} in the text would end the section {}",
            heading.title,
            section.title()
        );
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

/// The result of removing old notes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Number of notes removed.
    pub count: usize,
    /// The changes to the file; empty if no note is old enough.
    pub changes: Changes,
}

/// Removes the bullets of Working Memory whose time is more than 7 days ago; to be called while holding the
/// store's lock.
///
/// A bullet without a valid time is kept, and so is every other byte.
pub fn pruned(place: &KnowledgeDir, clock: &Clock) -> Result<Parsed<Pruned>> {
    let path = place.notepad();
    let mut changes = Changes::new();
    let Some(bytes) = changes.current(&path)? else {
        return Ok(Parsed::default());
    };
    let old = old_bullets(&same_length_text(&bytes), clock.now(), &path);
    let mut rest = Vec::with_capacity(bytes.len());
    let mut done = 0;
    for range in &old.value {
        rest.extend_from_slice(&bytes[done..range.start]);
        done = range.end;
    }
    rest.extend_from_slice(&bytes[done..]);
    changes.edit(&path, Some(bytes), rest)?;
    Ok(old.map(|ranges| Pruned { count: ranges.len(), changes }))
}

/// Returns the lines of each bullet that is too old, with the lines indented below it.
fn old_bullets(text: &str, now: DateTime<Utc>, path: &Path) -> Parsed<Vec<Range<usize>>> {
    let mut parsed = Parsed::clean(Vec::<Range<usize>>::new());
    let numbers = Lines::new(text);
    let notepad = parse(text, path).value;
    let Some(working) = notepad.section(NotepadSection::Working) else {
        return parsed;
    };
    // The column of the text of the bullet that is open, and whether the bullet is too old.
    let mut open: Option<(usize, bool)> = None;
    let inside = lines(text).filter(|(range, ..)| working.body.contains(&range.start));
    for (range, line, is_hidden) in inside.filter(|(_, line, _)| !line.trim().is_empty()) {
        match open {
            Some((column, is_old)) if indent(line) >= column => {
                if let Some(last) = parsed.value.last_mut().filter(|_| is_old) {
                    last.end = range.end;
                }
                continue;
            }
            _ => open = None,
        }
        if is_hidden || !is_bullet(line) {
            continue;
        }
        let age = stamp(line).map(|stamp| (stamp, stamp_time(stamp)));
        let is_old = match age {
            Some((_, Some(time))) => now.signed_duration_since(time) > TimeDelta::days(KEPT_DAYS),
            Some((stamp, None)) => {
                let message = format!("invalid time [{stamp}], so the line is never pruned");
                parsed.warnings.push(Warning::at(path, numbers.line(range.start), message));
                false
            }
            None => false,
        };
        open = Some((indent(line) + 2, is_old));
        if is_old {
            parsed.value.push(range);
        }
    }
    parsed
}

/// Returns the text in the brackets of `- [2026-02-17T10:11Z] …`, if it begins with a year.
fn stamp(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(' ').strip_prefix(['-', '*', '+'])?;
    let inner = rest.trim_start_matches([' ', '\t']).strip_prefix('[')?;
    let stamp = inner.split_once(']')?.0.trim();
    let mut start = stamp.chars();
    let is_year = start.by_ref().take(4).filter(char::is_ascii_digit).count() == 4;
    let is_dated = is_year && matches!(start.next(), Some('-' | '/'));
    is_dated.then_some(stamp)
}

/// Returns the time of a stamp; for a date without a time, the end of the day.
fn stamp_time(stamp: &str) -> Option<DateTime<Utc>> {
    parse_timestamp(stamp).or_else(|| {
        let day = parse_date(stamp).filter(|_| !stamp.contains(':'))?;
        Some(day.succ_opt()?.and_hms_opt(0, 0, 0)?.and_utc())
    })
}

/// Returns the column at which the text of a line begins; a tab leads to the next multiple of 4.
fn indent(line: &str) -> usize {
    let mut column = 0;
    for byte in line.bytes() {
        column = match byte {
            b' ' => column + 1,
            b'\t' => column / 4 * 4 + 4,
            _ => break,
        };
    }
    column
}

#[cfg(test)]
mod tests;
