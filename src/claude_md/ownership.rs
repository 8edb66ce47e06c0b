//! What in a context file is ours: the block between its markers, and nothing else.
//!
//! All of it is done on bytes: what stands outside the block may be in any encoding, with any line
//! endings, and comes out as it went in.

use std::borrow::Cow;
use std::path::Path;

use crate::claude_md::edited::Edited;
use crate::claude_md::edited::lost;
use crate::claude_md::legacy;
use crate::claude_md::legacy_body::RecordedContent;
use crate::claude_md::marker;
use crate::claude_md::readable::readable;
use crate::claude_md::span::Span;
use crate::error::Error;
use crate::error::Result;
use crate::markdown::FrontMatter;
use crate::text::clip;
use crate::text::quantity;
use crate::text::strip_controls;
use crate::warning::Warning;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// As many lines of an edit that is lost are shown.
const SHOWN: usize = 5;

/// The length at which such a line is clipped.
const WIDTH: usize = 80;

/// A context file, split into the block and what is the user's.
#[derive(Clone, Debug)]
pub struct ContextFile<'a> {
    path: &'a Path,
    existing: &'a [u8],
    /// Where the user's text begins, behind a byte order mark and front matter.
    start: usize,
    /// The user's bytes before the block.
    before: &'a [u8],
    block: Option<Block<'a>>,
    /// The user's bytes after the block.
    after: Cow<'a, [u8]>,
    newline: &'static str,
    warnings: Vec<Warning>,
}

/// The block as it stands in the file.
#[derive(Clone, Debug)]
struct Block<'a> {
    begin_line: usize,
    stated: Option<String>,
    inside: &'a [u8],
    lines: Vec<&'a [u8]>,
    /// The hand edit in it, where it is to be kept.
    edited: Option<Edited<'a>>,
}

/// A context file with its block in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdatedContextFile {
    /// The whole file's new bytes; those it has where nothing changed.
    pub bytes: Vec<u8>,
    /// What the reader should know of what was kept or replaced.
    pub warnings: Vec<Warning>,
}

impl<'a> ContextFile<'a> {
    /// Splits a file; refused where its markers leave open what is ours.
    ///
    /// In a file without markers the sections that the workflow's own generator wrote, and that the
    /// block replaces, are taken out: `known` says what the block or the stores it is made from hold.
    pub fn parse(
        existing: Option<&'a [u8]>,
        path: &'a Path,
        known: &RecordedContent<'_>,
    ) -> Result<Self> {
        let existing = existing.unwrap_or_default();
        let text = readable(existing);
        let start = start(&text, path);
        let newline = newline(existing);
        let Some(span) = Span::find(&text, path)? else {
            let generated = legacy::generated(&text, start, path, known);
            return Ok(Self {
                path,
                existing,
                start,
                before: &existing[..start],
                block: None,
                after: legacy::without(&existing[start..], start, &generated.ranges),
                newline,
                warnings: generated.warnings,
            });
        };
        Ok(Self {
            path,
            existing,
            start,
            before: &existing[..span.whole.start],
            block: Some(Block {
                begin_line: span.begin_line,
                stated: span.stated,
                inside: &existing[span.inside.clone()],
                lines: marker::normal(&existing[span.inside]),
                edited: None,
            }),
            after: Cow::Borrowed(&existing[span.whole.end..]),
            newline,
            warnings: Vec::new(),
        })
    }

    /// Returns the title that the user's own text starts with, if it starts with one.
    pub fn title(&self) -> Option<String> {
        let before = self.before.get(self.start..).unwrap_or_default();
        match first_line(&readable(before)) {
            Some(line) => title_of(line),
            None => title_of(first_line(&readable(&self.after))?),
        }
    }

    /// Returns how many lines the file has with this block in it, markers included.
    pub fn lines_with(&self, block: &str) -> usize {
        let bytes = self.assemble(&marker::normal(block.as_bytes()));
        readable(&bytes).lines().count()
    }

    /// Returns the digest of what was generated where somebody edited it; nothing where nobody did.
    pub fn edited_digest(&self) -> Option<&str> {
        let block = self.block.as_ref()?;
        let stated = block.stated.as_deref().unwrap_or_default();
        (stated != marker::digest(&block.lines)).then_some(stated)
    }

    /// Keeps what was added to the block: it is moved below it. `generated` is what stood there before the edit.
    pub fn keep_edits(&mut self, generated: Option<&[u8]>) {
        if self.edited_digest().is_none() {
            return;
        }
        if let Some(block) = &mut self.block {
            let generated = generated.map(marker::normal);
            let stated = block.stated.as_deref();
            block.edited = Some(Edited::compare(block.inside, stated, generated.as_deref()));
        }
    }

    /// Returns the user's text: what stands around the block.
    pub fn own_text(&self) -> String {
        [readable(self.before), readable(&self.after)].join("\n")
    }

