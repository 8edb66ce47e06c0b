//! Where a note goes in: one place in the text, and what is inserted there.

use std::ops::Range;
use std::path::Path;

use crate::error::Error;
use crate::error::Result;
use crate::knowledge::notepad::Notepad;
use crate::knowledge::notepad::NotepadHeading;
use crate::knowledge::notepad::NotepadSection;
use crate::knowledge::notepad::parse;
use crate::knowledge::notepad::reader::line_start;
use crate::knowledge::notepad::reader::outline;

/// One insertion; nothing else in the file changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Insertion {
    /// Where it goes in.
    pub(super) at: usize,
    /// What goes in.
    pub(super) text: String,
    /// Where in it the section's heading begins, where the section is made by it.
    heading: Option<usize>,
}

/// Returns what makes `lines` a part of a section, with the section's heading where it is missing.
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

/// Returns the line end of the file: that of its first line.
fn newline(text: &str) -> &'static str {
    let first = text.find('\n').map(|end| &text[..=end]);
    if first.is_some_and(|line| line.ends_with("\r\n")) {
        "\r\n"
    } else {
        "\n"
    }
}

/// After what the section contains; at the end of the file after its last line that is not blank, be that a rule.
fn below(notepad: &Notepad<'_>, section: NotepadSection, lines: &str, newline: &str) -> Insertion {
    let text = notepad.text;
    let is_last = |body: &Range<usize>| body.end == text.len();
    let body = notepad.section(section).map(|found| found.body.clone());
    let at = match body.filter(is_last) {
        Some(body) => {
            let written = body.start + text[body].trim_end().len();
            text[written..]
                .find('\n')
                .map_or(text.len(), |end| written + end + 1)
        }
        None => notepad.content(section).map_or(0, |content| content.end),
    };
    inserted(text, at, lines, newline)
}

/// In front of the first bullet of the section, else right under its heading.
fn above(notepad: &Notepad<'_>, section: NotepadSection, lines: &str, newline: &str) -> Insertion {
    let body = notepad.section(section).map(|found| found.body.clone());
    let body = body.unwrap_or_default();
    match first_bullet(notepad, &body) {
        Some(at) => Insertion {
            at,
            text: lines.to_owned(),
            heading: None,
        },
        None => inserted(notepad.text, body.start, lines, newline),
    }
}

/// Returns the start of the first bullet's line, up to the next heading.
fn first_bullet(notepad: &Notepad<'_>, body: &Range<usize>) -> Option<usize> {
    let next = notepad
        .headings
        .iter()
        .find(|heading| heading.lines.start >= body.start);
    let end = next.map_or(body.end, |heading| heading.lines.start.min(body.end));
    let outline = outline(notepad.text);
    let own = body.start..end;
    outline.items(&own).find_map(|(block, item)| {
        let start = line_start(notepad.text, block.range.start);
        // One in a quote has the quote's mark in front.
        let is_quoted = notepad.text[start..].trim_start().starts_with('>');
        (item.depth == 0 && !is_quoted).then_some(start)
    })
}

/// Puts lines between two lines; a line end before and a blank line behind where they are missing.
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
    Insertion {
        at,
        text: inserted,
        heading: None,
    }
}

/// Puts a section with its heading before the next one that is there, else at the end.
fn with_heading(
    notepad: &Notepad<'_>,
    section: NotepadSection,
    lines: &str,
    newline: &str,
) -> Insertion {
    let text = notepad.text;
    let next = notepad
        .sections
        .iter()
        .find(|found| found.section > section);
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
    Insertion {
        at,
        text: inserted,
        heading,
    }
}

/// Refuses an insertion after which the file's headings would no longer say the same.
///
/// A heading in the note would end its section, an open fence or comment would hide the next one.
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
    let (own, kept): (Vec<_>, Vec<_>) = new
        .headings
        .iter()
        .partition(|heading| (from..to).contains(&heading.lines.start));
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
        return Err(Error::refused(message).hint(format!(
            "write it with {deeper} or more, and not as a section's name"
        )));
    }
    let identity = |heading: &NotepadHeading| (heading.level, heading.title.clone());
    let is_kept = kept
        .iter()
        .map(|one| identity(one))
        .eq(notepad.headings.iter().map(identity));
    let moved = |at: usize| if at < from { at } else { at + to - from };
    let mut sections: Vec<_> = notepad
        .sections
        .iter()
        .map(|old| (old.section, moved(old.heading.start)))
        .collect();
    sections.extend(made.map(|start| (section, start)));
    sections.sort_by_key(|(_, start)| *start);
    let found = new
        .sections
        .iter()
        .map(|new| (new.section, new.heading.start));
    if is_kept && found.eq(sections) {
        return Ok(());
    }
    Err(
        Error::refused("with this text, the sections could not be told apart")
            .hint("a code fence or comment that is not closed hides what follows; close it"),
    )
}
