//! Finds sections that a planning tool's own generator wrote into a context file, and that the block
//! replaces.
//!
//! A section is attributed to the generator only if its heading and the shape of its body match exactly, and
//! is removed only if nothing would be lost: its content is in the block, or in the stores that the block is
//! generated from. Rules, conventions and sections marked by other tools are never touched, since the block
//! does not replace them.
//!
//! | heading | body |
//! |---|---|
//! | `# {project}`, first in the file | the core value, same as in the block |
//! | `## Active Context` | lines of the position; nothing shipped except what a SHIPPED.md says, no free text |
//! | `## State`, `## {TOOL} State` | the planning folder and lines of the position |
//! | `## Key Decisions` | a table or bullets, all of them recorded decisions |
//! | `## Installed Skills` | bullets, all of them recorded skills; or the placeholder |
//! | `## Learned Patterns` | bullets, all of them in PATTERNS.md |
//! | `## Commands`, `## {TOOL} Commands` | the generator's own lines |

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use crate::claude_md::legacy_body;
use crate::claude_md::legacy_body::{Disposition, RecordedContent};
use crate::markdown::{Outline, Section};
use crate::plan::without_emphasis;
use crate::project::LayoutName;
use crate::text::{clip, fold};
use crate::warning::Warning;

/// Maximum length of a core value in a warning, in characters.
const MAX_VALUE_CHARS: usize = 60;

type Judge = fn(&[&str], &RecordedContent<'_>) -> Disposition;

const SECTIONS: &[(&str, Judge)] = &[
    ("## Active Context", legacy_body::active_context),
    ("## State", legacy_body::state),
    ("## Key Decisions", legacy_body::decisions),
    ("## Installed Skills", legacy_body::skills),
    ("## Learned Patterns", legacy_body::patterns),
    ("## Commands", legacy_body::commands),
];

/// The generator's sections in a file, and similar ones that must be kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Generated {
    /// Byte ranges to remove, in file order.
    pub(crate) ranges: Vec<Range<usize>>,
    /// Warnings about sections that were kept, with the reason.
    pub(crate) warnings: Vec<Warning>,
}

/// Finds the generator's sections in `text` from byte `start`.
pub(crate) fn generated(
    text: &str,
    start: usize,
    path: &Path,
    known: &RecordedContent<'_>,
) -> Generated {
    let outline = Outline::parse(text, start);
    let mut result = Generated::default();
    let mut unrecorded = Vec::new();
    match head(&outline, start, known) {
        Some(GeneratedHead::Repeated(range)) => result.ranges.push(range),
        Some(GeneratedHead::Other(line, value)) => result.warnings.push(Warning::at(
            path,
            line,
            format!(
                "the core value \"{}\" is kept next to a different one in the block; \
                 delete the one that no longer applies",
                clip(value, MAX_VALUE_CHARS)
            ),
        )),
        None => {}
    }
    for section in outline.sections() {
        let Some((heading, judge)) = judge_for(text, section) else {
            continue;
        };
        let range = without_rule(text, section);
        let body = &text[section.own.start..range.end];
        match judge(&lines(body), known) {
            Disposition::Replaced => result.ranges.push(range),
            Disposition::Kept => {}
            Disposition::Unrecorded(what) => unrecorded.push(Warning::at(
                path,
                section.line,
                format!(
                    "\"{heading}\" is kept next to the block because none of its {what}s is recorded"
                ),
            )),
            Disposition::Unique(what) => result.warnings.push(Warning::at(
                path,
                section.line,
                format!(
                    "\"{heading}\" is kept next to the block because it contains {what}; move that line elsewhere and delete the section"
                ),
            )),
        }
    }
    // Without other signs of the generator, such a section was written by the user.
    if !result.ranges.is_empty() || !result.warnings.is_empty() {
        result.warnings.extend(unrecorded);
        result.warnings.sort_by_key(|warning| warning.place.line);
    }
    result
}

