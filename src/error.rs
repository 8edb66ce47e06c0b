//! Defines errors: what failed, where, what to do next, and the exit code.

use std::path::Path;
use std::sync::Arc;
use std::{fmt, io};

use serde::Serialize;

use crate::warning::{SourceLocation, Warning};

/// The result of a fallible operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of a failure, which determines the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The work could not be done, or a `--check` found something (exit code 1).
    Failed,
    /// The command was called wrongly (exit code 2).
    Usage,
    /// The thing asked for does not exist (exit code 3).
    NotFound,
    /// A rule forbids it, and nothing was written (exit code 4).
    Refused,
}

impl ErrorKind {
    /// Returns the exit code of the process for this kind of failure.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Refused => 4,
        }
    }
}

/// A problem in a JSON document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Its location as a JSON pointer; empty for the document itself.
    pub pointer: String,
    /// Description of the problem.
    pub message: String,
}

impl Problem {
    /// Returns a problem at a location in the document.
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }

    /// Returns the location for display.
    pub fn location(&self) -> &str {
        match self.pointer.as_str() {
            "" => "the document",
            pointer => pointer,
        }
    }
}

/// A failure, with its location and a suggested next step.
#[derive(Clone, Debug, Serialize)]
pub struct Error {
    /// The kind of failure.
    #[serde(skip)]
    pub kind: ErrorKind,
    /// What failed, in one sentence without a full stop.
    pub message: String,
    /// Where it failed, if in a file.
    pub place: Option<SourceLocation>,
    /// The suggested next step, if any.
    pub hint: Option<String>,
    /// All problems in the document that was passed in.
    #[serde(skip)]
    pub problems: Vec<Problem>,
    #[serde(skip)]
    source: Option<Arc<io::Error>>,
}

impl From<Error> for Warning {
    /// Returns a warning about what could not be read, where the rest can still be used.
    fn from(error: Error) -> Self {
        let message = error.reason();
        Self { place: error.place.unwrap_or_else(|| SourceLocation::new("", None)), message }
    }
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

    /// Returns an error for an operation that failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failed, message)
    }

    /// Returns an error for an invalid call.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Returns an error for something that does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// Returns an error for a write that a rule forbids.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Refused, message)
    }

    /// Sets the file or folder that it is about.
    #[must_use]
    pub fn about(self, path: &Path) -> Self {
        self.at(path, None)
    }

    /// Sets the file, and the line number in it (counted from 1) if known.
    #[must_use]
    pub fn at(mut self, file: &Path, line: impl Into<Option<usize>>) -> Self {
        self.place = Some(SourceLocation::new(file, line));
        self
    }

    /// Makes the file relative to a folder, if it is inside.
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

    /// Returns what makes an error of a cause: that it kept something from being done.
    pub(crate) fn cannot<E: fmt::Display>(tried: &str) -> impl Fn(E) -> Self {
        move |cause| Self::failed(format!("cannot {tried}: {cause}"))
    }

    /// Sets the suggested next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the message with its cause, without the location.
    pub fn reason(&self) -> String {
        match &self.source {
            Some(source) => format!("{}: {source}", self.message),
            None => self.message.clone(),
        }
    }

    /// Sets the problems in a document.
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
        self.source.as_deref().map(|source| source as _)
    }
}

/// Adds the path to an [`io::Error`], which has none of its own.
pub trait At<T> {
    /// Converts the failure into an [`Error`] that names the attempted action and the file.
    fn at(self, tried: &str, path: &Path) -> Result<T>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, tried: &str, path: &Path) -> Result<T> {
        self.map_err(|source| {
            let mut error = Error::failed(format!("cannot {tried}")).at(path, None);
            error.source = Some(source.into());
            error
        })
    }
}
