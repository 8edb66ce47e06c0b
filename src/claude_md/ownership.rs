//! Separates annals' block in a context file from the user's text.
//!
//! Works on bytes: text outside the block may have any encoding and any line endings, and is kept unchanged.

use std::borrow::Cow;
use std::path::Path;

use crate::claude_md::edited::{Edited, lost};
use crate::claude_md::generated::Recorded;
use crate::claude_md::span::{Span, readable};
use crate::claude_md::{generated, marker};
use crate::error::{Error, Result};
use crate::markdown::FrontMatter;
use crate::text::{BYTE_ORDER_MARK, clip, line_end, quantity, strip_controls};
use crate::warning::Warning;

/// Maximum number of lines listed of a lost edit.
const MAX_NAMED_LINES: usize = 5;

/// Maximum length of such a line, in characters.
const MAX_LINE_CHARS: usize = 80;

/// A context file, split into the block and the user's text.
#[derive(Clone, Debug)]
pub(crate) struct ContextFile<'a> {
    path: &'a Path,
    known: &'a Recorded<'a>,
    existing: &'a [u8],
    /// Byte offset at which the user's text starts, after a byte order mark and front matter.
    start: usize,
    /// The user's bytes before the block.
    before: Cow<'a, [u8]>,
    block: Option<Block<'a>>,
    /// The user's bytes after the block.
    after: Cow<'a, [u8]>,
    newline: &'static str,
    warnings: Vec<Warning>,
}

/// The existing block of the file.
#[derive(Clone, Debug)]
struct Block<'a> {
    begin_line: usize,
    stated: Option<String>,
    whole: &'a [u8],
    inside: &'a [u8],
    lines: Vec<&'a [u8]>,
    /// The hand edit in it, if it is to be kept.
    edited: Option<Edited<'a>>,
}

/// A context file with its new block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UpdatedContextFile {
    /// The bytes of the new file, equal to the old ones if nothing changed.
    pub(crate) bytes: Vec<u8>,
    /// Warnings about what was kept or replaced.
    pub(crate) warnings: Vec<Warning>,
}

impl<'a> ContextFile<'a> {
    /// Splits a file; an error if its markers are ambiguous.
    ///
    /// Sections outside the block that a planning tool's own generator wrote, and that say what is `known`, are taken
    /// out.
    pub(crate) fn parse(
        existing: Option<&'a [u8]>,
        path: &'a Path,
        known: &'a Recorded<'a>,
    ) -> Result<Self> {
        let existing = existing.unwrap_or_default();
        let text = readable(existing);
        let start = start(&text, path);
        let span = Span::find(&text, path)?;
        let block = span.as_ref().map(|span| span.whole.clone());
        let found = generated::find(&text, start, block.as_ref(), path, known);
        let block = block.unwrap_or(start..start);
        Ok(Self {
            path,
            known,
            existing,
            start,
            before: generated::without(&existing[..block.start], 0, &found.ranges),
            block: span.map(|span| Block {
                begin_line: span.begin_line,
                stated: span.stated,
                whole: &existing[span.whole],
                inside: &existing[span.inside.clone()],
                lines: marker::normalised_lines(&existing[span.inside]),
                edited: None,
            }),
            after: generated::without(&existing[block.end..], block.end, &found.ranges),
            newline: line_end(existing),
            warnings: found.warnings,
        })
    }

    /// Returns the title at the start of the user's own text, if it has one.
    pub(crate) fn title(&self) -> Option<String> {
        let before = self.before.get(self.start..).unwrap_or_default();
        match first_line(&readable(before)) {
            Some(line) => title_of(line),
            None => title_of(first_line(&readable(&self.after))?),
        }
    }

    /// Returns the number of lines of the file with this block in it, including markers.
    pub(crate) fn lines_with(&self, block: &str) -> usize {
        let bytes = self.assemble(&marker::normalised_lines(block.as_bytes()));
        readable(&bytes).lines().count()
    }

