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

mod insertion;
mod prune;
mod reader;
mod write;

use std::ops::Range;
use std::path::PathBuf;

pub use prune::{Pruned, pruned};
pub use reader::parse;
use serde::{Deserialize, Serialize};
pub use write::{Note, NoteReport, write};

use crate::error::{Error, Result};
use crate::knowledge::KnowledgeDir;
use crate::project::Project;
use crate::storage::read;
use crate::text::word_enum;
use crate::warning::Warning;

/// Maximum length of Priority Context, in characters.
pub const LIMIT: usize = 500;

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
struct NotepadHeading {
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
    headings: Vec<NotepadHeading>,
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
