//! A change to the tree, with all data needed to check, repeat and revert it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Result;

/// A change, where `B` stands for bytes: the bytes themselves, or in a record's header their length.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum Change<B> {
    /// Replaces the content of a file; without old content it is created, without new content deleted.
    Write {
        path: PathBuf,
        old: Option<B>,
        new: Option<B>,
        /// The permission bits to restore when a deletion is reverted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<u32>,
    },
    /// Appends lines to a log; never reverted.
    Append { path: PathBuf, lines: B },
    /// Moves a file or a whole directory.
    Move {
        from: PathBuf,
        to: PathBuf,
        /// Digests of the moved files (see [`crate::storage::fingerprint`]), by path below `from`.
        contents: BTreeMap<PathBuf, String>,
    },
    /// Creates a directory, unless it exists.
    CreateDirectory { path: PathBuf },
    /// Removes a directory if it is empty.
    RemoveDirectory { path: PathBuf },
}

impl<B> Change<B> {
    /// Returns the path that the change creates, edits or deletes.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Write { path, .. }
            | Self::Append { path, .. }
            | Self::Move { to: path, .. }
            | Self::CreateDirectory { path }
            | Self::RemoveDirectory { path } => path,
        }
    }

    /// Returns the path that the change moves from, if any.
    pub(crate) fn source(&self) -> Option<&Path> {
        match self {
            Self::Move { from, .. } => Some(from),
            _ => None,
        }
    }

    /// Returns whether the change creates or removes a directory.
    pub(crate) fn is_directory_change(&self) -> bool {
        matches!(self, Self::CreateDirectory { .. } | Self::RemoveDirectory { .. })
    }

    /// Returns whether the change is never reverted.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, Self::Append { .. })
    }

    /// Returns the change with each path mapped by `name`.
    pub(crate) fn with_paths(
        mut self,
        mut name: impl FnMut(&Path) -> Result<PathBuf>,
    ) -> Result<Self> {
        match &mut self {
            Self::Move { from, to, .. } => {
                *from = name(from)?;
                *to = name(to)?;
            }
            Self::Write { path, .. }
            | Self::Append { path, .. }
            | Self::CreateDirectory { path }
            | Self::RemoveDirectory { path } => *path = name(path)?,
        }
        Ok(self)
    }

    /// Returns the change with its bytes mapped by `form`, or `None` if `form` returned `None`.
    pub(crate) fn with_bytes<C>(self, mut form: impl FnMut(B) -> Option<C>) -> Option<Change<C>> {
        let mut both = |bytes: Option<B>| match bytes {
            Some(bytes) => form(bytes).map(Some),
            None => Some(None),
        };
        Some(match self {
            Self::Write { path, old, new, mode } => {
                Change::Write { path, old: both(old)?, new: both(new)?, mode }
            }
            Self::Append { path, lines } => Change::Append { path, lines: form(lines)? },
            Self::Move { from, to, contents } => Change::Move { from, to, contents },
            Self::CreateDirectory { path } => Change::CreateDirectory { path },
            Self::RemoveDirectory { path } => Change::RemoveDirectory { path },
        })
    }
}

impl<B: Clone> Change<B> {
    /// Returns the inverse change, or `None` if it is never reverted.
    pub(crate) fn inverse(&self) -> Option<Self> {
        Some(match self.clone() {
            Self::Write { path, old, new, mode } => Self::Write { path, old: new, new: old, mode },
            Self::Append { .. } => return None,
            Self::Move { from, to, contents } => Self::Move { from: to, to: from, contents },
            Self::CreateDirectory { path } => Self::RemoveDirectory { path },
            Self::RemoveDirectory { path } => Self::CreateDirectory { path },
        })
    }
}
