//! Collects warnings about input that was only partly understood, with their locations; never prints them.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

/// A file, with a line number in it if known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SourceLocation {
    /// Path of the file, as named by the caller.
    #[serde(serialize_with = "lossy")]
    pub file: PathBuf,
    /// Line number, counted from 1.
    pub line: Option<usize>,
}

impl SourceLocation {
    /// Returns the location of a line, or of a file as a whole.
    pub fn new(file: impl Into<PathBuf>, line: impl Into<Option<usize>>) -> Self {
        Self { file: file.into(), line: line.into() }
    }
}

/// Serialises a path that need not be UTF-8, which would otherwise fail.
fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file.display()),
            None => write!(f, "{}", self.file.display()),
        }
    }
}

/// The message about a file that was read although a merge of it is unresolved.
const CONFLICT: &str = "has an unresolved merge conflict; both sides are read";

/// The message about a block that is not written because a merge of it is unresolved.
const BLOCK_CONFLICT: &str = "the block contains a merge conflict, so the file is not changed; resolve it, then run `annals sync`";

/// A warning about input that was only partly understood, with its location.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Warning {
    /// Its location.
    #[serde(flatten)]
    pub place: SourceLocation,
    /// The problem, in one sentence.
    pub message: String,
}

impl Warning {
    /// Returns a warning about a line, counted from 1, of a file.
    pub fn at(file: &Path, line: usize, message: impl Into<String>) -> Self {
        Self { place: SourceLocation::new(file, line), message: message.into() }
    }

    /// Returns a warning about a file as a whole.
    pub fn file(file: &Path, message: impl Into<String>) -> Self {
        Self { place: SourceLocation::new(file, None), message: message.into() }
    }

    /// Returns a warning about the line where an unresolved merge begins.
    pub(crate) fn conflict(file: &Path, line: usize) -> Self {
        Self::at(file, line, CONFLICT)
    }

    /// Returns a warning about the line of a block where an unresolved merge begins.
    pub(crate) fn conflict_in_block(file: &Path, line: usize) -> Self {
        Self::at(file, line, BLOCK_CONFLICT)
    }

    /// Returns whether it is about a file that is there, but could not be read.
    pub(crate) fn is_unreadable(&self) -> bool {
        self.message.starts_with("cannot read")
    }

    /// Returns whether it is about an unresolved merge.
    pub(crate) fn is_conflict(&self) -> bool {
        [CONFLICT, BLOCK_CONFLICT].contains(&self.message.as_str())
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.file.as_os_str().is_empty() {
            // An empty path stands for the project as a whole.
            return f.write_str(&self.message);
        }
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// The result of a parser: always a value, and warnings about input that was not understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed<T> {
    /// Everything that was understood.
    pub value: T,
    /// Warnings about input that was not understood.
    pub warnings: Vec<Warning>,
}

impl<T> Parsed<T> {
    /// Returns a value with its warnings.
    pub fn new(value: T, warnings: Vec<Warning>) -> Self {
        Self { value, warnings }
    }

    /// Returns a value without warnings.
    pub fn clean(value: T) -> Self {
        Self::new(value, Vec::new())
    }

    /// Returns the value and moves its warnings into `warnings`.
    pub fn into_value(self, warnings: &mut Vec<Warning>) -> T {
        warnings.extend(self.warnings);
        self.value
    }

    /// Returns the same warnings with a converted value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Parsed<U> {
        Parsed::new(change(self.value), self.warnings)
    }
}
