//! A corrected statement.

use std::path::PathBuf;

use serde::Serialize;

use crate::plan::DriftKind;

/// A corrected statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Correction {
    /// The kind of statement; `None` if it only depends on another.
    pub kind: Option<DriftKind>,
    /// The old text.
    pub stated: String,
    /// The new text.
    pub written: String,
    /// The file, relative to the project's root.
    pub file: PathBuf,
    /// Line number, from 1.
    pub line: usize,
    /// The evidence: a file or folder, and what it shows.
    pub because: String,
}