    /// Returns the digest of the generated text if the block was edited by hand, or `None` if it was not.
    pub(crate) fn edited_digest(&self) -> Option<&str> {
        let block = self.block.as_ref()?;
        let stated = block.stated.as_deref().unwrap_or_default();
        (stated != marker::digest(&block.lines)).then_some(stated)
    }

    /// Keeps text that was added to the block by moving it below. `generated` is the text before the edit.
    pub(crate) fn keep_edits(&mut self, generated: Option<&[u8]>) {
        if self.edited_digest().is_none() {
            return;
        }
        if let Some(block) = &mut self.block {
            let generated = generated.map(marker::normalised_lines);
            let stated = block.stated.as_deref();
            block.edited = Some(Edited::compare(block.inside, stated, generated.as_deref()));
        }
    }

    /// Returns the user's text around the block.
    pub(crate) fn own_text(&self) -> String {
        [readable(&self.before), readable(&self.after)].join("\n")
    }

    /// Returns the file with the new block. Hand edits of the old block are replaced unless
    /// [`Self::keep_edits`] was called.
    pub(crate) fn with_block(&self, block: &str) -> Result<UpdatedContextFile> {
        let new = marker::normalised_lines(block.as_bytes());
        let mut warnings = self.warnings.clone();
        warnings.extend(self.edit_warning(&new));
        let bytes = self.assemble(&new);
        self.check_block(&bytes, &new)?;
        Ok(UpdatedContextFile { bytes, warnings })
    }

    /// Returns whether the block has these lines already, and no others were ever in it.
    fn is_current(&self, new: &[&[u8]]) -> bool {
        self.edited_digest().is_none() && self.block.as_ref().is_some_and(|old| old.lines == new)
    }

    /// Returns the file without the block and the blank lines that separated it.
    pub(crate) fn without_block(&self) -> Vec<u8> {
        let is_first = self.before.len() == self.start;
        let after = if is_first { self.after.trim_ascii_start() } else { &self.after };
        [&self.before, after].concat()
    }

    /// Returns a warning about what happens to a hand edit.
    fn edit_warning(&self, new: &[&[u8]]) -> Option<Warning> {
        self.edited_digest()?;
        let old = self.block.as_ref()?;
        let message = match &old.edited {
            None if old.lines == new => return None,
            None => "the block was edited by hand; the edits are replaced".to_owned(),
            Some(Edited::Added(_)) => {
                let moved = self.relocated(new).concat();
                let count = moved.iter().filter(|line| !line.trim_ascii().is_empty()).count();
                if count == 0 {
                    return None;
                }
                let lines = quantity(count, "line");
                let were = if count == 1 { "was" } else { "were" };
                format!("{lines} added to the block by hand {were} moved below it")
            }
            Some(Edited::Unknown) => {
                let lost = lost(&old.lines, new, &[&self.before, &self.after]);
                if lost.is_empty() {
                    return None;
                }
                format!(
                    "the block was edited by hand and is rewritten; {}; `annals undo` restores them",
                    lost_summary(&lost)
                )
            }
        };
        Some(Warning::at(self.path, old.begin_line, message))
    }