/// Returns the bytes, which begin at offset `start` of their file, without `ranges`.
pub(crate) fn without<'a>(bytes: &'a [u8], start: usize, ranges: &[Range<usize>]) -> Cow<'a, [u8]> {
    let Some(last) = ranges.last() else {
        return Cow::Borrowed(bytes);
    };
    let mut kept = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for range in ranges {
        kept.extend_from_slice(&bytes[from..range.start - start]);
        from = range.end - start;
    }
    kept.extend_from_slice(&bytes[from..]);
    if last.end - start == bytes.len() {
        restore_line_end(&mut kept, bytes);
    }
    Cow::Owned(kept)
}

/// Removes the blank lines before a removed last section, so that the file ends as before.
fn restore_line_end(kept: &mut Vec<u8>, bytes: &[u8]) {
    let text = kept.trim_ascii_end().len();
    let tail = &kept[text..];
    let spaces = tail.iter().take_while(|byte| !b"\r\n".contains(byte));
    let line_end = text + spaces.count();
    let newline = kept[line_end..].iter().position(|byte| *byte == b'\n');
    let end = match newline {
        Some(at) if text > 0 && bytes.ends_with(b"\n") => line_end + at + 1,
        _ if text == 0 => 0,
        _ => line_end,
    };
    kept.truncate(end);
}

/// The title and core value that the generator writes first.
enum GeneratedHead<'a> {
    /// They repeat what the block says.
    Repeated(Range<usize>),
    /// They state a different core value, on this line.
    Other(usize, &'a str),
}

/// Returns the generator's title and core value, if they are the only text before the first section.
fn head<'a>(
    outline: &Outline<'a>,
    start: usize,
    known: &RecordedContent<'_>,
) -> Option<GeneratedHead<'a>> {
    let text = outline.text();
    let section = outline.sections().iter().find(|section| section.level > 0)?;
    let is_at_start = text[start..section.heading.start].trim().is_empty();
    let is_title = section.level == 1
        && whole_line(text, section).is_some_and(|line| line.starts_with("# "))
        && fold(&section.title) == fold(known.project);
    let body = lines(&text[section.own.clone()]);
    let [line] = body.as_slice() else {
        return None;
    };
    let value = without_emphasis(line.strip_prefix("**Core value:**")?.trim());
    if !is_at_start || !is_title {
        return None;
    }
    let own = fold(known.core_value?);
    Some(if own == fold(value) {
        GeneratedHead::Repeated(section.heading.start..section.own.end)
    } else {
        let lines_above = text[section.own.clone()].find(line).unwrap_or_default();
        let lines_above = &text[section.heading.start..section.own.start + lines_above];
        GeneratedHead::Other(section.line + lines_above.matches('\n').count(), value)
    })
}

/// Returns a section's heading, and the function that judges its body.
fn judge_for<'a>(text: &'a str, section: &Section) -> Option<(&'a str, Judge)> {
    let line = whole_line(text, section)?;
    let plain = without_tool(line);
    let (_, judge) = SECTIONS.iter().find(|(heading, _)| *heading == plain)?;
    (section.whole == section.own).then_some((line, *judge))
}

/// Returns a heading without the tool name that some generators put in it: `## VBW State`.
fn without_tool(heading: &str) -> Cow<'_, str> {
    let words: Vec<&str> = heading.split(' ').collect();
    match words.as_slice() {
        ["##", tool, word @ ("State" | "Commands")] if is_tool(tool) => format!("## {word}").into(),
        _ => heading.into(),
    }
}

fn is_tool(word: &str) -> bool {
    LayoutName::ALL.into_iter().any(|layout| layout.as_str().to_uppercase() == word)
}

/// Returns a heading's line if the heading starts it; not so in a list or a quote.
fn whole_line<'a>(text: &'a str, section: &Section) -> Option<&'a str> {
    let is_line_start =
        text[..section.heading.start].ends_with(['\n', '\u{feff}']) || section.heading.start == 0;
    is_line_start.then(|| text[section.heading.clone()].trim_end())
}

/// Returns a section's byte range up to the first thematic break, which separates the generator's text from
/// what follows.
fn without_rule(text: &str, section: &Section) -> Range<usize> {
    let mut at = section.own.start;
    for line in text[section.own.clone()].split_inclusive('\n') {
        if line.trim_end() == "---" {
            return section.heading.start..at;
        }
        at += line.len();
    }
    section.heading.start..section.own.end
}

fn lines(body: &str) -> Vec<&str> {
    body.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests;