    /// Returns the file with the block in it. A hand edit of the old one is replaced where [`Self::keep_edits`] was not called.
    pub fn with_block(&self, block: &str) -> Result<UpdatedContextFile> {
        let new = marker::normal(block.as_bytes());
        let mut warnings = self.warnings.clone();
        if let Some(old) = self.block.as_ref().filter(|old| old.lines == new)
            && self.edited_digest().is_none()
        {
            debug_assert!(old.edited.is_none(), "what nobody edited has no edit");
            return Ok(UpdatedContextFile {
                bytes: self.existing.to_vec(),
                warnings,
            });
        }
        warnings.extend(self.account(&new));
        let bytes = self.assemble(&new);
        self.check(&bytes, &new)?;
        Ok(UpdatedContextFile { bytes, warnings })
    }

    /// Says what becomes of a hand edit.
    fn account(&self, new: &[&[u8]]) -> Option<Warning> {
        self.edited_digest()?;
        let old = self.block.as_ref()?;
        let message = match &old.edited {
            None if old.lines == new => return None,
            None => "the block was edited by hand; the edits are replaced".to_owned(),
            Some(Edited::Added(_)) => {
                let moved = self.relocated(new).concat();
                let count = moved
                    .iter()
                    .filter(|line| !line.trim_ascii().is_empty())
                    .count();
                if count == 0 {
                    return None;
                }
                let lines = quantity(count, "line");
                let were = if count == 1 { "was" } else { "were" };
                format!("{lines} that someone added to the block {were} moved below it")
            }
            Some(Edited::Unknown) => {
                let lost = lost(&old.lines, new, &[self.before, &self.after]);
                if lost.is_empty() {
                    return None;
                }
                format!(
                    "the block was edited by hand and is rewritten; {}; `annals undo` brings them back",
                    quoted(&lost)
                )
            }
        };
        Some(Warning::at(self.path, old.begin_line, message))
    }

    /// Returns the lines that go from the old block to below the new one.
    fn relocated(&self, new: &[&[u8]]) -> Vec<Vec<&'a [u8]>> {
        let edited = self.block.as_ref().and_then(|block| block.edited.as_ref());
        let around = [self.before, &self.after];
        let moved = edited.map(|edited| edited.relocated(new, &around));
        moved.unwrap_or_default().into_iter().cloned().collect()
    }

    fn assemble(&self, lines: &[&[u8]]) -> Vec<u8> {
        let newline = self.newline.as_bytes();
        let mut bytes = self.before.to_vec();
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

    /// Returns what parts a new block from the text below it; the file ends as it ended before.
    fn separator(&self) -> String {
        if self.after.is_empty() {
            let is_open = !self.existing.is_empty() && !self.existing.ends_with(b"\n");
            return if is_open { "" } else { self.newline }.to_owned();
        }
        let is_parted = self.after.starts_with(b"\n") || self.after.starts_with(b"\r\n");
        self.newline.repeat(if is_parted { 1 } else { 2 })
    }

    /// Reads the result back: a template that writes a marker or leaves a fence open would lose the block.
    fn check(&self, bytes: &[u8], lines: &[&[u8]]) -> Result<()> {
        let is_whole = Span::find(&readable(bytes), self.path)
            .ok()
            .flatten()
            .is_some_and(|span| marker::normal(&bytes[span.inside]) == lines);
        if is_whole {
            return Ok(());
        }
        Err(Error::failed(
            "the generated block holds a marker or an open code fence, so it is not written",
        )
        .at(self.path, None)
        .hint("correct the template of the context file"))
    }
}

/// Returns where the user's text begins: front matter must stay at the head of its file.
fn start(text: &str, path: &Path) -> usize {
    let head = BYTE_ORDER_MARK.len() * usize::from(text.starts_with('\u{feff}'));
    let front_matter = FrontMatter::parse(text, path).value;
    if front_matter.range.start == head && !front_matter.is_empty() {
        front_matter.range.end
    } else {
        head
    }
}

/// Returns the line ending that most lines of a file have.
fn newline(bytes: &[u8]) -> &'static str {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let last = lines.next_back();
    debug_assert!(last.is_some(), "a split has a last part");
    let (windows, others): (Vec<_>, Vec<_>) = lines.partition(|line| line.ends_with(b"\r"));
    if windows.len() > others.len() {
        "\r\n"
    } else {
        "\n"
    }
}

/// Names the first lines that an edit loses.
fn quoted(lost: &[&[u8]]) -> String {
    let shown = lost.iter().take(SHOWN).map(|line| {
        let text = String::from_utf8_lossy(line);
        format!("\"{}\"", clip(&strip_controls(&text), WIDTH))
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    match lost.len().saturating_sub(SHOWN) {
        0 => format!("lost: {shown}"),
        more => format!("lost: {shown} and {}", quantity(more, "more line")),
    }
}

fn without_newline(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn is_line_start(before: &[u8]) -> bool {
    before.is_empty() || before == BYTE_ORDER_MARK || before.ends_with(b"\n")
}

/// Returns the first line that a reader sees: neither blank nor a comment.
fn first_line(text: &str) -> Option<&str> {
    let is_comment = |line: &str| line.starts_with("<!--") && line.ends_with("-->");
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !is_comment(line))
}

fn title_of(line: &str) -> Option<String> {
    Some(line.strip_prefix("# ")?.trim().to_owned())
}

#[cfg(test)]
mod tests;
