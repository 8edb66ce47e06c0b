//! A place in a file, and what was understood there only in part; collected, never printed here.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::Serializer;

/// A file, and the line in it where that is known (counted from 1).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SourceLocation {
    /// The file, as the caller named it.
    #[serde(serialize_with = "lossy")]
    pub file: PathBuf,
    /// The line, counted from 1.
    pub line: Option<usize>,
}

/// A name that is not UTF-8 must not keep the rest from being told.
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

/// Something that was read in part only: where, and what could not be understood.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Warning {
    /// Its position.
    #[serde(flatten)]
    pub place: SourceLocation,
    /// What was not understood, in one sentence.
    pub message: String,
}

impl Warning {
    /// Returns a warning about a line of a file, counted from 1.
    pub fn at(file: &Path, line: usize, message: impl Into<String>) -> Self {
        Self {
            place: SourceLocation {
                file: file.to_owned(),
                line: Some(line),
            },
            message: message.into(),
        }
    }

    /// Returns a warning about a file as a whole.
    pub fn file(file: &Path, message: impl Into<String>) -> Self {
        Self {
            place: SourceLocation {
                file: file.to_owned(),
                line: None,
            },
            message: message.into(),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.file.as_os_str().is_empty() {
            // The project as a whole, as it is named inside of itself.
            return f.write_str(&self.message);
        }
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// What a parser made of a text: always a value, and the places it could not make sense of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed<T> {
    /// All that was understood.
    pub value: T,
    /// What was not.
    pub warnings: Vec<Warning>,
}

impl<T> Parsed<T> {
    /// Returns a value that was understood whole.
    pub fn clean(value: T) -> Self {
        Self {
            value,
            warnings: Vec::new(),
        }
    }

    /// Returns the value and moves its warnings into `warnings`.
    pub fn into_value(self, warnings: &mut Vec<Warning>) -> T {
        warnings.extend(self.warnings);
        self.value
    }

    /// Returns the same warnings with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Parsed<U> {
        Parsed {
            value: change(self.value),
            warnings: self.warnings,
        }
    }
}
