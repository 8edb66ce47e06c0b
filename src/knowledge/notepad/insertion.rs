//! Determines the position and the text of an inserted note.

use std::ops::Range;
use std::path::Path;

use crate::error::{Error, Result};
use crate::knowledge::notepad::reader::{line_start, outline};
use crate::knowledge::notepad::{Notepad, NotepadHeading, NotepadSection, parse};

/// An insertion; the rest of the file is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Insertion {
    /// Byte offset of the insertion.
    pub(super) at: usize,
    /// The text to insert.
    pub(super) text: String,
    /// Byte offset of the section's heading in `text`, if the insertion creates the section.
    heading: Option<usize>,
}

/// Returns the insertion that adds `lines` to a section, with a heading if the section is missing.
pub(super) fn insertion(notepad: &Notepad<'_>, section: NotepadSection, lines: &str) -> Insertion {
    let newline = newline(notepad.text);
    let lines = lines.replace("\r\n", "\n").replace('\n', newline);
    if notepad.section(section).is_none() {
        return with_heading(notepad, section, &lines, newline);
    }
    match section {
        NotepadSection::Priority | NotepadSection::Manual => {
            below(notepad, section, &lines, newline)
        }
        NotepadSection::Working => above(notepad, section, &lines, newline),
    }
}

/// Returns the line ending of the file's first line.
fn newline(text: &str) -> &'static str {
    let first = text.find('\n').map(|end| &text[..=end]);
    if first.is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" }
}

/// Inserts after the content of the section; in the last section, after the last line that is not blank, even
/// if that is a rule.
fn below(notepad: &Notepad<'_>, section: NotepadSection, lines: &str, newline: &str) -> Insertion {
    let text = notepad.text;
    let is_last = |body: &Range<usize>| body.end == text.len();
    let body = notepad.section(section).map(|found| found.body.clone());
    let at = match body.filter(is_last) {
        Some(body) => {
            let written = body.start + text[body].trim_end().len();
            text[written..].find('\n').map_or(text.len(), |end| written + end + 1)
        }
        None => notepad.content(section).map_or(0, |content| content.end),
    };
    inserted(text, at, lines, newline)
}

/// Inserts before the first bullet of the section, or else directly below its heading.
fn above(notepad: &Notepad<'_>, section: NotepadSection, lines: &str, newline: &str) -> Insertion {
    let body = notepad.section(section).map(|found| found.body.clone());
    let body = body.unwrap_or_default();
    match first_bullet(notepad, &body) {
        Some(at) => Insertion { at, text: lines.to_owned(), heading: None },
        None => inserted(notepad.text, body.start, lines, newline),
    }
}

/// Returns the start of the first bullet's line, if there is one before the next heading.
fn first_bullet(notepad: &Notepad<'_>, body: &Range<usize>) -> Option<usize> {
    let next = notepad.headings.iter().find(|heading| heading.lines.start >= body.start);
    let end = next.map_or(body.end, |heading| heading.lines.start.min(body.end));
    let outline = outline(notepad.text);
    let own = body.start..end;
    outline.items(&own).find_map(|(block, item)| {
        let start = line_start(notepad.text, block.range.start);
        // A line with a quoted bullet begins with the quote marker.
        let is_quoted = notepad.text[start..].trim_start().starts_with('>');
        (item.depth == 0 && !is_quoted).then_some(start)
    })
}

/// Inserts lines between two lines, with a line break before and a blank line after them if needed.
fn inserted(text: &str, at: usize, lines: &str, newline: &str) -> Insertion {
    let mut inserted = String::new();
    if !text[..at].is_empty() && !text[..at].ends_with('\n') {
        inserted.push_str(newline);
    }
    inserted.push_str(lines);
    let next = text[at..].split_inclusive('\n').next();
    if next.is_some_and(|line| !line.trim().is_empty()) {
        inserted.push_str(newline);
    }
    Insertion { at, text: inserted, heading: None }
}

/// Inserts a section with its heading before the next existing section, or else at the end.
fn with_heading(
    notepad: &Notepad<'_>,
    section: NotepadSection,
    lines: &str,
    newline: &str,
) -> Insertion {
    let text = notepad.text;
    let next = notepad.sections.iter().find(|found| found.section > section);
    let at = next.map_or(text.len(), |next| next.heading.start);
    let mut inserted = String::new();
    if !text[..at].is_empty() {
        if !text[..at].ends_with('\n') {
            inserted.push_str(newline);
        }
        let last = text[..at].lines().next_back();
        if last.is_some_and(|line| !line.trim().is_empty()) {
            inserted.push_str(newline);
        }
    }
    let heading = Some(inserted.len());
    let level = next.or(notepad.sections.last()).map_or(2, |one| one.level);
    let marks = "#".repeat(usize::from(if level > 6 { 2 } else { level }));
    for piece in [&marks, " ", section.title(), newline, lines] {
        inserted.push_str(piece);
    }
    if next.is_some() {
        inserted.push_str(newline);
    }
    Insertion { at, text: inserted, heading }
}

/// Refuses an insertion that would change the sections or the existing headings of the file.
///
/// A heading in the note could end its section, and an unclosed fence or comment would hide the next heading.
pub(super) fn check(
    notepad: &Notepad<'_>,
    section: NotepadSection,
    insertion: &Insertion,
    after: &str,
    path: &Path,
) -> Result<()> {
    let new = parse(after, path).value;
    let from = insertion.at;
    let to = from + insertion.text.len();
    let (own, kept): (Vec<_>, Vec<_>) =
        new.headings.iter().partition(|heading| (from..to).contains(&heading.lines.start));
    let made = insertion.heading.map(|heading| from + heading);
    let level = match notepad.section(section) {
        Some(found) => found.level,
        None => own.first().map_or(0, |heading| heading.level),
    };
    let of_note = own.iter().filter(|one| Some(one.lines.start) != made);
    let is_section = |lines: &Range<usize>| new.sections.iter().any(|one| one.heading == *lines);
    let mut clashing =
        of_note.filter(|one: &&&NotepadHeading| one.level <= level || is_section(&one.lines));
    if let Some(heading) = clashing.next() {
        let message = format!(
            "the heading {:?} in the text would end the section {}",
            heading.title,
            section.title()
        );
        let deeper = "#".repeat(usize::from(level.min(5)) + 1);
        return Err(Error::refused(message)
            .hint(format!("write it with {deeper} or more, and not as a section's name")));
    }
    let identity = |heading: &NotepadHeading| (heading.level, heading.title.clone());
    let is_kept = kept.iter().map(|one| identity(one)).eq(notepad.headings.iter().map(identity));
    let moved = |at: usize| if at < from { at } else { at + to - from };
    let mut sections: Vec<_> =
        notepad.sections.iter().map(|old| (old.section, moved(old.heading.start))).collect();
    sections.extend(made.map(|start| (section, start)));
    sections.sort_by_key(|(_, start)| *start);
    let found = new.sections.iter().map(|new| (new.section, new.heading.start));
    if is_kept && found.eq(sections) {
        return Ok(());
    }
    Err(Error::refused("this text would break the notepad's sections")
        .hint("a code fence or comment that is not closed hides what follows; close it"))
}
