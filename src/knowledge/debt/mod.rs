//! Collects debt markers from the comments of source files.
//!
//! ```text
//! // annals-debt: linear scan. ceiling: 10,000 rows. upgrade: p95 over 100 ms.
//! # vibekit: one process. ceiling: 50 users. upgrade: the second customer.
//! ```
//!
//! Only comments count, not strings or prose; a marker without `upgrade:` has no trigger.

mod comments;
mod language;
mod marker;

use std::path::{Path, PathBuf};

pub use marker::DebtMarker;
use memchr::memmem;
use serde::Serialize;

use crate::knowledge::debt::comments::{CommentLine, comments};
use crate::knowledge::debt::language::{Language, MARKDOWN};
use crate::knowledge::debt::marker::{WORDS, markers};
use crate::markdown::{BlockContent, Outline};
use crate::project::Project;
use crate::storage::{Boundary, read, walk};
use crate::warning::Warning;

/// The debt markers of a project. It is the document of `annals entry debt --json`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Debt {
    /// The files with markers, sorted by path.
    pub files: Vec<IndebtedFile>,
    /// Number of markers.
    pub markers: usize,
    /// Number of markers without a trigger.
    pub no_trigger: usize,
    /// Warnings about files that could not be read.
    pub warnings: Vec<Warning>,
}

/// A file with its markers.
#[derive(Clone, Debug, Serialize)]
pub struct IndebtedFile {
    /// Path of the file, relative to the project.
    pub file: String,
    /// Its markers, sorted by line.
    pub markers: Vec<DebtMarker>,
}

/// Returns the markers in the source files that are not ignored by git.
///
/// Reads as much as one command may read; a warning counts the files left out.
pub fn debt(project: &Project) -> Debt {
    let mut debt = Debt::default();
    let sources = sources(&project.root, &mut debt.warnings);
    for path in Boundary::within_limit(&project.root, sources) {
        let bytes = match read::bytes(&path) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => continue,
            Err(error) => {
                debt.warnings.push(Warning::file(&path, error.reason()));
                continue;
            }
        };
        let markers = markers_of(&path, &bytes);
        if markers.is_empty() {
            continue;
        }
        debt.markers += markers.len();
        debt.no_trigger += markers.iter().filter(|marker| marker.no_trigger).count();
        debt.files
            .push(IndebtedFile { file: project.relative(&path).display().to_string(), markers });
    }
    debt.warnings = project.named(debt.warnings);
    debt
}

/// Lists the files that may be source files and are not ignored by git, sorted by path.
fn sources(root: &Path, warnings: &mut Vec<Warning>) -> Vec<PathBuf> {
    let mut walk =
        walk::tracked(root, |entry| entry.file_name() != ".git" && entry.file_name() != ".annals");
    let walk = walk.sort_by_file_path(Path::cmp).build();
    let mut found = Vec::new();
    for entry in walk {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                if Language::may_have_comments(entry.path()) {
                    found.push(entry.into_path());
                }
            }
            Ok(_) => {}
            Err(error) => warnings.push(Warning::file(root, format!("cannot list: {error}"))),
        }
    }
    found
}

fn markers_of(path: &Path, bytes: &[u8]) -> Vec<DebtMarker> {
    let is_named = |word: &str| memmem::find(bytes, word.as_bytes()).is_some();
    if !WORDS.iter().any(|word| is_named(word)) || bytes.contains(&0) {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(bytes);
    match Language::detect(path, bytes) {
        Some(language) if language.is_markdown() => markers(&of_markdown(&text)),
        Some(language) => markers(&comments(&text, language)),
        None => Vec::new(),
    }
}

/// Returns the comments that are blocks of their own, not comments in prose or code.
fn of_markdown(text: &str) -> Vec<CommentLine<'_>> {
    let outline = Outline::parse(text, 0);
    let mut pieces = Vec::new();
    for block in outline.blocks(&(0..text.len())) {
        if block.content == BlockContent::Html {
            let found = comments(&text[block.range.clone()], &MARKDOWN);
            pieces.extend(
                found
                    .into_iter()
                    .map(|piece| CommentLine { line: piece.line + block.line - 1, ..piece }),
            );
        }
    }
    pieces
}

#[cfg(test)]
mod tests;
