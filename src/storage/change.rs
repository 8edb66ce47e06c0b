//! One change to the tree, with all that is needed to check it, repeat it and take it back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Result;

/// A change, where `B` stands for bytes: the bytes themselves, or in a record's header their length.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum Change<B> {
    /// A file's whole content becomes another; without an old one it is created, without a new one deleted.
    Write {
        path: PathBuf,
        old: Option<B>,
        new: Option<B>,
        /// The permission bits to give back when a deletion is taken back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<u32>,
    },
    /// Lines are added to a log; that is never taken back.
    Append { path: PathBuf, lines: B },
    /// A file or a whole directory gets another path.
    Move {
        from: PathBuf,
        to: PathBuf,
        /// What the moved files held (see [`crate::storage::fingerprint`]), by path below `from`.
        contents: BTreeMap<PathBuf, String>,
    },
    /// A directory is created, unless it exists.
    CreateDirectory { path: PathBuf },
    /// A directory is removed, unless something is in it.
    RemoveDirectory { path: PathBuf },
}

impl<B> Change<B> {
    /// Returns the path that exists, or is gone, once the change is made.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Write { path, .. }
            | Self::Append { path, .. }
            | Self::Move { to: path, .. }
            | Self::CreateDirectory { path }
            | Self::RemoveDirectory { path } => path,
        }
    }

    /// Returns the path that the change takes away from, where it is another.
    pub(crate) fn source(&self) -> Option<&Path> {
        match self {
            Self::Move { from, .. } => Some(from),
            _ => None,
        }
    }

    /// Returns whether the change is about a directory itself, not what it holds.
    pub(crate) fn is_of_directory(&self) -> bool {
        matches!(
            self,
            Self::CreateDirectory { .. } | Self::RemoveDirectory { .. }
        )
    }

    /// Returns whether the change is never taken back.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, Self::Append { .. })
    }

    /// Returns the change with its paths named otherwise.
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

    /// Returns the change with another form of its bytes, or `None` if one of them has none.
    pub(crate) fn with_bytes<C>(self, mut form: impl FnMut(B) -> Option<C>) -> Option<Change<C>> {
        let mut both = |bytes: Option<B>| match bytes {
            Some(bytes) => form(bytes).map(Some),
            None => Some(None),
        };
        Some(match self {
            Self::Write {
                path,
                old,
                new,
                mode,
            } => Change::Write {
                path,
                old: both(old)?,
                new: both(new)?,
                mode,
            },
            Self::Append { path, lines } => Change::Append {
                path,
                lines: form(lines)?,
            },
            Self::Move { from, to, contents } => Change::Move { from, to, contents },
            Self::CreateDirectory { path } => Change::CreateDirectory { path },
            Self::RemoveDirectory { path } => Change::RemoveDirectory { path },
        })
    }
}

impl<B: Clone> Change<B> {
    /// Returns the change that takes this one back, or `None` if it stays.
    pub(crate) fn inverse(&self) -> Option<Self> {
        Some(match self.clone() {
            Self::Write {
                path,
                old,
                new,
                mode,
            } => Self::Write {
                path,
                old: new,
                new: old,
                mode,
            },
            Self::Append { .. } => return None,
            Self::Move { from, to, contents } => Self::Move {
                from: to,
                to: from,
                contents,
            },
            Self::CreateDirectory { path } => Self::RemoveDirectory { path },
            Self::RemoveDirectory { path } => Self::CreateDirectory { path },
        })
    }
}