    /// Returns the lines that move from the old block to below the new one; not the headings that the generator
    /// changes in it.
    fn relocated(&self, new: &[&[u8]]) -> Vec<Vec<&'a [u8]>> {
        let edited = self.block.as_ref().and_then(|block| block.edited.as_ref());
        let around = [&*self.before, &*self.after];
        let moved = edited.map(|edited| edited.relocated(new, &around)).unwrap_or_default();
        let is_own = |line: &&&[u8]| !self.known.is_heading(&readable(line));
        let moved = moved.into_iter().map(|group| group.iter().filter(is_own).copied().collect());
        moved
            .filter(|group: &Vec<&[u8]>| !group.iter().all(|line| marker::is_blank(line)))
            .collect()
    }

    fn assemble(&self, lines: &[&[u8]]) -> Vec<u8> {
        let newline = self.newline.as_bytes();
        let mut bytes = self.before.to_vec();
        if let Some(block) = self.block.as_ref().filter(|_| self.is_current(lines)) {
            bytes.extend_from_slice(block.whole);
            bytes.extend_from_slice(&self.after);
            return bytes;
        }
        if self.block.is_none() && !is_line_start(&bytes) {
            bytes.extend_from_slice(newline);
        }
        bytes.extend_from_slice(marker::begin(&marker::digest(lines)).as_bytes());
        bytes.extend_from_slice(newline);
        for line in lines {
            bytes.extend_from_slice(line);
            bytes.extend_from_slice(newline);
        }
        bytes.extend_from_slice(marker::end().as_bytes());
        if self.block.is_none() {
            bytes.extend_from_slice(self.separator().as_bytes());
        }
        for group in self.relocated(lines) {
            bytes.extend_from_slice(&newline.repeat(2));
            bytes.extend_from_slice(without_newline(&group.concat()));
        }
        bytes.extend_from_slice(&self.after);
        bytes
    }

    /// Returns the separator between a new block and the text below it; the file ends as before.
    fn separator(&self) -> String {
        if self.after.is_empty() {
            let lacks_newline = !self.existing.is_empty() && !self.existing.ends_with(b"\n");
            return if lacks_newline { "" } else { self.newline }.to_owned();
        }
        let starts_with_blank = self.after.starts_with(b"\n") || self.after.starts_with(b"\r\n");
        self.newline.repeat(if starts_with_blank { 1 } else { 2 })
    }

    /// Parses the result again: a template that writes a marker or an unclosed fence would make the block
    /// unrecognisable.
    fn check_block(&self, bytes: &[u8], lines: &[&[u8]]) -> Result<()> {
        let is_whole = Span::find(&readable(bytes), self.path)
            .ok()
            .flatten()
            .is_some_and(|span| marker::normalised_lines(&bytes[span.inside]) == lines);
        if is_whole {
            return Ok(());
        }
        Err(Error::failed(
            "the generated block contains a marker or an unclosed code fence, so it is not written",
        )
        .at(self.path, None)
        .hint("correct the template of the context file"))
    }
}

/// Returns the offset of the user's text: front matter must stay at the start of the file.
fn start(text: &str, path: &Path) -> usize {
    let head = BYTE_ORDER_MARK.len() * usize::from(text.starts_with('\u{feff}'));
    let front_matter = FrontMatter::parse(text, path).value;
    if front_matter.range.start == head && !front_matter.is_empty() {
        front_matter.range.end
    } else {
        head
    }
}

/// Lists the first lines of a lost edit.
fn lost_summary(lost: &[&[u8]]) -> String {
    let quoted = lost.iter().take(MAX_NAMED_LINES).map(|line| {
        let text = String::from_utf8_lossy(line);
        format!("\"{}\"", clip(&strip_controls(&text), MAX_LINE_CHARS))
    });
    let quoted = quoted.collect::<Vec<_>>().join(", ");
    match lost.len().saturating_sub(MAX_NAMED_LINES) {
        0 => format!("lost: {quoted}"),
        more => format!("lost: {quoted} and {}", quantity(more, "more line")),
    }
}

fn without_newline(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn is_line_start(before: &[u8]) -> bool {
    before.is_empty() || before == BYTE_ORDER_MARK || before.ends_with(b"\n")
}

/// Returns the first visible line: neither blank nor a comment.
fn first_line(text: &str) -> Option<&str> {
    let is_comment = |line: &str| line.starts_with("<!--") && line.ends_with("-->");
    text.lines().map(str::trim).find(|line| !line.is_empty() && !is_comment(line))
}

fn title_of(line: &str) -> Option<String> {
    Some(line.strip_prefix("# ")?.trim().to_owned())
}

#[cfg(test)]
mod tests;
