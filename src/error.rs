//! What failed, where, what to do next, and the exit code that follows.

use std::fmt;
use std::io;
use std::path::Path;

use serde::Serialize;

use crate::warning::SourceLocation;

/// The result of everything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What kind of failure it is; the kind picks the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The work could not be done, or a `--check` found something (exit code 1).
    Failed,
    /// The command was called wrongly (exit code 2).
    Usage,
    /// The thing asked for does not exist (exit code 3).
    NotFound,
    /// A rule said no, and nothing was written (exit code 4).
    Refused,
}

impl ErrorKind {
    /// Returns the process's exit code for this kind of failure.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Refused => 4,
        }
    }
}

/// One thing that is wrong with a JSON document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where, as a JSON pointer; empty for the document itself.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

impl Problem {
    /// Returns a problem at a place of the document.
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            message: message.into(),
        }
    }

    /// Returns where it is, as it is printed.
    pub fn location(&self) -> &str {
        match self.pointer.as_str() {
            "" => "the document",
            pointer => pointer,
        }
    }
}

/// A failure, with what the person who reads it needs next.
#[derive(Debug)]
pub struct Error {
    /// What kind of failure it is.
    pub kind: ErrorKind,
    /// What failed, in one sentence without a full stop.
    pub message: String,
    /// Where it failed, if in a file.
    pub place: Option<SourceLocation>,
    /// The next step, where there is one.
    pub hint: Option<String>,
    /// What is wrong with the document that was handed in, all of it.
    pub problems: Vec<Problem>,
    source: Option<io::Error>,
}

impl Error {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            place: None,
            hint: None,
            problems: Vec::new(),
            source: None,
        }
    }

    /// Returns an error for work that could not be done.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failed, message)
    }

    /// Returns an error for a wrong call.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Returns an error for a thing that does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// Returns an error for a write that a rule forbids.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Refused, message)
    }

    /// Names the file, and the line in it (counted from 1) where that is known.
    #[must_use]
    pub fn at(mut self, file: &Path, line: impl Into<Option<usize>>) -> Self {
        self.place = Some(SourceLocation {
            file: file.to_owned(),
            line: line.into(),
        });
        self
    }

    /// Names the file relative to a folder, where it lies inside.
    #[must_use]
    pub fn relative_to(mut self, folder: &Path) -> Self {
        if let Some(place) = &mut self.place
            && let Ok(below) = place.file.strip_prefix(folder)
            && !below.as_os_str().is_empty()
        {
            place.file = below.to_owned();
        }
        self
    }

    /// Says what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the message with its cause, without the place.
    pub fn reason(&self) -> String {
        match &self.source {
            Some(source) => format!("{}: {source}", self.message),
            None => self.message.clone(),
        }
    }
}

impl Error {
    /// Lists all that is wrong with a document.
    #[must_use]
    pub fn problems(mut self, problems: Vec<Problem>) -> Self {
        self.problems = problems;
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.reason())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}

/// Gives an [`io::Error`] the path it happened at: none travels without one.
pub trait At<T> {
    /// Turns the failure into an [`Error`] that says what was tried on which file.
    fn at(self, tried: &str, path: &Path) -> Result<T>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, tried: &str, path: &Path) -> Result<T> {
        self.map_err(|source| {
            let mut error = Error::failed(format!("cannot {tried}")).at(path, None);
            error.source = Some(source);
            error
        })
    }
}
