//! Adds an entry behind whatever stands in a file, without touching a byte of it.

use std::path::Path;

use crate::error::Error;
use crate::error::Result;
use crate::patterns;
use crate::patterns::Patterns;
use crate::patterns::Retrospective;
use crate::patterns::Trace;
use crate::project::Project;
use crate::storage::Changes;
use crate::templates;
use crate::templates::Template;

/// What ends a block that was left open at the end of a file. A closing fence may be longer than its
/// opening, so the short ones are tried first.
const CLOSINGS: &[&str] = &[
    "",
    "```",
    "~~~",
    "-->",
    "````",
    "~~~~",
    "``````````",
    "~~~~~~~~~~",
];

/// Plans the entries at the end of PATTERNS.md, which is made with a header where it is missing.
///
/// Every byte that stands there is kept. Whether a phase has an entry already is not asked here: see
/// [`Patterns::recorded`].
pub fn append(project: &Project, entries: &[Retrospective], changes: &mut Changes) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let path = patterns::path(&project.planning_place().dir);
    let old = changes.current(&path)?;
    let head = templates::render(project, Template::PatternsHeader, &())?;
    let mut bytes = old.clone().unwrap_or_default();
    for entry in entries {
        let text = entry.render(project)?;
        bytes = appended(&bytes, &head, &text, &entry.trace).ok_or_else(|| {
            Error::refused("is in UTF-16, or ends inside of HTML that would swallow an entry")
                .at(&path, None)
                .hint("save it as UTF-8 and close that block by hand")
        })?;
    }
    changes.edit(&path, old, bytes)
}

/// Returns the file's bytes with an entry behind them; `head` comes first in an empty file.
///
/// The entry gets the line ends of the file. Nothing where it would not be an entry there: inside of a
/// block that is left open, or in UTF-16.
pub(crate) fn appended(old: &[u8], head: &str, entry: &str, trace: &Trace) -> Option<Vec<u8>> {
    if old.is_empty() {
        return Some(format!("{head}\n{entry}").into_bytes());
    }
    if old.starts_with(&[0xff, 0xfe]) || old.starts_with(&[0xfe, 0xff]) {
        return None;
    }
    let end = line_end(old);
    CLOSINGS.iter().find_map(|closing| {
        let new = joined(old, closing, entry, end);
        is_entry(&new, old.len(), trace).then_some(new)
    })
}

/// Returns the line end that the file's last line has; `\n` where it has one line.
fn line_end(old: &[u8]) -> &'static str {
    let last = old.iter().rposition(|byte| *byte == b'\n');
    match last {
        Some(at) if at > 0 && old[at - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}

fn joined(old: &[u8], closing: &str, entry: &str, end: &str) -> Vec<u8> {
    let mut new = old.to_vec();
    let end_line = |new: &mut Vec<u8>| {
        if !new.ends_with(b"\n") {
            new.extend(end.as_bytes());
        }
    };
    end_line(&mut new);
    if !closing.is_empty() {
        new.extend(closing.as_bytes());
        end_line(&mut new);
    }
    let blank = format!("\n{end}");
    if !new.ends_with(blank.as_bytes()) {
        new.extend(end.as_bytes());
    }
    for line in entry.lines() {
        new.extend(line.as_bytes());
        new.extend(end.as_bytes());
    }
    new
}

/// Tells whether the last entry of a text is the one that was added behind byte `from`.
fn is_entry(text: &[u8], from: usize, trace: &Trace) -> bool {
    let added = text[..from].split(|byte| *byte == b'\n').count() - 1;
    let text = String::from_utf8_lossy(text);
    let patterns = Patterns::parse(&text, Path::new("PATTERNS.md")).value;
    patterns
        .entries
        .last()
        .is_some_and(|entry| entry.trace.as_ref() == Some(trace) && entry.line > added)
}
